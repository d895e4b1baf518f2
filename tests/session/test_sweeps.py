"""What a sweep's run is given by its session."""

import reelbook as rb
from reelbook.ledger.sweeps import NewSweep

FOX = rb.JobRequest.from_text("a fox", duration_seconds=1, seed=7)


def test_a_cell_is_submitted_once_and_its_job_given_back(session: rb.Session) -> None:
    """A second wish gets the first one's job, on its way or done."""
    control = session._sweeps
    sweep = session._ledger.sweeps.begin(NewSweep("foxes", {}), [1, 2], left_out=())

    def buy(seen: rb.Job | None = None) -> rb.Job:
        return control.thread.run(lambda: control.buy(FOX, sweep, 1, seen=seen, experiment="foxes"))

    job = buy()
    assert (buy(), buy(job)) == (job, job)
    assert job.earlier_run is not None
    assert job.earlier_run.known_by == "sweep"
    job.result(30)
    assert buy(job) is job
    cells = control.thread.run(lambda: control.cells(sweep))
    assert [(cell.number, job) for cell, job in cells] == [(1, job), (2, None)]
    assert session.jobs(experiment="foxes") == (job,)
