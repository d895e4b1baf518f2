"""The ledger's schema as numbered steps. Appended to, never edited: a released step is in people's files.

A step is a tuple of statements and runs in one transaction, so a file is at one number or the next.
"""

from __future__ import annotations

import sqlite3
import time
from typing import Final

from ..errors import ReelbookError

Migration = tuple[str, ...]

MIGRATIONS: Final[tuple[Migration, ...]] = (
    (
        "CREATE TABLE salt (only_one INTEGER PRIMARY KEY CHECK (only_one = 1), salt BLOB NOT NULL) STRICT",
        "INSERT INTO salt VALUES (1, randomblob(32))",
        """
        CREATE TABLE accounts (
            id INTEGER PRIMARY KEY,
            origin TEXT NOT NULL,
            fingerprint TEXT NOT NULL,
            UNIQUE (origin, fingerprint)
        ) STRICT
        """,
        # `seed` is text: the interface takes any integer, SQLite's end at 64 bits. `charge` says how sure it
        # is that `price_micro` has to be paid; a new word of our own needs a new step here, on purpose.
        """
        CREATE TABLE entries (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            account INTEGER NOT NULL,
            state TEXT NOT NULL,
            mode TEXT NOT NULL,
            prompt TEXT NOT NULL,
            duration_seconds INTEGER NOT NULL,
            aspect_ratio TEXT,
            seed TEXT,
            image_digest TEXT,
            sameness TEXT NOT NULL,
            experiment TEXT,
            cell TEXT,
            nth INTEGER,
            kernel TEXT NOT NULL,
            resumed INTEGER NOT NULL DEFAULT 0,
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
            progress REAL,
            video_url TEXT,
            clip_path TEXT,
            error TEXT,
            starred INTEGER NOT NULL DEFAULT 0,
            price_micro INTEGER GENERATED ALWAYS AS (coalesce(cost_micro, estimated_cost_micro)) VIRTUAL,
            charge TEXT GENERATED ALWAYS AS (CASE
                WHEN state IN ('refused', 'cancelled', 'not accepted') THEN 'none'
                WHEN cost_micro IS NOT NULL OR state IN ('completed', 'lost') THEN 'spent'
                WHEN abandoned_at IS NOT NULL OR state IN ('uncertain', 'failed') THEN 'uncertain'
                ELSE 'reserved' END) VIRTUAL
        ) STRICT
        """,
        "CREATE INDEX entries_by_time ON entries (account, intended_at, price_micro)",
        "CREATE INDEX entries_by_price ON entries (account, price_micro)",
        "CREATE INDEX entries_by_state ON entries (account, state, intended_at)",
        "CREATE INDEX entries_by_charge ON entries (account, charge, intended_at, price_micro)",
        "CREATE INDEX entries_by_request ON entries (request_id, account) WHERE request_id IS NOT NULL",
        """
        CREATE INDEX entries_by_experiment ON entries (account, experiment, intended_at)
        WHERE experiment IS NOT NULL
        """,
        "CREATE INDEX entries_starred ON entries (account, intended_at) WHERE starred = 1",
        "CREATE INDEX entries_by_place ON entries (account, cell, nth, sameness) WHERE cell IS NOT NULL",
        """
        CREATE INDEX entries_unfinished ON entries (account, id)
        WHERE request_id IS NOT NULL AND clip_path IS NULL AND abandoned_at IS NULL AND state <> 'failed'
        """,
        "CREATE INDEX entries_unsent ON entries (kernel, state) WHERE state IN ('intended', 'sending')",
        """
        CREATE INDEX entries_taking
        ON entries (account, mode, ended_at, duration_seconds, aspect_ratio, took_seconds)
        WHERE took_seconds IS NOT NULL
        """,
        "CREATE TABLE images (digest TEXT PRIMARY KEY, thumbnail BLOB NOT NULL) STRICT, WITHOUT ROWID",
        """
        CREATE TABLE samples (
            id INTEGER PRIMARY KEY,
            account INTEGER NOT NULL,
            at REAL NOT NULL,
            balance_micro INTEGER,
            total_spent_micro INTEGER,
            total_requests REAL,
            total_seconds REAL,
            total_cost_micro INTEGER,
            period_days REAL
        ) STRICT
        """,
        "CREATE INDEX samples_by_time ON samples (account, at)",
        """
        CREATE TABLE requests (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            account INTEGER NOT NULL,
            at REAL NOT NULL,
            purpose TEXT NOT NULL
        ) STRICT
        """,
        "CREATE INDEX requests_by_time ON requests (account, at)",
    ),
    (
        # Requests are kept for minutes, so nothing is lost with the table.
        "DROP TABLE requests",
        """
        CREATE TABLE requests (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            account INTEGER NOT NULL,
            kernel TEXT NOT NULL,
            at REAL NOT NULL,
            answered INTEGER NOT NULL DEFAULT 0,
            told_limit INTEGER
        ) STRICT
        """,
        "CREATE INDEX requests_by_time ON requests (account, at)",
    ),
    (
        # The tags of an entry stand in it as a JSON list; the table is there to find entries by them.
        "ALTER TABLE entries ADD COLUMN note TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE entries ADD COLUMN tags TEXT NOT NULL DEFAULT '[]'",
        "CREATE INDEX entries_noted ON entries (account, intended_at) WHERE note <> ''",
        """
        CREATE TABLE tags (
            account INTEGER NOT NULL,
            tag TEXT NOT NULL,
            entry INTEGER NOT NULL,
            PRIMARY KEY (account, tag, entry)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX tags_by_entry ON tags (entry)",
        """
        CREATE TABLE picks (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            account INTEGER NOT NULL,
            at REAL NOT NULL,
            winner INTEGER NOT NULL,
            among TEXT NOT NULL
        ) STRICT
        """,
        "CREATE INDEX picks_by_winner ON picks (account, winner)",
    ),
    (
        # Whose key is which. The keys themselves are in the students' files, and nowhere in here.
        """
        CREATE TABLE classrooms (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            origin TEXT NOT NULL,
            name TEXT NOT NULL,
            label TEXT NOT NULL,
            folder TEXT NOT NULL,
            address TEXT NOT NULL,
            rate_limit INTEGER NOT NULL,
            max_spend_micro INTEGER NOT NULL,
            before TEXT NOT NULL,
            opened_at REAL NOT NULL,
            closed_at REAL,
            UNIQUE (origin, name)
        ) STRICT
        """,
        """
        CREATE TABLE seats (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            classroom INTEGER NOT NULL,
            student TEXT NOT NULL,
            key_name TEXT NOT NULL,
            file TEXT NOT NULL,
            state TEXT NOT NULL,
            key_id TEXT,
            UNIQUE (classroom, student)
        ) STRICT
        """,
    ),
    (
        # A key that took the place of another one: its rows are the account's, its requests are its own.
        # Those are counted under the number below zero, which no account has.
        """
        CREATE TABLE later_keys (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            origin TEXT NOT NULL,
            fingerprint TEXT NOT NULL,
            account INTEGER NOT NULL,
            UNIQUE (origin, fingerprint)
        ) STRICT
        """,
    ),
    (
        """
        CREATE TABLE tool_calls (
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
        ) STRICT
        """,
    ),
    (
        """
        CREATE TABLE tool_jobs (
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
        ) STRICT, WITHOUT ROWID
        """,
    ),
    (
        # What was given up is asked about again by later kernels.
        "DROP INDEX entries_unfinished",
        """
        CREATE INDEX entries_unfinished ON entries (account, id)
        WHERE request_id IS NOT NULL AND clip_path IS NULL AND state <> 'failed'
        """,
    ),
    (
        # The price is 50,000 micro-USD a second (interface, Limits): of the delivered length where that can
        # be meant, else of the one asked for. What the service's figure is short of it is understated, unless
        # it is a rounding to cents, or a failed job of which it is known what it cost.
        """
        ALTER TABLE entries ADD COLUMN due_micro INTEGER GENERATED ALWAYS AS (
            CAST(round(50000 * CASE
                WHEN state = 'completed' AND actual_seconds BETWEEN duration_seconds / 2.0
                    AND 2 * duration_seconds THEN actual_seconds
                ELSE duration_seconds END) AS INTEGER)
        ) VIRTUAL
        """,
        """
        ALTER TABLE entries ADD COLUMN understated_micro INTEGER GENERATED ALWAYS AS (CASE
            WHEN charge = 'none' OR (state = 'failed' AND cost_micro IS NOT NULL) THEN 0
            WHEN due_micro - price_micro < 5000 THEN 0
            ELSE due_micro - price_micro END
        ) VIRTUAL
        """,
        """
        CREATE INDEX entries_understated ON entries (account, intended_at, understated_micro)
        WHERE understated_micro > 0
        """,
        # A tool's clip has no asked length: what it was short of the price is known where its own length is.
        """
        ALTER TABLE tool_jobs ADD COLUMN understated_micro INTEGER GENERATED ALWAYS AS (CASE
            WHEN seconds BETWEEN 0 AND 20 AND round(50000 * seconds) - cost_micro >= 5000
            THEN CAST(round(50000 * seconds) AS INTEGER) - cost_micro ELSE 0 END
        ) VIRTUAL
        """,
        # The newest entry at a moment at which all had ended long enough ago for the figures to hold them.
        "ALTER TABLE samples ADD COLUMN complete_to INTEGER",
    ),
    (
        # When a request was made by the machine's steady clock, and by which machine's; `at` may be set.
        "ALTER TABLE requests ADD COLUMN steady REAL NOT NULL DEFAULT 0",
        "ALTER TABLE requests ADD COLUMN boot TEXT NOT NULL DEFAULT ''",
    ),
    (
        # What the front end calls the cell; `cell` goes on being a hash of its text.
        "ALTER TABLE entries ADD COLUMN cell_id TEXT",
        "ALTER TABLE entries ADD COLUMN opening TEXT",
        "ALTER TABLE entries ADD COLUMN notebook TEXT",
        """
        CREATE INDEX entries_by_cell_id ON entries (account, cell_id, nth, sameness)
        WHERE cell_id IS NOT NULL
        """,
    ),
    (
        # Cancelled because its kernel ended before it was sent: a person may have it sent after all.
        # Not so one that sends another entry again, `repeats`, which may have been bought.
        "ALTER TABLE entries ADD COLUMN left_unsent INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE entries ADD COLUMN repeats INTEGER",
        "CREATE INDEX entries_left_unsent ON entries (account, sameness) WHERE left_unsent = 1",
    ),
    (
        # `took_seconds` is when the end was noticed. The job took more than the first of these, and at most
        # the second; of what was written before, only the notice is known.
        "ALTER TABLE entries ADD COLUMN took_at_least REAL",
        "ALTER TABLE entries ADD COLUMN took_at_most REAL",
    ),
    (
        # A sweep and its cells. `record` is the caller's JSON. Each cell has at most one entry: the one that
        # was bought for it, or, where it was `found`, one that was there before.
        """
        CREATE TABLE sweeps (
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
        ) STRICT
        """,
        "CREATE INDEX sweeps_by_sameness ON sweeps (account, sameness)",
        """
        CREATE TABLE sweep_cells (
            sweep INTEGER NOT NULL,
            number INTEGER NOT NULL,
            entry INTEGER,
            found INTEGER NOT NULL DEFAULT 0,
            left_out INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (sweep, number)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX entries_completed ON entries (account, sameness) WHERE state = 'completed'",
    ),
    (
        # What a forecast learns from is read in the order of the submissions.
        "DROP INDEX entries_taking",
        """
        CREATE INDEX entries_taking ON entries (account, mode, id, duration_seconds, aspect_ratio)
        WHERE took_seconds IS NOT NULL
        """,
    ),
    (
        # The keys whose limit was seen to begin anew as a whole. A later key has its number below zero.
        "CREATE TABLE fixed_windows (account INTEGER PRIMARY KEY) STRICT",
    ),
    (
        # What ended before a question was asked is in its answer.
        "ALTER TABLE samples ADD COLUMN asked_at REAL",
        "CREATE INDEX entries_by_end ON entries (account, ended_at)",
    ),
    (
        # What a second costs and what a state means stand in `wire` and `states` alone: no column has them.
        *(f"DROP INDEX entries_{name}" for name in ("understated", "by_time", "by_price", "by_charge")),
        "DROP INDEX entries_by_state",
        *(
            f"ALTER TABLE entries DROP COLUMN {name}"
            for name in ("understated_micro", "due_micro", "charge", "price_micro")
        ),
        "ALTER TABLE tool_jobs DROP COLUMN understated_micro",
        "ALTER TABLE samples DROP COLUMN complete_to",
        "DROP TABLE images",
        "CREATE INDEX entries_by_time ON entries (account, intended_at)",
        "CREATE INDEX entries_by_price ON entries (account, coalesce(cost_micro, estimated_cost_micro))",
        # The columns behind `intended_at` are all that the sums need.
        """
        CREATE INDEX entries_by_state ON entries (account, state, intended_at, abandoned_at, cost_micro,
        estimated_cost_micro, duration_seconds, actual_seconds)
        """,
        # What was asked for, as JSON, but for what has a column of its own. `seed` and `image_digest` are
        # those of the rows before.
        "ALTER TABLE entries ADD COLUMN request TEXT",
    ),
)


class NewerLedger(ReelbookError):
    """The file was written by a newer Reelbook, whose schema this one doesn't know. It is left as it is."""


def migrate(connection: sqlite3.Connection, migrations: tuple[Migration, ...] = MIGRATIONS) -> None:
    """Brings a ledger's schema up to date, one transaction a step. Raises NewerLedger and sqlite3.Error."""
    connection.execute(
        "CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, applied_at REAL NOT NULL) STRICT"
    )
    applied = connection.execute("SELECT coalesce(max(number), 0) FROM migrations").fetchone()[0]
    if applied > len(migrations):
        raise NewerLedger(f"Its schema is number {applied}, this Reelbook knows {len(migrations)}.")
    for number, statements in enumerate(migrations[applied:], start=applied + 1):
        connection.execute("BEGIN IMMEDIATE")
        try:
            # The number first: where another kernel was quicker, this fails before anything is changed.
            connection.execute("INSERT INTO migrations VALUES (?, ?)", (number, time.time()))
            for statement in statements:
                connection.execute(statement)
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
