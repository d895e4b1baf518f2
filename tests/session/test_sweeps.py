"""What a sweep's run is given by its session."""

from __future__ import annotations

import pytest

import reelbook as rb
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
    cells = control.thread.run(lambda: control.cells(sweep))
    assert [(cell.number, job) for cell, job in cells] == [(1, job), (2, None)]
    assert session.jobs(experiment="foxes") == (job,)
