"""What the tool explorer says of tools, of a call and of what its result speaks of."""

import pytest

from reelbook.agent_tools.types import Tool, ToolProgress
from reelbook.text import tools as words

DRAW = Tool("draw", "Draw a clip", "Draws.\n\nAt length.", destructive=True)
LOOK = Tool("look", description="Looks\nclosely", read_only=True)


def test_a_tools_hints_are_the_servers_word() -> None:
    """They are passed on as that."""
    heading = words.heading(DRAW)
    assert (heading["title"], heading["called"]) == ("Draw a clip", "draw")
    assert heading["hints"] == "The server says that it may change or delete things."
    assert words.heading(LOOK)["hints"] == "The server says that it only reads."
    assert words.heading(LOOK)["called"] == ""


def test_progress_is_a_share_and_the_servers_words() -> None:
    """A total that isn't known makes no share. Why a call gave no result may be a whole page of HTML, and is
    cut.
    """
    assert words.progress(None) == ""
    assert words.progress(ToolProgress(1, 4, "drawing")) == "25 % · drawing"
    assert words.progress(ToolProgress(3, None, "drawing")) == "drawing"
    lost = words.outcome(DRAW, "1.0 s", "broken", "x" * 5000)["text"]
    assert lost.startswith("draw gave no result, after 1.0 s. x")
    assert len(lost) < words.MAX_WHY + 50


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.01, "less than 0.1 s"), (0.44, "0.4 s"), (14.2, "14 s"), (9.96, "10 s")]
)
def test_how_long_a_call_took(seconds: float, said: str) -> None:
    """Tenths only where they tell something."""
    assert words.took(seconds) == said
