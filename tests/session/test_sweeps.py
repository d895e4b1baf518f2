"""What a sweep's run is given by its session."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import reelbook as rb
from reelbook.errors import InvalidInput
from reelbook.ledger import SweepRecord
from reelbook.ledger.sweeps import NewSweep
from reelbook.session.sweeps import SweepControl

FOX = rb.JobRequest.from_text("a fox", duration_seconds=1, seed=7)


@pytest.fixture
def control(session: rb.Session) -> SweepControl:
    return session._sweeps


def begun(session: rb.Session) -> int:
    """A sweep of two cells."""
    rows = session._ledger.sweeps
    return rows.begin(NewSweep("foxes", {}), [1, 2], left_out=())


def buy(control: SweepControl, sweep: int, *, seen: rb.Job | None = None) -> rb.Job:
    """The job of the sweep's first cell."""
    return control.thread.run(lambda: control.buy(FOX, sweep, 1, seen=seen, experiment="foxes"))


def test_a_cell_is_submitted_once_and_its_job_given_back(session: rb.Session, control: SweepControl) -> None:
    """A second wish gets the first one's job, on its way or done."""
    sweep = begun(session)
    job = buy(control, sweep)
    assert (buy(control, sweep), buy(control, sweep, seen=job)) == (job, job)
    assert job.earlier_run is not None
    assert job.earlier_run.known_by == "sweep"
    job.result(30)
    assert buy(control, sweep, seen=job) is job
    assert [(each.number, each.job) for each in control.thread.run(lambda: control.cells(sweep))] == [
        (1, job),
        (2, None),
    ]
    assert session.jobs(experiment="foxes") == (job,)


def test_sweeps_are_plain_records(session: rb.Session, control: SweepControl) -> None:
    """Newest first, and found by their numbers."""
    assert session.sweeps() == ()
    first, second = begun(session), begun(session)
    assert [type(each) for each in session.sweeps()] == [SweepRecord, SweepRecord]
    assert [each.id for each in session.sweeps()] == [str(second), str(first)]
    assert control.record(str(first)).id == str(first)
    for strange in ("99", "fox"):
        with pytest.raises(InvalidInput, match=f"no sweep {strange}"):
            control.record(strange)


def test_a_clip_is_found_while_its_file_is_there(session: rb.Session, control: SweepControl) -> None:
    """Only by its seed, chosen or drawn: a random one, or a picture, makes another clip each time."""
    random = rb.JobRequest.from_text("a fox", duration_seconds=1)
    clips = [session.submit(each).result(30) for each in (FOX, random)]
    assert list(control.found([FOX, random])) == [FOX.sameness]
    drawn = clips[1].request
    assert drawn is not None
    assert drawn.seed is not None
    assert list(control.found([drawn, replace(drawn, seed=drawn.seed + 1)])) == [drawn.sameness]
    clips[0].path.unlink()
    assert control.found([FOX, random]) == {}


def test_what_is_left_is_known(session: rb.Session, control: SweepControl, home: Path) -> None:
    """The balance is asked for once; a limit leaves what nothing counts towards."""
    assert control.limit_left_usd is None
    assert control.balance_left_usd() == pytest.approx(25)
    with rb.connect("sandbox", max_spend=1.0) as limited:
        limited.submit(FOX).result(30)
        assert limited._sweeps.limit_left_usd == pytest.approx(0.95)
