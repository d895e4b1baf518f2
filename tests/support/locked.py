"""A ledger that another program has locked."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
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


HOLDER = """
import sqlite3, sys
ledger = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=5)
ledger.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
"""


@contextmanager
def locked_by_process(home: Path) -> Iterator[int]:
    """Another process has locked the home's ledger for writing, until the end. Yields its number."""
    command = [sys.executable, "-c", HOLDER, str(home / "ledger.db")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline(), "the lock wasn't to be had"
        yield holder.pid
