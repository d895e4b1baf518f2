"""What submissions cost: the sums, and the limit that is checked before each one."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from ..errors import SpendLimitReached
from ..formatting import exact_dollars
from .records import MICRO, Entry, Spend, Submission, micro

CENT: Final = MICRO // 100


@dataclass(frozen=True)
class _Sums:
    """In micro-USD. `understated` is what the service's own figures are short of its price."""

    spent: int
    reserved: int
    uncertain: int
    tools: int
    understated: int

    @property
    def committed(self) -> int:
        return self.spent + self.reserved + self.uncertain + self.tools + self.understated

    @property
    def spend(self) -> Spend:
        parts = (self.spent + self.tools, self.reserved, self.uncertain + self.understated, self.tools)
        return Spend(*(amount / MICRO for amount in parts))


def spend(
    connection: sqlite3.Connection, account: int, since: float | None, process: int | None = None
) -> Spend:
    """The account's sums over what was intended at or after `since`, of one process where that is given."""
    return _sums(connection, account, since, process).spend


def check_limit(
    connection: sqlite3.Connection,
    account: int,
    wanted: Sequence[Submission | Entry],
    limit_usd: float,
    since: float | None,
) -> None:
    """Raises SpendLimitReached if all of `wanted` together would pass the limit."""
    needed = sum(micro(each.estimated_cost_usd) for each in wanted)
    sums = _sums(connection, account, since)
    if not needed or sums.committed + needed <= micro(limit_usd):
        return
    known = sums.spend
    parts = [
        f"{exact_dollars(amount)} {word}"
        for amount, word in (
            (known.spent_usd, "spent"),
            (known.reserved_usd, "reserved for clips on their way"),
            (known.uncertain_usd, "uncertain"),
        )
        if amount
    ]
    what = "this clip" if len(wanted) == 1 else f"these {len(wanted)} clips"
    advice = "Raise the limit, or ask for less."
    if sums.understated:
        short = exact_dollars(sums.understated / MICRO)
        advice = (
            f"The service's own figures are {short} below its price: that counts until the balance, asked "
            f"for ten minutes after the last clip, shows what was charged. {advice}"
        )
    raise SpendLimitReached(
        f"{what.capitalize()} for about {exact_dollars(needed / MICRO)} would pass the spending limit of "
        f"{exact_dollars(limit_usd)}: {', '.join(parts) or 'nothing'} so far. Nothing was sent. {advice}",
        limit_usd=limit_usd,
        committed_usd=known.committed_usd,
        needed_usd=needed / MICRO,
    )


def _sums(
    connection: sqlite3.Connection, account: int, since: float | None, process: int | None = None
) -> _Sums:
    # A kernel's name begins with its process (process_locks.py).
    own = "" if process is None else " AND kernel GLOB :kernel"
    bound = {
        "account": account,
        "since": float("-inf") if since is None else since,
        "kernel": f"{process}-*",
    }
    # One statement, so that all are of one moment; charge by charge, each being one stretch of its index.
    sums = ", ".join(
        f"(SELECT coalesce(sum(price_micro), 0) FROM entries "  # noqa: S608 - our own condition
        f"WHERE account = :account AND charge = '{charge}' AND intended_at >= :since{own}) AS {charge}"
        for charge in ("spent", "reserved", "uncertain")
    )
    understated = f"account = :account AND understated_micro > 0 AND intended_at >= :since{own}"
    row = connection.execute(
        f"SELECT {sums}, "  # noqa: S608 - our own words
        "(SELECT coalesce(sum(cost_micro), 0) FROM tool_jobs "
        f"WHERE account = :account AND called_at >= :since{own}) AS tools, "
        f"(SELECT coalesce(sum(understated_micro), 0) FROM entries WHERE {understated}) AS by_jobs, "
        f"(SELECT coalesce(sum(understated_micro), 0) FROM tool_jobs WHERE account = :account "
        f"AND understated_micro > 0 AND called_at >= :since{own}) AS by_tools",
        bound,
    ).fetchone()
    understated_in_all = row["by_jobs"] + row["by_tools"]
    found = _Sums(row["spent"], row["reserved"], row["uncertain"], row["tools"], understated_in_all)
    proof = _proof(connection, account) if row["by_jobs"] else None
    if proof is None:
        return found
    within = connection.execute(
        f"SELECT coalesce(sum(understated_micro), 0) FROM entries WHERE {understated} "  # noqa: S608 - our own words
        "AND id > :after AND id <= :upto",
        {**bound, "after": proof.after, "upto": proof.upto},
    ).fetchone()[0]
    return replace(found, understated=found.understated - max(0, within - proof.at_most))


@dataclass(frozen=True)
class _Proof:
    """The billing's word on the entries behind `after` up to `upto`: `at_most` was understated of them."""

    after: int
    upto: int
    at_most: int


def _proof(connection: sqlite3.Connection, account: int) -> _Proof | None:
    """What the billing endpoints show of the service's low figures.

    From one moment to another at which everything of ours had ended and was in the figures, all that the
    account spent bounds what these entries can have cost, whoever else spent from it. Balance and sum must
    say the same and have moved: figures that stand still may be some that nobody keeps.
    """
    first = connection.execute(
        "SELECT min(id) FROM entries WHERE account = ? AND understated_micro > 0", (account,)
    ).fetchone()[0]
    before, now = (
        connection.execute(
            "SELECT complete_to, balance_micro, total_spent_micro FROM samples "  # noqa: S608 - our own words
            f"WHERE account = ? AND complete_to {condition} ? AND balance_micro IS NOT NULL "
            "AND total_spent_micro IS NOT NULL ORDER BY id DESC LIMIT 1",
            (account, first),
        ).fetchone()
        for condition in ("<", ">=")
    )
    if before is None or now is None:
        return None
    moved = now["total_spent_micro"] - before["total_spent_micro"]
    if moved <= 0 or abs(before["balance_micro"] - now["balance_micro"] - moved) > CENT:
        return None
    said = connection.execute(
        "SELECT coalesce(sum(price_micro), 0) FROM entries WHERE account = ? AND charge <> 'none' "
        "AND id > ? AND id <= ?",
        (account, before["complete_to"], now["complete_to"]),
    ).fetchone()[0]
    return _Proof(before["complete_to"], now["complete_to"], max(0, moved - said))
