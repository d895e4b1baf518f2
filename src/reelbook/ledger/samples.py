"""What the billing endpoints said, and when."""

from __future__ import annotations

import sqlite3
from typing import Any, Final, Literal

from .entries import Account, Sample, micro, usd
from .store import Store

Figure = Literal["balance_usd", "total_spent_usd", "total_requests", "total_seconds", "total_cost_usd"]

_COLUMNS: Final[dict[str, str]] = {
    "balance_usd": "balance_micro",
    "total_spent_usd": "total_spent_micro",
    "total_requests": "total_requests",
    "total_seconds": "total_seconds",
    "total_cost_usd": "total_cost_micro",
    "period_days": "period_days",
}


class Samples:
    """The samples of a home's accounts (interface, Balance and Usage summary)."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def add(self, account: Account, sample: Sample) -> None:
        """Notes what was said."""
        values = {
            column: micro(value) if value is not None and column.endswith("_micro") else value
            for field, column in _COLUMNS.items()
            for value in (getattr(sample, field),)
        }
        self._store.write(
            lambda connection: connection.execute(
                f"INSERT INTO samples (account, at, {', '.join(values)}) "  # noqa: S608 - our own column names
                f"VALUES (?, ?, {', '.join('?' * len(values))})",
                (account.id, sample.at, *values.values()),
            ),
            flush=False,
        )

    def last(
        self, account: Account, *, before: float | None = None, having: Figure | None = None
    ) -> Sample | None:
        """The newest sample, taken before that moment and holding that figure where they are given."""
        found = self.list(account, before=before, having=having, limit=1)
        return found[0] if found else None

    def list(
        self,
        account: Account,
        *,
        since: float | None = None,
        before: float | None = None,
        having: Figure | None = None,
        limit: int = 1000,
    ) -> list[Sample]:
        """The samples from `since` until `before` (not included), newest first."""
        conditions = ["account = ?"]
        values: list[Any] = [account.id]
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


def _sample(row: sqlite3.Row) -> Sample:
    figures = {
        field: usd(row[column]) if column.endswith("_micro") else row[column]
        for field, column in _COLUMNS.items()
    }
    return Sample(at=row["at"], **figures)
