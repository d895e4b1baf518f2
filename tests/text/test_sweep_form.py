"""What the form of a sweep says."""

from reelbook.explore import Plan, Sweep
from reelbook.text import sweep_form as words

PLAN = Plan(18, 1.6, 2, 22.9, None, (240.0, 300.0, 360.0))


def test_a_plan_line_for_line() -> None:
    """As the form shows it before anything is bought."""
    assert words.plan_lines(PLAN, requests_limit=10) == [
        ["Clips", "18"],
        ["Already in the ledger", "2 · $0.00"],
        ["To be made", "16"],
        ["Time, at 10 requests a minute", "4 to 6 min"],
        ["Cost", "$1.60"],
        ["Balance after it", "$22.90"],
    ]


def test_which_clips_come_first() -> None:
    """Three of several, by what varies; of fewer than four all come at once."""
    sweep = Sweep("a {animal}", animal=["fox", "heron", "bear", "duck"], seed=[1])
    assert words.first_words(sweep).startswith("The first three clips differ most: fox; heron; bear. ")
    assert words.first_words(Sweep("a {animal}", animal=["fox", "heron", "bear"])) == ""
    sweep = Sweep("{an animal} in {snow|fog}", animal=["owl", "fox"], seed=[7, 8])
    assert " differ most: an owl in snow, seed 7; a fox in fog, seed 8; " in words.first_words(sweep)
