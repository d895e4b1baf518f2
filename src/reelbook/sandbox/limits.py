"""Requests per minute of each key, and the headers that tell of them (interface, Limits).

Pure: the time is an argument. What the interface leaves open about the window and the headers is set in
`Rules`, so that a client can be tried against each reading of it.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Final, Literal

from .. import wire

LimitWindow = Literal["sliding", "fixed"]
ResetUnit = Literal["seconds", "epoch", "epoch_ms"]
LimitHeaders = Literal["all", "none", "wrong"]


@dataclass(frozen=True)
class Rules:
    """How the limit is kept, and how it is told.

    `limit_window` "sliding" looks at the 60 s before each request, "fixed" at the clock's own minutes;
    `count_refused` lets a refused request use up the window like any other; `reset_unit` is that of
    X-RateLimit-Reset: seconds to wait, seconds since the epoch, or milliseconds since it; `limit_headers`
    "none" sends none of the three, "wrong" always promises 99 of 100 requests at once.
    """

    limit_window: LimitWindow = "sliding"
    count_refused: bool = False
    reset_unit: ResetUnit = "seconds"
    limit_headers: LimitHeaders = "all"


DEFAULT_RULES: Final = Rules()


@dataclass(frozen=True)
class Verdict:
    """Whether a request is allowed, and what the three headers say about it.

    `reset_seconds` is the wait in whole seconds until one more request is free than now: after a 429, the
    time until the next request is allowed.
    """

    allowed: bool
    limit: int
    remaining: int
    reset_seconds: int

    def headers(self, rules: Rules = DEFAULT_RULES, now: float = 0.0) -> dict[str, str]:
        """The headers of every authenticated answer (interface, Limits).

        `now` is the time that the answer's Date header tells, in seconds since the epoch: epochs count by it.
        """
        if rules.limit_headers == "none":
            return {}
        told = self
        if rules.limit_headers == "wrong":
            told = Verdict(True, wire.MAX_REQUESTS_PER_MINUTE, wire.MAX_REQUESTS_PER_MINUTE - 1, 0)
        return {
            wire.RATE_LIMIT: str(told.limit),
            wire.RATE_REMAINING: str(told.remaining),
            wire.RATE_RESET: str(_reset(told.reset_seconds, rules.reset_unit, now)),
        }


class Limits:
    """The windows of all keys, kept by `rules`. While `lifted`, no request is refused or counted."""

    def __init__(self) -> None:
        self.lifted = False
        self.rules = DEFAULT_RULES
        self._counted: dict[str, deque[float]] = {}

    def take(self, key_id: str, per_minute: int, now: float) -> Verdict:
        """Count one request of the key `key_id` at `now` (seconds), unless its window is full."""
        if self.lifted:
            # Told as the largest limit there is, or a careful client would go on sparing its requests.
            return Verdict(True, wire.MAX_REQUESTS_PER_MINUTE, wire.MAX_REQUESTS_PER_MINUTE, 0)
        window = self._counted.setdefault(key_id, deque())
        while window and self._free_again(window[0]) <= now:
            window.popleft()
        allowed = len(window) < per_minute
        if allowed or self.rules.count_refused:
            window.append(now)
        while len(window) > per_minute:
            window.popleft()  # the newest ones alone decide when the next request is allowed
        # A machine's clock may be set back, and no wait is longer than the window.
        wait = min(self._free_again(window[0]) - now, wire.RATE_WINDOW_SECONDS)
        return Verdict(allowed, per_minute, per_minute - len(window), math.ceil(wait))

    def _free_again(self, counted_at: float) -> float:
        """When a request that was counted at `counted_at` counts no longer."""
        if self.rules.limit_window == "fixed":
            return (counted_at // wire.RATE_WINDOW_SECONDS + 1) * wire.RATE_WINDOW_SECONDS
        return counted_at + wire.RATE_WINDOW_SECONDS


def _reset(seconds: int, unit: ResetUnit, now: float) -> int:
    if unit == "seconds":
        return seconds
    # Rounded up: whoever comes back at the moment that was named must be let in.
    return math.ceil(now + seconds) if unit == "epoch" else math.ceil((now + seconds) * 1000)
