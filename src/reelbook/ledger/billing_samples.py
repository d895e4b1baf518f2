"""What the billing endpoints said, and when."""

from __future__ import annotations

import sqlite3
import time
from typing import Any, Final, Literal

from ..models import Balance, Usage
from .records import Account, Sample, micro, usd
from .store import Store

Figure = Literal["balance_usd", "total_spent_usd", "total_requests", "total_seconds", "total_cost_usd"]

# Long after a job's end what it cost is in the balance and in the sum of all that was spent.
FOLLOWED_SECONDS: Final = 600.0

_COLUMNS: Final[dict[str, str]] = {
    "balance_usd": "balance_micro",
    "total_spent_usd": "total_spent_micro",
    "total_requests": "total_requests",
    "total_seconds": "total_seconds",
    "total_cost_usd": "total_cost_micro",
    "period_days": "period_days",
    "asked_at": "asked_at",
}


class Samples:
    """The account's samples (interface, Balance and Usage summary)."""

    def __init__(self, store: Store, account: Account) -> None:
        self._store = store
        self._account = account

    def hear(self, told: Balance | Usage, *, asked_at: float) -> None:
        """Keeps what a billing endpoint said, to a question asked at that time (epoch seconds)."""
        known = told.model_dump(include={"total_requests", "total_seconds", "total_cost_usd", "period_days"})
        balance = told.balance_usd if isinstance(told, Balance) else told.current_balance_usd
        self.add(
            Sample(
                time.time(),
                balance_usd=balance,
                total_spent_usd=told.total_spent_usd,
                asked_at=asked_at,
                **known,
            )
        )

    def add(self, sample: Sample) -> None:
        """Notes what was said."""
        values = {
            column: micro(value) if value is not None and column.endswith("_micro") else value
            for field, column in _COLUMNS.items()
            for value in (getattr(sample, field),)
        }

        def work(connection: sqlite3.Connection) -> None:
            row = {**values, "complete_to": _complete_to(connection, self._account.id, sample.at)}
            connection.execute(
                f"INSERT INTO samples (account, at, {', '.join(row)}) "  # noqa: S608 - our own column names
                f"VALUES (?, ?, {', '.join('?' * len(row))})",
                (self._account.id, sample.at, *row.values()),
            )

        self._store.keep(work, flush=False)

    def last(self, *, before: float | None = None, having: Figure | None = None) -> Sample | None:
        """The newest sample, taken before that moment and holding that figure where they are given."""
        found = self.list(before=before, having=having, limit=1)
        return found[0] if found else None

    def list(
        self,
        *,
        since: float | None = None,
        before: float | None = None,
        having: Figure | None = None,
        limit: int = 1000,
    ) -> list[Sample]:
        """The samples from `since` until `before` (not included), newest first."""
        conditions = ["account = ?"]
        values: list[Any] = [self._account.id]
        if since is not None:
            conditions.append("at >= ?")
            values.append(since)
        if before is not None:
            conditions.append("at < ?")
            values.append(before)
        if having is not None:
            conditions.append(f"{_COLUMNS[having]} IS NOT NULL")
        sql = (
            f"SELECT * FROM samples WHERE {' AND '.join(conditions)} "  # noqa: S608 - our own column names
            "ORDER BY at DESC, id DESC LIMIT ?"
        )
        return self._store.read(
            lambda connection: [_sample(row) for row in connection.execute(sql, (*values, limit))]
        )


def _complete_to(connection: sqlite3.Connection, account: int, at: float) -> int | None:
    """The newest entry, if what was charged for all of them must be in the figures; else None."""
    newest, ended_at = connection.execute(
        "SELECT coalesce(max(id), 0), coalesce(max(coalesce(ended_at, 9e99)), 0) FROM entries "
        "WHERE account = ? AND charge <> 'none'",
        (account,),
    ).fetchone()
    return newest if ended_at <= at - FOLLOWED_SECONDS else None


def _sample(row: sqlite3.Row) -> Sample:
    figures = {
        field: usd(row[column]) if column.endswith("_micro") else row[column]
        for field, column in _COLUMNS.items()
    }
    return Sample(at=row["at"], **figures)
