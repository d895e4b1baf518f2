"""What the form of a sweep says: its axes and designs, what it comes to, and which sweeps aren't finished."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from ..explore.plan import duration
from ..formatting import count, dollars
from ..requests import options

if TYPE_CHECKING:
    from reelbook.explore import Cell, Plan, SweepRun

SLOT_HINT: Final = "red fox, heron, bear"
DESIGNS: Final = {
    "grid": "Full grid",
    "pairs": "Every pair once",
    "one-at-a-time": "One at a time",
    "sample": "Sample",
    "latin-hypercube": "Latin hypercube",
}
NO_PROMPT: Final = "Write a prompt. {animal} is a slot, {snow|fog} a choice."
BEGUN: Final = "This sweep was begun. Change something to plan another one."
NO_VALUES: Final = "{slot} has no values yet."


def axis_row(name: str, values: int | None) -> list[Any]:
    """An axis of the form: its name, its title, what may stand in it, and how many values do."""
    about = options().get(name)
    title, hint = (name, SLOT_HINT) if about is None else (about.label, about.hint)
    return [name, title, hint, values]


def designs(counts: Mapping[str, int | None]) -> list[list[str]]:
    """The designs with how many clips each makes, where that is known: "Full grid · 18"."""
    return [
        [name, f"{label} · {counts[name]:,}" if counts.get(name) is not None else label]
        for name, label in DESIGNS.items()
    ]


def plan_lines(plan: Plan, *, requests_limit: int) -> list[list[str]]:
    """What a plan comes to, line for line: what it is, and how much."""
    left = (
        ("Balance after it", plan.balance_left_usd),
        ("Left of your limit after it", plan.limit_left_usd),
    )
    return [
        ["Clips", f"{plan.clips}"],
        *([["Already in the ledger", f"{plan.found} · $0.00"]] if plan.found else []),
        *([["To be made", f"{plan.bought}"]] if plan.found else []),
        [f"Time, at {requests_limit} requests a minute", duration(plan.seconds)],
        ["Cost", dollars(plan.cost_usd)],
        *([what, dollars(usd)] for what, usd in left if usd is not None),
    ]


def first_words(cells: Sequence[Cell], names: Sequence[str]) -> str:
    """Which clips come first: "The first three differ most: heron in fog; fox in snow; bear in rain."."""
    if len(cells) < 4 or not names:
        return ""
    first = "; ".join(", ".join(str(cell.values[name]) for name in names) for cell in cells[:3])
    return (
        f"The first three clips differ most: {first}. You can stop at any time; what runs then goes on "
        "and is paid."
    )


def unfinished(run: SweepRun, plan: Plan, *, name: str, age: str) -> dict[str, Any]:
    """A sweep of which clips are missing, and the button that goes on with it."""
    counts = run.counts
    here = sum(cell.job is not None and cell.job.clip is not None for cell in run.cells)
    said = [f"{here} of {len(run.cells) - counts.get('left out', 0)} here", run.state, age]
    verb = f"Resume, {count(plan.bought, 'clip')} · {dollars(plan.cost_usd)}" if plan.clips else "Open"
    return {"id": run.id, "name": name, "said": " · ".join(said), "button": verb}
