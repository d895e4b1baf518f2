"""Requests per minute of each key, in a sliding window (interface, Limits): pure, the time is an argument."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

from .. import wire


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

    def headers(self) -> dict[str, str]:
        """The headers of every authenticated answer (interface, Limits)."""
        return {
            wire.RATE_LIMIT: str(self.limit),
            wire.RATE_REMAINING: str(self.remaining),
            wire.RATE_RESET: str(self.reset_seconds),
        }


class Limits:
    """The windows of all keys. Refused requests aren't counted. While `lifted`, none are refused."""

    def __init__(self) -> None:
        self.lifted = False
        self._counted: dict[str, deque[float]] = {}

    def take(self, key_id: str, per_minute: int, now: float) -> Verdict:
        """Count one request of the key `key_id` at `now` (seconds), unless its window is full."""
        if self.lifted:
            return Verdict(True, per_minute, per_minute, 0)
        window = self._counted.setdefault(key_id, deque())
        while window and window[0] + wire.RATE_WINDOW_SECONDS <= now:
            window.popleft()
        allowed = len(window) < per_minute
        if allowed:
            window.append(now)
        # A machine's clock may be set back, and no wait is longer than the window.
        wait = min(window[0] + wire.RATE_WINDOW_SECONDS - now, wire.RATE_WINDOW_SECONDS)
        return Verdict(allowed, per_minute, per_minute - len(window), math.ceil(wait))
