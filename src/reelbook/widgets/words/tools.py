"""What the tool explorer says: the server and its tools in a line each, a call's state, a call as code."""

from __future__ import annotations

import keyword
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from reelbook.client.tool_reading import FoundJob
from reelbook.client.tool_values import Tool, ToolProgress

from .basics import seconds

if TYPE_CHECKING:
    from reelbook.ledger import ToolCall

MAX_ROWS: Final = 100
MAX_ABOUT: Final = 6_000
MAX_CODE: Final = 100_000
WIDTH: Final = 88


def rows(tools: Sequence[Tool], search: str = "") -> list[dict[str, str]]:
    """The tools whose name, title or description has each word of `search`, for the page, at most 100."""
    words = search.lower().split()
    found = []
    for tool in tools:
        text = f"{tool.name} {tool.title or ''} {tool.description}".lower()
        if all(word in text for word in words):
            found.append({"tool": tool.name, "name": clip(tool.name, 80), "about": first_line(tool)})
        if len(found) == MAX_ROWS:
            break
    return found


def first_line(tool: Tool) -> str:
    """The tool's title, or else the first line of its description."""
    text = (tool.title or tool.description or "").strip().split("\n", 1)[0]
    return clip(text, 90)


def heading(tool: Tool) -> dict[str, Any]:
    """What stands above a tool's form."""
    hints = []
    if tool.read_only:
        hints.append("The server says that it only reads.")
    if tool.destructive and not tool.read_only:
        hints.append("The server says that it may change or delete things.")
    return {
        "title": clip(tool.title or tool.name, 120),
        "called": clip(tool.name, 120) if tool.title and tool.title != tool.name else "",
        "about": clip(tool.description.strip(), MAX_ABOUT),
        "hints": " ".join(hints),
    }


def summary(count: int, shown: int, search: str) -> str:
    """How many tools there are: "6 tools", "3 of 6 tools"."""
    word = "tool" if count == 1 else "tools"
    if search or shown < count:
        least = "the first " if shown == MAX_ROWS else ""
        return f"{least}{shown} of {count:,} {word}"
    return f"{count:,} {word}" if count else "The server offers no tools."


def progress_words(progress: ToolProgress | None) -> str:
    """What the server says of a call under way."""
    if progress is None:
        return ""
    fraction = progress.fraction
    figure = f"{fraction * 100:.0f} %" if fraction is not None else ""
    return " · ".join(filter(None, [figure, clip(progress.message or "", 300)]))


def took(value: float) -> str:
    """How long a call took: "0.4 s", "14 s"."""
    if value < 0.05:
        return "less than 0.1 s"
    return f"{value:.1f} s" if value < 9.95 else seconds(value)


def code(name: str, arguments: Mapping[str, Any]) -> str:
    """The call as a line of a notebook, or as lines where one would be too long."""
    plain = {each: value for each, value in arguments.items() if _may_be_named(each)}
    parts = [repr(name), *(f"{each}={value!r}" for each, value in plain.items())]
    if other := {each: value for each, value in arguments.items() if each not in plain}:
        parts.append(f"**{other!r}")
    line = f"await session.call_tool({', '.join(parts)})"
    if len(line) <= WIDTH:
        return line
    return "await session.call_tool(\n" + "".join(f"    {part},\n" for part in parts) + ")"


def clip(text: str, most: int) -> str:
    """The text, cut where it is too long, without what no message can carry."""
    text = text if len(text) <= most else f"{text[: most - 1]}…"
    return text.encode("utf-8", "replace").decode()


def _may_be_named(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name) and name not in {"self", "name"}


def outcome(name: str, took: str, *, failed: bool) -> dict[str, Any]:
    """What stands above a result."""
    if failed:
        return {"text": f"{clip(name, 80)} reports a failure, after {took}.", "tone": "fail"}
    return {"text": f"{clip(name, 80)} answered in {took}.", "tone": "done"}


def stopped(tool: Tool, took: str) -> dict[str, Any]:
    """A call that was stopped."""
    after = "" if tool.read_only else f" What {clip(tool.name, 80)} began there may go on, and may be billed."
    return {"text": f"Stopped after {took}. The server was told.{after}", "tone": "odd"}


def failed(name: str, took: str, why: str) -> dict[str, Any]:
    """A call that brought no result."""
    return {"text": f"{clip(name, 80)} gave no result, after {took}. {clip(why, 2_000)}", "tone": "fail"}


def jobs(found: Sequence[FoundJob]) -> list[dict[str, Any]]:
    """The jobs and clips that a result speaks of, each with what a press does; at most 20."""
    told = []
    for place, job in enumerate(found[:20]):
        if job.request_id:
            told.append(
                {
                    "place": place,
                    "text": f"Job {clip(job.request_id, 60)}",
                    "button": "Take up as a job",
                    "hint": "It is watched here, and the clip is kept.",
                }
            )
        else:
            told.append(
                {
                    "place": place,
                    "text": clip(job.video_url or "", 200),
                    "button": "Fetch and play",
                    "hint": "The clip is kept, and no job is known for it.",
                }
            )
    return told


def past_row(call: ToolCall) -> dict[str, Any]:
    """A call that the ledger knows, in a line."""
    spent = took(call.took_seconds) if call.took_seconds is not None else ""
    said = {"tool error": "reported a failure", "uncertain": "no answer", None: "under way, or cut off"}
    return {
        "number": str(call.id),
        "tool": call.tool,
        "name": clip(call.tool, 60),
        "when": time.strftime("%d %b, %H:%M", time.localtime(call.at)),
        "about": " · ".join(filter(None, [said.get(call.outcome, call.outcome), spent])),
        "again": call.whole,
    }
