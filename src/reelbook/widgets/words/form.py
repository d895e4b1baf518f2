"""What the form and the image picker say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reelbook import wire

from .basics import dollars


def form_words(balance_usd: float | None) -> dict[str, Any]:
    """What the form says: for each length from 1 s its cost, what the balance becomes, and why it is off.

    All lengths at once, so that the page answers a moved slider without asking.
    """
    lengths = []
    for length in range(wire.MIN_SECONDS, wire.MAX_SECONDS + 1):
        cost = wire.cost_usd(length)
        line, off = f"{length} s × {dollars(wire.PRICE_USD_PER_SECOND)}", ""
        if balance_usd is not None and cost > balance_usd + 1e-9:
            off = f"The balance is {dollars(balance_usd)}; this clip needs about {dollars(cost)}."
        elif balance_usd is not None:
            line += f" · leaves {dollars(balance_usd - cost)}"
        lengths.append({"line": line, "button": f"Generate · {dollars(cost)}", "off": off})
    return {
        "lengths": lengths,
        "no_prompt": "Write a prompt first.",
        "no_image": "Choose an image first.",
        "bad_seed": "The seed must be a whole number.",
        "busy": "The kernel is busy or gone. If it is busy, the clip is sent once, when it is free.",
    }


def image_words(width: int, height: int, kind: str, size_bytes: int, notes: Sequence[str]) -> str:
    """What a chosen image is, and what was changed in it."""
    size = f"{size_bytes / 1e6:.1f} MB" if size_bytes >= 1e6 else f"{max(1, round(size_bytes / 1e3))} kB"
    return " · ".join([f"{width} × {height}", kind, size, *notes])
