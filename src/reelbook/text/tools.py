"""What the tool explorer says: the server's tools in a line each, a call's state and how it ended."""

from collections.abc import Sequence
from typing import Any, Final, Literal

from reelbook.agent_tools.parsing import FoundJob
from reelbook.agent_tools.types import Tool, ToolProgress

from ..formatting import seconds, shortened

MAX_ROWS: Final = 200
MAX_JOBS: Final = 20
MAX_ABOUT: Final = 6_000
MAX_WHY: Final = 2_000


def rows(tools: Sequence[Tool]) -> list[dict[str, str]]:
    """The tools for the page, at most MAX_ROWS."""
    found = []
    for tool in tools[:MAX_ROWS]:
        about = (tool.title or tool.description).strip().split("\n", 1)[0]
        found.append({"tool": tool.name, "name": shortened(tool.name, 80), "about": shortened(about, 90)})
    return found


def summary(count: int) -> str:
    """How many tools there are: "6 tools"."""
    if count > MAX_ROWS:
        return f"the first {MAX_ROWS} of {count:,} tools"
    return "1 tool" if count == 1 else f"{count} tools" if count else "The server offers no tools."


def heading(tool: Tool) -> dict[str, str]:
    hints = ""
    if tool.read_only:
        hints = "The server says that it only reads."
    elif tool.destructive:
        hints = "The server says that it may change or delete things."
    return {
        "title": shortened(tool.title or tool.name, 120),
        "called": shortened(tool.name, 120) if tool.title and tool.title != tool.name else "",
        "about": shortened(tool.description.strip(), MAX_ABOUT),
        "hints": hints,
    }


def progress(told: ToolProgress | None) -> str:
    if told is None:
        return ""
    figure = f"{told.fraction * 100:.0f} %" if told.fraction is not None else ""
    return " · ".join(filter(None, [figure, shortened(told.message or "", 300)]))


def took(value: float) -> str:
    """How long a call took: "0.4 s", "14 s"."""
    if value < 0.05:
        return "less than 0.1 s"
    return f"{value:.1f} s" if value < 9.95 else seconds(value)


def outcome(
    tool: Tool, took: str, ended: Literal["answered", "failed", "stopped", "broken"], why: str = ""
) -> dict[str, Any]:
    """How a call ended; `why` one broke off without a result."""
    name = shortened(tool.name, 80)
    after = "" if tool.read_only else f" What {name} began there may go on, and may be billed."
    text, tone = {
        "answered": (f"{name} answered in {took}.", "done"),
        "failed": (f"{name} reports a failure, after {took}.", "fail"),
        "stopped": (f"Stopped after {took}. The server was told.{after}", "odd"),
        "broken": (f"{name} gave no result, after {took}. {shortened(why, MAX_WHY)}", "fail"),
    }[ended]
    return {"text": text, "tone": tone}


def jobs(found: Sequence[FoundJob]) -> list[dict[str, Any]]:
    """The jobs and clips in a result, each with what its button does; at most MAX_JOBS."""
    told = []
    for place, job in enumerate(found[:MAX_JOBS]):
        if job.request_id:
            text, button = f"Job {shortened(job.request_id, 60)}", "Watch this job"
            hint = "It is watched here, and the clip is kept."
        else:
            text, button = shortened(job.video_url or "", 200), "Fetch and play"
            hint = "The clip is kept, and no job is known for it."
        told.append({"place": place, "text": text, "button": button, "hint": hint})
    return told
