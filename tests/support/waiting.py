"""Waiting for what another thread or process does."""

import time
from collections.abc import Callable


def until(condition: Callable[[], object], seconds: float = 120) -> None:
    """Waits until it is true; fails where that never happens."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.01)
