"""The schema's steps."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from ledger.doubles import find, fox, intend, opened

from reelbook.ledger import CellId, Marks, Place, Sample, Spend
from reelbook.ledger.migrations import MIGRATIONS, NewerLedger, migrate

OLDEST = Path(__file__).with_name("oldest.sql")


def oldest(folder: Path) -> None:
    """Lays the dump of a ledger at the first schema, with data in it, into `folder`."""
    folder.mkdir()
    connection = sqlite3.connect(folder / "ledger.db")
    connection.executescript(OLDEST.read_text())
    connection.close()


def test_the_oldest_ledger_opens_with_all_that_is_in_it(folder: Path) -> None:
    """A file at the first schema is brought up to date; its jobs, money, samples and accounts are there."""
    oldest(folder)
    with opened(folder) as ledger:
        assert ledger.file.trouble is None
        assert ledger.account.id == 1
        assert [(entry.state, entry.prompt, entry.request_id) for entry in find(ledger)] == [
            ("pending", "a still image", "req-2"),
            ("uncertain", "a wolf", None),
            ("completed", "a red fox runs through snow", "req-1"),
        ]
        assert ledger.spend() == Spend(0.252, 0.25, 0.25)
        assert ledger.samples.list() == [Sample(at=1_800_000_000, balance_usd=9.5, total_spent_usd=0.5)]
        assert ledger.took_seconds(fox().request) == [(0, 60, 40)]
        assert not intend(ledger, fox(place=Place("cell"))).new
        assert intend(ledger, fox()).entry.id == 4
        ledger.annotations.mark(1, Marks(note="kept", tags=("old",)))
        assert [(entry.marks.note, entry.marks.tags) for entry in find(ledger, tag="old")] == [
            ("kept", ("old",))
        ]


@pytest.mark.parametrize("number", range(1, len(MIGRATIONS)))
def test_a_ledger_of_every_schema_opens_with_its_jobs_and_money(folder: Path, number: int) -> None:
    """Whichever Reelbook wrote it; also where that one had made an index of words."""
    oldest(folder)
    connection = sqlite3.connect(folder / "ledger.db", isolation_level=None)
    migrate(connection, MIGRATIONS[:number])
    connection.execute(
        "CREATE VIRTUAL TABLE prompts USING fts5(prompt, content='entries', content_rowid='id')"
    )
    connection.close()
    with opened(folder) as ledger:
        assert ledger.spend() == Spend(0.252, 0.25, 0.25)
        first = find(ledger, sort="costliest", text="fox")[0]
        assert (first.request, first.charge, first.cost_usd) == (fox().request, "spent", 0.252)
        image = find(ledger, mode="image-to-video")[0]
        assert (image.request.mode, image.request.seed, image.charge) == ("image-to-video", None, "reserved")
        assert image.image_digest


def test_a_row_from_before_cells_had_ids_is_known_by_its_text(folder: Path) -> None:
    """Running its cell again in a front end that sends ids buys nothing."""
    oldest(folder)
    with opened(folder) as ledger:
        place = Place("cell", 1, CellId("a", "opening", "/notebooks/fox.ipynb"))
        entry, new = intend(ledger, fox(place=place))
        assert (entry.id, new) == (1, False)
        assert entry.place is not None
        assert place.known_by(entry.place) == "text"


def test_every_step_has_run_and_stands_in_the_file(folder: Path) -> None:
    """The numbers of the steps are in the table of them, from 1 on without a gap."""
    oldest(folder)
    opened(folder).file.close()
    connection = sqlite3.connect(folder / "ledger.db")
    assert [row[0] for row in connection.execute("SELECT number FROM migrations ORDER BY number")] == list(
        range(1, len(MIGRATIONS) + 1)
    )
    connection.close()


def test_the_first_step_has_not_changed(folder: Path) -> None:
    """A released step is in people's files: the schema that it makes is the one of the oldest dump."""
    oldest(folder)
    dumped, made = sqlite3.connect(folder / "ledger.db"), sqlite3.connect(":memory:", isolation_level=None)
    migrate(made, MIGRATIONS[:1])
    schema = "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name"
    assert made.execute(schema).fetchall() == dumped.execute(schema).fetchall()
    dumped.close()
    made.close()


def test_a_step_is_done_whole_or_not_at_all() -> None:
    """One that fails in its middle leaves the schema at the step before, and can be tried again."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    broken = (*MIGRATIONS, ("CREATE TABLE later (id INTEGER)", "INSERT INTO nowhere VALUES (1)"))
    with pytest.raises(sqlite3.OperationalError, match="nowhere"):
        migrate(connection, broken)
    applied = "SELECT max(number) FROM migrations"
    assert connection.execute(applied).fetchone() == (len(MIGRATIONS),)
    assert connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'later'").fetchone() is None
    migrate(connection, (*MIGRATIONS, ("CREATE TABLE later (id INTEGER)",)))
    assert connection.execute(applied).fetchone() == (len(MIGRATIONS) + 1,)
    connection.close()


def test_a_newer_schema_is_refused_untouched() -> None:
    """Without changing anything in it."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection, (*MIGRATIONS, ("CREATE TABLE later (id INTEGER)",)))
    with pytest.raises(NewerLedger):
        migrate(connection)
    connection.close()
