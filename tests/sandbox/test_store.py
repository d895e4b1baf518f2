"""The schema of the sandbox's SQLite file."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from reelbook.sandbox.jobs import SandboxJob
from reelbook.sandbox.store import MIGRATIONS
from reelbook.web.database import SqliteFile


def test_a_transaction_is_whole_or_not_there(tmp_path: Path) -> None:
    """An error takes back what was written before it."""
    with closing(SqliteFile(tmp_path / "sandbox.db", MIGRATIONS)) as store:
        with pytest.raises(sqlite3.IntegrityError), store.transaction() as db:
            db.executemany("INSERT INTO history VALUES (?, 5.0, 1, 250000)", [(1.0,), ("never",)])
        assert store.read("SELECT * FROM history") == []


def test_a_file_of_the_first_version_is_brought_up_to_date(tmp_path: Path) -> None:
    """What was in it stays; what a job was asked for becomes one object, with a seed of any width."""
    path = tmp_path / "sandbox.db"
    job = ("req_1", "pending", "text-to-video", 'a "red" fox', 5, "9:16", str(-(2**70)), 1.0, 10.0)
    with closing(sqlite3.connect(path)) as old:
        old.executescript(f"{MIGRATIONS[0]} INSERT INTO account VALUES (1, 7, 8); PRAGMA user_version = 1")
        names = "request_id, state, mode, prompt, duration_seconds, aspect_ratio, seed, accepted_at"
        old.execute(f"INSERT INTO jobs ({names}, planned_seconds) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", job)
        old.commit()
    with closing(SqliteFile(path, MIGRATIONS)) as store:
        assert [tuple(row) for row in store.read("SELECT * FROM account")] == [(1, 7, 8)]
        assert store.read("SELECT * FROM history") == []
        (row,) = store.read("SELECT * FROM jobs")
    asked = {"prompt": 'a "red" fox', "duration_seconds": 5, "aspect_ratio": "9:16", "seed": -(2**70)}
    assert SandboxJob.of(row) == SandboxJob("req_1", "pending", "text-to-video", asked, 1.0, 10.0)
