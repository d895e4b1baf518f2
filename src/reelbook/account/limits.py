"""What a submission leaves of the spending limit and of the balance, and warnings when that is little.

It is computed from what is already known, without a request.
"""

import contextlib
import functools
import math
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from .. import settings, wire
from ..errors import SpendingWarning
from ..formatting import count, exact_dollars
from ..ledger import Entry, Funds, Ledger, Spend

# The last fifth of a limit is a few clips: enough to finish a thought, or to raise the limit in time.
LIMIT_SHARE: Final = 0.8
# So many clips take a few minutes, which is as long as it takes to add credits.
FEW_CLIPS: Final = 5
_LEAST_USD: Final = 1e-9

Kind = Literal["limit", "balance"]
Warn = Callable[[Warning], None]


@dataclass(frozen=True)
class Spending(Spend):
    """What this kernel submitted in this session, and what `max_spend` leaves, in USD.

        spending = session.spending()
        print(spending)
        print(spending.spent_usd, spending.reserved_usd, spending.uncertain_usd, spending.left_usd)

    Besides the amounts of `Spend`, `of_key` has the same for all clips of the key, including those of earlier
    sessions: that is what the limit counts. `limit_usd` is `max_spend`, None without one.
    """

    limit_usd: float | None = None
    of_key: Spend = Spend(0.0, 0.0, 0.0)  # noqa: RUF009 - frozen

    @property
    def left_usd(self) -> float | None:
        """What may still be submitted under the limit; None without one."""
        counted = self.of_key.committed_usd
        return None if self.limit_usd is None else max(0.0, round(self.limit_usd - counted, 6))

    def __str__(self) -> str:
        said = f"This session spent {exact_dollars(self.spent_usd)}"
        if self.tools_usd:
            said += f" ({exact_dollars(self.tools_usd)} of it through agent tools)"
        beside = [
            f"{exact_dollars(amount)} {word}"
            for amount, word in (
                (self.reserved_usd, "is reserved for clips on their way"),
                (self.uncertain_usd, "is uncertain"),
            )
            if amount
        ]
        said = ", ".join([said, *beside])
        if self.limit_usd is None or self.left_usd is None:
            return f"{said}; no limit is set."
        earlier = self.of_key.committed_usd - self.committed_usd
        counted = f", {exact_dollars(earlier)} of earlier clips counted" if earlier > _LEAST_USD else ""
        left, limit = exact_dollars(self.left_usd), exact_dollars(self.limit_usd)
        return f"{said}; {left} of the limit of {limit} is left{counted}."

    __repr__ = __str__


@dataclass(frozen=True)
class SpendNotice:
    """A submission nears the end of the limit or the balance: `left_usd` is what it leaves, `text` says so.

    `stage` 1: not much is left. 2: not enough for another clip like it. 3: perhaps not enough for this one.
    """

    kind: Kind
    stage: int
    left_usd: float
    text: str


def spend_notices(
    estimate_usd: float,
    *,
    spend: Spend,
    limit_usd: float | None,
    balance_usd: float | None,
    to_come_usd: float = 0.0,
    each_usd: float | None = None,
) -> tuple[SpendNotice, ...]:
    """What to say about a submission of `estimate_usd`, if `spend` is what counts before it.

    `balance_usd` is what is left of the balance, `to_come_usd` what was subtracted for clips in progress.
    `each_usd` is the price of a batch's dearest clip. Nothing is said about a submission that would exceed
    the limit: it is refused elsewhere.
    """
    each = estimate_usd if each_usd is None else each_usd
    near = []
    if limit_usd is not None:
        near.append(_limit(_exact(limit_usd - spend.committed_usd - estimate_usd), each, limit_usd))
    if balance_usd is not None:
        near.append(_balance(_exact(balance_usd - estimate_usd), each, balance_usd, to_come_usd))
    return tuple(notice for notice in near if notice is not None)


def _limit(left: float, each_usd: float, limit_usd: float) -> SpendNotice | None:
    said = f"This leaves {exact_dollars(left)} of your limit of {exact_dollars(limit_usd)}"
    if 0 <= left < each_usd:
        return SpendNotice("limit", 2, left, f"{said}: not enough for another clip like it.")
    if 0 <= left <= limit_usd * (1 - LIMIT_SHARE) + _LEAST_USD:
        return SpendNotice("limit", 1, left, f"{said}.")
    return None


def _balance(left: float, each_usd: float, balance_usd: float, to_come_usd: float) -> SpendNotice | None:
    if left < 0:
        beside = f", and clips may still cost {exact_dollars(to_come_usd)} of it" if to_come_usd else ""
        said = f"The balance was {exact_dollars(balance_usd + to_come_usd)}{beside}"
        return SpendNotice("balance", 3, left, f"{said}: perhaps not enough for this.")
    more = math.floor(left / wire.PRICE_USD_PER_SECOND + _LEAST_USD)
    said = f"This leaves about {exact_dollars(left)} of the balance, enough for {count(more, 'more second')}."
    if left < each_usd:
        return SpendNotice("balance", 2, left, said)
    return SpendNotice("balance", 1, left, said) if left < FEW_CLIPS * each_usd else None


def _exact(amount_usd: float) -> float:
    """Rounded to a millionth of a dollar, as the ledger counts, and never minus zero."""
    return round(amount_usd, 6) + 0.0


_silent: ContextVar[bool] = ContextVar("reelbook_says_it_elsewhere", default=False)


@contextlib.contextmanager
def without_spend_warnings() -> Iterator[None]:
    """Within it, submissions aren't warned about: the caller has said it."""
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


def caller_warner() -> Warn:
    """A function that warns, at once or later, of the first line up from here that isn't Reelbook's."""
    package = __name__.partition(".")[0]
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame = frame.f_back
    known = frame.f_globals
    return functools.partial(
        warnings.warn_explicit,
        category=UserWarning,  # that of the warning counts
        filename=frame.f_code.co_filename,
        lineno=frame.f_lineno,
        module=known.get("__name__", "<string>"),
        registry=known.setdefault("__warningregistry__", {}),
    )


class SpendWarner:
    """Warns once at each threshold that a session crosses, and again when it crosses it anew."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._reached: dict[Kind, int] = {}

    def look(self, new: Sequence[Entry], before: Funds | None, warn: Warn) -> None:
        """Warns about what was just recorded and isn't sent yet.

        `before` is what was left of the balance until then. Raises SpendingWarning if warnings are errors.
        """
        if not new or _silent.get():
            return
        costs = [entry.estimated_cost_usd for entry in new]
        spend = self._ledger.spend()
        near = spend_notices(
            sum(costs),
            spend=replace(spend, reserved_usd=max(0.0, round(spend.reserved_usd - sum(costs), 6))),
            limit_usd=self._ledger.max_spend_usd,
            balance_usd=None if before is None else before.left_usd,
            to_come_usd=0.0 if before is None else before.to_come_usd,
            each_usd=max(costs),
        )
        for each in near:
            if each.stage > self._reached.get(each.kind, 0):
                warn(SpendingWarning(each.text, left_usd=each.left_usd))
        self._reached = {each.kind: max(each.stage, self._reached.get(each.kind, 0)) for each in near}


def say_unsent(count: int, home: Path, *, kept: bool) -> None:
    """Says on stderr at the end of a script how much was never sent and, if `kept`, how to send it later."""
    clips = "1 clip was" if count == 1 else f"{count} clips were"
    command = "reelbook jobs resume --unsent"
    if home != settings.home(None):
        command += f" --home {shlex.quote(str(home))}"
    later = f" To send what is left, and pay for it: {command}, or session.resume(unsent=True)."
    print(  # noqa: T201 - there is no caller any more whom a warning could name
        f"Reelbook: {clips} not sent before the program ended. Nothing was paid for that."
        f"{later if kept else ''} A script that is to wait submits within "
        "`with reelbook.connect() as session:`, or calls job.result().",
        file=sys.stderr,
    )
