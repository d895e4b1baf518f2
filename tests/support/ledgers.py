"""Ledgers without a session: an account, its rows, locks of others, and a disk that takes no writes."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reelbook.ledger import Ledger, LedgerFile
from reelbook.models import JobStatus, job_status
from reelbook.secret import Secret


@contextlib.contextmanager
def ledger_in(home: Path, service: str, key: Secret, **options: Any) -> Iterator[Ledger]:
    """That of `key` at `service` in `home`, closed at the end; the options are those of `LedgerFile.open`."""
    with LedgerFile.open(home, **options) as file:
        yield file.ledger(service, key)


def told(state: str, **fields: Any) -> JobStatus:
    """What the service says about a job."""
    return job_status({"request_id": "r", "status": state, **fields})


def rows(database: Path, query: str, *values: object) -> list[sqlite3.Row]:
    """What a query finds in a database that others use: a ledger's, or a sandbox's."""
    with contextlib.closing(sqlite3.connect(database, timeout=20)) as connection:
        connection.row_factory = sqlite3.Row
        return connection.execute(query, values).fetchall()


def forget_requests(home: Path) -> None:
    """Forgets which requests were sent in the last minute.

    A fresh session takes the limit for 10 a minute, and what other kernels used of it for used up: without
    this it would wait a minute or two for that. This takes the wait away, no more; the session's next answer
    says that the limit is lifted.
    """
    with contextlib.closing(sqlite3.connect(home / "ledger.db", timeout=20)) as connection, connection:
        connection.execute("DELETE FROM requests")


@contextlib.contextmanager
def locked(home: Path) -> Iterator[sqlite3.Connection]:
    """Another program has locked the home's ledger for writing, until it rolls back."""
    holder = sqlite3.connect(home / "ledger.db", isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN IMMEDIATE")
    yield holder
    holder.rollback()
    holder.close()


@contextlib.contextmanager
def read_only(ledger: Ledger | LedgerFile) -> Iterator[None]:
    """SQLite refuses every write, as in a folder that is read-only."""
    store = ledger.store

    def only(value: int) -> None:
        store._call(lambda: store._connection.execute(f"PRAGMA query_only={value}"))

    only(1)
    yield
    only(0)
