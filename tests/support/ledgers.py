"""The ledger of one account without a session, and what is read and changed in the files beside it."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reelbook.ledger import Ledger, LedgerFile
from reelbook.secret import Secret


@contextlib.contextmanager
def ledger_in(home: Path, service: str, key: Secret, **options: Any) -> Iterator[Ledger]:
    """That of `key` at `service` in `home`, closed at the end; the options are those of `LedgerFile.open`."""
    with LedgerFile.open(home, **options) as file:
        yield file.ledger(service, key)


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
