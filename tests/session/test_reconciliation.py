"""What a person is told of jobs whose answer was lost."""

from __future__ import annotations

from typing import Any

import pytest
from account.accounts import entry
from widgets.doubles import job

from reelbook.account.reconcile import Comparison
from reelbook.account.reconcile_rules import Change, Finding
from reelbook.errors import ReelbookError, SubmissionUncertain
from reelbook.formatting import local
from reelbook.session.reconciliation import Reconciliation, tell_jobs
from reelbook.states import LOST, NOT_ACCEPTED, UNCERTAIN

CHANGE = Change("balance", 25.0, local(0.0), 24.75, local(60.0))


def told(answer: Any, **known: Any) -> Reconciliation:
    """The verdict on one job."""
    lost = job(state=UNCERTAIN, request_id=None)
    finding = Finding(entry(1), answer, answer, ("The balance fell.",), "Wait a minute.", (CHANGE,))
    return tell_jobs(Comparison((finding,), **known), lambda _: lost)


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
    """The figures that changed, or those of now where nothing is known from before."""
    found = told("accepted", changes=(CHANGE,))
    lines = str(found).splitlines()
    assert lines[0] == "1 submission without an answer."
    assert lines[1].startswith("  balance $25.00 at ")
    assert lines[2].endswith(": accepted")
    assert lines[3:] == ["  The balance fell.", "  Wait a minute."]
    alone = str(told("can't tell", now_at=local(60.0), now_figures="balance $24.75"))
    assert ": balance $24.75; nothing known from before" in alone
    assert repr(found) == str(found)


def test_without_a_lost_answer_it_says_so() -> None:
    """Nothing was asked for it."""
    assert str(Reconciliation(())) == "Every submission was answered. Nothing was asked."
