"""What several tests of sessions begin with."""

from collections.abc import Callable

import pytest
from support.waiting import until

import reelbook as rb
from reelbook.executions import Execution
from reelbook.sandbox.handle import Sandbox

RunCell = Callable[..., None]


@pytest.fixture
def run_cell(monkeypatch: pytest.MonkeyPatch) -> RunCell:
    """Each call begins another run of the same cell, or of another of that text."""
    runs = 0

    def run(cell: str = "cell") -> None:
        nonlocal runs
        runs += 1
        execution = Execution(cell, f"run {runs}")
        monkeypatch.setattr("reelbook.session.session.current_execution", lambda: execution)

    return run


@pytest.fixture
def slow(session: rb.Session, sandbox: Sandbox) -> rb.Job:
    """A job that ends only when the sandbox's clock is moved on by an hour, as do those after it."""
    sandbox.settings(pace=3600)
    job = session.text_to_video("slow", duration_seconds=1, once="pair")
    until(lambda: job.request_id)
    return job
