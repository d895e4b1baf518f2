"""What the form says of each length and of what it offers, and where copies of images are."""

from pathlib import Path

import pytest

from reelbook.account import Facts
from reelbook.ledger import Spend
from reelbook.text.form import form_words, history_note, plan_words, styles_note, where_words


def length(
    seconds: int, balance_usd: float | None, spend: Spend | None = None, limit_usd: float | None = None
) -> dict[str, str]:
    """What is said of one length."""
    facts = Facts(balance_usd, 10, 10, None, max_spend_usd=limit_usd)
    found: dict[str, str] = form_words(facts, spend)["lengths"][seconds - 1]
    return found


def test_each_length_says_its_cost_and_what_it_leaves() -> None:
    """The button has the price; without a known balance nothing is said of it."""
    said = {"line": "5 s × $0.05 · leaves $24.75", "button": "Generate · $0.25"}
    assert length(5, 25.0) == {**said, "off": "", "low": ""}
    assert length(5, None)["line"] == "5 s × $0.05"


@pytest.mark.parametrize(
    ("balance", "spend", "off"),
    [
        (0.2, None, "The balance is $0.20; this clip needs about $0.25."),
        (0.25, None, ""),
        (25.0, Spend(0.5, 0.25, 0.1), "$0.15 of your limit of $1.00 is left; this clip needs about $0.25."),
        (25.0, Spend(1.0, 0, 0), "Nothing of your limit of $1.00 is left; this clip needs about $0.25."),
        (25.0, Spend(0.75, 0, 0), ""),
    ],
)
def test_the_button_says_why_it_is_off(balance: float, spend: Spend | None, off: str) -> None:
    """A clip that takes all that is left can be had."""
    assert length(5, balance, spend, 1.0)["off"] == off


def test_the_nearer_of_two_ends_is_said_before_the_press() -> None:
    """What a clip leaves of balance or limit, or that it is the last; one sentence is enough."""
    near = length(5, 0.6)
    assert ("balance" in near["low"].lower(), "leaves" in near["line"]) == (True, False)
    spend = Spend(1.2, 0.3, 0.1)
    assert length(1, None, spend, 2.0)["low"] == "This leaves $0.35 of your limit of $2.00."
    last = length(8, None, spend, 2.0)["low"]
    assert last == "This leaves $0.00 of your limit of $2.00: not enough for another clip like it."
    assert length(4, 0.9, Spend(0.6, 0, 0), 1.0)["low"].endswith("your limit of $1.00.")


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("a red fox", ""),
        ("a {red|grey} fox in {snow|fog|rain}", "Plan 6 clips · $0.60"),
        ("a {animal} runs", "Plan a sweep"),
        ("a { that is never closed", ""),
        ("five for 5$$", ""),
        ("a fox, __styles__", "Plan 2 clips · $0.20"),
    ],
)
def test_a_template_is_counted_and_priced(prompt: str, said: str) -> None:
    """A plain text, and one that only happens to have a brace, is none; nor has one a plan that needs styles
    where none are kept.
    """
    assert plan_words(prompt, 2, ["film grain", "at dawn"]) == said
    assert plan_words(prompt, 2) == ("" if "__styles__" in prompt else said)


def test_what_is_offered_is_explained() -> None:
    """Why there is nothing, that there is more, and where the styles are."""
    assert history_note(0, searched=False, most=20) == "Prompts that you send are listed here."
    assert history_note(3, searched=True, most=20) == ""
    assert history_note(20, searched=False, most=20) == "The last 20. Search to find earlier ones."
    assert "film grain" in styles_note(0, Path("styles.txt"))
    assert styles_note(2, Path.home() / "styles.txt").endswith("They are in ~/styles.txt.")


def test_where_copies_lie_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is named, from the person's home where it lies in it."""
    monkeypatch.setattr(Path, "home", lambda: Path("/home/ada"))
    folder = Path("/home/ada/reel/images")
    assert where_words(0, folder, 12) == "No images yet. The last 12 that you send are kept here."
    assert where_words(1, folder, 12) == "The last image is kept in ~/reel/images, for you alone to read."
    assert where_words(7, folder, 12).startswith("The last 7 images are kept in ~/reel/images,")
    assert "/srv/images" in where_words(2, Path("/srv/images"), 12)
