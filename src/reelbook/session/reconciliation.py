"""What became of the jobs whose answer was lost, as a person is told."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..account.reconcile import Finding
from ..errors import ReelbookError, SubmissionUncertain
from ..formatting import count, terminal_line
from ..ledger import Entry
from ..states import LOST, NOT_ACCEPTED
from .job import Job


@dataclass(frozen=True, repr=False)
class Verdict(Finding):
    """What became of one submission that was never answered, how that is known, and what to do.

        for verdict in session.reconcile().verdicts:
            print(verdict.job, verdict.answer, verdict.advice)

    "not accepted": nothing was paid and there is no clip; a job that failed at once, unpaid and uncounted,
    can't be told from one that was never taken. `if_alone` is the answer if nobody else used the account.
    """

    job: Job


@dataclass(frozen=True)
class Reconciliation:
    """What `session.reconcile()` found out: the verdicts, oldest submission first.

        found = session.reconcile()
        print(found)
        paid = [verdict.job for verdict in found.verdicts if verdict.answer == "accepted"]

    Each verdict says how the figure moved, and since when.
    """

    verdicts: tuple[Verdict, ...]

    def __str__(self) -> str:
        if not self.verdicts:
            return "Every submission was answered. Nothing was asked."
        lines = [f"{count(len(self.verdicts), 'submission')} without an answer."]
        for verdict in self.verdicts:
            lines += [f"#{verdict.entry.id} “{terminal_line(verdict.entry.prompt, 60)}”: {verdict.answer}"]
            lines += [f"  {text}" for text in (*verdict.reasons, verdict.advice)]
        return "\n".join(lines)

    __repr__ = __str__


def tell_jobs(findings: Sequence[Finding], job_of: Callable[[Entry], Job]) -> Reconciliation:
    """Turns the findings into verdicts, and tells each job and whoever waits for it its own."""
    verdicts = []
    for each in findings:
        job = job_of(each.entry)
        verdicts.append(Verdict(**vars(each), job=job))
        said = str(verdicts[-1])
        if each.entry.request_id is not None:
            job._life.accepted_as(each.entry.request_id)
        elif each.answer == "not accepted":
            job._life.found_out(NOT_ACCEPTED, ReelbookError(said))
        else:
            error = SubmissionUncertain(said, estimated_cost_usd=each.entry.estimated_cost_usd)
            job._life.found_out(LOST if each.answer == "accepted" else job.state, error)
    return Reconciliation(tuple(verdicts))
