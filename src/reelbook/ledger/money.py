"""An account's money: what was spent, the limit before each submission, and what is left of the balance.

`states` says what a state counts as, `wire` what a second costs; SQL gets both as parameters. Amounts are
whole micro-USD, so that a limit is compared exactly.
"""

import math
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from .. import states, wire
from ..errors import SpendLimitReached
from ..formatting import exact_dollars
from ..models import Balance, Usage
from ..wire import MICRO
from .records import PRICE, Sample, Spend, insert, micro, read
from .search import marks, matching
from .store import Part

# By then an accepted clip has ended. The interface states no bound, so it is much more than any clip takes.
PATIENCE_SECONDS: Final = 3600.0

# The amount by which the service's own figure is below its price, if that is more than rounding to cents.
_SHORT: Final = f"CASE WHEN due - price >= {MICRO // 200} THEN due - price ELSE 0 END"
_SUMS: Final = (
    "SELECT state, cost_micro IS NOT NULL AS known, abandoned_at IS NOT NULL AS abandoned, "  # noqa: S608 - our own words
    f"sum(price) AS said, sum({_SHORT}) AS short FROM ("
    # The price is that of the delivered length where that is known, else of the one asked for.
    f"SELECT state, cost_micro, abandoned_at, {PRICE} AS price, CAST(round(:second * CASE "
    "WHEN state = :completed AND actual_seconds BETWEEN duration_seconds / 2.0 AND 2 * duration_seconds "
    "THEN actual_seconds ELSE duration_seconds END) AS INTEGER) AS due FROM entries "
    "WHERE account = :account{entries_here}) GROUP BY 1, 2, 3 "
    # A tool's clip has no requested length.
    f"UNION ALL SELECT NULL, 1, 0, sum(price), sum({_SHORT}) FROM (SELECT cost_micro AS price, "
    "CASE WHEN seconds BETWEEN 0 AND :longest THEN CAST(round(:second * seconds) AS INTEGER) ELSE 0 END "
    "AS due FROM tool_jobs WHERE account = :account{tools_here})"
)


_PAID: Final = (
    "SELECT ended_at, cost_micro, experiment, at >= :opened_at AND kernel GLOB :kernel FROM ("
    "SELECT account, ended_at, cost_micro, experiment, intended_at AS at, kernel FROM entries UNION ALL "
    "SELECT account, ended_at, cost_micro, NULL, called_at, kernel FROM tool_jobs) "
    "WHERE account = :account AND ended_at > :since AND cost_micro IS NOT NULL"
)


def check_limit(
    db: sqlite3.Connection, account: int, costs_usd: Sequence[float], limit_usd: float | None
) -> None:
    """Raises SpendLimitReached if clips of these costs together would exceed the limit."""
    needed = sum(map(micro, costs_usd))
    if limit_usd is None or not needed:
        return
    known, understated_usd = sums(db, account)
    if micro(known.committed_usd) + needed <= micro(limit_usd):
        return
    parts = [
        f"{exact_dollars(amount)} {word}"
        for amount, word in (
            (known.spent_usd, "spent"),
            (known.reserved_usd, "reserved for clips on their way"),
            (known.uncertain_usd, "uncertain"),
        )
        if amount
    ]
    what = "This clip" if len(costs_usd) == 1 else f"These {len(costs_usd)} clips"
    advice = "Raise the limit, or ask for less."
    if understated_usd:
        short = exact_dollars(understated_usd)
        advice = f"The service's own figures are {short} below its price; the price counts. {advice}"
    raise SpendLimitReached(
        f"{what} for about {exact_dollars(needed / MICRO)} would pass the spending limit of "
        f"{exact_dollars(limit_usd)}: {', '.join(parts) or 'nothing'} so far. Nothing was sent. {advice}",
        limit_usd=limit_usd,
        committed_usd=known.committed_usd,
        needed_usd=needed / MICRO,
    )


def sums(db: sqlite3.Connection, account: int, here_since: float | None = None) -> tuple[Spend, float]:
    """What the account has spent, and by how much the service's own figures are below its price.

    With `here_since` (epoch seconds) only what this process submitted from then on.
    """
    here = "" if here_since is None else " AND {} >= :opened_at AND kernel GLOB :kernel"
    # One statement, so that all sums are of one moment.
    rows = db.execute(
        _SUMS.format(entries_here=here.format("intended_at"), tools_here=here.format("called_at")),
        {
            "account": account,
            **_here(here_since),
            "second": micro(wire.PRICE_USD_PER_SECOND),
            "longest": 2 * wire.MAX_SECONDS,
            "completed": wire.COMPLETED,
        },
    )
    found: Counter[str] = Counter()
    for state, known, abandoned, said, short in rows:
        if state is None:
            found["tools"], charge = said or 0, "spent"
        else:
            charge = states.charge_of(state, cost_known=bool(known), abandoned=bool(abandoned))
            found[charge] += said
        # A failed job that cost less than a clip isn't an understatement.
        if charge != "none" and not (state == wire.FAILED and known):
            found["understated"] += short or 0
    tools, short = found["tools"], found["understated"]
    parts = (found["spent"] + tools, found["reserved"], found["uncertain"] + short, tools)
    return Spend(*(amount / MICRO for amount in parts)), short / MICRO


@dataclass(frozen=True)
class PaidClip:
    """A clip that this ledger knows to be paid: when it ended (epoch seconds), USD, and where it belongs."""

    at: float
    usd: float
    experiment: str | None
    here: bool


def paid(db: sqlite3.Connection, account: int, since: float, opened_at: float) -> list[PaidClip]:
    """The account's clips that ended after `since`; `here` are those that this process submitted later."""
    rows = db.execute(_PAID, {"account": account, "since": since, **_here(opened_at)})
    return [PaidClip(at, cost / MICRO, experiment, bool(here)) for at, cost, experiment, here in rows]


def _here(opened_at: float | None) -> dict[str, object]:
    return {"opened_at": opened_at, "kernel": f"{os.getpid()}-*"}  # a kernel's name begins with its process


def sample_of(told: Balance | Usage, at: float, asked_at: float | None = None) -> Sample:
    """What a billing endpoint said at that time, to a question asked at `asked_at` (epoch seconds)."""
    known = told.model_dump(include={"total_requests", "total_seconds", "total_cost_usd", "period_days"})
    balance = told.balance_usd if isinstance(told, Balance) else told.current_balance_usd
    spent = told.total_spent_usd
    return Sample(at, balance_usd=balance, total_spent_usd=spent, asked_at=asked_at, **known)


class Samples(Part):
    """What the billing endpoints said about the account, and when (interface, Balance and Usage summary)."""

    def add(self, sample: Sample) -> None:
        values = {"account": self._account_id, **vars(sample)}
        self.store.keep(lambda db: insert(db, "samples", values), flush=False)

    def list(
        self, *, since: float | None = None, before: float | None = None, limit: int = 1000
    ) -> list[Sample]:
        """The samples from `since` until `before` (not included), newest first."""
        rows = self.store.rows(
            "SELECT * FROM samples WHERE account = ? AND at >= coalesce(?, -9e99) "
            "AND at < coalesce(?, 9e99) ORDER BY at DESC, id DESC LIMIT ?",
            *(self._account_id, since, before, limit),
        )
        return [read(Sample, row) for row in rows]


@dataclass(frozen=True)
class Funds:
    """The balance as last heard, in USD, when (epoch seconds), and how much of it may still be charged."""

    heard_usd: float
    heard_at: float
    to_come_usd: float

    @property
    def left_usd(self) -> float:
        return round(self.heard_usd - self.to_come_usd, 6)


def funds(
    db: sqlite3.Connection, account: int, since: float, now: float, lives: Callable[[str], bool]
) -> Funds | None:
    """What is left of the account's balance; None where nobody has heard it since that time (epoch seconds).

    The balance is the newest that anybody in this home heard, from either billing endpoint. What seems to be
    heard, sent or ended after `now` was so by a clock that was ahead and has been set right: such a balance
    is passed over, and a later one includes such clips. The interface doesn't say whether a clip is charged
    when it is accepted or at its end. So each submission's price is subtracted once, and what is shown is
    never more than can be left:

    - in progress: until it ends; for an hour if no kernel that `lives` watches it
    - ended: until a balance is heard that was asked for later, which includes it in either case
    - sent and never answered: until that is settled, but for an hour at most
    """
    row = db.execute(
        "SELECT * FROM samples WHERE account = ? AND at BETWEEN ? AND ? AND balance_micro IS NOT NULL "
        "ORDER BY at DESC, id DESC LIMIT 1",
        (account, since, now),
    ).fetchone()
    if row is None:
        return None
    heard = read(Sample, row)
    asked_at = heard.at if heard.asked_at is None else heard.asked_at
    free, hour_ago = states.names(charge="none"), asked_at - PATIENCE_SECONDS
    # Two ranges of an index: with an OR, all of it would be read.
    moving = matching(
        db,
        "id IN (SELECT id FROM entries WHERE account = ? AND ended_at IS NULL UNION ALL "  # noqa: S608 - bound
        f"SELECT id FROM entries WHERE account = ? AND state NOT IN ({marks(free)}) "
        "AND ended_at BETWEEN ? AND ? AND (ended_at >= ? OR state = ?))",
        *(account, account, *free, hour_ago, now, asked_at, states.UNCERTAIN),
    )
    living = {kernel for kernel in {each.kernel for each in moving} if lives(kernel)}
    to_come = math.fsum(
        each.price_usd
        for each in moving
        if (each.abandoned_at is None and each.kernel in living)
        or each.ended_at is not None
        or hour_ago < (each.sent_at or each.intended_at) <= now
    )
    balance = heard.balance_usd or 0.0
    return Funds(balance, heard.at, round(min(to_come, max(0.0, balance)), 6))
