"""A sandbox whose clips are there at once, and a session with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from cli.doubles import TinyClips

import reelbook as rb
from reelbook.sandbox import server
from reelbook.sandbox.handle import Sandbox


@pytest.fixture
def sandbox(home: Path) -> Iterator[Sandbox]:
    """A sandbox on a real socket without a rate limit."""
    with server.in_thread(home, pace=0, rate_limiting=False, executor=TinyClips()) as running:
        yield running


@pytest.fixture
def session(sandbox: Sandbox, home: Path) -> Iterator[rb.Session]:
    """A session with it, closed at the end."""
    with closing(rb.connect(api_key=sandbox.api_key, base_url=sandbox.url, home=home)) as session:
        yield session
