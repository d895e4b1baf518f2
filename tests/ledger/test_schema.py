"""Ledgers of earlier schemas, and what can still be read of damaged ones."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from ledger.doubles import find, fox, intend, left_open, opened

from reelbook.executions import CellId, Place
from reelbook.ledger import Ledger, Marks, Sample, Spend, schema
from reelbook.ledger.schema import NUMBER, PASSING, TABLES, migrate, rescue
from reelbook.ledger.store import open_memory

HERE = Path(__file__).parent
# From each number to the next: what the Reelbooks of those times did to the file.
STEPS = HERE.joinpath("old_steps.sql").read_text().split("-- step ")[1:]


def earlier(folder: Path, number: int) -> sqlite3.Connection:
    """Puts a ledger of that schema, with data of the first one, into `folder`."""
    folder.mkdir()
    connection = sqlite3.connect(folder / "ledger.db", isolation_level=None)
    connection.executescript(HERE.joinpath("oldest.sql").read_text())
    for step in STEPS[: number - 1]:
        which, _, statements = step.partition("\n")
        connection.executescript(statements)
        connection.execute("INSERT INTO migrations VALUES (?, 0)", (int(which),))
    return connection


def read(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    return connection


@pytest.fixture
def target() -> Iterator[sqlite3.Connection]:
    with closing(open_memory()) as connection:
        yield connection


@pytest.mark.parametrize("number", range(1, NUMBER))
def test_a_ledger_of_every_schema_opens_with_its_jobs_and_money(folder: Path, number: int) -> None:
    """Whichever Reelbook wrote it; also where that one had made an index of words. It can be gone on with:

    running the first clip's cell again buys nothing, also in a front end that sends ids of cells.
    """
    with closing(earlier(folder, number)) as connection:
        connection.execute(
            "CREATE VIRTUAL TABLE prompts USING fts5(prompt, content='entries', content_rowid='id')"
        )
    with opened(folder) as ledger:
        assert (ledger.store.trouble, ledger.account.id) == (None, 1)
        assert [(entry.state, entry.prompt, entry.request_id) for entry in find(ledger)] == [
            ("pending", "a still image", "req-2"),
            ("uncertain", "a wolf", None),
            ("completed", "a red fox runs through snow", "req-1"),
        ]
        assert ledger.spend() == Spend(0.252, 0.25, 0.25)
        assert ledger.samples.list() == [Sample(at=1_800_000_000, balance_usd=9.5, total_spent_usd=0.5)]
        assert ledger.took_seconds(fox().request) == [(0, 60, 40)]
        first = find(ledger, sort="costliest", text="fox")[0]
        assert (first.request, first.charge, first.cost_usd) == (fox().request, "spent", 0.252)
        image = find(ledger, mode="image-to-video")[0]
        assert (image.request.mode, image.request.seed, image.charge) == ("image-to-video", None, "reserved")
        assert image.image_digest
        place = Place("cell", 1, CellId("a", "opening", "/notebooks/fox.ipynb"))
        again, new = intend(ledger, fox(place=place))
        assert (again.id, new) == (1, False)
        assert again.place is not None
        assert place.known_by(again.place) == "text"  # its cell had no id then
        assert intend(ledger, fox()).entry.id == 4
        ledger.mark(1, Marks(note="kept", tags=("old",)))
        assert [entry.marks.note for entry in find(ledger, tag="old")] == ["kept"]


def test_no_column_of_the_last_schema_is_lost(folder: Path) -> None:
    """A row in every table has each of its values afterwards."""
    before = {}
    with closing(earlier(folder, NUMBER - 1)) as connection:
        for table in set(TABLES) - set(PASSING):
            kinds = {row[1]: row[2] for row in connection.execute(f"PRAGMA table_info({table})")}
            if not kinds:  # the table is new
                continue
            values = {
                name: {"INTEGER": number + 1, "REAL": number + 0.5, "TEXT": f"[{number}]"}.get(kind, b"salt")
                for number, (name, kind) in enumerate(kinds.items())
            }
            marks = ", ".join("?" * len(values))
            connection.execute(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", tuple(values.values()))
            before[table] = values
    left_open(folder).file.close()
    with closing(read(folder / "ledger.db")) as connection:
        for table, values in before.items():
            key = next(iter(values))
            query = f"SELECT * FROM {table} WHERE {key} = ?"
            assert dict(connection.execute(query, (values[key],)).fetchone()) == values


@pytest.mark.parametrize("number", [1, 3, 19])
def test_stars_and_winners_of_an_earlier_reelbook_are_picks(folder: Path, number: int) -> None:
    """All of them. A star has no time of its own, so it counts from its submission; a winner has one."""
    with closing(earlier(folder, number)) as connection:
        if number >= 3:
            winners = [(1, 1_900_000_000.0, 2, "[1, 2]"), (1, 1_900_000_009.0, 1, "[1, 2]")]
            connection.executemany(
                "INSERT INTO picks (account, at, winner, among) VALUES (?, ?, ?, ?)", winners
            )
    with opened(folder) as ledger:
        picks = [(each.id, each.marks.picked_at) for each in ledger.picks()]
    by_star, by_choice = [(1, 1_800_000_000.0)], [(2, 1_900_000_000.0), (1, 1_900_000_009.0)]
    assert picks == (by_choice if number >= 3 else by_star)


def test_a_schema_is_brought_up_to_date_whole_or_not_at_all(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If it fails halfway, the file stays as it was, and it can be tried again."""
    with closing(earlier(folder, 7)) as connection:
        before = list(connection.iterdump())
        with monkeypatch.context() as broken:
            broken.setattr(schema, "INDEXES", ("entries_by_nothing ON entries (nothing)",))
            with pytest.raises(sqlite3.OperationalError, match="nothing"):
                migrate(connection)
        assert list(connection.iterdump()) == before
        migrate(connection)
        assert connection.execute("SELECT max(number) FROM migrations").fetchone() == (NUMBER,)


def test_a_source_of_an_older_schema_gives_what_it_has(target: sqlite3.Connection) -> None:
    """Columns that it lacks keep their defaults, and tables that it lacks stay empty."""
    with closing(sqlite3.connect(":memory:")) as source:
        source.row_factory = sqlite3.Row
        source.execute("CREATE TABLE accounts (id INTEGER PRIMARY KEY, origin, fingerprint, odd)")
        source.execute("INSERT INTO accounts VALUES (7, 'sandbox', 'f', 'x')")
        assert rescue(source, target) == 0
    assert [tuple(row) for row in target.execute("SELECT * FROM accounts")] == [(7, "sandbox", "f")]


def test_every_table_is_saved_but_what_passes(ledger: Ledger, target: sqlite3.Connection) -> None:
    """Classrooms, tools' calls and their clips with the rest; the log of requests is soon learnt anew."""
    connection = ledger.store._connection
    for number, table in enumerate(TABLES):
        if table in ("salt", "accounts"):
            continue
        kinds = [row["type"] for row in connection.execute(f"PRAGMA table_info({table})")]
        values = [{"INTEGER": number + 1, "REAL": 0.5}.get(kind, "[]") for kind in kinds]
        connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))})", values)
    assert rescue(connection, target) == 1
    empty = [each for each in TABLES if not target.execute(f"SELECT count(*) FROM {each}").fetchone()[0]]
    assert empty == list(PASSING)
