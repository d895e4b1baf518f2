"""How long a job will take, learnt from the ones before it: pure.

`estimated_duration_seconds` may mean the clip or the making. It is taken for the making only where it can't
be the clip's length; what finished jobs really took is believed before it.
"""

from __future__ import annotations

import statistics
from collections import defaultdict, deque

REMEMBERED = 20


class Forecast:
    """The times of finished jobs of one session."""

    def __init__(self) -> None:
        self._took: defaultdict[tuple[str, int], deque[float]] = defaultdict(lambda: deque(maxlen=REMEMBERED))

    def learn(self, mode: str, clip_seconds: int, took_seconds: float) -> None:
        """A job of this mode and clip length took `took_seconds` from submission to completion."""
        self._took[mode, clip_seconds].append(took_seconds)

    def expected_seconds(self, mode: str, clip_seconds: int, estimated_seconds: float | None) -> float | None:
        """The whole time such a job will take, or None where nothing is known about it."""
        if took := self._took.get((mode, clip_seconds)):
            return statistics.median(took)
        if estimated_seconds is not None and abs(estimated_seconds - clip_seconds) > 0.5:
            return estimated_seconds
        return None
