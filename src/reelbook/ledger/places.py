"""Where in a notebook's cells submissions stand, so that a cell which is run again gets its clips back."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from typing import Final

from ..executions import Execution
from .records import Place

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
