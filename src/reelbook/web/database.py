"""A service's SQLite file: consistent reads, and one transaction at a time, which waits for the disk."""

import contextlib
import hashlib
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from filelock import FileLock


class SqliteFile:
    """One SQLite file, usable from any thread; opening it runs the `migrations` that it lacks.

    Reads and writes use a connection each, so that a read never waits for the disk.
    """

    def __init__(self, path: Path, migrations: Sequence[str]) -> None:
        # Of two programs that open it at once, the second finds the first one's work.
        with FileLock(path.with_name(f"{path.name}.lock")):
            self._writing = _connect(path)
            self._writing.execute("PRAGMA journal_mode=WAL")
            # Money: what was answered must survive a power cut.
            self._writing.execute("PRAGMA synchronous=FULL")
            done = self._writing.execute("PRAGMA user_version").fetchone()[0]
            for number, script in enumerate(migrations[done:], start=done + 1):
                self._writing.executescript(f"BEGIN; {script} PRAGMA user_version = {number}; COMMIT;")
        self._reading = _connect(path)
        self._lock, self._reading_lock = threading.Lock(), threading.Lock()

    def read(self, sql: str, parameters: Mapping[str, Any] | tuple[Any, ...] = ()) -> list[sqlite3.Row]:
        with self._reading_lock:
            return self._reading.execute(sql, parameters).fetchall()

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A read transaction: several queries that see the same moment."""
        with self._reading_lock, self._reading:
            self._reading.execute("BEGIN")
            yield self._reading

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A transaction, alone: committed at the end, rolled back on an error. It waits for the disk."""
        with self._lock, self._writing:
            self._writing.execute("BEGIN IMMEDIATE")
            yield self._writing

    def close(self) -> None:
        with self._lock, self._reading_lock:
            self._reading.close()
            self._writing.close()


def key_digest(key: str) -> str:
    """What is kept of a key in place of it: its SHA-256, which is enough for random ones."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    return connection
