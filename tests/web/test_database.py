"""A service's file: what one read sees."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

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
