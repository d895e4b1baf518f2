"""The ledger's tables, and how the rows of an earlier or a damaged ledger get into them.

A changed schema gets the next NUMBER. Columns that an earlier one shares with today's are copied, within the
file and in one transaction; a column that it lacks gets its default.
"""

import contextlib
import sqlite3
import time
from typing import Final

from ..errors import ReelbookError

NUMBER: Final = 22

# Amounts are whole micro-USD, times epoch seconds. Each table begins with its key.
TABLES: Final = {
    "salt": "only_one INTEGER PRIMARY KEY CHECK (only_one = 1), salt BLOB NOT NULL",
    "accounts": """
        id INTEGER PRIMARY KEY,
        origin TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        UNIQUE (origin, fingerprint)
    """,
    # A key that replaced another: its rows are the account's, its requests are its own.
    "later_keys": """
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        origin TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        account INTEGER NOT NULL,
        UNIQUE (origin, fingerprint)
    """,
    # What a second costs and what a state means is in `wire` and `states` alone: no column has them.
    # `request` is what was asked for, as JSON, without what has its own column; `seed` (a text, as it may
    # have more than 64 bits) and `image_digest` are those of older rows. `cell` is a hash of the cell's text,
    # `cell_id` the front end's name for it. `left_unsent`: cancelled because its kernel ended before it was
    # sent, so a person may have it sent after all; never one that `repeats` another entry, which may have
    # been bought. `took_seconds` is when the end was noticed; the job took more than `took_at_least`, and at
    # most `took_at_most`. `tags` is a list in JSON.
    "entries": """
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        account INTEGER NOT NULL,
        state TEXT NOT NULL,
        mode TEXT NOT NULL,
        prompt TEXT NOT NULL,
        duration_seconds INTEGER NOT NULL,
        aspect_ratio TEXT,
        request TEXT,
        seed TEXT,
        image_digest TEXT,
        sameness TEXT NOT NULL,
        experiment TEXT,
        cell TEXT,
        nth INTEGER,
        cell_id TEXT,
        opening TEXT,
        notebook TEXT,
        kernel TEXT NOT NULL,
        resumed INTEGER NOT NULL DEFAULT 0,
        left_unsent INTEGER NOT NULL DEFAULT 0,
        repeats INTEGER,
        intended_at REAL NOT NULL,
        sent_at REAL,
        accepted_at REAL,
        ended_at REAL,
        downloaded_at REAL,
        abandoned_at REAL,
        request_id TEXT,
        estimated_cost_micro INTEGER NOT NULL,
        cost_micro INTEGER,
        estimated_duration_seconds REAL,
        actual_seconds REAL,
        took_seconds REAL,
        took_at_least REAL,
        took_at_most REAL,
        progress REAL,
        video_url TEXT,
        clip_path TEXT,
        error TEXT,
        picked_at REAL,
        note TEXT NOT NULL DEFAULT '',
        tags TEXT NOT NULL DEFAULT '[]'
    """,
    # `better` is one of the two that were shown; NULL if the voter couldn't say.
    "votes": """
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        account INTEGER NOT NULL,
        at REAL NOT NULL,
        question TEXT NOT NULL,
        shown_left TEXT NOT NULL,
        shown_right TEXT NOT NULL,
        better TEXT,
        voter TEXT NOT NULL
    """,
    # The answer to a question includes whatever ended before it was asked.
    "samples": """
        id INTEGER PRIMARY KEY,
        account INTEGER NOT NULL,
        at REAL NOT NULL,
        asked_at REAL,
        balance_micro INTEGER,
        total_spent_micro INTEGER,
        total_requests REAL,
        total_seconds REAL,
        total_cost_micro INTEGER,
        period_days REAL
    """,
    # `of_key` is the key's origin and fingerprint. `steady` is the time by the clock that runs since the
    # machine's start `boot`; the clock of `at` may be set by anybody.
    "requests": """
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        of_key TEXT NOT NULL,
        kernel TEXT NOT NULL,
        at REAL NOT NULL,
        steady REAL NOT NULL,
        boot TEXT NOT NULL,
        answered INTEGER NOT NULL DEFAULT 0,
        told_limit INTEGER
    """,
    "tool_calls": """
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        at REAL NOT NULL,
        origin TEXT NOT NULL,
        user TEXT NOT NULL,
        tool TEXT NOT NULL,
        arguments TEXT NOT NULL,
        whole INTEGER NOT NULL,
        outcome TEXT,
        took_seconds REAL,
        request_ids TEXT NOT NULL DEFAULT '[]',
        error TEXT
    """,
    "tool_jobs": """
        account INTEGER NOT NULL,
        request_id TEXT NOT NULL,
        kernel TEXT NOT NULL,
        prompt TEXT NOT NULL,
        called_at REAL NOT NULL,
        answered_at REAL NOT NULL,
        ended_at REAL NOT NULL,
        seconds REAL,
        cost_micro INTEGER NOT NULL,
        PRIMARY KEY (account, request_id)
    """,
    # `record` is the caller's JSON. Each cell has at most one entry: the one that was bought for it, or,
    # where it was `found`, one that existed before.
    "sweeps": """
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        account INTEGER NOT NULL,
        name TEXT NOT NULL,
        record TEXT NOT NULL,
        sameness TEXT NOT NULL,
        cell TEXT,
        nth INTEGER,
        cell_id TEXT,
        opening TEXT,
        notebook TEXT,
        state TEXT NOT NULL,
        kernel TEXT NOT NULL,
        planned_at REAL NOT NULL,
        began_at REAL NOT NULL,
        ran_seconds REAL NOT NULL DEFAULT 0,
        planned_seconds TEXT NOT NULL
    """,
    "sweep_cells": """
        sweep INTEGER NOT NULL,
        number INTEGER NOT NULL,
        entry INTEGER,
        found INTEGER NOT NULL DEFAULT 0,
        left_out INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (sweep, number)
    """,
}
PASSING: Final = ("requests",)  # useful for minutes only, so nothing is lost with them
INDEXES: Final = (
    "entries_by_time ON entries (account, intended_at)",
    "entries_by_price ON entries (account, coalesce(cost_micro, estimated_cost_micro))",
    # The sums need only the columns after `intended_at`.
    "entries_by_state ON entries (account, state, intended_at, abandoned_at, cost_micro, "
    "estimated_cost_micro, duration_seconds, actual_seconds)",
    "entries_by_end ON entries (account, ended_at)",
    "entries_by_request ON entries (request_id, account) WHERE request_id IS NOT NULL",
    "entries_by_experiment ON entries (account, experiment, intended_at) WHERE experiment IS NOT NULL",
    "entries_by_place ON entries (account, cell, nth, sameness) WHERE cell IS NOT NULL",
    "entries_by_cell_id ON entries (account, cell_id, nth, sameness) WHERE cell_id IS NOT NULL",
    "entries_picked ON entries (account, picked_at) WHERE picked_at IS NOT NULL",
    "entries_tagged ON entries (account, intended_at, tags) WHERE tags <> '[]'",
    "entries_unfinished ON entries (account, id) "
    "WHERE request_id IS NOT NULL AND clip_path IS NULL AND state <> 'failed'",
    "entries_unsent ON entries (kernel, state) WHERE state IN ('intended', 'sending')",
    "entries_left_unsent ON entries (account, sameness) WHERE left_unsent = 1",
    "entries_completed ON entries (account, sameness) WHERE state = 'completed'",
    # Forecasts learn in the order of the submissions.
    "entries_taking ON entries (account, mode, id, duration_seconds, aspect_ratio) "
    "WHERE took_seconds IS NOT NULL",
    "votes_by_question ON votes (account, question)",
    "samples_by_time ON samples (account, at)",
    "requests_by_time ON requests (of_key, at)",
    "sweeps_by_sameness ON sweeps (account, sameness)",
)
_GONE: Final = ("images", "fixed_windows", "picks", "tags")
# What earlier schemas had in place of `picked_at`: stars, and the winners of comparisons, which say when.
_FORMER_PICKS: Final = (
    "SELECT intended_at, id FROM entries WHERE starred = 1 ORDER BY id",
    "SELECT at, winner FROM picks ORDER BY id",
)
_PICK: Final = "UPDATE entries SET picked_at = ? WHERE id = ?"


class NewerLedger(ReelbookError):
    """The file was written by a newer Reelbook, whose schema this one doesn't know. It stays as it is."""


def migrate(connection: sqlite3.Connection) -> None:
    """Brings a ledger's schema up to date, all of it or nothing. Raises NewerLedger and sqlite3.Error."""
    connection.execute(
        "CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, applied_at REAL NOT NULL) STRICT"
    )
    if (found := _number(connection)) > NUMBER:
        raise NewerLedger(f"Its schema is number {found}, this Reelbook knows {NUMBER}.")
    if found == NUMBER:
        return
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        if _number(connection) < NUMBER:  # no other kernel was quicker
            _renew(connection)


def rescue(source: sqlite3.Connection, target: sqlite3.Connection) -> int:
    """Copies what can still be read of a ledger into an empty one; returns the number of its entries.

    Raises sqlite3.Error only if `target` can't be written.
    """
    with target:
        target.execute("BEGIN IMMEDIATE")
        for table in TABLES:
            if table not in PASSING:
                _copy(source, target, table)
        target.executemany(_PICK, _former_picks(source))
    return int(target.execute("SELECT count(*) FROM entries").fetchone()[0])


def _number(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT coalesce(max(number), 0) FROM migrations").fetchone()[0])


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    # It leaves out generated columns, which can't be written.
    return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]


def _copy(source: sqlite3.Connection, target: sqlite3.Connection, table: str) -> None:
    shared: list[str] = []
    with contextlib.suppress(sqlite3.DatabaseError):
        shared = [name for name in _columns(source, table) if name in _columns(target, table)]
    if not shared:
        return
    names, marks = ", ".join(shared), ", ".join("?" * len(shared))
    # From both ends: beyond the first broken page there may be sound ones.
    for order in ("ASC", "DESC"):
        rows: list[sqlite3.Row] = []
        with contextlib.suppress(sqlite3.DatabaseError):
            for row in source.execute(f"SELECT {names} FROM {table} ORDER BY {shared[0]} {order}"):  # noqa: S608 - our own names
                rows.append(row)
            order = "whole"
        target.executemany(f"INSERT OR REPLACE INTO {table} ({names}) VALUES ({marks})", rows)  # noqa: S608 - our own names
        if order == "whole":
            break


def _former_picks(source: sqlite3.Connection) -> list[tuple[float, int]]:
    """When which entry was picked, by an earlier schema."""
    found: list[tuple[float, int]] = []
    for query in _FORMER_PICKS:
        with contextlib.suppress(sqlite3.DatabaseError):  # it has no such column, or is damaged
            found.extend(tuple(row) for row in source.execute(query))
    return found


def _renew(connection: sqlite3.Connection) -> None:
    picks = _former_picks(connection)
    for table, definition in TABLES.items():
        before = _columns(connection, table)
        if before:
            connection.execute(f"ALTER TABLE {table} RENAME TO former")
        connection.execute(f"CREATE TABLE {table} ({definition}) STRICT")
        if table not in PASSING and before:
            kept = ", ".join(name for name in _columns(connection, table) if name in before)
            connection.execute(f"INSERT INTO {table} ({kept}) SELECT {kept} FROM former")  # noqa: S608 - our own names
        connection.execute("DROP TABLE IF EXISTS former")  # with its indexes
    connection.executemany(_PICK, picks)
    for index in INDEXES:
        connection.execute(f"CREATE INDEX {index}")
    for table in _GONE:
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    connection.execute("INSERT OR IGNORE INTO salt VALUES (1, randomblob(32))")
    connection.execute("INSERT INTO migrations VALUES (?, ?)", (NUMBER, time.time()))
