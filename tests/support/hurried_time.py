"""An event loop whose clock runs many times faster, so that real waits of minutes are over in seconds.

For what talks to real sockets, where virtual_time.py's jumps would leave the other side behind.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _HurriedSelector(selectors.SelectSelector):
    def __init__(self, speed: float) -> None:
        super().__init__()
        self._speed = speed

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return super().select(timeout and timeout / self._speed)


class HurriedLoop(asyncio.SelectorEventLoop):
    """One of the machine's seconds is `speed` of its own."""

    def __init__(self, speed: float) -> None:
        self._speed = speed
        super().__init__(_HurriedSelector(speed))

    def time(self) -> float:
        return super().time() * self._speed


def run(coroutine: Coroutine[Any, Any, T], *, speed: float = 20) -> T:
    """Runs `coroutine` to its end on a hurried clock."""
    with asyncio.Runner(loop_factory=lambda: HurriedLoop(speed)) as runner:
        return runner.run(coroutine)
