"""One key's requests as all kernels of this machine send them, so that together they keep to its limit."""

import functools
import platform
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from .. import wire
from .records import Account
from .store import Store

KEPT_SECONDS: Final = 300.0
LONGEST_SECONDS: Final = 60.0  # if it isn't answered by then, its kernel has ended
_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")

# Anybody may set the epoch's clock, so it is only used between machines that share a folder.
_AGE: Final = "CASE WHEN boot = :boot THEN :steady - steady ELSE :epoch - at END"


Instant = dict[str, float | str]
"""One moment in seconds by the `epoch`'s clock, and by the `steady` one since the machine's start, `boot`."""


class RequestLog:
    """The requests of an account's key: the `client.SharedRequests` of its client."""

    def __init__(self, store: Store, account: Account) -> None:
        self._store = store
        self.account = account
        self._now = _now

    def enter(self, now: float, fits: Callable[[Sequence[float], int | None], bool]) -> int | None:
        """Notes a request of this kernel if `fits` accepts the others' requests; returns its number, or None.

        `fits` gets the moments from which those count, oldest first, by the clock of `now`: their answers, or
        `now` while they are in flight; and the newest limit that one was told, if any. It is one transaction,
        so two kernels can't both take the last place.
        """
        bound = {
            **self._now(),
            "of_key": f"{self.account.origin} {self.account.fingerprint}",
            "kernel": self._store.kernel.name,
            "window": wire.RATE_WINDOW_SECONDS,
            "oldest": wire.RATE_WINDOW_SECONDS + LONGEST_SECONDS,
            "kept": KEPT_SECONDS,
        }

        def work(connection: sqlite3.Connection) -> int | None:
            # Another machine's clock may be a little ahead; times far in the future mean nothing.
            rows = connection.execute(
                f"SELECT {_AGE} AS age, answered, told_limit FROM requests "  # noqa: S608 - our own words
                "WHERE of_key = :of_key AND kernel <> :kernel AND age >= -:window AND age < :oldest "
                "ORDER BY id",
                bound,
            ).fetchall()
            # One that isn't answered counts from now, or from when it was given up.
            ages = [max(0.0, row["age"] - (0.0 if row["answered"] else LONGEST_SECONDS)) for row in rows]
            told = next((row["told_limit"] for row in reversed(rows) if row["told_limit"] is not None), None)
            counts = sorted((age for age in ages if age < wire.RATE_WINDOW_SECONDS), reverse=True)
            if not fits([now - age for age in counts], told):
                return None
            connection.execute(
                f"DELETE FROM requests WHERE of_key = :of_key AND {_AGE} NOT BETWEEN -:kept AND :kept",  # noqa: S608 - our own words
                bound,
            )
            cursor = connection.execute(
                "INSERT INTO requests (of_key, kernel, at, steady, boot) "
                "VALUES (:of_key, :kernel, :epoch, :steady, :boot)",
                bound,
            )
            return cursor.lastrowid

        return self._store.keep(work, flush=False, lasting=False)

    def answered(self, place: int, limit: int | None) -> None:
        """It was answered, or lost, just now: the service counted it no later, so it counts from now.

        `limit` is how many requests a minute the key has, as the service said.
        """
        self._keep(
            "UPDATE requests SET at = :epoch, steady = :steady, answered = 1, told_limit = :limit "
            "WHERE id = :place AND kernel = :kernel",
            {**self._now(), "limit": limit, "place": place},
        )

    def give_back(self, place: int) -> None:
        self._keep("DELETE FROM requests WHERE id = :place AND kernel = :kernel", {"place": place})

    def _keep(self, statement: str, values: Mapping[str, object]) -> None:
        bound = {**values, "kernel": self._store.kernel.name}
        self._store.keep(lambda db: db.execute(statement, bound), flush=False, lasting=False)


def _now() -> Instant:
    return {"epoch": time.time(), "steady": time.monotonic(), "boot": _boot()}


@functools.cache
def _boot() -> str:
    """The machine and, on Linux, its start: a steady clock means nothing beyond these."""
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return platform.node()
