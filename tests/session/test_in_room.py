"""A student's session in a class's room: its place in the queue, taking back, and answers that are lost."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from support.waiting import until

import reelbook as rb
from reelbook import states
from reelbook.classroom.room import app
from reelbook.classroom.room.app import Room
from reelbook.classroom.room.serving import in_thread
from reelbook.errors import JobFailed, SubmissionCancelled, SubmissionUncertain
from reelbook.explore import SweepRun
from reelbook.text.card import ShownJob, job_face, job_lines
from reelbook.web.connections import connection_of


@pytest.fixture
def queued(room: Room, ada: rb.Session) -> rb.Batch:
    """Two jobs that wait in the queue of a room that is paused."""
    room.store.change(paused=1)
    batch = ada.submit_many(["first", "second"], duration_seconds=1)
    until(lambda: all(job.view().ahead is not None for job in batch))
    return batch


@pytest.fixture
def lost(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Loses the next answers to orders, on their way from the room to the student; call it before a room."""
    left = 0
    real = app._text_to_video

    async def losing(room: app.Room, request: Request) -> dict[str, Any]:
        nonlocal left
        answer = await real(room, request)
        if left > 0:
            left -= 1
            connection_of(request.scope).reset()
        return answer

    def lose(times: int) -> None:
        nonlocal left
        left = times

    monkeypatch.setattr(app, "_text_to_video", losing)
    return lose


@pytest.fixture
def room(short_jobs: None, session: rb.Session, lost: Callable[[int], None]) -> Iterator[Room]:
    with in_thread(session, "KFX-204") as room:
        yield room


@pytest.fixture
def ada(room: Room, tmp_path: Path) -> Iterator[rb.Session]:
    session = rb.join(room.url, "KFX-204", name="Ada", home=tmp_path / "laptop")
    yield session
    session.close()


def test_a_lost_answer_is_sent_again_with_the_same_key(
    room: Room, ada: rb.Session, lost: Callable[[int], None], no_pauses: None
) -> None:
    """Three times, and the room has one order: nothing is uncertain."""
    lost(3)
    job = ada.text_to_video("a red fox", duration_seconds=1)

    assert job.result().request_id == job.request_id
    assert job.view().unanswered == 0
    assert [each.request_id for each in room.store.all_jobs()] == [job.request_id]


def test_what_stays_unanswered_is_looked_up(
    room: Room, ada: rb.Session, lost: Callable[[int], None], no_pauses: None
) -> None:
    """Where the room doesn't come back in time: later it says what it has, and that job goes on.

    In the ledger it is in progress again, but nobody learns from it how long clips take.
    """
    room.store.change(paused=1)
    lost(100)
    job = ada.text_to_video("a red fox", duration_seconds=1)
    with pytest.raises(SubmissionUncertain, match="bought once at most"):
        job.result()
    lost(0)

    (verdict,) = ada.reconcile().verdicts
    assert (verdict.job, verdict.answer) == (job, "accepted")
    (entry,) = ada._ledger.find()
    assert (entry.state, entry.ended_at) == ("pending", None)
    room.store.change(paused=0)
    room.queue.poke()
    assert job.result().duration_seconds == pytest.approx(1.0, abs=0.1)
    (entry,) = ada._ledger.find()
    assert entry.accepted_at is not None
    assert entry.ended_at is not None
    assert entry.ended_at > entry.accepted_at
    assert entry.took_seconds is None
    assert len(room.store.all_jobs()) == 1
    assert ada.spending().uncertain_usd == 0.0


def test_an_attempt_that_the_room_never_got_is_told_so(
    room: Room, ada: rb.Session, monkeypatch: pytest.MonkeyPatch, no_pauses: None
) -> None:
    """By the list of one's own jobs, at once."""
    monkeypatch.setattr(app, "order", lambda *_: (_ for _ in ()).throw(RuntimeError("broken")))
    job = ada.text_to_video("a red fox", duration_seconds=1)
    with pytest.raises(SubmissionUncertain):
        job.result()

    (verdict,) = ada.reconcile().verdicts
    assert verdict.answer == "not accepted"
    assert job.state == states.NOT_ACCEPTED


def test_what_waits_is_taken_back(room: Room, ada: rb.Session, queued: rb.Batch) -> None:
    """The card has its place in the queue, and a button. Nothing is paid, the next ones move up, and a later
    kernel doesn't take it up.
    """
    places = {job.view().ahead: job for job in queued}
    shown = ShownJob.of(places[1], ada.service)
    assert set(places) == {0, 1}
    assert ["cancel", "Take back"] in job_face(shown)["actions"]
    assert "1 clip ahead of yours" in str(job_lines(shown.view))
    assert queued[0].cancel()
    queued[0].watch()  # there is nothing to watch any more
    assert not queued[0].running
    with pytest.raises(SubmissionCancelled):
        queued[0].result()
    assert (queued[0].state, ada.spending().committed_usd) == (states.CANCELLED, 0.05)
    assert room.store.money() == (0, 0.05)
    room.store.change(paused=0)
    room.queue.poke()
    queued[1].result()
    assert ada.resume() == ()


@pytest.mark.parametrize("halt", [SweepRun.pause, SweepRun.stop])
def test_a_sweep_that_waits_is_taken_back(
    room: Room, ada: rb.Session, halt: Callable[[SweepRun], None]
) -> None:
    """By Pause and by Stop; what is missing can be bought later."""
    room.store.change(paused=1)
    run = rb.Sweep("a {animal}", animal=["fox", "owl"], duration_seconds=1).run(ada)
    until(lambda: all(cell.job and cell.job.view().ahead is not None for cell in run.cells))
    halt(run)
    until(lambda: all(cell.missing for cell in run.cells))
    assert (ada.spending().committed_usd, room.store.money()) == (0.0, (0, 0))

    room.store.change(paused=0)
    run.resume()
    assert len(run.results()) == 2


def test_what_was_sent_is_not_taken_back(room: Room, queued: rb.Batch) -> None:
    """The room refuses it, and the clip is made."""
    job = queued[0]
    job.stop_watching()
    room.store.change(paused=0)
    room.queue.poke()
    until(lambda: room.store.counts() == {"completed": 2})

    assert not job.cancel()
    assert job.result().duration_seconds == pytest.approx(1.0, abs=0.1)


def test_a_batch_that_waits_is_taken_back(room: Room, ada: rb.Session, queued: rb.Batch) -> None:
    """All that the room has in its queue, as each of its jobs would be."""
    assert (queued.cancel(), queued.cancel()) == (2, 0)
    assert (len(queued.unpaid), ada.spending().committed_usd) == (2, 0.0)
    assert room.store.money() == (0, 0)


def test_the_end_of_the_class_costs_nothing(room: Room, ada: rb.Session, queued: rb.Batch) -> None:
    """What it took back is told as unpaid, not as perhaps billed."""
    with room.store.transaction() as db:
        db.execute("UPDATE jobs SET state = 'taken back', reserved_micro = 0, error = 'The class is over.'")

    for job in queued:
        with pytest.raises(JobFailed, match="class is over"):
            job.result()
        assert job.view().cost_usd == 0.0
    assert ada.spending().committed_usd == 0.0
