"""A service's file: what one read sees."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from reelbook.web.database import SqliteFile

COUNT = "SELECT count(*) FROM clips"


def test_a_read_sees_one_moment_and_waits_for_no_write(tmp_path: Path) -> None:
    """A job that is sent meanwhile doesn't stand in one query and miss in the next."""
    with closing(SqliteFile(tmp_path / "class.db", ["CREATE TABLE clips (number INTEGER) STRICT;"])) as file:
        with file.reading() as db:
            assert db.execute(COUNT).fetchone()[0] == 0
            with file.transaction() as writing:
                writing.execute("INSERT INTO clips VALUES (1)")
            assert db.execute(COUNT).fetchone()[0] == 0
        assert file.read(COUNT)[0][0] == 1


def test_two_that_open_a_new_file_at_once_both_do(tmp_path: Path) -> None:
    """A class's panel may look for the room in the moment in which it is made."""
    script = "CREATE TABLE clips (number INTEGER) STRICT;"

    def opened(number: int) -> int:
        with closing(SqliteFile(tmp_path / f"{number // 2}.db", [script])) as file:
            return int(file.read(COUNT)[0][0])

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(opened, range(40))) == [0] * 40


def test_a_full_disk_is_called_that_and_undone(tmp_path: Path) -> None:
    """SQLite has rolled back by then itself."""
    with closing(SqliteFile(tmp_path / "class.db", ["CREATE TABLE clips (name TEXT) STRICT;"])) as file:
        file._writing.execute("PRAGMA max_page_count = 4")
        with pytest.raises(sqlite3.OperationalError, match="full"), file.transaction() as db:
            db.executemany("INSERT INTO clips VALUES (?)", [("x" * 3000,)] * 9)
        assert file.read(COUNT)[0][0] == 0
        with file.transaction() as db:
            db.execute("INSERT INTO clips VALUES ('small')")
        assert file.read(COUNT)[0][0] == 1
