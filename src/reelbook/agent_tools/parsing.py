"""Turns a tool server's JSON into values: pure, and lenient, because it may have been paid for.

What can't be read as its kind is kept as it came; nothing that JSON can hold raises an error.
"""

import base64
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

from .types import (
    BinaryContent,
    Content,
    Resource,
    TextContent,
    Tool,
    ToolResult,
    UnknownContent,
)

JOB_DEPTH, JOB_VALUES, MAX_JOBS = 12, 20_000, 100


@dataclass(frozen=True)
class FoundJob:
    """A job of the service in a result: its id, its clip's address, or both."""

    request_id: str | None = None
    video_url: str | None = None


def tool(raw: Any) -> Tool | None:
    """A tool of a listing; None for one without a name, which nobody could call."""
    said = _object(raw)
    if not (name := _text(said, "name")):
        return None
    hints = _object(said.get("annotations"))
    return Tool(
        name=name,
        title=_text(said, "title") or _text(hints, "title"),
        description=_text(said, "description") or "",
        input_schema=_object(said.get("inputSchema")),
        read_only=_flag(hints, "readOnlyHint"),
        destructive=_flag(hints, "destructiveHint"),
    )


def result(raw: Any) -> ToolResult:
    said = _object(raw)
    blocks = said.get("content")
    content = tuple(map(_content, blocks)) if isinstance(blocks, list) else ()
    if not said.keys() & {"content", "structuredContent"}:
        content = (UnknownContent("result", raw),)
    return ToolResult(content, said.get("structuredContent"), said.get("isError") is True)


def found_jobs(answer: ToolResult) -> tuple[FoundJob, ...]:
    """The service's jobs in a result: its `request_id` and http(s) `video_url` fields, each job once.

    They are looked for in the structured content, and in texts that are JSON; bounded in depth and number.
    """
    values = islice(
        (each for value in (answer.structured, *_json_texts(answer)) for each in _objects(value, JOB_DEPTH)),
        JOB_VALUES,
    )
    jobs = (FoundJob(_identifier(said.get("request_id")), _address(said.get("video_url"))) for said in values)
    found = [job for job in dict.fromkeys(jobs) if job != FoundJob()][:MAX_JOBS]
    whole = [job for job in found if job.request_id and job.video_url]
    said_more_fully = {FoundJob(job.request_id) for job in whole} | {
        FoundJob(None, job.video_url) for job in whole
    }
    return tuple(job for job in found if job not in said_more_fully)


def _json_texts(answer: ToolResult) -> Iterator[Any]:
    for each in answer.content:
        text = each.text if isinstance(each, TextContent) else ""
        if len(text) < 1_000_000 and text.lstrip()[:1] in ("{", "["):
            with suppress(ValueError, RecursionError):
                yield json.loads(text)


def _objects(value: Any, depth: int) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, dict):
        yield value
    if depth and isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _objects(each, depth - 1)


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
    if kind == "resource_link" and (uri := _text(said, "uri")):
        read = Resource(uri, _text(said, "name") or "", _text(said, "title"), _text(said, "mimeType"))
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


def _text(said: Mapping[str, Any], name: str) -> str | None:
    value = said.get(name)
    return value if isinstance(value, str) else None


def _flag(said: Mapping[str, Any], name: str) -> bool | None:
    value = said.get(name)
    return value if isinstance(value, bool) else None
