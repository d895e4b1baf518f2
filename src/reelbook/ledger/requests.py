"""One key's requests as all kernels of this machine send them: who may send the next one, and when.

A service's window slides or is fixed; counted here in a sliding one, which satisfies both. What the headers
say and which request matters most is the client's.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from .entries import Account, Slot
from .store import Store

KEPT_SECONDS: Final = 300.0


class SharedRequests:
    """The requests of a home's keys. Times are epoch seconds: all kernels of a machine share that clock."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def reserve(
        self, account: Account, now: float, *, limit: int, window_seconds: float, purpose: str = ""
    ) -> Slot:
        """Notes one request if one more fits into the window that ends now, else says how long to wait.

        `limit` is how many the key may send in `window_seconds`; two kernels that ask at once can't both get
        the last one. Follow it with `answered` or `give_back`.
        """

        def work(connection: sqlite3.Connection) -> Slot:
            # A clock that was set back leaves times in the future; those beyond a window mean nothing.
            rows = connection.execute(
                "SELECT at FROM requests WHERE account = ? AND at > ? AND at <= ? ORDER BY at DESC LIMIT ?",
                (account.id, now - window_seconds, now + window_seconds, max(limit, 1)),
            ).fetchall()
            if len(rows) >= max(limit, 1):
                return Slot(None, max(0.001, float(rows[-1]["at"]) + window_seconds - now))
            return Slot(_note(connection, account.id, now, purpose), 0.0)

        return self._store.write(work, flush=False)

    def note(self, account: Account, at: float, purpose: str = "") -> Slot:
        """Notes a request that went out at `at` without asking."""
        return self._store.write(
            lambda connection: Slot(_note(connection, account.id, at, purpose), 0.0), flush=False
        )

    def answered(self, slot: Slot, at: float) -> None:
        """It was answered, or lost, at `at`: the service counted it no later, so it counts from then."""
        self._store.write(
            lambda connection: connection.execute(
                "UPDATE requests SET at = max(at, ?) WHERE id = ?", (at, slot.id)
            ),
            flush=False,
        )

    def give_back(self, slot: Slot) -> None:
        """It was never sent."""
        self._store.write(
            lambda connection: connection.execute("DELETE FROM requests WHERE id = ?", (slot.id,)),
            flush=False,
        )

    def recent(self, account: Account, since: float) -> list[float]:
        """When the requests after `since` went out or were answered, oldest first."""
        return self._store.read(
            lambda connection: [
                row["at"]
                for row in connection.execute(
                    "SELECT at FROM requests WHERE account = ? AND at > ? ORDER BY at", (account.id, since)
                )
            ]
        )


def _note(connection: sqlite3.Connection, account: int, at: float, purpose: str) -> int:
    connection.execute(
        "DELETE FROM requests WHERE account = ? AND (at < ? OR at > ?)",
        (account, at - KEPT_SECONDS, at + KEPT_SECONDS),
    )
    cursor = connection.execute(
        "INSERT INTO requests (account, at, purpose) VALUES (?, ?, ?)", (account, at, purpose)
    )
    assert cursor.lastrowid is not None
    return cursor.lastrowid
