"""A tool's result for the page: each part for what it is, and none too large."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reelbook.agent_tools.types import BinaryContent, Resource, TextContent, ToolResult, UnknownContent
from reelbook.widgets import tool_result_view
from reelbook.widgets.tool_result_view import ShownResult, encodable, shown_result

SCRIPT = "<script>alert(1)</script>"


def kinds(*content: Any, structured: Any = None) -> list[str]:
    return [part["kind"] for part in shown_result(ToolResult(content, structured)).parts]


def test_each_part_is_shown_for_what_it_is() -> None:
    """Pictures, sound and film by their types; what a browser might run isn't given to it."""
    assert kinds(
        TextContent("a"),
        BinaryContent(b"x", "image/png"),
        BinaryContent(b"x", "image/svg+xml"),
        BinaryContent(b"x", "audio/wav; rate=8000"),
        BinaryContent(b"x", "video/mp4", "a"),
        TextContent(SCRIPT, "a"),
        BinaryContent(SCRIPT.encode(), "text/html", "a"),
        Resource("https://example.org"),
        UnknownContent("odd", {"a": 1}),
        structured={"a": 1},
    ) == ["text", "text", "image", "note", "audio", "video", "text", "note", "link", "text"]
    assert kinds() == ["note"]


def test_bytes_stay_here_until_the_page_asks() -> None:
    """The message holds no byte of them."""
    shown = shown_result(ToolResult((BinaryContent(b"\xffpicture", "image/png"),)))
    assert shown.media == {"0": b"\xffpicture"}
    assert shown.parts == [
        {"kind": "image", "label": "Image", "about": "image/png, 8 bytes", "key": "0", "mime": "image/png"}
    ]


def test_a_text_that_repeats_the_structured_content_is_left_out() -> None:
    """Servers send both, for clients that know only text."""
    assert kinds(TextContent('{"a": 1}'), structured={"a": 1}) == ["text"]
    assert kinds(TextContent("fox"), structured={"result": "fox"}) == ["text"]
    assert kinds(TextContent('{"a": 2}'), structured={"a": 1}) == ["text", "text"]
    assert kinds(TextContent("[" * 100_000), structured={"a": 1}) == ["text", "text"]


def test_of_a_long_text_the_page_gets_the_beginning() -> None:
    """And says where the rest is; a text that fits comes whole."""
    whole, long = "é🦊x" * 10_000, "x" * 50_000_000
    fits, cut = shown_result(ToolResult((TextContent(whole), TextContent(long)))).parts
    assert fits == {"kind": "text", "label": "", "text": whole}
    assert cut["text"] == "x" * 30_000
    assert cut["cut"] == "These are the first 30,000 letters; the panel's .result has all of it."


def test_a_huge_result_makes_a_small_message() -> None:
    """Deep, wide, long and many: the page gets so much as it can show, and is told what is left out."""
    deep: Any = SCRIPT
    for _ in range(900):
        deep = [deep]
    wide = {"rows": [{"n": n, "text": "x" * 10_000} for n in range(20_000)], "deep": deep, "k" * 10_000: 1}
    shown = shown_result(ToolResult(tuple(TextContent("y" * 100_000) for _ in range(1000)), wide))
    assert len(json.dumps(shown.parts)) < 700_000
    assert shown.parts[-1]["text"] == "981 more parts aren't shown here."
    assert shown.parts[0]["label"] == "Structured content"


def test_structured_content_is_json_to_be_read() -> None:
    """All of it where a page can bear it; what is too deep or too long ends somewhere."""

    def text(value: Any) -> str:
        shown = ShownResult()
        shown.add_json(value, "it")
        return shown.parts[0]["text"]

    value = {"a": [1, {"b": None}], "ü": "\u2028"}
    assert json.loads(text(value)) == value
    deep: Any = SCRIPT
    for _ in range(100_000):
        deep = [deep]
    assert len(text(deep)) <= 30_000
    assert text({"n": 10**5000}).endswith("the rest can't be shown.")


def test_media_too_large_for_a_page_is_told_of() -> None:
    """What no page could hold isn't offered to it."""
    huge = bytes(tool_result_view.MAX_MEDIA + 1)
    (part,) = shown_result(ToolResult((BinaryContent(huge, "image/png"),))).parts
    assert part == {
        "kind": "note",
        "text": "Image: image/png, 67,108,865 bytes. The page doesn't show it; the panel's .result has it.",
    }


def href(uri: str) -> str:
    """Where the link to this address leads."""
    (part,) = shown_result(ToolResult((Resource(uri, name=SCRIPT),))).parts
    assert len(part["text"]) <= 300
    return part["href"]


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
        "https://example.org\n",
        "https://[",
    ],
)
def test_an_address_that_is_no_plain_page_is_not_opened(uri: str) -> None:
    """It is shown as text, as all addresses are."""
    assert href(uri) == ""


def test_a_page_may_be_opened() -> None:
    """Over http and https."""
    for uri in ("https://example.org/a?b=c#d", "http://127.0.0.1:8000", "https://example.org?x"):
        assert href(uri) == uri


def test_letters_that_no_message_can_carry_are_replaced() -> None:
    """Half of a pair, which JSON can name and UTF-8 can't."""
    assert encodable({"\ud800": ["a\udfff", 1, None]}) == {"?": ["a?", 1, None]}
