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
    return Spend(*(sums.get(charge, 0) / MICRO for charge in ("spent", "reserved", "uncertain")))


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
    committed = sum(sums.get(charge, 0) for charge in ("spent", "reserved", "uncertain"))
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
) -> dict[str, int]:
    # A kernel's name begins with its process (kernels.py).
    own, names = ("", ()) if process is None else (" AND kernel GLOB ?", (f"{process}-*",))
    # Charge by charge, so that each is one stretch of its index.
    return {
        charge: connection.execute(
            "SELECT coalesce(sum(price_micro), 0) FROM entries "  # noqa: S608 - our own condition
            f"WHERE account = ? AND charge = ? AND intended_at >= ?{own}",
            (account, charge, float("-inf") if since is None else since, *names),
        ).fetchone()[0]
        for charge in ("spent", "reserved", "uncertain")
    }


def _dollars(amount_usd: float) -> str:
    text = f"{amount_usd:.4f}".rstrip("0")
    whole, _, part = text.partition(".")
    return f"${whole}.{part.ljust(2, '0')}"
