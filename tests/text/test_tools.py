"""What the tool explorer says of tools, of a call and of what its result speaks of."""

from __future__ import annotations

import pytest

from reelbook.agent_tools.parsing import FoundJob
from reelbook.agent_tools.types import Tool, ToolProgress
from reelbook.text import tools as words

DRAW = Tool("draw", "Draw a clip", "Draws.\n\nAt length.", destructive=True)
LOOK = Tool("look", description="Looks\nclosely", read_only=True)


def test_each_tool_has_a_line() -> None:
    """Its title, or the first line of its description; very many are cut off, and that is said."""
    assert words.rows([DRAW, LOOK]) == [
        {"tool": "draw", "name": "draw", "about": "Draw a clip"},
        {"tool": "look", "name": "look", "about": "Looks"},
    ]
    assert len(words.rows([LOOK] * 300)) == words.MAX_ROWS
    assert [words.summary(count) for count in (0, 1, 6, 1234)] == [
        "The server offers no tools.",
        "1 tool",
        "6 tools",
        "the first 200 of 1,234 tools",
    ]


def test_a_tools_hints_are_the_servers_word() -> None:
    """They are passed on as that."""
    assert words.heading(DRAW) == {
        "title": "Draw a clip",
        "called": "draw",
        "about": "Draws.\n\nAt length.",
        "hints": "The server says that it may change or delete things.",
    }
    assert words.heading(LOOK)["hints"] == "The server says that it only reads."
    assert words.heading(LOOK)["called"] == ""


def test_progress_is_a_share_and_the_servers_words() -> None:
    """A total that isn't known makes no share."""
    assert words.progress(None) == ""
    assert words.progress(ToolProgress(1, 4, "drawing")) == "25 % · drawing"
    assert words.progress(ToolProgress(3, None, "drawing")) == "drawing"


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.01, "less than 0.1 s"), (0.44, "0.4 s"), (14.2, "14 s"), (9.96, "10 s")]
)
def test_how_long_a_call_took(seconds: float, said: str) -> None:
    """Tenths only where they tell something."""
    assert words.took(seconds) == said


def test_how_a_call_ended() -> None:
    """What a tool that changes things began may go on; what may be long is cut."""
    assert words.answered(DRAW, "1.0 s", failed=False) == {"text": "draw answered in 1.0 s.", "tone": "done"}
    assert words.answered(DRAW, "1.0 s", failed=True)["tone"] == "fail"
    assert words.stopped(LOOK, "1.0 s")["text"] == "Stopped after 1.0 s. The server was told."
    assert "may be billed" in words.stopped(DRAW, "1.0 s")["text"]
    lost = words.no_result(DRAW, "1.0 s", "x" * 5000)["text"]
    assert lost.startswith("draw gave no result, after 1.0 s. x")
    assert len(lost) < words.MAX_WHY + 50


def test_what_a_result_speaks_of_can_be_taken_up() -> None:
    """A job by its id, else the clip by its address; at most 20 of them."""
    jobs = [FoundJob("req-1", "https://example.org/a"), FoundJob(None, "https://example.org/b")]
    assert [(each["text"], each["button"]) for each in words.jobs(jobs)] == [
        ("Job req-1", "Watch this job"),
        ("https://example.org/b", "Fetch and play"),
    ]
    assert len(words.jobs(jobs * 30)) == words.MAX_JOBS
    assert words.clip("abcdef", 4) == "abc…"
