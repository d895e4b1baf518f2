"""What the form and the image picker say."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reelbook import wire
from reelbook.account.limits import spend_notices
from reelbook.errors import InvalidInput
from reelbook.ledger import Spend
from reelbook.requests import FIELDS, LONGEST_TEXT, JobRequest

from ..formatting import count, dollars, file_size, short_path
from .status_line import KEY_REFUSED, REPLACE_KEY

if TYPE_CHECKING:
    from reelbook.account import Facts

NO_LEDGER: Final = "Nothing can be bought now: the ledger can't be written."
NO_PLACE_FOR_A_KEY: Final = (
    "Run rb.ConnectionPanel() in a cell and type in another key there, or connect with one: "
    'rb.connect("live", api_key=…).'
)
EXACT: Final = 2**53 - 1  # the largest whole number that JavaScript represents exactly
_UNSEEN: Final = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_VARIES: Final = re.compile(r"\{[^{}]+\}|__\w(?:[\w/.-]*\w)?__")


def form_words(facts: Facts, spend: Spend | None = None) -> dict[str, Any]:
    """What the form says for each length from 1 s on, so that the page can follow the slider without asking.

    "off" is why the button can't be pressed, "low" a warning beforehand. What clips in progress may still
    cost they may also not: the button stays on. `spend` is what counts towards the limit so far, None if that
    isn't known.
    """
    lengths = []
    for length in range(wire.MIN_SECONDS, wire.MAX_SECONDS + 1):
        cost = wire.cost_usd(length)
        line, low = f"{length} s × {dollars(wire.PRICE_USD_PER_SECOND)}", ""
        off = NO_LEDGER if facts.trouble else _unaffordable(cost, facts, spend)
        if not off:
            near = spend_notices(
                cost,
                spend=spend or Spend(0.0, 0.0, 0.0),
                limit_usd=facts.max_spend_usd,
                balance_usd=facts.balance_usd,
                to_come_usd=facts.to_come_usd,
            )
            # Of two limits the nearer one: it will be reached first.
            low = min(near, key=lambda each: each.left_usd).text if near else ""
            if facts.balance_usd is not None and "balance" not in {each.kind for each in near}:
                line += f" · leaves {dollars(facts.balance_usd - cost)}"
        if facts.key_trouble:
            off, low = "", f"{KEY_REFUSED}."
        lengths.append({"line": line, "button": f"Generate · {dollars(cost)}", "off": off, "low": low})
    return {
        "lengths": lengths,
        "replace_key": REPLACE_KEY if facts.key_trouble else "",
        "hint": "Say what is seen, how it moves, how the camera moves.",
        "image_hint": "Say what moves, and how the camera moves.",
        "plan_hint": "This is a template: a sweep makes its variants. Generate sends it as it is written.",
        "no_prompt": "Write a prompt first.",
        "no_image": "Choose an image first.",
        "bad_seed": "The seed must be a whole number.",
        "busy": "The kernel is busy or gone. If it is busy, the clip is sent once, when it is free.",
    }


def form_fields() -> list[dict[str, Any]]:
    """The fields of a request as the page draws them: their words, controls and limits."""
    drawn = ("name", "label", "help", "control", "modes", "low", "high", "choices", "random", "unit")
    return [{each: getattr(about, each) for each in drawn} for about in FIELDS.values()]


def sent_alone(number: int, form: str | None, session: str | None) -> str:
    """What a form without listeners says. `form` and `session` are their names in the notebook."""
    if form is None:
        return f"Sent as job {number}. To watch it, run rb.JobBoard({session or ''}) in a cell."
    return f"Sent. {form}.job is job {number}; show it to watch it."


def plan_words(prompt: str, duration_seconds: int, styles: Iterable[str] = ()) -> str:
    """The button that plans a template: "Plan 12 clips · $1.20"; empty if the prompt isn't one.

    `styles` are what `__styles__` stands for.
    """
    from ..explore.templates import Template, is_plain
    from ..explore.wildcards import STYLES

    if is_plain(prompt):
        return ""
    try:
        read = Template(prompt, {STYLES: styles})
    except InvalidInput:
        return ""  # a text that happens to have braces
    if read.slots:
        return "Plan a sweep"  # how many clips it makes isn't known before its slots have values
    return f"Plan {count(read.count, 'clip')} · {dollars(read.count * wire.cost_usd(duration_seconds))}"


def filled_from(name: str, *, image: bool) -> str:
    """What the form says once a file has filled it."""
    return f"Filled from {name}." + (" Choose its image again: the file doesn't contain it." if image else "")


def no_passport(name: str) -> str:
    """What it says of a file that doesn't tell what made it."""
    return f"{name} doesn't say what made it, so the form is unchanged. Clips that Reelbook saved do."


def several_clips(name: str, clips: int, offered: int) -> str:
    """What it says of a zip with several clips, of which so many are offered."""
    first = f", the first {offered} of which are here" if clips > offered else ""
    return f"{name} describes {clips} clips{first}. Which one?"


def too_much(request: JobRequest) -> str:
    """Why a file's request doesn't fit into the form; empty if it does."""
    if len(request.prompt) > LONGEST_TEXT:
        return f"The prompt has more than {LONGEST_TEXT:,} characters, so the form is unchanged."
    if abs(request.seed or 0) > EXACT:
        return f"The seed {request.seed} is too large for the page, so the form is unchanged."
    return ""


def shown_text(prompt: str) -> str:
    """A file's prompt without what nobody sees: control characters, and what reverses the text around it."""
    return _UNSEEN.sub("", prompt)


def braces_hint(prompt: str) -> str:
    """The hint below a prompt with what would vary in a template: "“{a|b}” is sent as it is. …"."""
    found = _VARIES.search(prompt)
    return f"“{found[0][:40]}” is sent as it is. Open it in Explore to vary it." if found else ""


def history_note(found: int, *, searched: bool, most: int) -> str:
    """The note below earlier prompts: why there are none, or that there may be more."""
    if not found:
        return (
            "No earlier prompt contains these words."
            if searched
            else "Prompts that you send are listed here."
        )
    return f"The last {most}. Search to find earlier ones." if found == most else ""


def styles_note(found: int, path: Path) -> str:
    """The note below the styles: what they are for, and where they are kept."""
    if not found:
        return (
            "Keep a piece of prompt that you like, such as “film grain, 35 mm”. Mark it in the prompt first."
        )
    where = f"They are in {short_path(path)}."
    return f"A click adds one. In a template, __styles__ stands for each of them. {where}"


def _unaffordable(cost_usd: float, facts: Facts, spend: Spend | None) -> str:
    """Why a clip of that cost can't be paid for; empty if it can."""
    needs = f"this clip needs about {dollars(cost_usd)}."
    if facts.balance_usd is not None and cost_usd > facts.balance_usd + facts.to_come_usd + 1e-9:
        return f"The balance is {dollars(facts.balance_usd + facts.to_come_usd)}; {needs}"
    limit_usd = facts.max_spend_usd
    if spend is None or limit_usd is None or spend.committed_usd + cost_usd <= limit_usd + 1e-9:
        return ""
    left = limit_usd - spend.committed_usd
    said = dollars(left) if left > 0.004 else "Nothing"
    return f"{said} of your limit of {dollars(limit_usd)} is left; {needs}"


def image_words(width: int, height: int, kind: str, size_bytes: int, notes: Sequence[str]) -> str:
    """What a chosen image is, and what was changed in it."""
    return " · ".join([f"{width} × {height}", kind, file_size(size_bytes), *notes])


def recent_words(width: int, height: int, at: float) -> str:
    """A recent image, for people who can't see it. `at` is when it was sent, in epoch seconds."""
    return f"{width} × {height}, sent {time.strftime('%d %b, %H:%M', time.localtime(at)).lstrip('0')}"


def where_words(count: int, folder: Path, most: int) -> str:
    """Where the copies of recent images are and who can read them, or what will be kept if there are none."""
    if not count:
        return f"No images yet. The last {most} that you send are kept here."
    images = "image is" if count == 1 else f"{count} images are"
    return f"The last {images} kept in {short_path(folder)}, for you alone to read."


def page_notes(
    removed: Sequence[str], kind: str, to: str, before: tuple[int, int], after: tuple[int, int]
) -> tuple[str, ...]:
    """The changes that the page made to a file before sending it, in order."""
    notes = [*removed]
    if kind != to:
        notes.append(f"converted from {kind}")
    if before != after:
        notes.append(f"shrunk from {before[0]} × {before[1]} to {after[0]} × {after[1]}")
    return tuple(notes)
