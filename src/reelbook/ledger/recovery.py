"""Copies what can still be read from one ledger, damaged or no longer writable, into another."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import Final

TABLES: Final = (
    "salt",
    "accounts",
    "later_keys",
    "entries",
    "samples",
    "tags",
    "picks",
    "classrooms",
    "seats",
    "sweeps",
    "sweep_cells",
    "tool_calls",
    "tool_jobs",
)


def rescue(source: sqlite3.Connection, target: sqlite3.Connection) -> int:
    """Copies every readable row into `target`, which has the newest schema; returns the number of entries.

    Raises sqlite3.Error only if `target` can't be written.
    """
    target.execute("BEGIN IMMEDIATE")
    try:
        saved = {table: _copy(source, target, table) for table in TABLES}
    except BaseException:
        target.execute("ROLLBACK")
        raise
    target.execute("COMMIT")
    return saved["entries"]


def _copy(source: sqlite3.Connection, target: sqlite3.Connection, table: str) -> int:
    known = _columns(target, table)
    found = [name for name in _columns(source, table) if name in known]
    if not found:
        return 0
    names, marks = ", ".join(found), ", ".join("?" * len(found))
    first = found[0]  # every table begins with its key
    before = _count(target, table)
    # From both ends: behind the first broken page there may be sound ones.
    for order in ("ASC", "DESC"):
        rows: list[sqlite3.Row] = []
        with contextlib.suppress(sqlite3.DatabaseError):
            for row in source.execute(
                f"SELECT {names} FROM {table} ORDER BY {first} {order}"  # noqa: S608 - names of our own schema
            ):
                rows.append(row)
            order = "whole"
        target.executemany(
            f"INSERT OR REPLACE INTO {table} ({names}) VALUES ({marks})",  # noqa: S608 - names of our own schema
            rows,
        )
        if order == "whole":
            break
    return _count(target, table) - before


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    # table_info leaves out generated columns, which can't be written.
    with contextlib.suppress(sqlite3.DatabaseError):
        return [row["name"] for row in connection.execute(f"PRAGMA table_info({table})")]
    return []


def _count(connection: sqlite3.Connection, table: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608 - our own names
