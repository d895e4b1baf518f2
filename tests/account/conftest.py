"""A session with a sandbox of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import reelbook as rb
from reelbook.sandbox.handle import Sandbox


@pytest.fixture
def session(sandbox: Sandbox) -> Iterator[rb.Session]:
    with rb.connect("sandbox") as session:
        yield session
