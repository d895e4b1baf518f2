"""Counts equal submissions within one execution of a cell, so that the next one finds them again."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from dataclasses import replace
from typing import Final

from .entries import CellId, Place, Wanted

# A task may go on submitting long after its cell: it counts on unless so many others submitted meanwhile.
_EXECUTIONS: Final = 10_000


class Reruns:
    """Gives each submission of a cell its `Place`, from any thread.

    `run` names one execution (IPython's execution count will do within a kernel), `cell` is a hash of the
    source. Four equal submissions in one execution get the places 1 to 4 and are four clips; the same four in
    the next execution get the same places, which the ledger knows. Each execution counts for itself: a task
    of an earlier cell may submit while a later one does.
    """

    def __init__(self) -> None:
        self._counts: OrderedDict[tuple[str, object], Counter[str]] = OrderedDict()
        self._lock = threading.Lock()

    def placed(
        self,
        wanted: Wanted,
        *,
        cell: str | None,
        run: object,
        cell_id: CellId | None = None,
        once: str | None = None,
    ) -> Wanted:
        """`wanted` with its place: by its label where `once` is given, none outside a cell."""
        if once is not None:
            return replace(wanted, place=Place.once(once))
        if cell is None:
            return replace(wanted, place=None)
        with self._lock:
            count = self._counts.setdefault((cell, run), Counter())
            self._counts.move_to_end((cell, run))
            if len(self._counts) > _EXECUTIONS:
                self._counts.popitem(last=False)
            count[wanted.sameness] += 1
            return replace(wanted, place=Place(cell, count[wanted.sameness], cell_id))
