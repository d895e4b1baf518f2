"""A service's SQLite file: consistent reads, and one transaction at a time, which waits for the disk."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any


class SqliteFile:
    """One SQLite file, usable from any thread; opening it runs the `migrations` that it lacks.

    Reads and writes use a connection each, so that a read never waits for the disk.
    """

    def __init__(self, path: Path, migrations: Sequence[str]) -> None:
        self._writing = _connect(path)
        self._lock = threading.Lock()
        self._writing.execute("PRAGMA journal_mode=WAL")
        self._writing.execute("PRAGMA synchronous=FULL")  # money: what was answered must survive a power cut
        done = self._writing.execute("PRAGMA user_version").fetchone()[0]
        for number, script in enumerate(migrations[done:], start=done + 1):
            self._writing.executescript(f"BEGIN; {script} PRAGMA user_version = {number}; COMMIT;")
        self._reading = _connect(path)
        self._reading_lock = threading.Lock()

    def read(self, sql: str, parameters: Mapping[str, Any] | tuple[Any, ...] = ()) -> list[sqlite3.Row]:
        """The rows of a query."""
        with self._reading_lock:
            return self._reading.execute(sql, parameters).fetchall()

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A read transaction: several queries that see the same moment."""
        with self._reading_lock, _transaction(self._reading, "BEGIN"):
            yield self._reading

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A transaction, alone: committed at the end, rolled back on an error. It waits for the disk."""
        with self._lock, _transaction(self._writing, "BEGIN IMMEDIATE"):
            yield self._writing

    def close(self) -> None:
        """Close the file; what was committed is in it."""
        with self._lock, self._reading_lock:
            self._reading.close()
            self._writing.close()


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection, begin: str) -> Iterator[None]:
    connection.execute(begin)
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    return connection
