"""What an answer's headers say about the key's limit: pure. `budget.py` draws the conclusions.

The interface names three headers and leaves the unit of one open (interface, Limits); any may be missing.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Final

from .. import wire
from .answers import retry_after

# Ten times the documented maximum. More is a quota of a month, or nonsense, and says nothing of a minute.
MOST_A_MINUTE: Final = 10 * wire.MAX_REQUESTS_PER_MINUTE


@dataclass(frozen=True)
class RateHeaders:
    """The limit, the requests `remaining`, and the seconds until `reset`; each None where not said or absurd.

    `retry_after` is the wait in seconds that the service asks for.
    """

    limit: int | None
    remaining: int | None
    reset: float | None
    retry_after: float | None


def read(headers: Mapping[str, str]) -> RateHeaders:
    """The rate headers of one answer; the names are in lower case."""
    limit, remaining = _number(headers, wire.RATE_LIMIT), _number(headers, wire.RATE_REMAINING)
    if limit is not None and limit > MOST_A_MINUTE:
        limit = remaining = None
    if limit is not None and limit < 1:
        limit = None
    if remaining is not None and (remaining < 0 or (limit is not None and remaining > limit)):
        remaining = None
    return RateHeaders(
        None if limit is None else int(limit),
        None if remaining is None else int(remaining),
        reset_seconds(headers),
        retry_after(headers),
    )


def reset_seconds(headers: Mapping[str, str], wall: float | None = None) -> float | None:
    """`X-RateLimit-Reset` as seconds to wait, whether it is that, an epoch in seconds or one in milliseconds.

    Epochs are read against the answer's own `Date`, so that a wrong clock here does no harm; `wall` is the
    epoch time to use where there is none. None where the header is absent or makes no sense for a limit per
    minute.
    """
    value = _number(headers, wire.RATE_RESET)
    if value is None or value < 0:
        return None
    if value > 1e8:
        seconds = value / 1000 if value > 1e11 else value
        sent = _date(headers)
        if sent is None:
            sent = time.time() if wall is None else wall
        value = max(0.0, seconds - sent)
    return value if value <= 2 * wire.RATE_WINDOW_SECONDS else None


def _number(headers: Mapping[str, str], name: str) -> float | None:
    try:
        value = float(headers.get(name.lower(), ""))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _date(headers: Mapping[str, str]) -> float | None:
    try:
        return parsedate_to_datetime(headers["date"]).timestamp()
    except (KeyError, ValueError, TypeError):
        return None
