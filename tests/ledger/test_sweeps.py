"""Sweeps and their cells in the ledger: each cell has one entry, whoever writes it down."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from ledger.doubles import KEY, Clock, Kernel, fox, heard, intend, submitted
from support.ledgers import told

from reelbook.errors import InvalidInput, SpendLimitReached
from reelbook.executions import CellId, Place
from reelbook.ledger import Entry, Ledger, Submission, SweepCell
from reelbook.ledger.sweeps import PAUSED, RUNNING, STOPPED, sweep_state

PLANNED = (60.0, 90.0, 120.0)
RECORD = {"name": "foxes", "template": "a fox"}


def begin(
    ledger: Ledger, cells: Iterable[int], *, place: Place | None = None, left_out: Collection[int] = ()
) -> int:
    """A sweep that is written down, with these cells."""
    return ledger.sweeps.begin(RECORD, cells, planned_seconds=PLANNED, place=place, left_out=left_out)


def cell(sweep: int, number: int = 1, seen: Entry | None = None) -> Submission:
    """A submission for a cell that was seen with that entry."""
    return replace(fox(), cell=SweepCell(sweep, number, seen))


@pytest.fixture
def sweep(ledger: Ledger) -> int:
    """One of three cells."""
    return begin(ledger, [1, 2, 3])


def test_a_sweep_is_kept_with_its_cells(ledger: Ledger, clock: Clock) -> None:
    """Its record, how many cells are in which state, what they cost and how long they took."""
    number = begin(ledger, [1, 2, 3], left_out=[3])
    record = ledger.sweeps.record(number)
    assert (record.id, record.name, record.record) == (str(number), "foxes", RECORD)
    assert (record.state, record.counts) == ("running", {"planned": 2, "left out": 1})
    assert (record.at.timestamp(), record.planned_seconds, record.cost_usd) == (clock.now, PLANNED, 0.0)
    entry = intend(ledger, cell(number)).entry
    ledger.sending(entry.id)
    ledger.accepted(entry.id, "req-1")
    clock.now += 10
    ledger.status(entry.id, told("completed", cost_usd=0.20))
    clock.now += 5
    [record] = ledger.sweeps.all()
    assert (record.counts, record.cost_usd) == ({"completed": 1, "planned": 1, "left out": 1}, 0.20)
    assert record.elapsed_seconds == 15
    ledger.sweeps.change(number, STOPPED)
    clock.now += 3600
    assert ledger.sweeps.all()[0].elapsed_seconds == 10
    ledger.sweeps.change(number, RUNNING)
    clock.now += 2
    assert ledger.sweeps.all()[0].elapsed_seconds == 12
    newest = begin(ledger, [1])
    assert [each.id for each in ledger.sweeps.all()] == [str(newest), str(number)]
    other = ledger.file.ledger("https://other.example", KEY)
    assert other.sweeps.all() == []
    assert ledger.sweeps.record(str(number)).id == str(number)
    with pytest.raises(InvalidInput, match="no sweep"):
        other.sweeps.record(number)
    for unknown in ("fox", None, number + 0.5, 10**30, 10**5000):
        with pytest.raises(InvalidInput, match="no sweep"):
            ledger.sweeps.record(unknown)  # type: ignore[arg-type] # a wrong one


def test_a_cell_is_written_down_once(ledger: Ledger, sweep: int) -> None:
    """Whoever saw it without an entry gets the one that it has got meanwhile, `again` or not. A limit leaves
    it as it was, and what the cell has already passes no limit.
    """
    with pytest.raises(SpendLimitReached):
        intend(ledger, cell(sweep), limit_usd=0.10)
    assert ledger.sweeps.cells(sweep)[0].entry is None
    first = intend(ledger, cell(sweep))
    second = intend(ledger, cell(sweep), again=True, limit_usd=0.10)
    assert (first.new, second.new, second.entry.id) == (True, False, first.entry.id)
    assert intend(ledger, cell(sweep, 2)).new
    assert [each.entry and each.entry.id for each in ledger.sweeps.cells(sweep)] == [1, 2, None]


def test_a_cell_is_bought_anew_only_as_it_was_seen(ledger: Ledger, sweep: int) -> None:
    """One that was taken back and is sent after all by then isn't bought a second time."""
    entry = intend(ledger, cell(sweep)).entry
    ledger.cancelled(entry.id, left_unsent=True)
    seen = ledger.get(entry.id)
    assert seen is not None
    [resumed] = ledger.intend_again([seen])
    assert intend(ledger, cell(sweep, seen=seen)) == (resumed, False)
    ledger.cancelled(entry.id, left_unsent=True)
    bought = intend(ledger, cell(sweep, seen=ledger.get(entry.id)))
    assert bought.new
    assert ledger.left_unsent() == []


def test_clips_that_are_there_are_taken(ledger: Ledger, sweep: int, tmp_path: Path) -> None:
    """By cells for which nothing was bought; they count as found and cost the sweep nothing."""
    entry = intend(ledger, fox()).entry
    ledger.accepted(entry.id, "req-1")
    ledger.status(entry.id, told("completed", cost_usd=0.25))
    ledger.downloaded(entry.id, tmp_path / "fox.mp4")
    assert ledger.sweeps.found([fox().request]) == {}
    (tmp_path / "fox.mp4").touch()
    newer = submitted(ledger)
    ledger.status(newer, told("completed", cost_usd=0.25))
    ledger.downloaded(newer, tmp_path / "deleted-since.mp4")
    found = ledger.sweeps.found([fox().request, fox(seed=8).request])
    assert {sameness: each.id for sameness, each in found.items()} == {fox().request.sameness: entry.id}
    own = intend(ledger, cell(sweep, 2)).entry
    ledger.cancelled(intend(ledger, cell(sweep, 3)).entry.id, left_unsent=True)
    ledger.sweeps.take(sweep, {1: entry.id, 2: entry.id, 3: entry.id})
    assert ledger.left_unsent() == []
    assert [(each.entry and each.entry.id, each.found) for each in ledger.sweeps.cells(sweep)] == [
        (entry.id, True),
        (own.id, False),
        (entry.id, True),
    ]
    record = ledger.sweeps.record(sweep)
    assert (record.found, record.cost_usd) == (2, 0.25)


def test_a_cell_that_is_run_again_finds_its_sweep(ledger: Ledger, tmp_path: Path) -> None:
    """By its id or its text; another cell, another sweep and the second equal one are their own."""
    name = CellId("a", "opening", str(tmp_path / "fox.ipynb"))
    place = Place("text", 1, name)
    first = begin(ledger, [1], place=place)
    edited = Place("other text", 1, name)
    copied = Place("text", 1, replace(name, id="b"))
    for same in (place, edited, Place("text")):
        assert ledger.sweeps.earlier(RECORD, same) == first
    for other in (copied, replace(place, nth=2), None):
        assert ledger.sweeps.earlier(RECORD, other) is None
    assert ledger.sweeps.earlier({**RECORD, "seed": [1]}, place) is None


@pytest.mark.parametrize(
    ("wish", "alive", "states", "state"),
    [
        (RUNNING, True, {"planned", "completed"}, "running"),
        (RUNNING, False, {"planned", "completed"}, "paused"),
        (RUNNING, True, {"completed", "failed", "uncertain", "refused", "left out"}, "completed"),
        (PAUSED, False, {"completed", "refused"}, "paused"),
        (STOPPED, False, {"completed", "planned"}, "stopped"),
        (STOPPED, False, {"completed", "left out"}, "completed"),
        (RUNNING, True, {"queued by the service"}, "running"),
    ],
)
def test_a_sweep_is_what_its_cells_and_its_kernel_make_it(
    wish: str, alive: bool, states: set[str], state: str
) -> None:
    """A kernel that is gone runs nothing, and what has ended is completed whatever was wished."""
    assert sweep_state(wish, states, alive=alive) == state


RUN = """
from dataclasses import replace
from reelbook.ledger import SweepCell
number = ledger.sweeps.begin({"name": "foxes"}, [1, 2], planned_seconds=(1.0, 2.0, 3.0))
intend(ledger, replace(fox(), cell=SweepCell(number, 1)))
say("begun")
wait()
"""


def test_what_a_killed_kernel_had_written_down_is_planned_again(ledger: Ledger, kernel: Kernel) -> None:
    """While it lives its sweep is running; then it is paused, and the cell that it never sent is missing."""
    process = kernel(RUN)
    assert heard(process) == "begun"
    [record] = ledger.sweeps.all()
    assert (record.state, record.counts) == ("running", {"sending": 1, "planned": 1})
    process.kill()
    process.wait()
    ledger.recover()
    [record] = ledger.sweeps.all()
    assert (record.state, record.counts) == ("paused", {"planned": 2})
    seen = ledger.sweeps.cells(int(record.id))[0].entry
    assert intend(ledger, cell(int(record.id), seen=seen)).new
