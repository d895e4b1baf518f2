"""The list of jobs: a table for a person, one line a job for a program, or JSON; and the sums."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from .. import wire
from ..formatting import terminal_line
from ..ledger import (
    LOST,
    REFUSED,
    UNCERTAIN,
    Entry,
    Spend,
)
from ..text import dollars
from . import records
from .lookup import KnownJobs, cut, state_of
from .output import say, say_json

if TYPE_CHECKING:
    from rich.table import Table

ID_CHARACTERS = 10
EXPERIMENT_CHARACTERS = 14
WIDE_ENOUGH_FOR_LENGTHS, WIDE_ENOUGH_FOR_BOTH = 72, 90
_STYLES = {
    wire.COMPLETED: "green",
    wire.FAILED: "red",
    REFUSED: "red",
    LOST: "red",
    UNCERTAIN: "yellow",
}


@dataclass(frozen=True)
class Asked:
    """What a person wants to see. `resuming` is the command that takes up what is unfinished."""

    filters: dict[str, Any]
    limit: int
    resuming: str


def show(known: KnownJobs | None, asked: Asked, *, as_json: bool) -> None:
    """Prints the jobs to standard output. Where a program reads it, the sums go to standard error."""
    found = [] if known is None else known.find(limit=asked.limit + 1, **asked.filters)
    entries = found[: asked.limit]
    if as_json:
        say_json(records.document(known, entries))
        return
    person = sys.stdout.isatty()
    if not person:
        say("\t".join(records.COLUMNS))
    if known is not None and not person:
        for entry in entries:
            say(records.line(known, entry))
    elif known is not None and entries:
        from .screen import Screen

        console = Screen()
        console.print(_table(known, entries, console.width))
    for line in _below(known, entries, asked, more=len(found) > len(entries)):
        say(line, err=not person)


def plural(count: int, word: str) -> str:
    """ "1 clip", "2 clips"."""
    return f"{count} {word}{'' if count == 1 else 's'}"


def _table(known: KnownJobs, entries: Sequence[Entry], width: int) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    several = len(known.accounts) > 1
    named = any(entry.experiment for entry in entries)
    lengths = width >= (WIDE_ENOUGH_FOR_BOTH if several or named else WIDE_ENOUGH_FOR_LENGTHS)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), expand=True, show_edge=False)
    table.add_column("When", no_wrap=True)
    table.add_column("State", no_wrap=True)
    table.add_column("Prompt", no_wrap=True, ratio=1, overflow="ellipsis")
    if lengths:
        table.add_column("Length", no_wrap=True, justify="right")
    table.add_column("Cost", no_wrap=True, justify="right")
    table.add_column("Id", no_wrap=True)
    if several:
        table.add_column("Service", no_wrap=True)
    if named:
        table.add_column("Experiment", no_wrap=True)
    characters = _enough(entries)
    for entry in entries:
        state = state_of(entry)
        cells: list[str | Text] = [
            _when(entry.intended_at),
            Text(terminal_line(state), _STYLES.get(state, "")),
            entry.prompt,
        ]
        if lengths:
            cells.append(f"{entry.duration_seconds} s")
        cells += [records.cost(entry), entry.request_id[:characters] if entry.request_id else f"#{entry.id}"]
        if several:
            cells.append(known.names[entry.account_id])
        if named:
            cells.append(cut(entry.experiment or "", EXPERIMENT_CHARACTERS))
        table.add_row(*(cell if isinstance(cell, Text) else Text(terminal_line(cell)) for cell in cells))
    return table


def _enough(entries: Sequence[Entry]) -> int:
    """So many characters of each id that no two of those shown are alike: it can be copied as it is."""
    ids = {entry.request_id for entry in entries if entry.request_id}
    longest = max(map(len, ids), default=ID_CHARACTERS)
    return next(
        (count for count in range(ID_CHARACTERS, longest) if len({each[:count] for each in ids}) == len(ids)),
        longest,
    )


def _when(epoch_seconds: float) -> str:
    moment = datetime.fromtimestamp(epoch_seconds)
    this_year = moment.year == datetime.now().year
    return moment.strftime("%b %d %H:%M" if this_year else "%b %d  %Y")


def _below(known: KnownJobs | None, entries: Sequence[Entry], asked: Asked, *, more: bool) -> list[str]:
    lines = []
    if not entries:
        if known is None or not known.ledger.find(limit=1):
            return ['No jobs yet. The first one: reelbook generate "a red fox runs through snow"']
        lines.append("No job is like that. Without the filters there are some.")
    if more:
        lines.append(f"There are older ones: --limit {2 * asked.limit} shows more.")
    assert known is not None
    sums = known.spend()
    for name, spend in sums.items():
        if spend == Spend(0.0, 0.0, 0.0) and len(sums) > 1:
            continue  # a key that was tried and bought nothing
        tools = f" ({dollars(spend.tools_usd)} through agent tools)" if spend.tools_usd else ""
        money = f"{dollars(spend.spent_usd)} spent{tools} · {dollars(spend.reserved_usd)} reserved"
        doubt = " (unanswered, failed or underpriced)" if spend.uncertain_usd else ""
        lines.append(f"{terminal_line(name)}: {money} · {dollars(spend.uncertain_usd)} uncertain{doubt}")
    if unfinished := known.unfinished():
        pronoun = "it" if len(unfinished) == 1 else "them"
        lines.append(f"{plural(len(unfinished), 'clip')} not here yet. To get {pronoun}:\n  {asked.resuming}")
    if elsewhere := known.elsewhere():
        lines.append(f"{plural(elsewhere, 'clip')} on the way in another program that runs.")
    return [*lines, *unsent_lines(known, asked.resuming), *uncertain_lines(known, asked.resuming)]


def unsent_lines(known: KnownJobs, resuming: str) -> list[str]:
    """What there is to say of submissions whose program ended first, and the command that sends them."""
    unsent = known.left_unsent()
    if not unsent:
        return []
    verb = "was" if len(unsent) == 1 else "were"
    return [
        f"{plural(len(unsent), 'clip')} {verb} not sent before the program ended; nothing was paid. "
        f"To send what is left, for about {dollars(sum(entry.estimated_cost_usd for entry in unsent))}:\n"
        f"  {resuming} --unsent"
    ]


def uncertain_lines(known: KnownJobs, resuming: str) -> list[str]:
    """What there is to say of submissions that were never answered, and the command that finds out."""
    uncertain = known.uncertain()
    if not uncertain:
        return []
    total = dollars(sum(entry.estimated_cost_usd for entry in uncertain))
    verb = "was" if len(uncertain) == 1 else "were"
    return [
        f"{plural(len(uncertain), 'clip')} {verb} sent and never answered, and may be billed: about {total}.",
        f"To find out from the balance:\n  {resuming} --find-out",
    ]
