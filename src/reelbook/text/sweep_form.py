"""What the form of a sweep says: its axes and designs, what it amounts to, and the earlier sweeps."""

from collections.abc import Mapping
from typing import Any, Final

from reelbook.explore import Cell, Plan, Sweep
from reelbook.ledger import SweepRecord

from .. import wire
from ..explore.axes import value_words
from ..explore.plan import duration
from ..formatting import age, count, dollars
from ..requests import FIELDS, options
from ..states import LEFT_OUT

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
    """An axis of the form: its name, its title, what may be in it, and how many values are."""
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
    """What a plan amounts to, line by line: what it is, and how much."""
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


def first_words(sweep: Sweep) -> str:
    """Which clips come first: "The first three clips differ most: heron, seed 2; fox, seed 1; …"."""
    varied = [axis for axis in sweep.axes if len(axis.values) > 1]
    if len(sweep.cells) < 4 or not varied:
        return ""
    if any(axis.name == "prompt" for axis in varied):  # it is said whole, with what fills its slots
        varied = [axis for axis in varied if axis.name in FIELDS]

    def words(cell: Cell) -> str:
        labels = {axis.name: axis.labels[at] for axis, at in zip(sweep.axes, cell.place, strict=True)}
        labels["prompt"] = cell.request.prompt
        return ", ".join(value_words(axis.name, labels[axis.name]) for axis in varied)

    first = "; ".join(map(words, sweep.cells[:3]))
    return (
        f"The first three clips differ most: {first}. You can stop at any time; clips that are "
        "running by then finish and are paid for."
    )


def earlier(sweep: SweepRecord, missing: Plan | None) -> dict[str, Any]:
    """A sweep in the list: "24 of 24 · $1.20 · 3 days ago". `missing` is what going on with it would buy."""
    here, wanted = sweep.counts.get(wire.COMPLETED, 0), sum(sweep.counts.values())
    wanted -= sweep.counts.get(LEFT_OUT, 0)
    lacks = "" if missing is None or not missing.clips else f", {missing.clips} missing"
    said = [f"{here} of {wanted}{lacks}", dollars(sweep.cost_usd), age(sweep.at.isoformat())]
    if sweep.state != "completed":
        said.insert(2, sweep.state)
    buys = lacks and missing and f"Resume, {count(missing.bought, 'clip')} · {dollars(missing.cost_usd)}"
    return {"id": sweep.id, "name": sweep.name, "said": " · ".join(said), "resume": buys or ""}
