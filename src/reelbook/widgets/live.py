"""Brings changes from a session's thread to the page, at most five times a second, and nothing twice.

A session's thread only reports that something changed. One thread for all panels then reads the latest state
and sends it. Where no thread reaches the page (Colab), the page asks and the panel answers.
"""

from __future__ import annotations

import heapq
import itertools
import logging
import threading
import time
from collections.abc import Callable, Mapping
from queue import Empty, SimpleQueue
from typing import Any

from ..formatting import Line

EVERY_SECONDS = 0.2
# A line whose seconds run by themselves is sent again only if it would be off by more than this.
OFF_SECONDS = 1.5

Later = Callable[[float, Callable[[], None]], None]

_log = logging.getLogger("reelbook.widgets")


class Live:
    """Calls `send` soon after `changed()`, but at most once every `EVERY_SECONDS`.

    `clock` and `later`, which calls a function after some seconds, can be replaced by a virtual clock.
    """

    def __init__(
        self,
        send: Callable[[], None],
        *,
        clock: Callable[[], float] = time.monotonic,
        later: Later | None = None,
    ) -> None:
        self._send = send
        self._clock = clock
        self._later = later or _courier.later
        self._lock = threading.Lock()
        self._next_at = clock()
        self._planned = False
        self._timed = False
        self._closed = False

    def changed(self, *_: object) -> None:
        """Reports a change. May be called from any thread, as often as needed, or as a callback."""
        with self._lock:
            if self._planned or self._closed:
                return
            # Planned before it is noted: an interrupt in between costs one message, not all later ones.
            self._later(max(0.0, self._next_at - self._clock()), self._due)
            self._planned = True

    def changed_in(self, seconds: float) -> None:
        """Calls `changed()` after some seconds, for what changes with time alone. One such wait at a time."""
        with self._lock:
            if self._timed or self._closed:
                return
            self._later(seconds, self._time_came)
            self._timed = True

    def close(self) -> None:
        """Stops sending."""
        with self._lock:
            self._closed = True

    def _time_came(self) -> None:
        with self._lock:
            self._timed = False
        self.changed()

    def _due(self) -> None:
        with self._lock:
            self._planned = False
            if self._closed:
                return
            self._next_at = self._clock() + EVERY_SECONDS
        self._send()


class PageState:
    """The values that the page has, by name; `news` gives those that it doesn't have yet."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        self._lines: dict[str, tuple[Line, float]] = {}

    def news(self, now: float, values: Mapping[str, Any], lines: Mapping[str, Line]) -> dict[str, Any]:
        """What differs from what the page has, to be sent now. The seconds in `lines` run by themselves."""
        changed = {name: value for name, value in values.items() if self._values.get(name) != value}
        self._values.update(changed)
        for name, line in lines.items():
            had, at = self._lines.get(name, ([], now))
            if not same_line(had, line, now - at):
                self._lines[name] = (line, now)
                changed[name] = line
        return changed

    def forget(self) -> None:
        """A new page has nothing yet."""
        self._values.clear()
        self._lines.clear()


def same_line(first: Line, second: Line, passed_seconds: float) -> bool:
    """Whether the page shows `second` after it had `first` for that time."""
    return len(first) == len(second) and all(
        a == b
        if isinstance(a, str) or isinstance(b, str)
        else a[1] == b[1] and abs(a[0] + a[1] * passed_seconds - b[0]) <= OFF_SECONDS
        for a, b in zip(first, second, strict=True)
    )


class _Courier:
    """One daemon thread, started on first use, that calls functions when they are due.

    It waits on a queue, which no interrupt of the main thread can leave locked, unlike a Condition.
    """

    def __init__(self) -> None:
        self._new: SimpleQueue[tuple[float, Callable[[], None]]] = SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def later(self, seconds: float, call: Callable[[], None]) -> None:
        self._new.put((time.monotonic() + seconds, call))
        with self._lock:
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="reelbook-page", daemon=True)
                thread.start()
                self._thread = thread

    def _run(self) -> None:
        due: list[tuple[float, int, Callable[[], None]]] = []
        for number in itertools.count():
            try:
                at, call = self._new.get(timeout=max(0.0, due[0][0] - time.monotonic()) if due else None)
                heapq.heappush(due, (at, number, call))
            except Empty:
                self._carry_out(heapq.heappop(due)[2])

    def _carry_out(self, call: Callable[[], None]) -> None:
        try:
            call()
        except Exception:
            # Panels show their own errors. Anything else must not end the thread of all panels.
            _log.exception("a panel could not be brought up to date")


_courier = _Courier()
