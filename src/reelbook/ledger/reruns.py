"""Counts equal submissions within one execution of a cell, so that the next one finds them again."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from .entries import Place, Wanted


class Reruns:
    """Gives each submission of a cell its `Place`. Not thread-safe: cells run one after the other.

    `run` names one execution (IPython's execution count will do within a kernel), `cell` is a hash of the
    source. Four equal submissions in one execution get the places 1 to 4 and are four clips; the same four in
    the next execution get the same places, which the ledger knows.
    """

    def __init__(self) -> None:
        self._run: object = None
        self._seen: Counter[str] = Counter()

    def placed(self, wanted: Wanted, *, cell: str | None, run: object, once: str | None = None) -> Wanted:
        """`wanted` with its place: by its label where `once` is given, none outside a cell."""
        if once is not None:
            return replace(wanted, place=Place.once(once))
        if cell is None:
            return replace(wanted, place=None)
        if (cell, run) != self._run:
            self._run, self._seen = (cell, run), Counter()
        self._seen[wanted.sameness] += 1
        return replace(wanted, place=Place(cell, self._seen[wanted.sameness]))
