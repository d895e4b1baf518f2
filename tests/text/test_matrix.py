"""What the matrix says."""

from typing import Any

import pytest
from widgets.doubles import FOX, view

from reelbook.explore import Cell, Plan, RunCell, Sweep
from reelbook.formatting import plain
from reelbook.text import matrix as words
from reelbook.text.card import ShownJob

PLAN = Plan(18, 1.6, 2, 22.9, None, (240.0, 300.0, 360.0))


CELL = Cell(1, (), {}, FOX)


def face(state: str = "processing", *, found: bool = False, **changes: Any) -> dict[str, Any]:
    return words.face(RunCell(CELL, found=found), ShownJob(view(state=state, **changes), FOX, "req-1"))


def test_a_cell_says_what_differs_in_it() -> None:
    """The words that not all prompts have are marked; the rest is told beside them."""
    sweep = Sweep("a {animal} runs", animal=["red fox", "heron"], seed=[1], duration_seconds=[2])
    assert [place["prompt"] for place in words.places(sweep)] == [
        [("a ", False), ("red fox", True), (" runs", False)],
        [("a ", False), ("heron", True), (" runs", False)],
    ]


def test_a_running_cell_says_how_far_it_is() -> None:
    """A word, a bar and a line that counts. A clip that was there before cost nothing, and says so."""
    cell = face()
    assert (cell["word"], cell["tone"]) == ("Processing", "run")
    assert (cell["bar"], cell["money"]) == (0.62, "about $0.25")
    assert plain(words.time_line(view())) == "62 % · about 14 s left"
    waits: dict[str, Any] = {"state": "sending", "waiting_seconds": 40.0}
    assert (face(**waits)["word"], plain(words.time_line(view(**waits)))) == ("Waiting", "sent in 40 s")
    assert face("completed", found=True)["money"] == "$0.00, from the ledger"


@pytest.mark.parametrize(
    ("state", "acts"),
    [
        ("failed", ["again"]),
        ("refused", ["again"]),
        ("uncertain", ["find_out", "again"]),
        ("lost", ["again"]),
        ("completed", []),
        ("processing", []),
        ("sending", ["cancel"]),
    ],
)
def test_what_a_person_may_do_with_a_cell(state: str, acts: list[str]) -> None:
    """Only what brings a missing clip; whatever is sent again says what it costs."""
    cell = face(state)
    assert [name for name, _ in cell["acts"]] == acts
    assert all("$0.25" in label for name, label in cell["acts"] if name == "again")


def test_the_head_counts() -> None:
    """What is here of what is wanted, what went wrong, and what was paid."""
    paid, failed = view(state="completed", cost_usd=0.1), view(state="failed", estimated_cost_usd=0.1)
    states = ["completed"] * 6 + ["failed", "uncertain", "left out", "planned"]
    said = words.head(states, state="paused", here=6, bought=[*[paid] * 6, failed])
    assert said == ("Paused · 6 of 9 here · 1 failed · 1 not certain · 1 left out · $0.60, $0.10 not certain")
    assert words.head(["completed"] * 2, state="completed", here=2, bought=[paid]) == "All 2 here · $0.10"


def test_how_long_it_takes() -> None:
    """About how much is left; beside the plan how long it took."""
    assert plain(words.left_line(120.0, planned=PLAN.seconds, elapsed=180.0)) == "about 2 min left"
    assert plain(words.left_line(None, planned=PLAN.seconds, elapsed=320.0)) == "5 min 20 s so far"
    late = words.left_line(None, planned=PLAN.seconds, elapsed=380.0)
    assert plain(late) == "longer than planned, 6 min 20 s so far"
    assert words.time_words(PLAN.seconds, 290.0) == "planned 4 to 6 min, took 4 min 50 s"


def test_a_plan_in_a_line_and_on_a_button() -> None:
    """How many, how much, how long, what is left."""
    said = "18 clips · 2 of them are in the ledger · $1.60 · 4 to 6 min · leaves $22.90"
    assert words.planned(PLAN) == said
    assert words.buy_words(PLAN) == "Make 16 clips · $1.60"
    assert words.buy_words(Plan(2, 0.0, 2, None, None, (0.0, 0.0, 0.0))) == "Show the clips · $0.00"
