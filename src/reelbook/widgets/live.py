"""Moves what changes on the session's thread to the page: at most five times a second, the last value wins.

Threads of a session only say that something changed; one thread for all panels reads and sends. Where a
thread can't reach the page (Colab), the page asks, and the panel answers within that message.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import logging
import threading
import time
from collections.abc import Callable

EVERY_SECONDS = 0.2

Later = Callable[[float, Callable[[], None]], None]

_log = logging.getLogger("reelbook.widgets")


class Live:
    """Calls `send` after `changed()`, soon but not more often than every `every_seconds`.

    `clock` and `later` (call this in so many seconds) are there for a virtual clock.
    """

    def __init__(
        self,
        send: Callable[[], None],
        *,
        every_seconds: float = EVERY_SECONDS,
        clock: Callable[[], float] = time.monotonic,
        later: Later | None = None,
    ) -> None:
        self._send = send
        self._every = every_seconds
        self._clock = clock
        self._later = later or _courier.later
        self._lock = threading.Lock()
        self._next_at = clock()
        self._planned = False
        self._timed = False
        self._closed = False

    def changed(self, *_: object) -> None:
        """Something is to be sent. From any thread, as often as it likes; takes what a callback is given."""
        with self._lock:
            if self._planned or self._closed:
                return
            # Ordered before it is noted: an interrupt between the two costs a message, not all further ones.
            self._later(max(0.0, self._next_at - self._clock()), self._due)
            self._planned = True

    def changed_in(self, seconds: float) -> None:
        """As `changed()`, but in so many seconds: for what changes by time alone. One such wait at a time."""
        with self._lock:
            if self._timed or self._closed:
                return
            self._later(seconds, self._time_came)
            self._timed = True

    def close(self) -> None:
        """Sends no more."""
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
            self._next_at = self._clock() + self._every
        self._send()


class _Courier:
    """One daemon thread that calls things when they are due; started when it is first needed.

    Without a Condition: an interrupt of the main thread could leave that locked, and this thread waiting.
    """

    def __init__(self) -> None:
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._bell = threading.Lock()  # taken until something new is due
        self._thread: threading.Thread | None = None

    def later(self, seconds: float, call: Callable[[], None]) -> None:
        with self._lock:
            heapq.heappush(self._due, (time.monotonic() + seconds, next(self._numbers), call))
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="reelbook-page", daemon=True)
                thread.start()
                self._thread = thread
        with contextlib.suppress(RuntimeError):  # it has rung already
            self._bell.release()

    def _run(self) -> None:
        while True:
            with self._lock:
                left = self._due[0][0] - time.monotonic() if self._due else -1
                call = heapq.heappop(self._due)[2] if self._due and left <= 0 else None
            if call is None:
                self._bell.acquire(timeout=left)
                continue
            try:
                call()
            except Exception:
                # A panel shows its own errors; what is left must not end the thread of all panels.
                _log.exception("a panel could not be brought up to date")


_courier = _Courier()
