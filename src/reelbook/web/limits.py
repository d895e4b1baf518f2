"""Requests per minute of each key, and the headers about them (interface, Limits).

Pure: the time is an argument. The settings decide what the interface leaves open about window and headers, so
that a client can be tried against each reading of it.
"""

import math
from collections import deque
from dataclasses import dataclass
from typing import Final, Literal

from .. import wire

LimitWindow = Literal["sliding", "fixed"]
ResetUnit = Literal["seconds", "epoch", "epoch_ms"]
LimitHeaders = Literal["all", "none", "wrong"]
# Announced while limits are lifted: more than any key has, or careful clients would keep sparing requests.
LIFTED: Final = 10 * wire.MAX_REQUESTS_PER_MINUTE


@dataclass(frozen=True)
class LimitSettings:
    """How requests are counted and what the headers say. `Sandbox.settings` says what each does."""

    rate_limiting: bool = True
    limit_window: LimitWindow = "sliding"
    count_refused: bool = False
    reset_unit: ResetUnit = "seconds"
    limit_headers: LimitHeaders = "all"


DEFAULTS: Final = LimitSettings()


@dataclass(frozen=True)
class Admission:
    """Whether a request is allowed, and what the three headers say about it.

    `reset_seconds`: whole seconds until one more request is free; after a 429, until the next one is allowed.
    """

    allowed: bool
    limit: int
    remaining: int
    reset_seconds: int

    def headers(self, settings: LimitSettings = DEFAULTS, now: float = 0.0) -> dict[str, str]:
        """The headers of every authenticated answer (interface, Limits).

        `now`: the answer's Date in epoch seconds. A reset given as an epoch counts from it.
        """
        if settings.limit_headers == "none":
            return {}
        told = self
        if settings.limit_headers == "wrong":
            told = Admission(True, wire.MAX_REQUESTS_PER_MINUTE, wire.MAX_REQUESTS_PER_MINUTE - 1, 0)
        reset = told.reset_seconds
        if settings.reset_unit != "seconds":
            # Rounded up: a client that comes back at the announced moment must be let in.
            reset = math.ceil((now + reset) * (1 if settings.reset_unit == "epoch" else 1000))
        return {
            wire.RATE_LIMIT: str(told.limit),
            wire.RATE_REMAINING: str(told.remaining),
            wire.RATE_RESET: str(reset),
        }


class Limits:
    """The windows of all keys."""

    def __init__(self) -> None:
        self._counted: dict[str, deque[float]] = {}

    def take(self, key_id: str, per_minute: int, now: float, settings: LimitSettings = DEFAULTS) -> Admission:
        """Count a request of the key at `now` (seconds), unless its window of `per_minute` is full."""
        if not settings.rate_limiting:
            return Admission(True, LIFTED, LIFTED, 0)
        window, kind = self._counted.setdefault(key_id, deque()), settings.limit_window
        while window and _free_again(window[0], kind) <= now:
            window.popleft()
        allowed = len(window) < per_minute
        if allowed or settings.count_refused:
            window.append(now)
        while len(window) > per_minute:
            window.popleft()  # only the newest ones decide when the next request is allowed
        # A machine's clock may be set back, and no wait is longer than the window.
        wait = min(_free_again(window[0], kind) - now, wire.RATE_WINDOW_SECONDS)
        return Admission(allowed, per_minute, per_minute - len(window), math.ceil(wait))


def _free_again(counted_at: float, kind: LimitWindow) -> float:
    if kind == "fixed":
        return (counted_at // wire.RATE_WINDOW_SECONDS + 1) * wire.RATE_WINDOW_SECONDS
    return counted_at + wire.RATE_WINDOW_SECONDS
