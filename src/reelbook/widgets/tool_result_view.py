"""A tool's result in parts for the page: each for what it is, none larger than a page can bear."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from reelbook.agent_tools.types import BinaryContent, Content, Resource, TextContent, ToolResult

from ..text.tools import clip

MAX_LETTERS: Final = 30_000
MAX_PARTS: Final = 20
MAX_LABEL: Final = 300
MAX_MEDIA: Final = 64 * 1024 * 1024
# What a browser shows without running anything; an SVG could hold a script.
PICTURES: Final = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp")
_PAGE: Final = re.compile(r"https?://[\w.-]+(:\d+)?([/?#][!-~]*)?", re.ASCII)

Part: TypeAlias = dict[str, str]


@dataclass
class ShownResult:
    """A result's parts, and the bytes that the page asks for by their keys."""

    parts: list[Part] = field(default_factory=list)
    media: dict[str, bytes] = field(default_factory=dict)

    def add(self, content: Content, key: str) -> None:
        """Adds a piece of the result; the page asks for its bytes by `key`."""
        match content:
            case TextContent():
                self._add_text(content.text, clip(content.uri, MAX_LABEL))
            case BinaryContent():
                self._add_bytes(content, key)
            case Resource():
                label, text = clip(content.title or content.name or "Link", 120), clip(content.uri, MAX_LABEL)
                href = content.uri if len(content.uri) < 2_000 and _PAGE.fullmatch(content.uri) else ""
                about = clip(content.mime_type or "", 60)
                self.parts.append(
                    {"kind": "link", "label": label, "about": about, "text": text, "href": href}
                )
            case _:
                self.add_json(content.raw, f"Content of the kind “{clip(content.kind, 40)}”")

    def add_json(self, value: Any, label: str) -> None:
        """Adds a value as JSON to be read, as far as a page shows it: a result may be endless."""
        text, length = [], 0
        try:
            for piece in json.JSONEncoder(indent=2, ensure_ascii=False).iterencode(value):
                text.append(piece)
                length += len(piece)
                if length > MAX_LETTERS:
                    break
        except (RecursionError, ValueError):  # nested too deep, or a number of more digits than Python writes
            text.append(" … the rest can't be shown.")
        self._add_text("".join(text), label)

    def _add_text(self, text: str, label: str) -> None:
        part = {"kind": "text", "label": label, "text": text[:MAX_LETTERS]}
        if len(text) > MAX_LETTERS:
            part["cut"] = f"These are the first {MAX_LETTERS:,} letters; the panel's .result has all of it."
        self.parts.append(part)

    def _add_bytes(self, content: BinaryContent, key: str) -> None:
        mime = content.mime_type.split(";")[0].strip().lower()
        family = mime.split("/")[0]
        label = clip(content.uri, MAX_LABEL) or family.capitalize() or "File"
        about = ", ".join(filter(None, [clip(mime, 60), f"{len(content.data):,} bytes"]))
        shown = mime in PICTURES or family in ("audio", "video")
        if shown and 0 < len(content.data) <= MAX_MEDIA:
            self.media[key] = content.data
            self.parts.append({"kind": family, "label": label, "about": about, "key": key, "mime": mime})
        else:
            text = f"{label}: {about}. The page doesn't show it; the panel's .result has it."
            self.parts.append({"kind": "note", "text": text})


def shown_result(result: ToolResult) -> ShownResult:
    """The result for the page."""
    shown = ShownResult()
    if result.structured is not None:
        shown.add_json(result.structured, "Structured content")
    for place, content in enumerate(result.content):
        if len(shown.parts) >= MAX_PARTS:
            left = len(result.content) - place
            shown.parts.append({"kind": "note", "text": f"{left:,} more parts aren't shown here."})
            break
        if not _repeats(content, result.structured):
            shown.add(content, str(place))
    if not shown.parts:
        shown.parts.append({"kind": "note", "text": "The tool answered without content."})
    return shown


def encodable(value: Any) -> Any:
    """The value with letters that no message can carry, half of a pair, replaced."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {encodable(name): encodable(inner) for name, inner in value.items()}
    return [encodable(inner) for inner in value] if isinstance(value, list | tuple) else value


def _repeats(content: Content, structured: Any) -> bool:
    """Whether a text says the structured content once more, as servers do for clients that know only text."""
    if structured is None or not isinstance(content, TextContent) or len(content.text) > 1_000_000:
        return False
    try:
        said = json.loads(content.text)
    except (ValueError, RecursionError):
        said = content.text
    try:
        return bool(said == structured or structured == {"result": said})
    except RecursionError:
        return False
