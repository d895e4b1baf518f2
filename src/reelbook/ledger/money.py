"""What submissions cost: the sums, and the limit that is checked before each one."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from ..errors import SpendLimitReached
from .entries import MICRO, Spend, Wanted, micro


def spend(
    connection: sqlite3.Connection, account: int, since: float | None, process: int | None = None
) -> Spend:
    """The account's sums over what was intended at or after `since`, of one process where that is given."""
    sums = _sums(connection, account, since, process)
    spent = sums["spent"] + sums["tools"]
    return Spend(*(amount / MICRO for amount in (spent, sums["reserved"], sums["uncertain"], sums["tools"])))


def check_limit(
    connection: sqlite3.Connection,
    account: int,
    wanted: Sequence[Wanted],
    limit_usd: float,
    since: float | None,
) -> None:
    """Raises SpendLimitReached if all of `wanted` together would pass the limit."""
    needed = sum(micro(each.estimated_cost_usd) for each in wanted)
    sums = _sums(connection, account, since)
    committed = sums["spent"] + sums["tools"] + sums["reserved"] + sums["uncertain"]
    if not needed or committed + needed <= micro(limit_usd):
        return
    known = spend(connection, account, since)
    parts = [
        f"{_dollars(amount)} {word}"
        for amount, word in (
            (known.spent_usd, "spent"),
            (known.reserved_usd, "reserved for clips on their way"),
            (known.uncertain_usd, "uncertain"),
        )
        if amount
    ]
    what = "this clip" if len(wanted) == 1 else f"these {len(wanted)} clips"
    raise SpendLimitReached(
        f"{what.capitalize()} for about {_dollars(needed / MICRO)} would pass the spending limit of "
        f"{_dollars(limit_usd)}: {', '.join(parts) or 'nothing'} so far. Nothing was sent. "
        "Raise the limit, or ask for less.",
        limit_usd=limit_usd,
        committed_usd=known.committed_usd,
        needed_usd=needed / MICRO,
    )


def _sums(
    connection: sqlite3.Connection, account: int, since: float | None, process: int | None = None
) -> sqlite3.Row:
    # A kernel's name begins with its process (kernels.py).
    own = "" if process is None else " AND kernel GLOB :kernel"
    # One statement, so that all are of one moment; charge by charge, each being one stretch of its index.
    sums = ", ".join(
        f"(SELECT coalesce(sum(price_micro), 0) FROM entries "  # noqa: S608 - our own condition
        f"WHERE account = :account AND charge = '{charge}' AND intended_at >= :since{own}) AS {charge}"
        for charge in ("spent", "reserved", "uncertain")
    )
    row: sqlite3.Row = connection.execute(
        f"SELECT {sums}, (SELECT coalesce(sum(cost_micro), 0) FROM tool_jobs "  # noqa: S608 - our own words
        f"WHERE account = :account AND called_at >= :since{own}) AS tools",
        {
            "account": account,
            "since": float("-inf") if since is None else since,
            "kernel": f"{process}-*",
        },
    ).fetchone()
    return row


def _dollars(amount_usd: float) -> str:
    text = f"{amount_usd:.4f}".rstrip("0")
    whole, _, part = text.partition(".")
    return f"${whole}.{part.ljust(2, '0')}"
