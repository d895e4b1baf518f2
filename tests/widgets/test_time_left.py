"""How long a clip still takes: every place says the same, and none less than the key's requests allow."""

import asyncio
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli.doubles import TinyClips
from widgets.doubles import heard, says

import reelbook as rb
from reelbook import timing
from reelbook.cli.progress import progress_figures
from reelbook.cli.sweep import _so_far
from reelbook.formatting import plain
from reelbook.sandbox import server
from reelbook.sandbox.handle import Sandbox
from reelbook.widgets.matrix import Matrix

TAKES_SECONDS = 40


class SteppedLoop(asyncio.SelectorEventLoop):
    """Its clock is `ahead` of the machine's by so many seconds."""

    ahead = 0.0

    def time(self) -> float:
        return super().time() + self.ahead


@pytest.fixture(autouse=True)
def stepped_sessions(jumping_sessions: None) -> None:
    """Time passes when a test says so."""
    timing.use(timing.Timing(new_loop=SteppedLoop))


@pytest.fixture
def sandbox(home: Path) -> Iterator[Sandbox]:
    """A sandbox with its usual rate limits."""
    with server.in_thread(home, pace=TAKES_SECONDS, executor=TinyClips()) as running:
        yield running


@pytest.fixture
def session(sandbox: Sandbox, home: Path) -> Iterator[rb.Session]:
    """On a key of 20 requests a minute: enough for two jobs to be asked about while they run."""
    with rb.connect(api_key=sandbox.api_key, base_url=sandbox.url, home=home) as first:
        created = first.keys.create("twenty", rate_limit=20)
    with rb.connect(api_key=created.api_key, base_url=sandbox.url, home=home) as opened:
        yield opened


def second_later(session: rb.Session, sandbox: Sandbox) -> None:
    """A second passes for the service and the session, and what is due then is done."""
    sandbox.advance(1.0)
    loop: Any = session._thread.loop
    session._thread.run(lambda: setattr(loop, "ahead", loop.ahead + 1.0))
    time.sleep(0.02)


def seconds_left(line: Any) -> float:
    """What a line says is left."""
    said = line if isinstance(line, str) else plain(line)
    found = re.search(r"(?:(\d+) min ?)?(?:(\d+) s)? left", said)
    assert found, said
    minutes, seconds = found.groups("0")
    return 60 * int(minutes) + int(seconds)


def test_with_no_requests_left_every_place_says_when_the_next_may_go_out(
    session: rb.Session, sandbox: Sandbox
) -> None:
    """Card, row, cell, head, gallery, comparison and terminal agree, though the clip is made long before."""
    run = rb.Sweep("a {animal} runs", animal=["fox", "heron"], duration_seconds=[1], seed=[7]).run(session)
    matrix = Matrix(run)
    messages = heard(matrix)
    says(matrix, "hello")
    while not all(cell.job is not None and cell.job.view().progress for cell in run.cells):
        second_later(session, sandbox)
    jobs = [cell.job for cell in run.cells if cell.job is not None]
    first = max(jobs, key=lambda job: job.view().progress or 0.0)
    while session.facts.requests_left:
        session.balance()
    second_later(session, sandbox)
    second_later(session, sandbox)
    card = rb.JobCard(first)
    board = rb.JobBoard(session)
    entry = board._entries[first]
    board.opened = entry.key
    gallery = rb.Gallery(session, state="any", opened=first.request_id)
    comparison = rb.Compare(jobs)
    number = jobs.index(first) + 1

    def said_of_cell() -> Any:
        sent = [cell for message, _ in list(messages) for cell in message.get("cells", [])]
        return next(cell["line"] for cell in reversed(sent) if cell["n"] == number and "line" in cell)

    def said_of_sweep() -> Any:
        heads = [message["head"] for message, _ in list(messages) if "head" in message]
        return next(head["left"] for head in reversed(heads) if "left" in head)

    says(matrix, "hello")  # an open page counts down on the machine's clock, which the session's is ahead of
    back = session.facts.requests_back_in_seconds
    assert back is not None
    said = {
        "view": first.view().remaining_seconds or 0.0,
        "card": seconds_left(card.figures[0]),
        "row": seconds_left(entry.row["time"]),
        "open row": seconds_left(board.figures[0]),
        "gallery": seconds_left(gallery.figures[0]),
        "comparison": seconds_left(comparison.tiles[number - 1]["lines"][0]),
        "cell": seconds_left(said_of_cell()),
        "head": seconds_left(said_of_sweep()),
        "terminal": seconds_left(progress_figures(first, first.view())),
        "sweep on the terminal": seconds_left(_so_far(run)),
    }
    assert all(left >= back - 2 for left in said.values()), (back, said)
    head = said.pop("head"), said.pop("sweep on the terminal")  # of both clips
    assert max(said.values()) - min(said.values()) <= 2.5, said
    assert all(left >= max(said.values()) - 2.5 for left in head), (head, said)
