"""What the matrix says: of each cell, of the sweep as a whole, and of what it would cost to make it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

from reelbook import wire
from reelbook.explore import Plan, RunCell, Sweep
from reelbook.session import JobView

from ..explore.plan import duration
from ..formatting import Line, count, counting, dollars, seconds
from ..states import LEFT_OUT, SENDING, STATES, UNCERTAIN
from .board import sum_words
from .card import ShownJob, asked_words, bar_share, empty_face, job_face, job_lines
from .compare import differing

KEYS: Final = (
    "Space plays and pauses all; , and . move by a frame. < and > change the speed. Arrow keys move, Enter "
    "opens, x selects, p picks, t swaps rows and columns, Page Up and Page Down turn the page. Escape closes."
)

# The states that are counted at the top, in this order, with their words there.
_COUNTED: Final = {row.name: row.word for row in STATES.values() if row.missing} | {LEFT_OUT: LEFT_OUT}
# What a person may do with a cell, in this order; "again" only where there is no clip and none is coming.
_ACTIONS: Final = ("find_out", "only_me", "again", "cancel", "watch")
# The parts of its clip's card that a cell shows, too.
_OF_THE_CARD: Final = ("word", "tone", "note", "money", "clip", "seconds", "fps", "id")
_RUN_STATES: Final = {"paused": "Paused", "stopped": "Stopped"}


def places(sweep: Sweep) -> list[dict[str, Any]]:
    """What never changes in a sweep's cells: number, place on each axis, prompt with differences marked."""
    prompts = differing([cell.request.prompt for cell in sweep.cells])
    cells = zip(sweep.cells, prompts, strict=True)
    return [{"n": cell.number, "at": list(cell.place), "prompt": prompt} for cell, prompt in cells]


def face(cell: RunCell, job: ShownJob | None) -> dict[str, Any]:
    """A cell as it is now: parts of its card, what was asked for, and what can be done about it.

    `job` is None for a cell that wasn't sent.
    """
    card, cost = empty_face() if job is None else job_face(job), dollars(cell.request.estimated_cost_usd)
    made: dict[str, Any] = {name: part for name, part in card.items() if name in _OF_THE_CARD}
    made |= {"bar": None, "about": asked_words(cell.request), "acts": [], "picked": False, "remark": ""}
    if job is None:
        if cell.left_out:
            return made | {"word": "Left out", "tone": "off", "acts": [["take_in", "Take in"]]}
        return made | {"word": "Planned", "money": f"about {cost}", "acts": [["leave_out", "Leave out"]]}
    acts = {name: f"Send again · {cost}" if name == "again" else label for name, label in card["actions"]}
    if job.view.state == wire.COMPLETED:
        acts.pop("again", None)
    return made | {
        "bar": bar_share(card, job.view),
        "note": card["aside"] if job.view.state == UNCERTAIN and card["aside"] else card["note"],
        "money": "$0.00, from the ledger" if cell.found else card["money"],
        "acts": [[name, acts[name]] for name in _ACTIONS if name in acts],
        "picked": job.picked,
        "remark": job.note,
    }


def time_line(view: JobView | None) -> Line:
    """The line of a cell that counts: its progress, or how long it waits. Nothing once it has ended."""
    if view is None:
        return []
    if view.state == SENDING and view.waiting_seconds is not None:
        return ["sent in ", counting(view.waiting_seconds, -1)]
    return next(iter(job_lines(view)), [])


def head(states: Sequence[str], *, state: str, here: int, bought: Iterable[JobView]) -> str:
    """How far a sweep is: "6 of 18 here · 1 failed · spent $0.80 of about $1.60"."""
    wanted = len(states) - states.count(LEFT_OUT)
    counts = Counter(states)
    parts = [_RUN_STATES.get(state, ""), f"{here} of {wanted} here" if here < wanted else f"All {here} here"]
    parts += [f"{counts[each]} {word}" for each, word in _COUNTED.items() if counts[each]]
    parts.append(sum_words(bought))
    return " · ".join(filter(None, parts))


def left_line(remaining: float | None, *, planned: tuple[float, float, float], elapsed: float) -> Line:
    """How much longer a running sweep takes; `planned` is how long it was to take. All in seconds."""
    if remaining is not None:
        return ["about ", counting(remaining, -1), " left"]
    so_far: Line = [counting(elapsed, 1), " so far"]
    return ["longer than planned, ", *so_far] if elapsed > planned[-1] else so_far


def time_words(planned: tuple[float, float, float] | None, elapsed: float | None) -> str:
    """How long a sweep took, beside what was planned: "planned 4 to 6 min, took 4 min 50 s"."""
    said = f"planned {duration(planned)}" if planned else ""
    took = f"took {seconds(elapsed)}" if elapsed is not None else ""
    return ", ".join(filter(None, [said, took]))


def planned(plan: Plan) -> str:
    """A plan in one line: "18 clips · $1.80 · 4 to 6 min · leaves $22.90"."""
    found = f"{plan.found} of them are in the ledger" if plan.found else ""
    left = None if plan.problems else plan.balance_left_usd
    leaves = "" if left is None else f"leaves {dollars(left)}"
    parts = [count(plan.clips, "clip"), found, dollars(plan.cost_usd), duration(plan.seconds), leaves]
    return " · ".join(filter(None, parts))


def buy_words(plan: Plan, *, verb: str = "Make") -> str:
    """The button that buys: "Make 16 clips · $1.60"."""
    if not plan.bought:
        return "Show the clips · $0.00"
    return f"{verb} {count(plan.bought, 'clip')} · {dollars(plan.cost_usd)}"


def answer_words(plan: Plan, confirm_above_usd: float) -> str:
    """The answer without which nothing is bought above that sum: "Yes, make 16 clips · $1.60"."""
    return buy_words(plan, verb="Yes, make") if plan.cost_usd > confirm_above_usd else ""


def find_out_controls(uncertain: int, settled_if_alone: int) -> list[list[str]]:
    """The buttons that find out what became of unanswered submissions."""
    buttons = [["find_out", f"Find out about {count(uncertain, 'clip')}"]] if uncertain else []
    return [*buttons, ["only_me", "Only I use this account"]] if settled_if_alone else buttons
