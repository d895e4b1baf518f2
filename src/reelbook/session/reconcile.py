"""What became of submissions whose answer was lost: asks for the figures, and carries out what is sure.

What the figures say is decided in `evidence.py`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from ..errors import (
    AuthenticationError,
    ReelbookError,
    ServiceError,
    SubmissionUncertain,
)
from ..formatting import clock, local
from ..ledger import (
    LOST,
    NOT_ACCEPTED,
    Entry,
    Sample,
)
from ..ledger.tool_calls import KEPT
from .evidence import (
    FIELDS,
    LIVE,
    SANDBOX,
    Account,
    Answer,
    Change,
    Finding,
    compare,
    value,
    written,
)

if TYPE_CHECKING:
    from .books import Books
    from .job import Job
    from .job_registry import Jobs
    from .money import Money

_MARK: Final = {"accepted": "Accepted.", "not accepted": "Not accepted.", "can't tell": "Can't tell."}
_STATE: Final[dict[Answer, str]] = {"accepted": LOST, "not accepted": NOT_ACCEPTED}


@dataclass(frozen=True)
class Verdict:
    """What became of one submission that was never answered, why that is known, and what to do.

    "not accepted": nothing was paid and there is no clip; a job that failed at once, unpaid and uncounted,
    can't be told from one that was never taken. `if_alone` is the answer if nobody else used the account.
    """

    job: Job
    answer: Answer
    reasons: tuple[str, ...]
    advice: str
    if_alone: Answer = "can't tell"

    def __str__(self) -> str:
        return " ".join([_MARK[self.answer], *self.reasons, self.advice])


@dataclass(frozen=True)
class Reconciliation:
    """The verdicts, oldest submission first, and the figures that were compared.

    `before_at` and `now_at` are when they were taken, `before_at` the earliest; None where there are none.
    """

    verdicts: tuple[Verdict, ...]
    before_at: datetime | None = None
    now_at: datetime | None = None
    changes: tuple[Change, ...] = ()
    now_figures: str = ""

    def __str__(self) -> str:
        if not self.verdicts:
            return "Every submission was answered. Nothing was asked."
        count = len(self.verdicts)
        lines = [f"{count} submission{'' if count == 1 else 's'} without an answer."]
        lines += [f"  {change}" for change in self.changes]
        if not self.changes and self.now_at is not None:
            lines.append(f"  now, at {clock(self.now_at)}: {self.now_figures}; nothing known from before")
        for verdict in self.verdicts:
            lines += [f"{verdict.job!r}: {verdict.answer}"]
            lines += [f"  {text}" for text in (*verdict.reasons, verdict.advice)]
        return "\n".join(lines)

    __repr__ = __str__


class Reconciler:
    """Finds out for one session, on its thread."""

    def __init__(
        self,
        money: Money,
        books: Books,
        jobs: Jobs,
        *,
        reach: Callable[[], Awaitable[None]],
        tell: Callable[[], None],
        sandbox: bool,
    ) -> None:
        self._money = money
        self._books = books
        self._jobs = jobs
        self._reach = reach
        self._tell = tell
        self._rules = SANDBOX if sandbox else LIVE

    async def find_out(self, *, alone: bool) -> Reconciliation:
        """Asks for balance and usage once each, and settles what is sure."""
        if not self._books.uncertain_entries():
            return Reconciliation(())
        await self._reach()
        now = await self._ask()
        findings = await asyncio.to_thread(self._compare, now, alone)
        for each in findings:
            if each.answer != "can't tell":
                self._books.settle(each.entry, accepted=each.answer == "accepted")
        verdicts = tuple(map(self._verdict, findings))
        self._tell()
        changes = tuple(dict.fromkeys(change for each in findings for change in each.changes))
        return Reconciliation(
            verdicts,
            before_at=min((change.before_at for change in changes), default=None),
            now_at=local(now.at),
            changes=changes,
            now_figures=", ".join(
                f"{figure} {written(figure, found)}"
                for figure in FIELDS
                if (found := value(figure, now)) is not None
            ),
        )

    async def _ask(self) -> Sample:
        # By the time before the questions: what was posted by then is in the answers.
        began = time.time()
        balance = await self._money.balance()
        figures = Sample(began, balance_usd=balance.balance_usd, total_spent_usd=balance.total_spent_usd)
        try:
            usage = await self._money.usage(self._books.usage_days())
        except AuthenticationError:
            raise
        except ServiceError:
            return figures  # the money alone tells something too
        spent = balance.total_spent_usd if usage.total_spent_usd is None else usage.total_spent_usd
        return Sample(
            began,
            balance_usd=balance.balance_usd,
            total_spent_usd=spent,
            total_requests=usage.total_requests,
            total_seconds=usage.total_seconds,
            total_cost_usd=usage.total_cost_usd,
            period_days=usage.period_days,
        )

    def _compare(self, now: Sample, alone: bool) -> list[Finding]:
        samples = self._books.samples(before=now.at)
        oldest = min((each.at for each in samples), default=now.at)
        account = Account(
            uncertain=self._books.uncertain_entries(),
            others=self._books.others_since(oldest),
            samples=samples,
            now=now,
            rules=self._rules,
            asked_at=self._books.asked_at,
            tool_calls=self._books.tool_calls.recent(KEPT),
        )
        return compare(account, alone=alone)

    def _verdict(self, finding: Finding) -> Verdict:
        job = self._jobs.of(finding.entry, watch=False)
        verdict = Verdict(job, finding.answer, finding.reasons, finding.advice, finding.if_alone)
        job._found_out(_STATE.get(finding.answer, job.state), _error(finding.entry, verdict))
        return verdict


def _error(entry: Entry, verdict: Verdict) -> ReelbookError:
    if verdict.answer == "not accepted":
        return ReelbookError(str(verdict))
    return SubmissionUncertain(str(verdict), estimated_cost_usd=entry.estimated_cost_usd)
