"""The sandbox's time: the machine's own, or one that stands still until it is moved.

Job pace, rate limits and days of usage all read it, so a test moves a minute on instead of waiting for it.
"""

import time
from datetime import UTC, datetime


class Clock:
    """Seconds since the epoch. It follows the machine's clock until `advance` is first called."""

    def __init__(self, stands_at: float | None = None) -> None:
        self._stands_at = stands_at

    def now(self) -> float:
        return time.time() if self._stands_at is None else self._stands_at

    def advance(self, seconds: float) -> None:
        """Move `seconds` on and stand there: from now on only `advance` moves this clock."""
        self._stands_at = self.now() + seconds


def iso(timestamp: float) -> str:
    """`timestamp` as the interface writes times: ISO 8601, in UTC."""
    return datetime.fromtimestamp(timestamp, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
