"""From a tool server's JSON to values, and the jobs that a result speaks of."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reelbook.agent_tools import parsing
from reelbook.agent_tools.parsing import FoundJob, found_jobs
from reelbook.agent_tools.types import (
    BinaryContent,
    Resource,
    TextContent,
    Tool,
    ToolProgress,
    ToolResult,
)

MEDIA = base64.b64encode(b"bytes").decode()
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["content", "type", "text", "data", "mimeType", "resource", "name", "request_id"])
            | st.text(max_size=5),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ({"type": "text", "text": "a"}, TextContent("a")),
        ({"type": "image", "data": MEDIA, "mimeType": "image/png"}, BinaryContent(b"bytes", "image/png")),
        ({"type": "audio", "data": MEDIA, "mimeType": "audio/wav"}, BinaryContent(b"bytes", "audio/wav")),
        (
            {"type": "resource_link", "uri": "file:///a", "name": "a", "mimeType": "text/plain"},
            Resource("file:///a", "a", mime_type="text/plain"),
        ),
        (
            {"type": "resource", "resource": {"uri": "x:y", "text": "t"}},
            TextContent("t", "x:y"),
        ),
        (
            {"type": "resource", "resource": {"uri": "x:y", "blob": MEDIA, "mimeType": "video/mp4"}},
            BinaryContent(b"bytes", "video/mp4", "x:y"),
        ),
    ],
)
def test_each_kind_of_content_is_read(raw: Any, value: object) -> None:
    """As the protocol describes it."""
    assert parsing.result({"content": [raw]}) == ToolResult((value,))  # type: ignore[arg-type]


@given(JSON)
def test_whatever_a_server_says_is_read_without_an_error(raw: Any) -> None:
    """A result or a listing of any JSON gives values; what can't be read is kept as it came."""
    assert isinstance(parsing.result(raw), ToolResult)
    parsing.tool(raw)
    found_jobs(ToolResult((TextContent(json.dumps(raw)),), raw))


def test_a_listing_is_read() -> None:
    """Titles from either place, hints only where they are true or false."""
    raw = {
        "name": "cut",
        "description": "Cuts.",
        "inputSchema": {"type": "object"},
        "annotations": {"title": "Cut it", "readOnlyHint": False, "destructiveHint": "yes"},
    }
    assert parsing.tool(raw) == Tool("cut", "Cut it", "Cuts.", {"type": "object"}, read_only=False)
    assert parsing.tool({"name": ""}) is None


@pytest.mark.parametrize(
    ("progress", "total", "fraction"),
    [(1, 4, 0.25), (5, 4, 1.0), (-1, 4, 0.0), (3, None, None), (3, 0, None), (float("nan"), 4, 0.0)],
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


def test_jobs_are_found_in_structures_and_in_texts_that_are_json() -> None:
    """Each once, and the fuller word of one that is spoken of twice."""
    text = json.dumps({"jobs": [{"request_id": "b", "video_url": "https://x/b.mp4"}]})
    answer = ToolResult(
        (TextContent("no json"), TextContent(text)), {"request_id": "a", "more": {"request_id": "b"}}
    )
    assert set(found_jobs(answer)) == {FoundJob("a"), FoundJob("b", "https://x/b.mp4")}


@pytest.mark.parametrize(
    "structured",
    [
        {"request_id": "two words"},
        {"request_id": "a\nb"},
        {"request_id": "x" * 500},
        {"request_id": 7},
        {"video_url": "javascript:alert(1)"},
        {"video_url": "file:///etc/passwd"},
        {"a": {"request": {"id": "x"}}},
    ],
)
def test_what_cannot_be_a_job_is_none(structured: Any) -> None:
    """Ids and addresses that no job can have."""
    assert found_jobs(ToolResult(structured=structured)) == ()


def test_a_deep_or_endless_result_is_looked_through_within_bounds() -> None:
    """A job that lies too deep isn't found, and thousands are cut at a hundred."""
    deep: Any = {"request_id": "deep"}
    for _ in range(50):
        deep = {"x": deep}
    assert found_jobs(ToolResult(structured=deep)) == ()
    assert len(found_jobs(ToolResult(structured=[{"request_id": f"r{n}"} for n in range(5000)]))) == 100
