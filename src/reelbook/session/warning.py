"""Warns in code of a submission that nears the limit or the end of the balance: once for each threshold.

A panel and the terminal say it in their own place, before they submit, and silence it here. What a script
that ends has left unsent is said here, too.
"""

from __future__ import annotations

import contextlib
import shlex
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from .. import settings
from ..errors import SpendingWarning
from ..ledger import Entry
from .books import Books
from .spending import Kind, nearing

_silent: ContextVar[bool] = ContextVar("reelbook_says_it_elsewhere", default=False)


@contextlib.contextmanager
def said_elsewhere() -> Iterator[None]:
    """What is submitted within isn't warned of: the caller has said it."""
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


class Caller(NamedTuple):
    """The line of a person's code that a warning is about, in the words of `warnings.warn_explicit`."""

    filename: str
    lineno: int
    module: str
    registry: dict[Any, Any]


def caller() -> Caller:
    """The first line up from here that isn't Reelbook's."""
    package = __name__.partition(".")[0]
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame = frame.f_back
    known = frame.f_globals
    registry = known.setdefault("__warningregistry__", {})
    return Caller(frame.f_code.co_filename, frame.f_lineno, known.get("__name__", "<string>"), registry)


class Warner:
    """Which thresholds a session has crossed. One that was left behind again may be warned of once more."""

    def __init__(self, books: Books) -> None:
        self._books = books
        self._reached: dict[Kind, int] = {}

    def look(self, new: Sequence[Entry], caller: Caller) -> None:
        """Warns `caller` of what was just written down and isn't sent yet.

        Raises SpendingWarning where warnings are errors.
        """
        limit_usd = self._books.max_spend_usd
        if not new or _silent.get():
            return
        costs = [entry.estimated_cost_usd for entry in new]
        spend = self._books.spend()
        near = nearing(
            sum(costs),
            spend=replace(spend, reserved_usd=max(0.0, round(spend.reserved_usd - sum(costs), 6))),
            limit_usd=limit_usd,
            balance_usd=self._books.likely_balance_usd(),
            each_usd=max(costs),
        )
        stages = {each.kind: each.stage for each in near}
        crossed = [each for each in near if each.stage > self._reached.get(each.kind, 0)]
        for each in crossed:
            warning = SpendingWarning(each.text, left_usd=each.left_usd)
            warnings.warn_explicit(warning, SpendingWarning, **caller._asdict())
        self._reached = {kind: max(stage, self._reached.get(kind, 0)) for kind, stage in stages.items()}


def say_unsent(count: int, home: Path, *, kept: bool) -> None:
    """Says on stderr, at the end of a script, how much it submitted and never sent, and what to do.

    `kept`: it is on the disk, and can be sent later.
    """
    clips = "1 clip was" if count == 1 else f"{count} clips were"
    command = "reelbook jobs resume --unsent"
    if home != settings.home(None):
        command += f" --home {shlex.quote(str(home))}"
    later = f" To send what is left, and pay for it: {command}, or session.resume(unsent=True)."
    print(  # noqa: T201 - there is no caller any more whom a warning could name
        f"Reelbook: {clips} not sent before the program ended. Nothing was paid for that."
        f"{later if kept else ''} A script that is to wait submits within "
        "`with reelbook.connect() as session:`, or calls job.result().",
        file=sys.stderr,
    )
