"""The sandbox's SQLite file: its schema, short reads, and transactions one at a time.

Who may write what is decided by accounts.py and jobs.py.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

# Appended to, never edited: a home made by an older version is brought up to date at its next start.
MIGRATIONS = (
    """
    CREATE TABLE account (
        only_one INTEGER PRIMARY KEY CHECK (only_one = 1),
        balance_micro INTEGER NOT NULL,
        spent_micro INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE keys (
        key_id TEXT PRIMARY KEY,
        digest TEXT NOT NULL UNIQUE,
        name TEXT NOT NULL,
        preview TEXT NOT NULL,
        rate_limit INTEGER NOT NULL,
        created_at REAL NOT NULL,
        last_used REAL,
        is_active INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE jobs (
        request_id TEXT PRIMARY KEY,
        state TEXT NOT NULL,
        mode TEXT NOT NULL,
        prompt TEXT NOT NULL,
        duration_seconds INTEGER NOT NULL,
        aspect_ratio TEXT NOT NULL,
        seed TEXT NOT NULL,
        accepted_at REAL NOT NULL,
        planned_seconds REAL NOT NULL,
        failure TEXT,
        video TEXT,
        rendered_seconds REAL,
        rendered_at REAL,
        finished_at REAL,
        cost_micro INTEGER
    ) STRICT;
    CREATE INDEX jobs_by_state ON jobs (state);
    CREATE INDEX jobs_by_accepted_at ON jobs (accepted_at);
    """,
    """
    CREATE TABLE history (
        at REAL NOT NULL,
        seconds REAL NOT NULL,
        requests INTEGER NOT NULL,
        cost_micro INTEGER NOT NULL
    ) STRICT;
    """,
    # What was asked for is one JSON object, so that a new field of a request needs no column.
    """
    ALTER TABLE jobs ADD COLUMN request TEXT NOT NULL DEFAULT '{}';
    UPDATE jobs SET request = json_object('prompt', prompt, 'duration_seconds', duration_seconds,
        'aspect_ratio', aspect_ratio, 'seed', json(seed));
    ALTER TABLE jobs DROP COLUMN prompt;
    ALTER TABLE jobs DROP COLUMN duration_seconds;
    ALTER TABLE jobs DROP COLUMN aspect_ratio;
    ALTER TABLE jobs DROP COLUMN seed;
    DROP INDEX jobs_by_state;
    CREATE INDEX jobs_under_way ON jobs (finished_at) WHERE finished_at IS NULL;
    """,
    "ALTER TABLE jobs ADD COLUMN key_id TEXT NOT NULL DEFAULT '';",
)


class Database:
    """One SQLite file. Reads and writes use a connection each, so that a read never waits for the disk."""

    def __init__(self, path: Path) -> None:
        self._writing = _connect(path)
        self._lock = threading.Lock()
        self._writing.execute("PRAGMA journal_mode=WAL")
        self._writing.execute("PRAGMA synchronous=FULL")  # money: what was answered must survive a power cut
        _migrate(self._writing)
        self._reading = _connect(path)
        self._reading_lock = threading.Lock()

    def read(self, sql: str, parameters: Mapping[str, Any] | tuple[Any, ...] = ()) -> list[sqlite3.Row]:
        """The rows of a query."""
        with self._reading_lock:
            return self._reading.execute(sql, parameters).fetchall()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A transaction, alone: committed at the end, taken back on an error. It waits for the disk."""
        with self._lock:
            self._writing.execute("BEGIN IMMEDIATE")
            try:
                yield self._writing
            except BaseException:
                self._writing.execute("ROLLBACK")
                raise
            self._writing.execute("COMMIT")

    def close(self) -> None:
        """Close the file; what was committed is in it."""
        with self._lock, self._reading_lock:
            self._reading.close()
            self._writing.close()


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    return connection


def _migrate(connection: sqlite3.Connection) -> None:
    done = connection.execute("PRAGMA user_version").fetchone()[0]
    for number, script in enumerate(MIGRATIONS[done:], start=done + 1):
        connection.executescript(f"BEGIN; {script} PRAGMA user_version = {number}; COMMIT;")
