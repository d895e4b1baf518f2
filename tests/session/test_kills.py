"""A kernel that is killed in the middle of a batch loses nothing that was paid for."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from session.aftermath import OVER, SUBMITTING, UNSENT, Aftermath, Made, Written
from session.killing import JOBS, Outside, dies, once_gone, once_received, round_of
from support.kept_clips import KeptClips

from reelbook.client.scheduling.scheduler import SUBMISSIONS_AT_A_TIME
from reelbook.ledger import Spend
from reelbook.sandbox import server
from reelbook.states import CANCELLED, INTENDED, SENDING, UNCERTAIN

# One id was received and written down, one answer was lost with the kernel, one submission wasn't sent.
KNOWN = Written("a fox", "completed", "req_1", whole=True)
ALL_WELL = Aftermath(
    at_seconds=0.1,
    received=frozenset({"req_1"}),
    left=(
        Written("a fox", "pending", "req_1"),
        Written("an owl", SENDING, None),
        Written("a bear", INTENDED, None),
    ),
    parts=0,
    resumed=1,
    after=(KNOWN, Written("an owl", UNCERTAIN, None), Written("a bear", CANCELLED, None)),
    made=(Made("a fox", "req_1", 50_000), Made("an owl", "req_2", 50_000)),
    posts=2,
    spend=Spend(spent_usd=0.05, reserved_usd=0.0, uncertain_usd=0.05),
    jobs=3,
)

# Nothing of what was sent is written down: neither that it goes out, nor the id that came back.
FORGETFUL = """
from reelbook.ledger import Ledger
Ledger.sending = lambda *_: True
Ledger.accepted = lambda *_, **__: None
"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outside]:
    folder = tmp_path_factory.mktemp("kills")
    with server.in_thread(folder / "sandbox-home", executor=KeptClips()) as sandbox:
        yield Outside(sandbox, folder)


@pytest.mark.browser
def test_nothing_is_lost_by_a_kill_between_the_answers(service: Outside) -> None:
    """No id, no clip and no cent: known jobs come home, the others are uncertain, none is made twice."""
    count = random.randint(1, JOBS - 2)
    with round_of(service) as batch:
        found = batch.killed(once_received(count))
    assert found.faults() == [], f"killed once {count} ids were received"
    assert found.phase == SUBMITTING
    assert len(found.received) >= count
    assert len(found.unknown) >= 1


@pytest.mark.browser
def test_an_answer_that_was_not_written_down_in_time_is_uncertain(service: Outside) -> None:
    """Killed between the answer's arrival and the disk, the kernel leaves a job that counts as uncertain."""
    with round_of(service, sabotage=dies("accepted", 4, before=True)) as batch:
        found = batch.killed(once_gone)
    assert found.faults() == []
    assert len(found.received) == 3
    assert len(found.unknown) == SUBMISSIONS_AT_A_TIME  # of the seven that were left


@pytest.mark.browser
def test_the_harness_notices_what_is_lost(service: Outside) -> None:
    """A kernel that doesn't write down what it sends is found out: its ids are lost, its jobs unexplained."""
    with round_of(service, sabotage=FORGETFUL) as batch:
        found = batch.killed(once_received(3))
    assert found.lost == found.received
    assert len(found.unexplained) == len(found.made) > 0
    assert len(found.faults()) >= 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"after": ALL_WELL.after[1:]}, "ids lost: ['req_1']"),
        ({"after": (KNOWN, Written("an owl", CANCELLED, None))}, "not among the uncertain"),
        ({"after": (KNOWN, Written("a bear", UNCERTAIN, None))}, "not among the uncertain"),
        ({"after": (KNOWN,)}, "unknown 1 > uncertain 0"),
        ({"made": (*ALL_WELL.made, Made("an owl", "req_3", 0))}, "jobs for one submission: 2"),
        ({"posts": 3}, "POSTs 3, submissions that may have been sent 2"),
        ({"after": (replace(KNOWN, whole=False), *ALL_WELL.after[1:])}, "clips not whole"),
        ({"spend": Spend(0.1, 0.0, 0.05)}, "spent 0.1, billed for known jobs 0.05"),
        ({"spend": Spend(0.05, 0.0, 0.0)}, "uncertain 0.0, billed for unknown jobs 0.05"),
        ({"spend": Spend(0.05, 0.05, 0.05)}, "still reserved: 0.05"),
    ],
)
def test_each_broken_promise_is_named(change: dict[str, Any], said: str) -> None:
    """The verdict has nothing to say where all is well, and names what isn't."""
    assert ALL_WELL.faults() == []
    assert any(said in fault for fault in replace(ALL_WELL, **change).faults())


@pytest.mark.parametrize(
    ("left", "phase"),
    [
        ((), UNSENT),
        ((Written("a fox", INTENDED, None),) * 3, UNSENT),
        (ALL_WELL.left, SUBMITTING),
        ((KNOWN,), SUBMITTING),
        ((KNOWN, KNOWN, Written("an owl", "pending", "req_2")), "in downloads"),
        ((KNOWN, KNOWN, replace(KNOWN, whole=False)), "in downloads"),
        ((Written("an owl", "pending", "req_2"),) * 3, "answered, watching"),
        ((KNOWN,) * 3, OVER),
    ],
)
def test_a_kill_falls_into_one_phase(left: tuple[Written, ...], phase: str) -> None:
    """What was on the disk says how far the batch was."""
    assert replace(ALL_WELL, left=left).phase == phase
