"""A sandbox for the terminal's tests, and the command run in this process."""

import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cli.doubles import Book, TinyClips, live_service
from ledger.doubles import KEY, SERVICE, Clock
from support.ledgers import ledger_in
from support.raw_server import RawServer
from typer.testing import CliRunner, Result

from reelbook.cli import app

Run = Callable[..., Result]


@pytest.fixture
def clips() -> TinyClips:
    """Where this test's clips are drawn."""
    return TinyClips()


@pytest.fixture
def book(home: Path) -> Iterator[Book]:
    """The ledger of the test's home, open as in another kernel that lives."""
    clock = Clock(float(int(time.time()) - 3600))
    with ledger_in(home, SERVICE, KEY, clock=clock) as ledger:
        yield Book(ledger, clock)


@pytest.fixture
def run() -> Iterator[Run]:
    """Runs `reelbook …` in this process, with that environment; nobody sits at its terminal."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield lambda *words, **env: CliRunner().invoke(app, list(words), env=env)
    for number, handler in handlers.items():  # a server keeps them for the rest of its own process
        signal.signal(number, handler)


@pytest.fixture
def live(home: Path) -> Iterator[RawServer]:
    """A configured live service that knows nothing but to say so, and keeps what reaches it."""
    with live_service(lambda exchange: exchange.answer(404, b'{"detail": "no such thing"}')) as service:
        yield service
