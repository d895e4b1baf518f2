"""A ledger on a disk that takes no writes for a while."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from reelbook.ledger import Ledger, LedgerFile


@contextlib.contextmanager
def read_only(ledger: Ledger | LedgerFile) -> Iterator[None]:
    """SQLite refuses every write, as in a folder that may only be read."""
    store = ledger.store

    def only(value: int) -> None:
        store._thread.call(lambda: store._connection.execute(f"PRAGMA query_only={value}"))

    only(1)
    yield
    only(0)
