"""From a tool server's JSON to values: pure, and lenient, because what it says may have been paid for.

What can't be read as its kind says is kept as it came; nothing here raises for anything that JSON can hold.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .types import (
    BinaryContent,
    Content,
    Resource,
    TextContent,
    Tool,
    ToolProgress,
    ToolResult,
    UnknownContent,
)

MAX_BLOCKS = 1000
MAX_MESSAGE = 1000
JOB_DEPTH, JOB_VALUES, MAX_JOBS = 12, 20_000, 100


@dataclass(frozen=True)
class FoundJob:
    """A job of the service that a result speaks of: its id, its clip's address, or both."""

    request_id: str | None = None
    video_url: str | None = None


def tool(raw: Any) -> Tool | None:
    """A tool of a listing; None for one without a name, which nobody could call."""
    said = _object(raw)
    if not (name := _text(said, "name")):
        return None
    hints = _object(said.get("annotations"))
    output = said.get("outputSchema")
    return Tool(
        name=name,
        title=_text(said, "title") or _text(hints, "title"),
        description=_text(said, "description") or "",
        input_schema=_object(said.get("inputSchema")),
        output_schema=output if isinstance(output, dict) else None,
        read_only=_flag(hints, "readOnlyHint"),
        destructive=_flag(hints, "destructiveHint"),
    )


def resource(raw: Any) -> Resource | None:
    """A resource that a result points at; None for one without an address."""
    said = _object(raw)
    if not (uri := _text(said, "uri")):
        return None
    size = said.get("size")
    return Resource(
        uri=uri,
        name=_text(said, "name") or "",
        title=_text(said, "title"),
        description=_text(said, "description") or "",
        mime_type=_text(said, "mimeType"),
        size=int(size) if isinstance(size, int | float) and 0 <= size < 2**53 else None,
    )


def result(raw: Any) -> ToolResult:
    """A call's result. More than `MAX_BLOCKS` pieces are cut, and the last one says how many are left out."""
    said = _object(raw)
    blocks = _list(said.get("content"))
    content = [_content(block) for block in blocks[:MAX_BLOCKS]]
    if not said.keys() & {"content", "structuredContent"}:
        content = [UnknownContent("result", raw)]
    if (left_out := len(blocks) - MAX_BLOCKS) > 0:
        content.append(UnknownContent("left out", {"pieces": left_out}))
    return ToolResult(tuple(content), said.get("structuredContent"), said.get("isError") is True)


def progress(done: float, total: float | None, message: str | None) -> ToolProgress | None:
    """A progress notification; None where it holds no number."""
    if not math.isfinite(done):
        return None
    known = total if total is not None and math.isfinite(total) else None
    return ToolProgress(done, known, message[:MAX_MESSAGE] if message else None)


def found_jobs(answer: ToolResult) -> tuple[FoundJob, ...]:
    """The service's jobs that a result speaks of: its `request_id` and `video_url` fields, each job once.

    They are looked for in the structured content, and in texts that are JSON. Addresses are taken from
    https, and from http, only. Bounded in depth, in values and in number.
    """
    found: dict[FoundJob, None] = {}
    for value in (answer.structured, *_json_texts(answer)):
        for said in _objects(value):
            job = FoundJob(_identifier(said.get("request_id")), _address(said.get("video_url")))
            if job != FoundJob():
                found[job] = None
            if len(found) >= MAX_JOBS:
                return tuple(found)
    named = {job.request_id for job in found if job.video_url}
    linked = {job.video_url for job in found if job.request_id}
    # Not once more what another one says more fully.
    return tuple(
        job
        for job in found
        if (job.request_id and job.video_url)
        or (job.request_id not in named if job.request_id else job.video_url not in linked)
    )


def _json_texts(answer: ToolResult) -> Iterator[Any]:
    for each in answer.content:
        text = each.text if isinstance(each, TextContent) else ""
        if len(text) < 1_000_000 and text.lstrip()[:1] in ("{", "["):
            try:
                yield json.loads(text)
            except (ValueError, RecursionError):
                continue


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """The JSON objects in `value`, from the outside in."""
    level, seen = [value], 0
    for _ in range(JOB_DEPTH):
        inner: list[Any] = []
        for each in level:
            if (seen := seen + 1) > JOB_VALUES:
                return
            if isinstance(each, dict):
                yield each
                inner.extend(each.values())
            elif isinstance(each, list):
                inner.extend(each)
        level = [each for each in inner[:JOB_VALUES] if isinstance(each, dict | list)]


def _identifier(value: Any) -> str | None:
    fits = isinstance(value, str) and 0 < len(value) <= 200 and value.isprintable() and " " not in value
    return value if fits else None


def _address(value: Any) -> str | None:
    fits = isinstance(value, str) and len(value) <= 4000 and value.startswith(("https://", "http://"))
    return value if fits else None


def _content(raw: Any) -> Content:
    said = _object(raw)
    kind = _text(said, "type") or ""
    read: Content | None = None
    if kind == "resource_link":
        read = resource(said)
    elif kind in ("text", "image", "audio", "resource"):
        read = _text_or_bytes(_object(said.get("resource")) if kind == "resource" else said)
    return UnknownContent(kind, raw) if read is None else read


def _text_or_bytes(said: Mapping[str, Any]) -> TextContent | BinaryContent | None:
    uri = _text(said, "uri") or ""
    if (text := _text(said, "text")) is not None:
        return TextContent(text, uri)
    try:
        data = base64.b64decode(said.get("blob", said.get("data")), validate=True)
    except (TypeError, ValueError):
        return None
    return BinaryContent(data, _text(said, "mimeType") or "", uri)


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(said: Mapping[str, Any], name: str) -> str | None:
    value = said.get(name)
    return value if isinstance(value, str) else None


def _flag(said: Mapping[str, Any], name: str) -> bool | None:
    value = said.get(name)
    return value if isinstance(value, bool) else None
