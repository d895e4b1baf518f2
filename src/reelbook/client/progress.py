"""How far a job is, and how long it may still take: pure, from what the service says.

The bounds of `progress` aren't stated, and `estimated_duration_seconds` may mean the clip or the making, so
both are read with care: a figure never goes backwards, never over full, and is absent where none is known.
"""

from __future__ import annotations

ALMOST = 0.99  # full is said by `completed`, not by a figure


class Progress:
    """One job's progress, fed with the service's figures and the times they came at."""

    def __init__(self) -> None:
        self.fraction: float | None = None
        self._per_unit = 100.0
        self._first: tuple[float, float] | None = None
        self._last: tuple[float, float] | None = None

    def tell(self, raw: float | None, at: float) -> None:
        """The service said `raw` at time `at` (seconds)."""
        if raw is None or raw < 0:
            return
        if 0 < raw < 1:  # whole numbers count percent, so this service counts to one
            self._per_unit = 1.0
        fraction = min(raw / self._per_unit if raw <= 1 or self._per_unit == 100.0 else raw / 100.0, ALMOST)
        self.fraction = max(fraction, self.fraction or 0.0)
        if self._first is None:
            self._first = (at, self.fraction)
        elif self.fraction > (self._last or self._first)[1]:
            self._last = (at, self.fraction)

    def remaining_seconds(self, now: float) -> float | None:
        """The time left at the pace seen so far, or None before two different figures."""
        if self._first is None or self._last is None:
            return None
        (began, low), (seen, high) = self._first, self._last
        per_second = (high - low) / (seen - began) if seen > began else 0.0
        if per_second <= 0:
            return None
        return max(0.0, (1.0 - high) / per_second - (now - seen))
