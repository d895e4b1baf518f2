"""The time that sessions go by: a setting for tests, like stamina's test mode. Nothing else changes it.

    timing.use(timing.Timing(new_loop=JumpingLoop))  # for the sessions that are connected from now on

With REELBOOK_TEST_JOBS=short in the environment, a kernel or command that a test starts asks about its first
jobs soon. Otherwise it waits some seconds, as a service's jobs may take minutes; a test's don't.
"""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass

SHORT_JOBS = ((0.0, 1.0, None),) * 3


@dataclass(frozen=True)
class Timing:
    """`new_loop` makes the event loop of a session, whose clock it goes by.

    `took` is what is believed about jobs at first: times of earlier ones, at least and at most, in seconds.
    """

    new_loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.SelectorEventLoop
    took: tuple[tuple[float, float, None], ...] = ()


_used: Timing | None = None


def use(timing: Timing | None) -> None:
    """Sets the timing from now on; None is what users have."""
    global _used
    _used = timing


def current() -> Timing:
    return _used or Timing(took=SHORT_JOBS if os.environ.get("REELBOOK_TEST_JOBS") == "short" else ())
