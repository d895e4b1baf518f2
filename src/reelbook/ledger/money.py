"""An account's money: what was spent, the limit before each submission, and what is left of the balance.

`states` says what a state counts as, `wire` what a second costs; SQL gets both as parameters. Amounts are
whole micro-USD, so that a limit is compared exactly.
"""

from __future__ import annotations

import math
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from .. import states, wire
from ..errors import SpendLimitReached
from ..formatting import exact_dollars
from ..models import Balance, Usage
from ..wire import MICRO
from .records import PRICE, Entry, Sample, Spend, insert, micro, read
from .search import marks, matching
from .store import Part

# By then an accepted clip has ended. Nothing in the interface bounds it, so this is much more than any clip
# takes.
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


def check_limit(
    db: sqlite3.Connection, account: int, costs_usd: Sequence[float], limit_usd: float | None
) -> None:
    """Raises SpendLimitReached if clips of these costs together would exceed the limit."""
    needed = sum(map(micro, costs_usd))
    known, understated_usd = sums(db, account)
    if limit_usd is None or not needed or micro(known.committed_usd) + needed <= micro(limit_usd):
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
    # A kernel's name begins with its process (kernels.py).
    here = "" if here_since is None else " AND {} >= :since AND kernel GLOB :kernel"
    # One statement, so that all are of one moment.
    rows = db.execute(
        _SUMS.format(entries_here=here.format("intended_at"), tools_here=here.format("called_at")),
        {
            "account": account,
            "since": here_since,
            "kernel": f"{os.getpid()}-*",
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
        # A failed job that cost less than a clip isn't understated.
        if charge != "none" and not (state == wire.FAILED and known):
            found["understated"] += short or 0
    tools, short = found["tools"], found["understated"]
    parts = (found["spent"] + tools, found["reserved"], found["uncertain"] + short, tools)
    return Spend(*(amount / MICRO for amount in parts)), short / MICRO


def sample_of(told: Balance | Usage, at: float, asked_at: float | None = None) -> Sample:
    """What a billing endpoint said at that time, to a question asked at `asked_at` (epoch seconds)."""
    known = told.model_dump(include={"total_requests", "total_seconds", "total_cost_usd", "period_days"})
    balance = told.balance_usd if isinstance(told, Balance) else told.current_balance_usd
    spent = told.total_spent_usd
    return Sample(at, balance_usd=balance, total_spent_usd=spent, asked_at=asked_at, **known)


class Samples(Part):
    """What the billing endpoints said about the account, and when (interface, Balance and Usage summary)."""

    def add(self, sample: Sample) -> None:
        """Records what was said."""
        values = {"account": self._account, **vars(sample)}
        self._store.keep(lambda db: insert(db, "samples", values), flush=False)

    def list(
        self, *, since: float | None = None, before: float | None = None, limit: int = 1000
    ) -> list[Sample]:
        """The samples from `since` until `before` (not included), newest first."""
        rows = self._store.rows(
            "SELECT * FROM samples WHERE account = ? AND at >= coalesce(?, -9e99) "
            "AND at < coalesce(?, 9e99) ORDER BY at DESC, id DESC LIMIT ?",
            *(self._account, since, before, limit),
        )
        return [read(Sample, row) for row in rows]

    def period_days(self, before: float | None) -> int | None:
        """The period of the last usage before that moment; of the last one of all if there was none."""
        rows = self._store.rows(
            "SELECT period_days FROM samples WHERE account = ? AND total_requests IS NOT NULL "
            "AND period_days > 0 ORDER BY at < coalesce(?, 9e99) DESC, at DESC, id DESC LIMIT 1",
            *(self._account, before),
        )
        return int(rows[0][0]) if rows else None


@dataclass(frozen=True)
class Funds:
    """The balance as last heard, in USD, and when (epoch seconds); at most all of it may still be charged."""

    heard_usd: float
    heard_at: float
    to_come_usd: float

    @property
    def left_usd(self) -> float:
        """What may be spent."""
        return round(self.heard_usd - self.to_come_usd, 6)


def funds(db: sqlite3.Connection, account: int, since: float, lives: Callable[[str], bool]) -> Funds | None:
    """What is left of the account's balance; None where nobody has heard it since that time (epoch seconds).

    The balance is the newest that anybody of this home heard, from either billing endpoint. The interface
    doesn't say when a clip is charged: when it is accepted, or at its end. So each submission's price is
    subtracted once, and never more is shown than can be left:

    - in progress, and watched by a kernel that `lives`: until its end
    - ended: until a balance is heard that was asked for later, which includes it whenever it is charged
    - sent and never answered: until that is settled, or an hour has passed
    - accepted, and watched by nobody any more: until the balance has fallen by it, or an hour has passed

    Such a fall counts since the last balance heard before the clip was sent, as far as nothing else in the
    ledger explains it. Another program that spends as much just then looks the same.
    """
    heard = _hearing(db, account, after=since)
    if heard is None:
        return None
    moving = _moving(db, account, _asked_at(heard))
    running = [each for each in moving if each.request_id is not None and each.ended_at is None]
    living = {kernel: lives(kernel) for kernel in {each.kernel for each in running}}
    unwatched = [
        each
        for each in running
        if _sent_at(each) < _asked_at(heard) and (each.abandoned_at is not None or not living[each.kernel])
    ]
    young = [each for each in unwatched if _sent_at(each) > _asked_at(heard) - PATIENCE_SECONDS]
    uncharged = _price(young)
    if young:
        rest = _unexplained(db, account, heard, min(map(_sent_at, young)))
        uncharged = min(uncharged, max(0.0, -rest))
    balance = heard.balance_usd or 0.0
    to_come = min(_price(moving) - _price(unwatched) + uncharged, max(0.0, balance))
    return Funds(balance, heard.at, round(to_come, 6))


def _price(entries: Iterable[Entry]) -> float:
    return math.fsum(each.price_usd for each in entries)


def _sent_at(entry: Entry) -> float:
    """When it was sent. What hasn't been sent is sent last."""
    if entry.state == states.INTENDED:
        return math.inf
    return entry.intended_at if entry.sent_at is None else entry.sent_at


def _asked_at(heard: Sample) -> float:
    return heard.at if heard.asked_at is None else heard.asked_at


def _hearing(
    db: sqlite3.Connection, account: int, *, after: float = -math.inf, before: float = math.inf
) -> Sample | None:
    """The newest balance that was heard between those times."""
    row = db.execute(
        "SELECT * FROM samples WHERE account = ? AND at >= ? AND at < ? AND balance_micro IS NOT NULL "
        "ORDER BY at DESC, id DESC LIMIT 1",
        (account, after, before),
    ).fetchone()
    return None if row is None else read(Sample, row)


def _moving(db: sqlite3.Connection, account: int, since: float) -> list[Entry]:
    """What hadn't ended at that moment, and what was never answered in the hour before it."""
    free, hour = states.names(charge="none"), since - PATIENCE_SECONDS
    # Two ranges of an index: with OR the whole of it would be read.
    return matching(
        db,
        "id IN (SELECT id FROM entries WHERE account = ? AND ended_at IS NULL UNION ALL "  # noqa: S608 - bound
        f"SELECT id FROM entries WHERE account = ? AND state NOT IN ({marks(free)}) AND ended_at >= ? "
        "AND (ended_at >= ? OR state = ?))",
        *(account, account, *free, hour, since, states.UNCERTAIN),
    )


def _unexplained(db: sqlite3.Connection, account: int, heard: Sample, sent_at: float) -> float:
    """How much the balance fell since it was heard before that time, minus all that may have been charged.

    Without such a balance nothing is known about a fall: it counts as unchanged.
    """
    before = _hearing(db, account, before=sent_at)
    since = _asked_at(before or heard)
    known = _price(each for each in _moving(db, account, since) if _sent_at(each) < heard.at)
    tools = db.execute(
        "SELECT coalesce(sum(cost_micro), 0) FROM tool_jobs WHERE account = ? AND ended_at >= ?",
        (account, since),
    ).fetchone()[0]
    fell = 0.0 if before is None else (before.balance_usd or 0.0) - (heard.balance_usd or 0.0)
    return fell - known - float(tools) / MICRO
