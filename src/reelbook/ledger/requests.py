"""One key's requests as all kernels of this machine send them, so that together they keep to its limit.

Each kernel knows its own; here it learns of the others'. What fits, and which request matters most, is the
client's part.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Final

from .. import wire
from .entries import Account
from .store import Store

KEPT_SECONDS: Final = 300.0
LONGEST_SECONDS: Final = 60.0  # one that isn't answered by then never will be: its kernel has ended


class SharedRequests:
    """The requests of a home's keys. Times are epoch seconds: all kernels of a machine share that clock."""

    def __init__(self, store: Store, kernel: str) -> None:
        self._store = store
        self._kernel = kernel

    def enter(
        self, account: Account, now: float, fits: Callable[[Sequence[float], int | None], bool]
    ) -> int | None:
        """Notes a request of this kernel if `fits` says so of the others' requests; its number, or None.

        `fits` gets the moments from which those count, oldest first: of their answers, or `now` while they
        are under way; and the limit that the newest was told of, None if none was. No other kernel notes one
        meanwhile, so two can't both take the last place. Follow it with `answered` or `give_back`.
        """

        def work(connection: sqlite3.Connection) -> int | None:
            # A clock that was set back leaves times in the future; those beyond a window mean nothing.
            rows = connection.execute(
                "SELECT at, answered, told_limit FROM requests "
                "WHERE account = ? AND kernel <> ? AND at > ? AND at <= ? ORDER BY at",
                (
                    account.requests_id,
                    self._kernel,
                    now - wire.RATE_WINDOW_SECONDS - LONGEST_SECONDS,
                    now + wire.RATE_WINDOW_SECONDS,
                ),
            ).fetchall()
            counts = sorted(row["at"] if row["answered"] else _at_latest(row["at"], now) for row in rows)
            told = next((row["told_limit"] for row in reversed(rows) if row["told_limit"] is not None), None)
            if not fits([at for at in counts if at > now - wire.RATE_WINDOW_SECONDS], told):
                return None
            connection.execute(
                "DELETE FROM requests WHERE account = ? AND (at < ? OR at > ?)",
                (account.requests_id, now - KEPT_SECONDS, now + KEPT_SECONDS),
            )
            cursor = connection.execute(
                "INSERT INTO requests (account, kernel, at) VALUES (?, ?, ?)",
                (account.requests_id, self._kernel, now),
            )
            return cursor.lastrowid

        return self._store.write(work, flush=False)

    def answered(self, number: int, at: float, limit: int | None = None) -> None:
        """It was answered, or lost, at `at`: the service counted it no later, so it counts from then.

        `limit` is how many requests a minute the service said that the key has.
        """
        self._store.write(
            lambda connection: connection.execute(
                "UPDATE requests SET at = max(at, ?), answered = 1, told_limit = ? WHERE id = ?",
                (at, limit, number),
            ),
            flush=False,
        )

    def give_back(self, number: int) -> None:
        """It was never sent."""
        self._store.write(
            lambda connection: connection.execute("DELETE FROM requests WHERE id = ?", (number,)),
            flush=False,
        )


def _at_latest(sent_at: float, now: float) -> float:
    """From when a request counts whose answer isn't there: from now, or from when it was given up."""
    return max(sent_at, min(now, sent_at + LONGEST_SECONDS))
