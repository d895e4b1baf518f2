"""Sweeps: their plans and their cells. `explore` writes what a sweep's record holds.

A cell has at most one entry at a time, and gets it in the transaction that records the entry. So each cell
is bought once, whoever runs the sweep and however often a kernel is killed.
"""

import contextlib
import hashlib
import json
import operator
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from .. import wire
from ..errors import InvalidInput
from ..executions import Place
from ..formatting import exact_dollars, local, terminal_line
from ..requests import JobRequest
from ..secret import quotable
from ..states import LEFT_OUT, PLANNED, names
from .records import Entry, SweepCell, are_two_cells, insert, place_columns, place_of
from .search import matching
from .store import Part

# What a person wants of a sweep.
RUNNING: Final = "running"
PAUSED: Final = "paused"
STOPPED: Final = "stopped"
# The other states that it can reach.
COMPLETED: Final = "completed"

# These don't change by themselves any more.
_ENDED: Final = frozenset(names(final=True))
_UNPAID: Final = frozenset(names(charge="none"))

Seconds = tuple[float, float, float]


@dataclass(frozen=True)
class SweepRecord:
    """A sweep as it was recorded. `counts` says how many of its cells are in which state.

    A cell is `planned`, `left out`, or in its job's state (see `JobView`). The sweep is `running`, `paused`,
    `stopped` or `completed`; one whose kernel ended is paused. `cost_usd` is what its clips cost, as far as
    known, and `found` the number of cells that cost nothing because their clips existed before.
    `planned_seconds` is how long it was to take: early, likely and late; `elapsed_seconds` how long it has
    taken so far, without the time in which it was paused.
    """

    id: str
    name: str
    at: datetime
    record: Mapping[str, object]
    state: str
    counts: Mapping[str, int]
    found: int
    cost_usd: float
    planned_seconds: Seconds
    elapsed_seconds: float

    def __str__(self) -> str:
        """A line of a list: "12 “foxes”, 25 Nov 2026, 14:30: paused, 6 completed, 12 planned, $0.60"."""
        counts = [f"{number} {state}" for state, number in self.counts.items()]
        said = ", ".join([self.state, *counts, exact_dollars(self.cost_usd)])
        return terminal_line(f"{self.id} “{self.name}”, {self.at.day} {self.at:%b %Y, %H:%M}: {said}")

    def __repr__(self) -> str:
        return f"<SweepRecord {self}>"


class Sweeps(Part):
    def earlier(self, record: Mapping[str, object], place: Place | None) -> int | None:
        """The number of the equal sweep that an earlier run of this notebook cell began, if there was one."""
        if place is None:
            return None
        name = place.cell_id
        rows = self.store.rows(
            "SELECT * FROM sweeps WHERE account = ? AND sameness = ? AND nth = ? "
            "AND (cell = ? OR cell_id = ?) ORDER BY id DESC",
            *(self._account_id, sameness(record), place.nth, place.cell, None if name is None else name.id),
        )
        return next((int(row["id"]) for row in rows if not are_two_cells(place_of(row), place)), None)

    def begin(
        self,
        record: Mapping[str, object],
        cells: Iterable[int],
        *,
        planned_seconds: Seconds,
        place: Place | None = None,
        left_out: Collection[int] = (),
    ) -> int:
        """Records a sweep with the numbers of its cells, to be run by this kernel. Returns its number.

        `place` is the notebook cell's, None for a script; the others are as in `SweepRecord`.
        """
        values = {
            "account": self._account_id,
            "name": record["name"] or record["template"],
            "record": json.dumps(record),
            "sameness": sameness(record),
            **place_columns(place),
            "state": RUNNING,
            "kernel": self.store.kernel.name,
            **dict.fromkeys(("planned_at", "began_at"), self.store.clock()),
            "planned_seconds": json.dumps(planned_seconds),
        }

        def work(db: sqlite3.Connection) -> int:
            number: int = insert(db, "sweeps", values)["id"]
            db.executemany(
                "INSERT INTO sweep_cells (sweep, number, left_out) VALUES (?, ?, ?)",
                [(number, each, each in left_out) for each in cells],
            )
            return number

        return self.store.write(work)

    def all(self) -> list[SweepRecord]:
        """The account's sweeps, newest first."""
        return self._records("account = ? ORDER BY id DESC", self._account_id)

    def names(self, *, limit: int) -> list[tuple[int, str]]:
        """The numbers and the templates of the account's last sweeps, newest first."""
        newest = "SELECT id, record ->> 'template' FROM sweeps WHERE account = ? ORDER BY id DESC LIMIT ?"
        return [tuple(row) for row in self.store.rows(newest, self._account_id, limit)]

    def interrupted(self) -> list[SweepRecord]:
        """Those that nobody paused or stopped, but whose kernel ended before everything was sent."""
        wanted = self._records("account = ? AND state = ? ORDER BY id DESC", self._account_id, RUNNING)
        return [each for each in wanted if each.state == PAUSED and each.counts.get(PLANNED)]

    def record(self, sweep: int | str) -> SweepRecord:
        """The sweep of that number. Raises InvalidInput where this key has none."""
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            number = int(sweep) if isinstance(sweep, str) else operator.index(sweep)
            if found := self._records("account = ? AND id = ?", self._account_id, number):
                return found[0]
        said = sweep if isinstance(sweep, str) else quotable(sweep)
        raise InvalidInput(f"This key has no sweep {said}. session.sweeps() lists what there is.")

    def axes(self, sweep: int | str) -> dict[str, dict[str, frozenset[int]]]:
        """For each axis its values as a person reads them, with the numbers of the cells that have each."""
        record: Mapping[str, Any] = self.record(sweep).record
        places = [cell["place"] for cell in record["cells"]]
        return {
            axis["name"]: {
                label: frozenset(n for n, place in enumerate(places, 1) if place[at] == index)
                for index, label in enumerate(axis["labels"])
            }
            for at, axis in enumerate(record["axes"])
        }

    def cells_at(self, sweep: int | str, where: Mapping[str, object]) -> frozenset[int] | None:
        """The cells with these values of these axes; None for all. Raises InvalidInput for unknown ones."""
        cells: frozenset[int] | None = None
        axes = self.axes(sweep) if where else {}
        for axis, value in where.items():
            found = axes.get(axis, {}).get(str(value))
            if found is None:
                known = "; ".join(f"{name}: {', '.join(values)}" for name, values in axes.items())
                raise InvalidInput(f"The sweep has no {axis} {quotable(value)}. It has {known}.")
            cells = found if cells is None else cells & found
        return cells

    def cells(self, sweep: int) -> list[SweepCell]:
        return self.store.read(lambda db: _cells(db, sweep))

    def cell_of(self, entry: int) -> SweepCell | None:
        """The cell that an entry was first bought for."""
        first = "SELECT sweep, number FROM sweep_cells WHERE entry = ? ORDER BY found, sweep"
        row = self.store.row(first, entry)
        return None if row is None else SweepCell(*row)

    def wish(self, sweep: int) -> str:
        """What a person last wanted, in whichever kernel: RUNNING, PAUSED or STOPPED."""
        row = self.store.row("SELECT state FROM sweeps WHERE id = ?", sweep)
        return STOPPED if row is None else str(row["state"])

    def change(self, sweep: int, wish: str) -> None:
        """Records what is wanted of it. RUNNING: this kernel runs it, and its time goes on from now."""
        now = self.store.clock()

        def work(db: sqlite3.Connection) -> None:
            row = db.execute("SELECT * FROM sweeps WHERE id = ?", (sweep,)).fetchone()
            if row is None:
                return  # the copy in memory lacks it: nothing could be read from the disk
            if wish == RUNNING:
                cells = _cells(db, sweep)
                if self._state(row, cells) != RUNNING:
                    again = "UPDATE sweeps SET ran_seconds = ?, began_at = ? WHERE id = ?"
                    db.execute(again, (_elapsed(row, cells, None), now, sweep))
                db.execute("UPDATE sweeps SET kernel = ? WHERE id = ?", (self.store.kernel.name, sweep))
            db.execute("UPDATE sweeps SET state = ? WHERE id = ?", (wish, sweep))

        self.store.keep(work)

    def leave_out(self, sweep: int, numbers: Iterable[int], *, left_out: bool = True) -> None:
        """Leaves cells out, or takes them in again."""
        change = "UPDATE sweep_cells SET left_out = ? WHERE sweep = ? AND number = ?"
        chosen = [(left_out, sweep, number) for number in numbers]
        self.store.keep(lambda db: db.executemany(change, chosen))

    def found(self, requests: Iterable[JobRequest]) -> dict[str, Entry]:
        """By sameness, the newest clip here of each request that has one, even by a drawn seed.

        Not of one that leaves its seed to chance: that asks for another clip each time.
        """
        asked = {each.sameness: each for each in requests if each.seed not in (None, wire.RANDOM_SEED)}
        newest = "account = ? AND sameness IN (?, ?) AND state = 'completed' ORDER BY id DESC"

        def work(db: sqlite3.Connection) -> dict[str, Entry]:
            found = {}
            for sameness, request in asked.items():
                left_random = replace(request, seed=None).sameness
                for entry in matching(db, newest, self._account_id, sameness, left_random):
                    here = entry.clip_path is not None and Path(entry.clip_path).exists()
                    if here and entry.record.get("seed") == request.seed:
                        found[sameness] = entry
                        break
            return found

        return self.store.read(work)

    def take(self, sweep: int, found: Mapping[int, int]) -> None:
        """Gives the cells of these numbers an entry that existed before, unless something was bought."""

        def work(db: sqlite3.Connection) -> None:
            for cell in _cells(db, sweep):
                if cell.number in found and (cell.entry is None or cell.entry.state in _UNPAID):
                    assign(db, cell, found[cell.number], found=True)

        self.store.keep(work)

    def _records(self, wanted: str, *values: object) -> list[SweepRecord]:
        query = f"SELECT * FROM sweeps WHERE {wanted}"  # noqa: S608 - our own words
        return self.store.read(
            lambda db: [self._record(row, _cells(db, row["id"])) for row in db.execute(query, values)]
        )

    def _record(self, row: sqlite3.Row, cells: Collection[SweepCell]) -> SweepRecord:
        own = [each.entry for each in cells if each.entry is not None and not each.found]
        state = self._state(row, cells)
        return SweepRecord(
            id=str(row["id"]),
            name=row["name"],
            at=local(row["planned_at"]),
            record=json.loads(row["record"]),
            state=state,
            counts=Counter(each.state for each in cells),
            found=sum(each.found for each in cells),
            cost_usd=round(sum(each.price_usd for each in own if each.charge != "none"), 6),
            planned_seconds=tuple(json.loads(row["planned_seconds"])),
            elapsed_seconds=_elapsed(row, cells, self.store.clock() if state == RUNNING else None),
        )

    def _state(self, row: sqlite3.Row, cells: Collection[SweepCell]) -> str:
        alive = self.store.kernel.lives(row["kernel"])
        return sweep_state(row["state"], (each.state for each in cells), alive=alive)


def sameness(record: Mapping[str, object]) -> str:
    """Equal for the records of equal sweeps."""
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()[:32]


def sweep_state(wish: str, states: Iterable[str], *, alive: bool) -> str:
    """A sweep's state, by what is wanted of it and its cells' states; `alive`: somebody runs it."""
    left = {*states} - {LEFT_OUT}
    if wish == RUNNING:
        # A cell that was refused meanwhile isn't sent again by itself.
        return COMPLETED if left <= _ENDED else RUNNING if alive else PAUSED
    return COMPLETED if left <= _ENDED - _UNPAID else wish


def holder(db: sqlite3.Connection, cell: SweepCell) -> Entry | None:
    """The entry that the cell has by now, unless that is the one it was read with, in the same state."""
    row = db.execute(
        "SELECT entries.* FROM sweep_cells JOIN entries ON entries.id = entry WHERE sweep = ? AND number = ?",
        (cell.sweep, cell.number),
    ).fetchone()
    before = None if cell.entry is None else (cell.entry.id, cell.entry.state)
    return None if row is None or (row["id"], row["state"]) == before else Entry.of(row)


def assign(db: sqlite3.Connection, cell: SweepCell, entry_id: int, *, found: bool = False) -> None:
    """Gives a cell its entry. The one before it won't be sent by anybody any more."""
    db.execute(
        "UPDATE sweep_cells SET entry = ?, found = ? WHERE sweep = ? AND number = ?",
        (entry_id, found, cell.sweep, cell.number),
    )
    if cell.entry is not None:
        db.execute("UPDATE entries SET left_unsent = 0 WHERE id = ?", (cell.entry.id,))


def _cells(db: sqlite3.Connection, sweep: int) -> list[SweepCell]:
    rows = db.execute(
        "SELECT sweep_cells.number, sweep_cells.found, sweep_cells.left_out, entries.* FROM sweep_cells "
        "LEFT JOIN entries ON entries.id = sweep_cells.entry WHERE sweep = ? ORDER BY sweep_cells.number",
        (sweep,),
    )
    held = ((row, None if row["id"] is None else Entry.of(row)) for row in rows)
    return [
        SweepCell(sweep, row["number"], entry, bool(row["found"]), bool(row["left_out"]))
        for row, entry in held
    ]


def _elapsed(row: sqlite3.Row, cells: Iterable[SweepCell], now: float | None) -> float:
    """How long it has run: until `now`, or until the last moment known of its clips."""
    own = [each.entry for each in cells if each.entry is not None and not each.found]
    moments = [(each.sent_at, each.accepted_at, each.ended_at, each.downloaded_at) for each in own]
    known = [at for each in moments for at in each if at is not None]
    last = max(known, default=row["began_at"]) if now is None else now
    return float(row["ran_seconds"] + max(0.0, last - row["began_at"]))
