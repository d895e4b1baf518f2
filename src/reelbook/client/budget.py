"""One key's requests as a budget, learnt from the service's headers: pure, the time is an argument.

Counted in a sliding window from the moment of each answer, which is never earlier than the moment at which
the service counted the request. What the headers say corrects the count: up where others use the key, down
where the service's window is a fixed one.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from .. import wire
from .answers import retry_after

MARGIN_SECONDS = 0.05  # clocks tick unevenly; a 429 costs more than this wait


@dataclass(frozen=True)
class BudgetView:
    """What a person may see of the budget: requests `left` of `limit`, and when the next one comes back."""

    limit: int
    left: int
    back_in_seconds: float | None


class Budget:
    """The requests of one key. Call `sent` before and `answered` (or `lost`) after each one."""

    def __init__(
        self, limit: int = wire.DEFAULT_REQUESTS_PER_MINUTE, window_seconds: float = wire.RATE_WINDOW_SECONDS
    ) -> None:
        self._limit = limit
        self._window = window_seconds
        self._answered: deque[float] = deque()
        self._in_flight = 0
        self._closed_until = 0.0

    def wait_seconds(self, now: float) -> float:
        """How long until one more request fits; 0 if it does now."""
        self._forget(now)
        closed = max(0.0, self._closed_until - now)
        if self._in_flight + len(self._answered) < self._limit:
            return closed
        if not self._answered:  # all of them are under way: an answer will tell
            return max(closed, 1.0)
        return max(closed, self._answered[0] + self._window + MARGIN_SECONDS - now)

    def sent(self) -> None:
        """A request goes out."""
        self._in_flight += 1

    def lost(self, now: float) -> None:
        """No answer came: the service may have counted the request."""
        self._in_flight -= 1
        self._answered.append(now)

    def unsent(self) -> None:
        """The request certainly never arrived, so nothing was counted."""
        self._in_flight -= 1

    def answered(self, status: int, headers: Mapping[str, str], now: float) -> None:
        """An answer came; its headers (names in lower case) correct the count."""
        self._in_flight -= 1
        self._answered.append(now)
        self._forget(now)
        limit = _number(headers, wire.RATE_LIMIT)
        if limit is not None and limit >= 1:
            self._limit = int(limit)
        remaining = _number(headers, wire.RATE_REMAINING)
        if status != 429 and remaining is not None and 0 <= remaining <= self._limit:
            self._correct(self._limit - int(remaining), now)
        if status == 429:
            wait = retry_after(headers)
            wait = reset_seconds(headers) if wait is None else wait
            self._closed_until = now + (5.0 if wait is None else max(wait, 0.5)) + MARGIN_SECONDS
        elif remaining == 0 and (reset := reset_seconds(headers)) is not None:
            # A fixed window opens as a whole at the reset, a sliding one at our own oldest request.
            opens = min(now + reset, self._answered[0] + self._window)
            self._answered[0] = min(self._answered[0], opens - self._window)

    def view(self, now: float) -> BudgetView:
        """The budget as a person may see it. Changes nothing, so any thread may ask."""
        counted = [at for at in tuple(self._answered) if at + self._window + MARGIN_SECONDS > now]
        left = max(0, self._limit - self._in_flight - len(counted)) if self._closed_until <= now else 0
        if left:
            return BudgetView(self._limit, left, None)
        free = counted[0] + self._window + MARGIN_SECONDS if counted else now + 1.0
        return BudgetView(self._limit, 0, max(free, self._closed_until) - now)

    def _correct(self, used: int, now: float) -> None:
        while len(self._answered) < used - self._in_flight:
            self._answered.append(now)  # somebody else's
        if self._in_flight == 0:  # with others under way the header may be older than what we know
            while len(self._answered) > used:
                self._answered.popleft()

    def _forget(self, now: float) -> None:
        while self._answered and self._answered[0] + self._window + MARGIN_SECONDS <= now:
            self._answered.popleft()


def reset_seconds(headers: Mapping[str, str], wall: float | None = None) -> float | None:
    """`X-RateLimit-Reset` as seconds to wait, whether it is that, an epoch in seconds or one in milliseconds.

    The interface doesn't state its unit. Epochs are read against the answer's own `Date`, so that a wrong
    clock here does no harm. None where it is absent or makes no sense for a limit per minute.
    """
    value = _number(headers, wire.RATE_RESET)
    if value is None or value < 0:
        return None
    if value > 1e8:
        seconds = value / 1000 if value > 1e11 else value
        value = max(0.0, seconds - (_date(headers) or wall or time.time()))
    return value if value <= 2 * wire.RATE_WINDOW_SECONDS else None


def _number(headers: Mapping[str, str], name: str) -> float | None:
    try:
        return float(headers.get(name.lower(), ""))
    except ValueError:
        return None


def _date(headers: Mapping[str, str]) -> float | None:
    try:
        return parsedate_to_datetime(headers["date"]).timestamp()
    except (KeyError, ValueError, TypeError):
        return None
