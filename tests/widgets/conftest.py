"""A session with the sandbox of a panel's test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import reelbook as rb
from reelbook.sandbox.handle import Sandbox


@pytest.fixture
def session(sandbox: Sandbox, home: Path) -> Iterator[rb.Session]:
    with rb.connect("sandbox") as opened:
        yield opened
