"""Where in a notebook's cells submissions stand, so that a cell which is run again gets its clips back."""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from typing import Final, Literal

from ..executions import CellId, Execution

KnownBy = Literal["id", "text", "pool", "label", "sweep"]

_ONCE: Final = "once:"


@dataclass(frozen=True)
class Place:
    """Which submission of a cell this is: the `nth` equal one, from 1.

    `cell` is a hash of its source, `cell_id` its name where the front end gives one. With `shared` the cell
    is a guess: see `Execution`.
    """

    cell: str
    nth: int = 1
    cell_id: CellId | None = None
    shared: bool = field(default=False, compare=False)

    @classmethod
    def once(cls, label: str) -> Place:
        """The place for `once="label"`: an equal submission under the same label is bought once."""
        return cls(f"{_ONCE}{label}")

    @property
    def label(self) -> str | None:
        """The label in `once`, None for a cell's place."""
        return self.cell.removeprefix(_ONCE) if self.cell.startswith(_ONCE) else None

    def known_by(self, earlier: Place) -> KnownBy:
        """What `earlier` is recognised by as this place: the label in `once`, its cell's id, or its text.

        "pool" where the cell is a guess.
        """
        if self.label is not None:
            return "label"
        if self.shared:
            return "pool"
        if self.cell_id is None or earlier.cell_id is None:
            return "text"
        return "id" if self.cell_id.id == earlier.cell_id.id else "text"


def place_of(row: sqlite3.Row) -> Place | None:
    """The place that a row has."""
    if row["cell"] is None:
        return None
    name = None if row["cell_id"] is None else CellId(row["cell_id"], row["opening"], row["notebook"])
    return Place(row["cell"], row["nth"], name)


def place_columns(place: Place | None) -> dict[str, object]:
    """A place as rows have it."""
    if place is None:
        return {}
    name = place.cell_id
    known = {} if name is None else {"cell_id": name.id, "opening": name.opening, "notebook": name.notebook}
    return {"cell": place.cell, "nth": place.nth, **known}


# A task may go on submitting long after its cell: it counts on unless so many others submitted meanwhile.
_EXECUTIONS: Final = 10_000


class PlaceCounter:
    """Gives each submission of a cell its `Place`, from any thread.

    Four equal submissions in one execution of a cell get the places 1 to 4 and are four clips; the same four
    in the next execution get the same places, which the ledger knows. Each execution counts for itself: a
    task of an earlier cell may submit while a later one does.
    """

    def __init__(self) -> None:
        self._counts: OrderedDict[tuple[str, str], Counter[str]] = OrderedDict()
        self._lock = threading.Lock()

    def place(self, sameness: str, execution: Execution | None, *, once: str | None = None) -> Place | None:
        """Where one of these stands: by its label where `once` is given, nowhere outside a cell."""
        if once is not None:
            return Place.once(once)
        if execution is None:
            return None
        with self._lock:
            name = (execution.cell, execution.run)
            count = self._counts.setdefault(name, Counter())
            self._counts.move_to_end(name)
            if len(self._counts) > _EXECUTIONS:
                self._counts.popitem(last=False)
            count[sameness] += 1
            return Place(execution.cell, count[sameness], execution.cell_id, execution.shared)
