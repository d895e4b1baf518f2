"""Usage over time: asks what `usage` plans, with the lowest priority, and says what is known so far."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from ..errors import ReelbookError
from ..event_thread import EventThread, Future
from ..ledger import Ledger, PaidClip, Sample
from ..listeners import Listeners
from ..models import Usage
from ..wire import DAY_SECONDS
from . import usage
from .balance import BalanceTracker
from .connection import Connection
from .usage import KnownUsage, Reading, Totals, UsageSpan, infer_reading

KEPT_DAYS: Final = 100
MANY_SAMPLES: Final = 5000
APART_SECONDS: Final = DAY_SECONDS / 4  # of answers closer together than this, only the newest is used


class UsageHistory:
    """What was used in the last `days` days, span by span; made by `Session.usage_history()`.

    It covers the whole period from the first answer on, and splits long spans while requests are free.
    `days` changes where the service reports another period. `asked` is how many requests this round took,
    `trouble` why it stopped early ("" if it didn't). Times are epoch seconds.
    """

    def __init__(
        self,
        connection: Connection,
        ledger: Ledger,
        balance: BalanceTracker,
        thread: EventThread,
        days: int,
    ) -> None:
        self.days = days
        self.asked = 0
        self.trouble = ""
        self._connection = connection
        self._ledger = ledger
        self._balance = balance
        self._thread = thread
        self._listeners: Listeners[[]] = Listeners()
        self._known = KnownUsage(days, time.time(), ())
        self._round: Future[None] = thread.submit(self._refine())

    def __repr__(self) -> str:
        state = "done" if self.done else "refining"
        return f"<UsageHistory of {self.days} days, {len(self.spans)} spans, {state}>"

    @property
    def spans(self) -> tuple[UsageSpan, ...]:
        """The period in spans, oldest first; empty before the first answer."""
        return usage.spans(self._known)

    @property
    def total(self) -> Totals | None:
        """The service's own total of the period, None before it is known."""
        return usage.total_of_period(self._known)

    @property
    def reading(self) -> Reading | None:
        """How the service counts days: "rolling" (back from now), "calendar" (UTC) or None: not known."""
        return self._known.reading

    @property
    def done(self) -> bool:
        """Whether nothing more is asked for now."""
        return self._round.done()

    def own(self) -> tuple[PaidClip, ...]:
        """The clips of the period that this ledger knows to be paid."""
        since = self.spans[0].from_at if self.spans else time.time() - self.days * DAY_SECONDS
        return tuple(self._ledger.paid(since))

    def refresh(self) -> None:
        """Begins another round, unless one is running. It takes few requests, as what is known is kept."""
        if self.done:
            self._round = self._thread.submit(self._refine())

    def wait(self, timeout: float | None = None) -> UsageHistory:
        """Waits until nothing more is asked, and returns itself. Raises TimeoutError."""
        self._thread.refuse_own_thread()
        if not self._round.wait(timeout):
            raise TimeoutError
        self._round.result()
        return self

    def close(self) -> None:
        self._round.cancel()

    def subscribe(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Calls `callback()` on the session's thread after every answer. Returns a function to end that."""
        return self._listeners.subscribe(callback)

    def to_pandas(self) -> Any:  # pandas has no types
        """The spans as a DataFrame: from, to (UTC), usd, seconds, requests, split."""
        import pandas as pd  # type: ignore[import-untyped]  # and heavy: only here

        rows = [
            {
                "from": datetime.fromtimestamp(span.from_at, UTC),
                "to": datetime.fromtimestamp(span.to_at, UTC),
                **{name: getattr(span, name) for name in ("usd", "seconds", "requests", "split")},
            }
            for span in self.spans
        ]
        return pd.DataFrame(rows, columns=["from", "to", "usd", "seconds", "requests", "split"])

    async def _refine(self) -> None:
        began = time.time()
        self.trouble, self.asked = "", 0
        known_days: set[int] = set()  # values of `days` that this round needn't ask about again
        since = began - KEPT_DAYS * DAY_SECONDS
        # One from later was heard by a clock that was ahead, and would overrule what is heard now.
        kept = self._ledger.samples.list(since=since, before=began, limit=MANY_SAMPLES)
        latest = {(each.period_days, each.at // APART_SECONDS): each for each in reversed(kept)}
        answers = [totals for each in latest.values() if (totals := _totals(each.at, each.period_days, each))]

        def learn() -> None:
            self._known = KnownUsage(self.days, began, tuple(answers), infer_reading(answers))

        learn()
        try:
            await self._connection.reach()
            while (days := usage.next_days(self._known, known_days)) is not None:
                answer = await self._balance.usage(days, background=True)
                self.asked += 1
                # A service may have a shortest and a longest period: those between say the same.
                period = answer.period_days or days
                known_days.update(range(min(days, period), max(days, period) + 1))
                if days == self.days:
                    self.days = period
                if (totals := _totals(time.time(), period, answer)) is not None:
                    answers.append(totals)
                learn()
                self._listeners.tell()
        except ReelbookError as error:
            self.trouble = str(error)
        finally:
            # Reported once more when the round is over, which `done` waits for.
            asyncio.get_running_loop().call_later(0.05, self._listeners.tell)


def _totals(at: float, days: float | None, told: Usage | Sample) -> Totals | None:
    if told.total_cost_usd is None or not days:
        return None
    return Totals(
        at, int(days), told.total_cost_usd, told.total_seconds, told.total_requests, told.total_spent_usd
    )
