"""A tool's result in parts for the page: each for what it is, none larger than a page can bear.

Text comes by the piece, a tree is cut, and bytes stay here until the page asks for them. Knows no widget.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from reelbook.client.tool_values import (
    AudioContent,
    Content,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    ToolResult,
)

FIRST_LETTERS: Final = 3_000
MORE_LETTERS: Final = 30_000
MOST_LETTERS: Final = 300_000
MAX_PARTS: Final = 40
MAX_NODES: Final = 600
MAX_CHILDREN: Final = 100
MAX_DEPTH: Final = 12
MAX_VALUE: Final = 300
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


def shown_result(result: ToolResult) -> ShownResult:
    """The result for the page."""
    shown = ShownResult()
    if result.structured is not None:
        shown.parts.append({"kind": "tree", "label": "Structured content", "tree": tree(result.structured)})
    for place, content in enumerate(result.content):
        if len(shown.parts) >= MAX_PARTS:
            left = len(result.content) - place
            shown.parts.append({"kind": "note", "text": f"{left:,} more parts aren't shown here."})
            break
        if not _repeats(content, result.structured):
            shown.parts.append(_part(content, str(place), shown))
    if not shown.parts:
        shown.parts.append({"kind": "note", "text": "The tool answered without content."})
    return shown


def tree(value: Any) -> Part:
    """A JSON value as nodes with a text each, cut in depth, breadth and number."""
    budget = MAX_NODES

    def node(value: Any, depth: int) -> Part:
        nonlocal budget
        budget -= 1
        if not isinstance(value, dict | list):
            return {"text": _leaf(value)}
        count = len(value)
        word = (
            ("item" if count == 1 else "items")
            if isinstance(value, list)
            else ("entry" if count == 1 else "entries")
        )
        made: Part = {"text": f"{count:,} {word}", "of": []}
        if count and depth >= MAX_DEPTH:
            return {**made, "cut": "Deeper parts aren't shown here."}
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for place, (name, inner) in enumerate(pairs):
            if place >= MAX_CHILDREN or budget <= 0:
                made["cut"] = f"{count - place:,} more aren't shown here."
                break
            made["of"].append([_clip(str(name), 100), node(inner, depth + 1)])
        return made

    return node(value, 0)


def size_words(count: int) -> str:
    """A size in words: "12 kB"."""
    if count < 1000:
        return f"{count} bytes"
    return f"{count / 1e3:.0f} kB" if count < 1e6 else f"{count / 1e6:.1f} MB"


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


def _repeats(content: Content, structured: Any) -> bool:
    """Whether a text says the structured content once more, as servers do for clients that know only text."""
    if structured is None or not isinstance(content, TextContent) or len(content.text) > 1_000_000:
        return False
    try:
        said = json.loads(content.text)
    except (ValueError, RecursionError):
        return isinstance(structured, dict) and structured == {"result": content.text}
    try:
        return bool(said == structured or (isinstance(structured, dict) and structured == {"result": said}))
    except RecursionError:
        return False


def _part(content: Content, key: str, shown: ShownResult) -> Part:
    match content:
        case TextContent(text):
            return _text(text, "", key, shown)
        case ImageContent(data, mime_type) | AudioContent(data, mime_type):
            return _media(data, mime_type, "", key, shown)
        case EmbeddedResource(uri=uri, mime_type=mime_type, text=text, data=data):
            label = _clip(uri, MAX_VALUE)
            if text is not None:
                return _text(text, label, key, shown)
            return _media(data or b"", mime_type or "", label, key, shown)
        case ResourceLink():
            return _link(content)
        case _:
            return {
                "kind": "tree",
                "label": f"Content of the kind “{_clip(content.kind, 40)}”",
                "tree": tree(content.raw),
            }


def _text(text: str, label: str, key: str, shown: ShownResult) -> Part:
    first = text[:FIRST_LETTERS]
    part: Part = {"kind": "text", "label": label, "text": first, "key": key}
    if len(text) > len(first):
        shown.texts[key] = text
        part["left"] = min(len(text), MOST_LETTERS) - len(first)
        if len(text) > MOST_LETTERS:
            part["cut"] = f"{len(text):,} letters came; the page shows the first {MOST_LETTERS:,}."
    return part


def _media(data: bytes, mime_type: str, label: str, key: str, shown: ShownResult) -> Part:
    mime = mime_type.split(";")[0].strip().lower()
    family = mime.split("/")[0]
    kind = "image" if mime in PICTURES else family if family in {"audio", "video"} else "file"
    about = ", ".join(filter(None, [_clip(mime, 60), size_words(len(data))]))
    if len(data) > MAX_MEDIA or not data:
        return {"kind": "note", "text": f"{label or kind.capitalize()}: {about}. The page doesn't show it."}
    shown.media[key] = data
    mime = mime if kind != "file" else "application/octet-stream"
    return {
        "kind": kind,
        "label": label,
        "about": about,
        "key": key,
        "mime": mime,
        "file": _file(label, kind),
    }


def _link(link: ResourceLink) -> Part:
    size = size_words(link.size) if link.size is not None else ""
    return {
        "kind": "link",
        "label": _clip(link.title or link.name, 120),
        "text": _clip(link.uri, MAX_VALUE),
        "about": ", ".join(filter(None, [_clip(link.mime_type or "", 60), size])),
        "help": _clip(link.description or "", 600),
        "href": open_address(link.uri),
    }


def _file(label: str, kind: str) -> str:
    name = label.rstrip("/").rsplit("/", 1)[-1]
    kept = "".join(letter for letter in name if letter.isalnum() or letter in "._- ").strip(". ")
    return kept[:80] or kind


def _leaf(value: Any) -> str:
    if isinstance(value, str):
        return _clip(json.dumps(value[: MAX_VALUE + 1], ensure_ascii=False), MAX_VALUE)
    try:
        return _clip(json.dumps(value), MAX_VALUE)
    except (TypeError, ValueError):  # a number of more digits than Python writes
        return "a value that can't be shown"


def _clip(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def encodable(value: Any) -> Any:
    """The value with letters that no message can carry, half of a pair, replaced."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {encodable(name): encodable(inner) for name, inner in value.items()}
    return [encodable(inner) for inner in value] if isinstance(value, list | tuple) else value
