"""A tool's result in parts for the page: each for what it is, none larger than a page can bear.

Text comes by the piece, and bytes stay here until the page asks for them. Knows no widget.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from reelbook.agent_tools.types import (
    AudioContent,
    Content,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    ToolResult,
)

from ..text.tools import clip

FIRST_LETTERS: Final = 3_000
MORE_LETTERS: Final = 30_000
MOST_LETTERS: Final = 300_000
MAX_PARTS: Final = 40
MAX_LABEL: Final = 300
MAX_MEDIA: Final = 64 * 1024 * 1024
MAX_ADDRESS: Final = 2_000
# What a browser shows without running anything; an SVG could hold a script.
PICTURES: Final = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp")

Part: TypeAlias = dict[str, Any]


@dataclass
class ShownResult:
    """A result's parts, and what was left out of them, by the keys that the page asks with."""

    parts: list[Part] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    media: dict[str, bytes] = field(default_factory=dict)

    def more(self, key: str, begin: int) -> tuple[str, int]:
        """The next piece of a text from the letter `begin` on, and how many letters are left to show."""
        text = self.texts.get(key, "")[:MOST_LETTERS]
        begin = max(0, begin)
        piece = text[begin : begin + MORE_LETTERS]
        return piece, max(0, len(text) - begin - len(piece))

    def add(self, content: Content, key: str) -> None:
        """Adds a piece of the result; the page asks by `key` for the rest of it."""
        match content:
            case TextContent(text):
                self.add_text(text, "", key)
            case ImageContent(data, mime_type) | AudioContent(data, mime_type):
                self._add_media(data, mime_type, "", key)
            case EmbeddedResource(uri=uri, text=str(text)):
                self.add_text(text, clip(uri, MAX_LABEL), key)
            case EmbeddedResource(uri=uri, mime_type=mime_type, data=data):
                self._add_media(data or b"", mime_type or "", clip(uri, MAX_LABEL), key)
            case ResourceLink():
                self.parts.append(_link(content))
            case _:
                self.add_text(
                    bounded_json(content.raw), f"Content of the kind “{clip(content.kind, 40)}”", key
                )

    def add_text(self, text: str, label: str, key: str) -> None:
        """Adds the beginning of a text; the rest is kept for `more`."""
        first = text[:FIRST_LETTERS]
        part: Part = {"kind": "text", "label": label, "text": first, "key": key}
        if len(text) > len(first):
            self.texts[key] = text
            part["left"] = min(len(text), MOST_LETTERS) - len(first)
        if len(text) > MOST_LETTERS:
            part["cut"] = f"The page shows the first {MOST_LETTERS:,} letters; there are more in the result."
        self.parts.append(part)

    def _add_media(self, data: bytes, mime_type: str, label: str, key: str) -> None:
        mime = mime_type.split(";")[0].strip().lower()
        family = mime.split("/")[0]
        kind = "image" if mime in PICTURES else family if family in {"audio", "video"} else "file"
        about = ", ".join(filter(None, [clip(mime, 60), _size(len(data))]))
        if len(data) > MAX_MEDIA or not data:
            text = f"{label or kind.capitalize()}: {about}. The page doesn't show it."
            self.parts.append({"kind": "note", "text": text})
            return
        self.media[key] = data
        mime = mime if kind != "file" else "application/octet-stream"
        named = {"label": label, "about": about, "key": key, "mime": mime, "file": _file_name(label, kind)}
        self.parts.append({"kind": kind, **named})


def shown_result(result: ToolResult) -> ShownResult:
    """The result for the page."""
    shown = ShownResult()
    if result.structured is not None:
        shown.add_text(bounded_json(result.structured), "Structured content", "structured")
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


def bounded_json(value: Any) -> str:
    """The value as JSON to be read, not much longer than a page shows: a result may be endless."""
    text: list[str] = []
    length = 0
    try:
        for piece in json.JSONEncoder(indent=2, ensure_ascii=False).iterencode(value):
            text.append(piece)
            length += len(piece)
            if length > MOST_LETTERS:
                break
    except (RecursionError, ValueError):  # nested too deep, or a number of more digits than Python writes
        text.append(" … the rest can't be shown.")
    return "".join(text)


def open_address(uri: str) -> str:
    """The address if a person may open it from here, over http or https only; empty if not."""
    if len(uri) > MAX_ADDRESS or not uri.isprintable() or " " in uri or "\\" in uri:
        return ""
    try:
        parts = urlsplit(uri)
        fits = parts.scheme in {"http", "https"} and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        return ""
    return uri if fits else ""


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


def _link(link: ResourceLink) -> Part:
    size = _size(link.size) if link.size is not None else ""
    return {
        "kind": "link",
        "label": clip(link.title or link.name, 120),
        "text": clip(link.uri, MAX_LABEL),
        "about": ", ".join(filter(None, [clip(link.mime_type or "", 60), size])),
        "help": clip(link.description or "", 600),
        "href": open_address(link.uri),
    }


def _size(count: int) -> str:
    if count < 1000:
        return f"{count} bytes"
    return f"{count / 1e3:.0f} kB" if count < 1e6 else f"{count / 1e6:.1f} MB"


def _file_name(label: str, kind: str) -> str:
    name = label.rstrip("/").rsplit("/", 1)[-1]
    kept = "".join(letter for letter in name if letter.isalnum() or letter in "._- ").strip(". ")
    return kept[:80] or kind
