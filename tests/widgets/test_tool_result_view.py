"""A tool's result for the page: each part for what it is, and none too large."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reelbook.agent_tools.types import (
    AudioContent,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    ToolResult,
    UnknownContent,
)
from reelbook.widgets import tool_result_view
from reelbook.widgets.tool_result_view import (
    bounded_json,
    encodable,
    open_address,
    shown_result,
)

SCRIPT = "<script>alert(1)</script>"


def kinds(*content: Any, structured: Any = None) -> list[str]:
    return [part["kind"] for part in shown_result(ToolResult(content, structured)).parts]


def test_each_part_is_shown_for_what_it_is() -> None:
    """Pictures, sound and film by their types; what a browser might run is a file to be saved."""
    assert kinds(
        TextContent("a"),
        ImageContent(b"x", "image/png"),
        ImageContent(b"x", "image/svg+xml"),
        AudioContent(b"x", "audio/wav; rate=8000"),
        EmbeddedResource("a", "video/mp4", data=b"x"),
        EmbeddedResource("a", "text/html", text=SCRIPT),
        EmbeddedResource("a", "text/html", data=SCRIPT.encode()),
        ResourceLink("https://example.org"),
        UnknownContent("odd", {"a": 1}),
        structured={"a": 1},
    ) == ["text", "text", "image", "file", "audio", "video", "text", "file", "link", "text"]
    assert kinds() == ["note"]


def test_bytes_stay_here_and_have_a_safe_type_and_name() -> None:
    """The message holds no byte of them; a file never gets a type that a browser would open."""
    shown = shown_result(ToolResult((EmbeddedResource("file:///x/../a<b>.html", "text/html", data=b"page"),)))
    (part,) = shown.parts
    assert (part["mime"], part["file"], part["about"]) == (
        "application/octet-stream",
        "ab.html",
        "text/html, 4 bytes",
    )
    assert shown.media == {"0": b"page"}
    assert "page" not in json.dumps(shown.parts)


def test_a_text_that_repeats_the_structured_content_is_left_out() -> None:
    """Servers send both, for clients that know only text."""
    assert kinds(TextContent('{"a": 1}'), structured={"a": 1}) == ["text"]
    assert kinds(TextContent("fox"), structured={"result": "fox"}) == ["text"]
    assert kinds(TextContent('{"a": 2}'), structured={"a": 1}) == ["text", "text"]
    assert kinds(TextContent("[" * 100_000), structured={"a": 1}) == ["text", "text"]


def test_a_long_text_comes_by_the_piece() -> None:
    """Each piece is small, the pieces make the text, and of 50 MB the page gets a part and is told."""
    text = "é🦊x" * 20_000
    shown = shown_result(ToolResult((TextContent(text),)))
    (part,) = shown.parts
    got = part["text"]
    left = part["left"]
    while left:
        piece, left = shown.more(part["key"], len(got))
        assert 0 < len(piece) <= tool_result_view.MORE_LETTERS
        got += piece
    assert got == text
    shown = shown_result(ToolResult((TextContent("x" * 50_000_000),)))
    (part,) = shown.parts
    assert len(json.dumps(part)) < 5_000
    assert part["cut"] == "The page shows the first 300,000 letters; there are more in the result."
    assert shown.more(part["key"], 299_999) == ("x", 0)
    assert shown.more("no such", -5) == ("", 0)


def test_a_huge_result_makes_a_small_message() -> None:
    """Deep, wide, long and many: the page gets so much as it can show, and is told what is left out."""
    deep: Any = SCRIPT
    for _ in range(900):
        deep = [deep]
    wide = {"rows": [{"n": n, "text": "x" * 10_000} for n in range(20_000)], "deep": deep, "k" * 10_000: 1}
    shown = shown_result(ToolResult(tuple(TextContent("y" * 10_000) for _ in range(1000)), wide))
    assert len(json.dumps(shown.parts)) < 400_000
    assert shown.parts[-1]["text"] == "961 more parts aren't shown here."
    assert shown.parts[0]["label"] == "Structured content"
    assert len(shown.texts["structured"]) < 320_000


def test_structured_content_is_json_to_be_read() -> None:
    """All of it where a page can bear it; what is too deep or too long ends somewhere."""
    value = {"a": [1, {"b": None}], "ü": "\u2028"}
    assert json.loads(bounded_json(value)) == value
    deep: Any = SCRIPT
    for _ in range(100_000):
        deep = [deep]
    assert len(bounded_json(deep)) < 310_000
    assert bounded_json({"n": 10**5000}).endswith("the rest can't be shown.")


def test_media_too_large_for_a_page_is_told_of() -> None:
    """What no page could hold isn't offered to it."""
    huge = bytes(tool_result_view.MAX_MEDIA + 1)
    (part,) = shown_result(ToolResult((ImageContent(huge, "image/png"),))).parts
    assert part == {"kind": "note", "text": "Image: image/png, 67.1 MB. The page doesn't show it."}


@pytest.mark.parametrize(
    "uri",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "https://user@example.org",
        "https://",
        "https:\\\\example.org",
        "https://exam ple.org",
        "https://example.org/" + "x" * 5000,
        "ht\ntps://example.org",
        "https://[",
    ],
)
def test_an_address_that_is_no_plain_page_is_not_opened(uri: str) -> None:
    """It is shown as text, as all addresses are."""
    (part,) = shown_result(ToolResult((ResourceLink(uri, name=SCRIPT),))).parts
    assert part["href"] == open_address(uri) == ""
    assert len(part["text"]) <= 300


def test_a_page_may_be_opened() -> None:
    """Over http and https."""
    assert open_address("https://example.org/a?b=c#d") == "https://example.org/a?b=c#d"


def test_letters_that_no_message_can_carry_are_replaced() -> None:
    """Half of a pair, which JSON can name and UTF-8 can't."""
    assert encodable({"\ud800": ["a\udfff", 1, None]}) == {"?": ["a?", 1, None]}
