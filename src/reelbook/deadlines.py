"""Deadlines that count only while the process runs.

A closed lid, a paused machine, SIGSTOP or a C call that holds the interpreter stops the process but not the
clock. What arrives meanwhile waits to be read; a deadline by the clock alone would throw it away on waking.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from filelock import BaseFileLock

LOOK_SECONDS = 0.5  # between two looks at the clock; a longer gap counts as this much
LATE_SECONDS = 0.1
NOTHING_SECONDS = 0.001  # a pause so short that no clock shows it
# A loop or a machine that is always late mustn't wait for ever.
MAX_LATE_LOOKS = 4


class Countdown:
    """Counts `seconds` down while its owner keeps looking; `clock` returns seconds, as time.monotonic does.

    Of the time between two looks at most LOOK_SECONDS count, and a late look isn't the last one, so that what
    arrived meanwhile can be read first.
    """

    def __init__(self, seconds: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self.spent = 0.0
        self._seconds = math.inf if seconds is None else seconds
        self._clock = clock
        self._looked_at = clock()
        self._pause = 0.0
        self._late_looks = 0

    def next_pause(self, at_most: float = math.inf) -> float:
        """The seconds to wait until the next look, 0 when the time is up."""
        now = self._clock()
        passed, self._looked_at = now - self._looked_at, now
        self.spent += min(passed, LOOK_SECONDS)
        left = self._seconds - self.spent
        if left < NOTHING_SECONDS:
            if passed <= self._pause + LATE_SECONDS or self._late_looks >= MAX_LATE_LOOKS:
                return 0.0
            self._late_looks += 1
            left = LOOK_SECONDS
        self._pause = min(left, at_most, LOOK_SECONDS)
        return self._pause


class Deadline:
    """`asyncio.timeout`, counted by a Countdown; None sets none. `spent` are the seconds counted so far."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._spent_before = 0.0
        self._timeout = asyncio.timeout(None)
        self._over = False

    async def __aenter__(self) -> Deadline:
        self._loop = asyncio.get_running_loop()
        await self._timeout.__aenter__()
        self._begin(self._seconds)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._over = True
        self._timer.cancel()
        self._countdown.next_pause()
        await self._timeout.__aexit__(kind, error, traceback)

    @property
    def spent(self) -> float:
        return self._spent_before + self._countdown.spent

    def renew(self, seconds: float | None) -> None:
        """Counts `seconds` from now on, if the deadline hasn't passed yet."""
        if not self._over:
            self._timer.cancel()
            self._countdown.next_pause()
            self._spent_before = self.spent
            self._begin(seconds)

    def _begin(self, seconds: float | None) -> None:
        self._countdown = Countdown(seconds, self._loop.time)
        self._timer = self._loop.call_later(self._countdown.next_pause(), self._look)

    def _look(self) -> None:
        if pause := self._countdown.next_pause():
            self._timer = self._loop.call_later(pause, self._look)
        else:
            self._over = True
            self._timeout.reschedule(self._loop.time())


def acquire(lock: BaseFileLock, seconds: float) -> Any:
    """Takes a file lock, to be released by `with`. Raises filelock.Timeout."""
    from filelock import Timeout

    countdown = Countdown(seconds)
    while True:
        pause = countdown.next_pause()
        try:
            return lock.acquire(timeout=pause)
        except Timeout:
            if not pause:
                raise
