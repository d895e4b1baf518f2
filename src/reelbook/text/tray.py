"""What the tray of picks says, what the form that hands them over says, and what longer ones would cost."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from ..explore import Plan
from ..formatting import file_size
from ..session import JobRequest
from ..wire import RANDOM_SEED
from .matrix import buy_words, planned

NEVER_INSIDE: Final = "Never inside: your key, your account, prices, folders of this computer."
LOOKED_FOR: Final = "Key, account, folders"
RANDOM: Final = "had a random seed, so the longer version will differ."


def longer_words(wanted: Sequence[JobRequest], seconds: int, plan: Plan) -> dict[str, Any]:
    """What `seconds` long versions of the picks would cost, and the button that buys them."""
    if not wanted:
        return {"said": f"All picks last {seconds} s already.", "button": "", "off": ""}
    random = sum(each.seed == RANDOM_SEED for each in wanted)
    said = [planned(plan), f"{random} of them {RANDOM}" if random else ""]
    return {
        "said": ". ".join(filter(None, said)),
        "button": buy_words(plan) if plan.bought else "",
        "off": " ".join(plan.problems),
    }


def save_words(kind: str, size_bytes: int) -> str:
    """The button that hands over: "Save page · about 1.4 MB"."""
    return f"Save {'page' if kind == '.html' else 'zip'} · about {file_size(size_bytes)}"


def saved_words(path: Path, clips: int, inside: Sequence[str]) -> dict[str, Any]:
    """What was saved where, what is in it, and what was looked for and not found."""
    rows = [["Clips", str(clips)]]
    if inside:
        rows.append([", ".join(inside).capitalize(), "inside"])
    rows += [[LOOKED_FOR, "none found inside"], ["Size", file_size(path.stat().st_size)]]
    return {"file": path.name, "path": str(path.absolute()), "rows": rows}
