"""What the form and the image picker say."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from reelbook import wire
from reelbook.account import Facts
from reelbook.account.limits import spend_notices
from reelbook.errors import InvalidInput
from reelbook.ledger import Spend
from reelbook.requests import FIELDS

from ..explore.templates import Template, is_plain
from ..explore.wildcards import STYLES
from ..formatting import LITTLE_USD, count, dollars, short_path
from .status_line import KEY_REFUSED, REPLACE_KEY


def form_words(facts: Facts, spend: Spend | None = None) -> dict[str, Any]:
    """What the form says for each length from 1 s on, so that the page can follow the slider without asking.

    "off" is why the button can't be pressed, "low" a warning beforehand. Clips in progress may turn out to
    cost nothing, so they don't switch the button off. `spend` counts towards the limit; None: unknown.
    """
    lengths = []
    for length in range(wire.MIN_SECONDS, wire.MAX_SECONDS + 1):
        cost = wire.cost_usd(length)
        line, low = f"{length} s × {dollars(wire.PRICE_USD_PER_SECOND)}", ""
        off = _unaffordable(cost, facts, spend)
        if facts.trouble:
            off = "Nothing can be bought now: the ledger can't be written."
        elif not off:
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
    return {"lengths": lengths, "replace_key": REPLACE_KEY if facts.key_trouble else ""}


def form_fields() -> list[dict[str, Any]]:
    """The fields of a request as the page draws them: their words, controls and limits."""
    drawn = ("name", "label", "help", "control", "modes", "low", "high", "choices", "random", "unit")
    return [{each: getattr(about, each) for each in drawn} for about in FIELDS.values()]


def plan_words(prompt: str, duration_seconds: int, styles: Iterable[str] = ()) -> str:
    """The button that plans a template: "Plan 12 clips · $1.20"; empty if the prompt isn't one.

    `styles`: the values of `__styles__`.
    """
    if is_plain(prompt):
        return ""
    try:
        read = Template(prompt, {STYLES: styles})
    except InvalidInput:
        return ""  # a text that happens to have braces
    if read.slots:
        return "Plan a sweep"  # how many clips it makes isn't known before its slots have values
    return f"Plan {count(read.count, 'clip')} · {dollars(read.count * wire.cost_usd(duration_seconds))}"


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
    needs = f"this clip needs about {dollars(cost_usd)}."
    if facts.balance_usd is not None and cost_usd > facts.balance_usd + facts.to_come_usd + 1e-9:
        return f"The balance is {dollars(facts.balance_usd + facts.to_come_usd)}; {needs}"
    limit_usd = facts.max_spend_usd
    if spend is None or limit_usd is None or spend.committed_usd + cost_usd <= limit_usd + 1e-9:
        return ""
    left = limit_usd - spend.committed_usd
    said = dollars(left) if left >= LITTLE_USD else "Nothing"
    return f"{said} of your limit of {dollars(limit_usd)} is left; {needs}"


def where_words(count: int, folder: Path, most: int) -> str:
    """Where the copies of recent images are and who can read them, or what will be kept if there are none."""
    if not count:
        return f"No images yet. The last {most} that you send are kept here."
    images = "image is" if count == 1 else f"{count} images are"
    return f"The last {images} kept in {short_path(folder)}, for you alone to read."
