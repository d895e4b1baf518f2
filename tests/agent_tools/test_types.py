"""What a tool server offers and answers, as values."""

from __future__ import annotations

import pytest

from reelbook.agent_tools.types import BinaryContent, Resource, TextContent, ToolProgress, ToolResult


@pytest.mark.parametrize(
    ("progress", "total", "fraction"),
    [(1, 4, 0.25), (5, 4, 1.0), (-1, 4, 0.0), (3, None, None), (3, 0, None), (3, -1, None)],
)
def test_a_share_needs_a_total(progress: float, total: float | None, fraction: float | None) -> None:
    """It never leaves 0 to 1, whatever the server counts."""
    assert ToolProgress(progress, total).fraction == fraction


def test_a_results_text_is_all_its_text() -> None:
    """Pictures and links aren't part of it, nor are bytes part of a repr."""
    picture = BinaryContent(b"planted", "image/png")
    result = ToolResult((TextContent("one"), picture, Resource("file:///a"), TextContent("two")))
    assert str(result) == "one\ntwo"
    assert "planted" not in repr(result)
