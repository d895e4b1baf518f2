"""An event loop over real sockets whose clock jumps to the next timer while nothing is in flight.

A pause of a minute is over at once; an answer that is late, a thread that is at work and a slow machine take
the time that they take, in which no other timer becomes due. Without sockets and threads use virtual_time.py.
"""

import asyncio
import math
import selectors
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

LOOK_SECONDS = 0.002  # so long other threads have to hand something over, before each jump


class _Jumps:
    """What all loops of the process have jumped over together, so that they agree about the time."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._lock = threading.Lock()
        self._wakes: dict[object, float] = {}  # when each loop that waits for nothing else goes on

    def now(self) -> float:
        return time.monotonic() + self.seconds

    def begins(self, loop: object) -> None:
        with self._lock:
            self._wakes[loop] = -math.inf

    def ends(self, loop: object) -> None:
        with self._lock:
            self._wakes.pop(loop, None)

    def waits(self, loop: object, seconds: float | None) -> None:
        with self._lock:
            self._wakes[loop] = math.inf if seconds is None else self.now() + seconds

    def jump(self, loop: object) -> None:
        """To when `loop` goes on, unless another one is at work or goes on before."""
        with self._lock:
            wake = self._wakes[loop]
            if wake == min(self._wakes.values()):
                self.seconds += max(0.0, wake - self.now())


_jumps = _Jumps()
now: Callable[[], float] = _jumps.now
"""The time of all these loops, in seconds."""


class _JumpingSelector(selectors.SelectSelector):
    at_work = 0  # how many threads are

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        # A connection that is kept alive isn't read; the loop's own pipe always is.
        in_flight = self.at_work or len(self.get_map()) > 1
        if in_flight or (timeout is not None and timeout <= 0):
            return super().select(timeout)
        _jumps.waits(self, timeout)
        try:
            ready = super().select(timeout and min(timeout, LOOK_SECONDS))
            if timeout and not ready:
                _jumps.jump(self)
            return ready
        finally:
            _jumps.begins(self)


class JumpingLoop(asyncio.SelectorEventLoop):
    """Waits for answers and threads as they come, and for nothing else."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        _jumps.begins(self._jumping)
        super().__init__(self._jumping)

    def time(self) -> float:
        return now()

    def close(self) -> None:
        super().close()
        _jumps.ends(self._jumping)

    def run_in_executor(self, executor: Any, func: Callable[..., T], *args: Any) -> asyncio.Future[T]:  # type: ignore[override]
        self._jumping.at_work += 1
        future = super().run_in_executor(executor, func, *args)
        future.add_done_callback(self._is_done)
        return future

    def _is_done(self, _: object) -> None:
        self._jumping.at_work -= 1


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs `coroutine` to its end on such a loop."""
    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        return runner.run(coroutine)
