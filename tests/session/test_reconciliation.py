"""What a person is told of jobs whose answer was lost."""

from __future__ import annotations

from typing import Any

import pytest
from account.accounts import entry
from widgets.doubles import job

from reelbook.account.reconcile import Finding
from reelbook.errors import ReelbookError, SubmissionUncertain
from reelbook.session.reconciliation import Reconciliation, tell_jobs
from reelbook.states import LOST, NOT_ACCEPTED, UNCERTAIN


def told(answer: Any) -> Reconciliation:
    """The verdict on one job."""
    lost = job(state=UNCERTAIN, request_id=None)
    finding = Finding(entry(1), answer, answer, ("The balance fell.",), "Wait a minute.")
    return tell_jobs([finding], lambda _: lost)


@pytest.mark.parametrize(
    ("answer", "state", "error"),
    [
        ("accepted", LOST, SubmissionUncertain),
        ("not accepted", NOT_ACCEPTED, ReelbookError),
        ("can't tell", UNCERTAIN, SubmissionUncertain),
    ],
)
def test_each_job_hears_of_its_own_verdict(answer: str, state: str, error: type[ReelbookError]) -> None:
    """And so does who waits for it; only what wasn't accepted is certainly not to be paid."""
    (verdict,) = told(answer).verdicts
    assert (verdict.answer, verdict.job.state) == (answer, state)
    assert type(verdict.job.error) is error
    assert str(verdict.job.error) == str(verdict)
    assert str(verdict).endswith("The balance fell. Wait a minute.")


def test_a_reconciliation_reads_from_the_figures_to_the_advice() -> None:
    """Job by job."""
    found = told("accepted")
    head, job_line, *rest = str(found).splitlines()
    assert head == "1 submission without an answer."
    assert job_line.endswith(": accepted")
    assert rest == ["  The balance fell.", "  Wait a minute."]
    assert repr(found) == str(found)
