"""`Receipt`: what clips cost by the ledger, one by one and in all; as text, HTML, CSV and for pandas.

Amounts are USD, lengths seconds. The service isn't asked.
"""

import dataclasses
import html
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal

from .. import wire
from ..formatting import count, exact_dollars, local, terminal_line
from ..ledger import Entry, ToolJob
from ..requests import options
from ..saved_files import csv_of
from ..states import BEFORE_AMOUNT, Charge

CostIs = Literal["charged", "estimated", "uncertain"]

SHOWN: Final = 100
_PROMPT: Final = 60
_HEAD: Final = ("when", "id", "prompt", "length", "shape", "seed", "state", "cost")
_WIDE: Final = _HEAD.index("prompt")
_COST_IS: Final[dict[Charge, CostIs]] = {
    "spent": "charged",
    "reserved": "estimated",
    "uncertain": "uncertain",
}
_BEFORE_COST: Final = {cost_is: BEFORE_AMOUNT[charge] for charge, cost_is in _COST_IS.items()}


@dataclass(frozen=True, kw_only=True)
class ReceiptRow:
    """One clip.

    `cost_is` says how certain `cost_usd` is: charged; estimated, because the clip is in progress; or
    uncertain, because the service never answered or the clip failed, and then `note` says why. `others` has
    what else was asked for, by the names of a request's fields.

    If an agent tool bought the clip, `mode` is "agent tool" and `asked_seconds` is None.
    """

    submitted_at: datetime
    request_id: str | None
    state: str
    mode: str
    prompt: str
    asked_seconds: int | None = None
    actual_seconds: float | None
    aspect_ratio: str | None = None
    seed: int | None = None
    cost_usd: float
    cost_is: CostIs
    experiment: str | None = None
    service: str
    note: str = ""
    picked: bool = False
    others: Mapping[str, object] = field(default_factory=dict)

    def values(self) -> list[object]:
        return [getattr(self, name) if name in _OWN else self.others.get(name) for name in COLUMNS]


_OWN: Final = tuple(each.name for each in dataclasses.fields(ReceiptRow) if each.name != "others")
_ASKED: Final = {about.column or name: about for name, about in options().items()}
COLUMNS: Final = (*_OWN, *(name for name in _ASKED if name not in _OWN))


@dataclass(frozen=True)
class Receipt:
    """What clips cost, oldest first: made by `session.receipt()` and `session.experiment(name).receipt()`.

        receipt = session.receipt()
        print(receipt.total_usd, receipt.total_seconds)
        receipt.to_csv("receipt.csv")

    What cost nothing, such as a refused or cancelled job, isn't in it. `experiment` is None for all.
    """

    rows: tuple[ReceiptRow, ...]
    experiment: str | None = None

    @property
    def charged_usd(self) -> float:
        return self._sum("charged")

    @property
    def estimated_usd(self) -> float:
        """What the clips in progress will cost, about."""
        return self._sum("estimated")

    @property
    def uncertain_usd(self) -> float:
        """What may or may not have been charged."""
        return self._sum("uncertain")

    @property
    def total_usd(self) -> float:
        """The sum of all three."""
        return round(sum(row.cost_usd for row in self.rows), 6)

    @property
    def total_seconds(self) -> float:
        """The clips' length; the one asked for if the actual one isn't known."""
        return round(sum(_seconds(row) for row in self.rows), 3)

    @property
    def summary(self) -> str:
        """How many clips, how long, and what they cost, by how certain that is."""
        clips = count(len(self.rows), "clip")
        by_service: dict[str, list[str]] = {}
        for service, cost_is, _, usd in self._totals():
            by_service.setdefault(service, []).append(f"{exact_dollars(usd)} {cost_is}")
        sums = [
            (f"{terminal_line(service)}: " if len(by_service) > 1 else "") + ", ".join(parts)
            for service, parts in by_service.items()
        ]
        return f"{clips}, {self.total_seconds:g} s: {'; '.join(sums)}."

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """The receipt as CSV, also written to `path` if given. Its last lines are sums.

        The first line names the columns. A text that a spreadsheet would calculate gets a ' in front of it,
        as prompts may be anybody's. The file begins with the mark by which Excel recognises UTF-8. Raises
        InvalidInput where there is no such folder, and ReelbookError if the disk refuses.
        """
        rows = [row.values() for row in self.rows]
        for service, cost_is, seconds, usd in self._totals():
            sums = {"submitted_at": "total", "actual_seconds": seconds, "cost_usd": usd, "cost_is": cost_is}
            sums |= {"experiment": self.experiment, "service": service}
            rows.append([sums.get(name) for name in COLUMNS])
        return csv_of(COLUMNS, rows, path, what="The receipt")

    def to_pandas(self) -> Any:  # pandas has no types
        """A DataFrame with a line for each clip and no sums; the columns' names have the units."""
        import pandas as pd  # type: ignore[import-untyped]  # and heavy: only here

        rows = [row.values() for row in self.rows]
        table = {name: [row[place] for row in rows] for place, name in enumerate(COLUMNS)}
        # Seeds are whole numbers of any size, and a missing one would turn them all into floats.
        return pd.DataFrame({**table, "seed": pd.Series(table["seed"], dtype=object)}, columns=list(COLUMNS))

    def __str__(self) -> str:
        lines = [self._title()]
        for row in self.rows:
            prompt, state = terminal_line(_prompt(row), _PROMPT), terminal_line(row.state)
            at, cost, length = f"{row.submitted_at:%d %b %H:%M}", _cost(row), _length(row)
            lines.append(f"{at}  {cost:>12}  {length:>6}  {state:<10}  {prompt}")
            if row.note:
                lines.append(f"    {terminal_line(row.note)}")
        return "\n".join([*lines, self.summary] if self.rows else lines)

    def __repr__(self) -> str:
        return f"<Receipt: {self._title()} {self.summary}>" if self.rows else f"<Receipt: {self._title()}>"

    def _repr_html_(self) -> str:
        if not self.rows:
            return f"<p>{html.escape(self._title())}</p>"
        wide_cell = f'<tr><td colspan="{len(_HEAD)}" style="text-align:left;opacity:0.8">'
        body = []
        for row in self.rows[:SHOWN]:
            body.append(_table_row(_shown(row), "td"))
            if row.note:
                body.append(f"{wide_cell}{html.escape(row.note)}</td></tr>")
        if (more := len(self.rows) - SHOWN) > 0:
            body.append(f"{wide_cell}and {more} more</td></tr>")
        # MathJax takes what is between two dollar signs for a formula.
        return (
            '<table class="mathjax_ignore tex2jax_ignore">'
            f'<caption style="text-align:left"><b>{html.escape(self._title())}</b> '
            f"{html.escape(self.summary)}</caption>"
            f"<thead>{_table_row(_HEAD, 'th')}</thead><tbody>{''.join(body)}</tbody></table>"
        )

    def _title(self) -> str:
        what = f"“{terminal_line(self.experiment)}”" if self.experiment else "All clips"
        if not self.rows:
            return f"{what}: nothing was bought." if self.experiment else "Nothing was bought."
        services = {row.service for row in self.rows}
        money = ", play money" if services == {"sandbox"} else ""
        return f"{what} ({', '.join(map(terminal_line, sorted(services)))}{money})."

    def _totals(self) -> list[tuple[str, CostIs, float, float]]:
        """Service, how certain, seconds and USD. Play money and real money are never added up."""
        sums: dict[tuple[str, CostIs], tuple[float, float]] = {}
        for row in self.rows:
            seconds, usd = sums.get((row.service, row.cost_is), (0.0, 0.0))
            sums[row.service, row.cost_is] = (seconds + _seconds(row), usd + row.cost_usd)
        return [(*key, round(seconds, 3), round(usd, 6)) for key, (seconds, usd) in sorted(sums.items())]

    def _sum(self, cost_is: CostIs) -> float:
        return round(sum(row.cost_usd for row in self.rows if row.cost_is == cost_is), 6)


def receipt_of(
    entries: Sequence[Entry],
    services: Mapping[int, str],
    experiment: str | None,
    tools: Sequence[ToolJob] = (),
) -> Receipt:
    """The receipt of entries and of clips that tools bought; `services` names each account's service."""
    in_order = sorted(entries, key=lambda entry: (entry.intended_at, entry.id))
    rows = [_submitted(each, services) for each in in_order if each.charge in _COST_IS]
    rows += [_by_tool(each, services) for each in tools]
    return Receipt(tuple(sorted(rows, key=lambda row: row.submitted_at)), experiment)


def _submitted(entry: Entry, services: Mapping[int, str]) -> ReceiptRow:
    return ReceiptRow(
        # Rounded down, so that `since` with a row's own time finds the row.
        submitted_at=local(math.floor(entry.intended_at)),
        request_id=entry.request_id,
        state=entry.shown_state,
        mode=entry.mode,
        prompt=entry.prompt,
        actual_seconds=entry.actual_seconds,
        **_asked(entry.record),
        cost_usd=entry.price_usd,
        cost_is=_COST_IS[entry.charge],
        experiment=entry.experiment,
        service=services[entry.account_id],
        note=(entry.error or "") if entry.charge == "uncertain" else "",
        picked=entry.marks.picked,
    )


def _asked(record: Mapping[str, Any]) -> dict[str, Any]:
    """What was asked for, by the names of a row; None is what was left to the service."""
    asked = {}
    for column, about in _ASKED.items():
        value = record.get(about.name)
        asked[column] = None if about.is_random(value) else value
    others = {name: asked.pop(name) for name in tuple(asked) if name not in _OWN}
    return {**asked, "others": others}


def _by_tool(job: ToolJob, services: Mapping[int, str]) -> ReceiptRow:
    return ReceiptRow(
        submitted_at=local(math.floor(job.called_at)),
        request_id=job.request_id,
        state=wire.COMPLETED,
        mode="agent tool",
        prompt=job.prompt,
        actual_seconds=job.seconds,
        cost_usd=job.cost_usd,
        cost_is="charged",
        service=services[job.account_id],
    )


def _prompt(row: ReceiptRow) -> str:
    return f"★ {row.prompt}" if row.picked else row.prompt


def _seconds(row: ReceiptRow) -> float:
    return (row.asked_seconds or 0.0) if row.actual_seconds is None else row.actual_seconds


def _length(row: ReceiptRow) -> str:
    known = row.asked_seconds is not None or row.actual_seconds is not None
    return f"{_seconds(row):g} s" if known else ""


def _cost(row: ReceiptRow) -> str:
    return f"{_BEFORE_COST[row.cost_is]}{exact_dollars(row.cost_usd)}"


def _seed(row: ReceiptRow) -> str:
    if row.seed is not None:
        return str(row.seed)
    return "random" if row.mode == "text-to-video" else ""


def _shown(row: ReceiptRow) -> tuple[str, ...]:
    return (
        f"{row.submitted_at:%d %b %H:%M}",
        row.request_id or "",
        _prompt(row),
        _length(row),
        row.aspect_ratio or "",
        _seed(row),
        row.state,
        _cost(row),
    )


def _table_row(cells: Sequence[str], tag: str) -> str:
    inner = ""
    for place, cell in enumerate(cells):
        style = "text-align:left;" + ("min-width:16em" if place == _WIDE else "white-space:nowrap")
        inner += f'<{tag} style="{style}">{html.escape(cell)}</{tag}>'
    return f"<tr>{inner}</tr>"
