"""A kernel that is killed in the middle of a batch loses nothing that was paid for."""

import random
from collections.abc import Iterator

import pytest
from session.aftermath import SUBMITTING
from session.killing import JOBS, Outside, dies, once_gone, once_received, round_of
from support.kept_clips import KeptClips

from reelbook.client.scheduling.scheduler import SUBMISSIONS_AT_A_TIME
from reelbook.sandbox import server

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
