"""The room is killed within its work, and started again with the same home and the same code."""

import contextlib
from collections.abc import Iterator
from concurrent.futures import Executor
from pathlib import Path

import httpx
import pytest
from classroom.room.killable import CLIPS, STUDENTS, Killable, books, bought, broken, kill_at_random
from classroom.room.visitors import Visitor
from support.deadly import deadly

from reelbook.classroom.room.turns import UNSENT
from reelbook.sandbox import server
from reelbook.sandbox.handle import Sandbox

pytestmark = pytest.mark.browser  # processes take long to start

ROUNDS = 2  # `bench_room kills` has a hundred
PRICE_MICRO = 50_000

SETUP = """
from reelbook.classroom.room.store import RoomStore
from reelbook.ledger import Ledger
from reelbook.session import Session
"""
# Each moment once: what comes after one step comes before the next.
MOMENTS = [
    ("RoomStore.hand_over", "before"),
    ("Session.submit", "before"),
    ("Ledger.sending", "before"),
    ("Ledger.sending", "after"),
    ("Ledger.accepted", "after"),
    ("RoomStore.settle", "after"),
]


@pytest.fixture
def outside(home: Path, clips: Executor) -> Iterator[Sandbox]:
    """A sandbox outside the room's process, whose clips take a moment."""
    with server.in_thread(home, pace=0.3, rate_limiting=False, balance_usd=100, executor=clips) as sandbox:
        yield sandbox


@pytest.fixture
def killable(home: Path, outside: Sandbox, tmp_path: Path) -> Iterator[Killable]:
    with Killable(home, tmp_path) as room:
        yield room


def test_killed_at_random_moments_nothing_is_lost_or_bought_twice(
    killable: Killable, outside: Sandbox, home: Path
) -> None:
    """One in ten of the service's answers is lost, too: every id is known to the end."""
    killable.start()
    told = kill_at_random(killable, outside, ROUNDS, seed=24)

    assert len(told) == ROUNDS * STUDENTS * CLIPS
    assert broken(books(home), bought(home), PRICE_MICRO) == []
    assert books(home).states["completed"] >= len(told) - ROUNDS * (1 + UNSENT) - 1


@pytest.mark.parametrize(("step", "side"), MOMENTS)
def test_killed_around_a_step_it_goes_on(killable: Killable, home: Path, step: str, side: str) -> None:
    """Before and after a clip is handed over, written down, sent, answered and settled.

    Only those that were on their way to the service are uncertain; everything else is made, once.
    """
    counts = (
        "'queued' in args[0].counts()" if step == "RoomStore.hand_over" else "1"
    )  # where it has an effect
    killable.start(deadly(killable.words, step, 2, before=side == "before", setup=SETUP, counts=counts))
    prompts = ["first", "second", "third"]
    with Visitor(killable.url) as ada:
        ada.join("Ada")
        jobs = []
        with contextlib.suppress(httpx.TransportError):
            for prompt in prompts:
                jobs.append(ada.ordered(prompt, repeat_key=prompt))
        killable.gone()
        killable.start()
        again = [ada.ordered(prompt, repeat_key=prompt) for prompt in prompts]
        told = [ada.ended(job) for job in again]
    uncertain = sum(each.get("uncertain", False) for each in told)

    assert jobs == again[: len(jobs)]
    assert uncertain <= UNSENT
    assert [each["status"] for each in told].count("completed") == 3 - uncertain
    assert broken(books(home), bought(home), PRICE_MICRO) == []
