"""What can still be read of a damaged ledger, copied into another."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from ledger.doubles import KEY, SERVICE, fox, intend

from reelbook.ledger import Ledger
from reelbook.ledger.recovery import TABLES, rescue
from reelbook.ledger.store import open_memory


@pytest.fixture
def target() -> Iterator[sqlite3.Connection]:
    with closing(open_memory()) as connection:
        yield connection


def opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    return connection


def prompts(connection: sqlite3.Connection) -> list[str]:
    return [row["prompt"] for row in connection.execute("SELECT prompt FROM entries ORDER BY id")]


def test_everything_that_can_be_read_is_copied(
    ledger: Ledger, folder: Path, target: sqlite3.Connection
) -> None:
    """Entries are counted, and the salt comes along: keys are recognised by it."""
    for number in range(3):
        intend(ledger, fox(prompt=f"fox {number}"))
    with closing(opened(folder / "ledger.db")) as source:
        assert rescue(source, target) == 3
        salts = [c.execute("SELECT salt FROM salt").fetchone()[0] for c in (source, target)]
    assert prompts(target) == ["fox 0", "fox 1", "fox 2"]
    assert salts[0] == salts[1]


def test_rows_on_both_sides_of_a_broken_page_are_saved(folder: Path, target: sqlite3.Connection) -> None:
    """Read from both ends; what lay on the page itself is lost, and nothing else."""
    count = 60
    with Ledger.open(folder, SERVICE, KEY) as ledger:
        for number in range(count):
            intend(ledger, fox(prompt=f"{number:03} {'x' * 1500}"))
    path = folder / "ledger.db"
    with closing(opened(path)) as source:
        source.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = source.execute("PRAGMA page_size").fetchone()[0]
    data = bytearray(path.read_bytes())
    middle = data.index(f"{count // 2:03} xxx".encode()) // size * size
    data[middle : middle + size] = b"\xff" * size
    path.write_bytes(data)
    with closing(opened(path)) as source:
        saved = rescue(source, target)
    found = [int(prompt[:3]) for prompt in prompts(target)]
    assert (found[0], found[-1]) == (0, count - 1)
    assert saved == len(found)
    assert 0 < count - saved < 6


def test_a_source_of_an_older_schema_gives_what_it_has(target: sqlite3.Connection) -> None:
    """Columns that it lacks keep their defaults, and tables that it lacks stay empty."""
    with closing(sqlite3.connect(":memory:")) as source:
        source.row_factory = sqlite3.Row
        source.execute("CREATE TABLE accounts (id INTEGER PRIMARY KEY, origin, fingerprint, odd)")
        source.execute("INSERT INTO accounts VALUES (7, 'sandbox', 'f', 'x')")
        assert rescue(source, target) == 0
    assert [tuple(row) for row in target.execute("SELECT * FROM accounts")] == [(7, "sandbox", "f")]


def test_every_table_is_copied(target: sqlite3.Connection) -> None:
    """But the log of requests, what is soon learnt anew of windows, and the notes of the migrations."""
    tables = {
        row["name"]
        for row in target.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        if not row["name"].startswith("sqlite_")
    }
    assert set(TABLES) <= tables
    assert tables - set(TABLES) == {"migrations", "requests", "fixed_windows"}
