"""What became of submissions whose answer was lost: asks for the figures, and carries out what is sure.

What the figures say is decided in `comparing.py` and `evidence.py`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from ..errors import AuthenticationError, ReelbookError, ServiceError, SubmissionUncertain
from ..ledger import LOST, NOT_ACCEPTED, Entry, Sample
from .comparing import Told, compare
from .evidence import SANDBOX, Answer, Rules
from .figures import Change, clock, local, said

if TYPE_CHECKING:
    from .books import Books
    from .job import Job
    from .jobs import Jobs
    from .money import Money

_MARK: Final = {"accepted": "Accepted.", "not accepted": "Not accepted.", "can't tell": "Can't tell."}


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
        self._rules = SANDBOX if sandbox else Rules()

    async def find_out(self, *, alone: bool) -> Reconciliation:
        """Asks for balance and usage once each, and settles what is sure."""
        if not self._books.uncertain_entries():
            return Reconciliation(())
        await self._reach()
        now = await self._ask()
        told = await asyncio.to_thread(self._compare, now, alone)
        for each in told:
            if each.answer != "can't tell":
                self._books.settle(each.entry, accepted=each.answer == "accepted")
        verdicts = tuple(self._verdict(each) for each in told)
        self._tell()
        changes = tuple(dict.fromkeys(change for each in told for change in each.changes))
        return Reconciliation(
            verdicts,
            before_at=min((change.before_at for change in changes), default=None),
            now_at=local(now.at),
            changes=changes,
            now_figures=said(now),
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
        return Sample(
            began,
            balance_usd=balance.balance_usd,
            total_spent_usd=balance.total_spent_usd
            if usage.total_spent_usd is None
            else usage.total_spent_usd,
            total_requests=usage.total_requests,
            total_seconds=usage.total_seconds,
            total_cost_usd=usage.total_cost_usd,
            period_days=usage.period_days,
        )

    def _compare(self, now: Sample, alone: bool) -> list[Told]:
        uncertain = self._books.uncertain_entries()
        samples = self._books.samples(before=now.at)
        oldest = min((each.at for each in samples), default=now.at)
        return compare(
            uncertain,
            self._books.others_since(oldest),
            samples,
            now,
            self._rules,
            alone=alone,
            asked_at=self._books.asked_at,
            tools=self._books.tool_money(oldest, sandbox=self._rules is SANDBOX),
        )

    def _verdict(self, told: Told) -> Verdict:
        job = self._jobs.of(told.entry, watch=False)
        verdict = Verdict(job, told.answer, told.reasons, told.advice, told.if_alone)
        job._found_out(_STATE.get(told.answer, job.state), _error(told.entry, verdict))
        return verdict


_STATE: Final[dict[Answer, str]] = {"accepted": LOST, "not accepted": NOT_ACCEPTED}


def _error(entry: Entry, verdict: Verdict) -> ReelbookError:
    if verdict.answer == "not accepted":
        return ReelbookError(str(verdict))
    return SubmissionUncertain(str(verdict), estimated_cost_usd=entry.estimated_cost_usd)
