"""A ledger that another program has locked."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(home: Path) -> Iterator[sqlite3.Connection]:
    """Another program has locked the home's ledger for writing, until it rolls back."""
    holder = sqlite3.connect(home / "ledger.db", isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN IMMEDIATE")
    yield holder
    holder.rollback()
    holder.close()
