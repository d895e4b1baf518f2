"""Running a cell again gives back what it bought."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from ledger.doubles import KEY, fox, intend, known, opened
from support.ledgers import told

from reelbook import states
from reelbook.executions import Execution, PlaceCounter
from reelbook.ledger import Ledger, Submission


def in_cell(
    places: PlaceCounter,
    submission: Submission,
    run: int,
    *,
    cell: str | None = "c",
    once: str | None = None,
) -> Submission:
    """The submission at its place in one execution of a cell, or of no cell."""
    execution = None if cell is None else Execution(cell, str(run))
    return replace(submission, place=places.place(submission.sameness, execution, once=once))


def run_cell(
    ledger: Ledger,
    places: PlaceCounter,
    wanted: Sequence[Submission],
    *,
    run: int,
    cell: str | None = "hash of the cell",
    once: str | None = None,
    again: bool = False,
) -> list[tuple[int, bool]]:
    """Submits as a cell would; the entries' numbers and whether each is new."""
    results = []
    for each in wanted:
        placed = in_cell(places, each, run, cell=cell, once=once)
        intended = intend(ledger, placed, again=again)
        if intended.new:
            ledger.sending(intended.entry.id)
            ledger.accepted(intended.entry.id, f"req-{intended.entry.id}")
        results.append((intended.entry.id, intended.new))
    return results


def test_equal_submissions_of_one_execution_are_clips_of_their_own(ledger: Ledger, folder: Path) -> None:
    """Four equal ones in a loop are four clips, and the next execution gives back the same four in order."""
    places = PlaceCounter()
    first = run_cell(ledger, places, [fox()] * 4, run=1)
    second = run_cell(ledger, places, [fox()] * 5, run=2)
    assert first == [(1, True), (2, True), (3, True), (4, True)]
    assert second == [(1, False), (2, False), (3, False), (4, False), (5, True)]
    with opened(folder) as later:  # a restarted kernel counts anew
        assert run_cell(later, PlaceCounter(), [fox()] * 4, run=1) == second[:4]


def test_executions_that_take_turns_count_each_for_itself(ledger: Ledger) -> None:
    """A task goes on while later cells submit, however many: neither begins anew. Accounts are apart, too."""
    places = PlaceCounter()
    for run in range(1, 50):
        assert run_cell(ledger, places, [fox()], run=run, cell=str(run)) == [(2 * run - 1, True)]
        assert run_cell(ledger, places, [fox()], run=0, cell="task") == [(2 * run, True)]
    live = ledger.file.ledger("https://live.example", KEY)
    assert run_cell(live, PlaceCounter(), [fox()], run=1, cell="1") == [(99, True)]


def test_equal_submissions_of_many_threads_get_a_place_each() -> None:
    """No place is given twice, and none is left out, whichever thread comes first."""
    places = PlaceCounter()
    with ThreadPoolExecutor(8) as pool:
        wanted = list(pool.map(lambda _: in_cell(places, fox(), 1), range(400)))
    assert sorted(each.place.nth for each in wanted if each.place) == list(range(1, 401))


def test_a_changed_submission_is_bought_and_the_others_are_not(ledger: Ledger) -> None:
    """A variable changed in another cell: what is equal to an earlier submission is found at any position.

    The experiment's name is no part of what is asked for; pictures are told apart by their bytes.
    """
    places = PlaceCounter()
    run_cell(ledger, places, [fox(prompt="a"), fox(prompt="b"), fox(image=b"one")], run=1)
    changed = [fox(prompt="b", experiment="another"), fox(prompt="c"), fox(prompt="a"), fox(image=b"another")]
    again = run_cell(ledger, places, changed, run=2)
    assert again == [(2, False), (4, True), (1, False), (5, True)]


def test_again_buys_another_and_is_the_one_given_back_next(ledger: Ledger) -> None:
    """`again=True` is always new; a later run without it gets the newest."""
    places = PlaceCounter()
    run_cell(ledger, places, [fox()], run=1)
    assert run_cell(ledger, places, [fox()], run=2, again=True) == [(2, True)]
    assert run_cell(ledger, places, [fox()], run=3) == [(2, False)]


def test_only_a_label_merges_equal_submissions_anywhere(ledger: Ledger) -> None:
    """`once="hero"` gives back the equal one of that label from any cell or script; another prompt is new.

    Without it each submission of a script or a button is new.
    """
    places = PlaceCounter()
    results = [
        run_cell(ledger, places, [wanted], run=run, cell=cell, once=label)
        for run, (wanted, cell, label) in enumerate(
            [
                (fox(), "a cell", "hero"),
                (fox(), None, "hero"),
                (fox(), "another cell", "hero"),
                (fox(), None, "other"),
                (fox(prompt="a wolf"), None, "hero"),
                (fox(), None, None),
                (fox(), None, None),
            ]
        )
    ]
    bought = [(1, True), (1, False), (1, False), (2, True), (3, True), (4, True), (5, True)]
    assert results == [[each] for each in bought]


NOT_MADE = ("refused", "cancelled", "not accepted", "failed")


@pytest.mark.parametrize("state", [*NOT_MADE, "intended", "sending", "uncertain", "lost", "completed"])
def test_only_what_bought_nothing_is_bought_again(ledger: Ledger, state: str) -> None:
    """A refused or failed one is asked for again; one that may have been accepted never is, unasked."""
    places = PlaceCounter()
    entry = intend(ledger, in_cell(places, fox(), 1)).entry
    if state not in ("intended", "cancelled"):
        ledger.sending(entry.id)
    match state:
        case "refused":
            ledger.ended(entry.id, state, "no")
        case "cancelled":
            ledger.cancelled(entry.id)
        case "uncertain" | "lost" | "not accepted":
            ledger.ended(entry.id, states.UNCERTAIN, "?")
            if state != "uncertain":
                ledger.settle(entry.id, accepted=state == "lost")
        case "failed" | "completed":
            ledger.accepted(entry.id, "req")
            ledger.status(entry.id, told(state))
    assert known(ledger, entry.id).state == state
    intended = intend(ledger, in_cell(places, fox(), 2))
    assert (intended.new, intended.entry.id == entry.id) == (state in NOT_MADE, state not in NOT_MADE)
