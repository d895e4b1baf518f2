"""Brings changes from a session's thread to the page, at most five times a second, and nothing twice."""

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Mapping
from contextvars import Context
from functools import cache
from typing import Any

from ..formatting import Line

EVERY_SECONDS = 0.2
# A line whose seconds run by themselves is sent again only if it would be off by more than this.
OFF_SECONDS = 1.5

Later = Callable[[float, Callable[[], None]], None]


class Live:
    """Calls `send` soon after `changed()`, but at most once every `EVERY_SECONDS` of its `clock`."""

    def __init__(
        self,
        send: Callable[[], None],
        *,
        clock: Callable[[], float] = time.monotonic,
        later: Later | None = None,
    ) -> None:
        self._send = send
        self._clock = clock
        self._later = later or _on_page_thread
        self._lock = threading.Lock()
        self._news: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._next_at = clock()
        self._planned = False
        self._timed = False
        self._closed = False

    def changed(self, *_: object) -> None:
        """Reports a change. May be called from any thread, as often as needed, or as a callback."""
        with self._lock:
            if self._planned or self._closed:
                return
            # `_planned` is set last: an interrupt in between costs one message, not all later ones.
            self._later(max(0.0, self._next_at - self._clock()), self._due)
            self._planned = True

    def add_news(self, news: object) -> None:
        """As `changed`, for a panel that fetches what changed with `take_news`."""
        self._news.put(news)
        self.changed()

    def take_news(self) -> dict[Any, None]:
        """The news since the last call, each once and in order."""
        return dict.fromkeys(self._news.get_nowait() for _ in range(self._news.qsize()))

    def changed_in(self, seconds: float) -> None:
        """Calls `changed()` after some seconds, for what changes with time alone. One such wait at a time."""
        with self._lock:
            if self._timed or self._closed:
                return
            self._later(seconds, self._time_came)
            self._timed = True

    def close(self) -> None:
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
    """The values that the page has, by name and by what they are `of`, such as a row; once it is `open`."""

    open = False

    def __init__(self) -> None:
        self._values: dict[tuple[str, str], Any] = {}
        self._lines: dict[tuple[str, str], tuple[Line, float]] = {}

    def news(
        self, now: float, values: Mapping[str, Any], lines: Mapping[str, Line], *, of: str = ""
    ) -> dict[str, Any]:
        """What differs from what the page has, to be sent now. The seconds in `lines` run by themselves."""
        changed = {name: value for name, value in values.items() if self._values.get((of, name)) != value}
        self._values.update({(of, name): value for name, value in changed.items()})
        for name, line in lines.items():
            had, at = self._lines.get((of, name), ([], now))
            if not same_line(had, line, now - at):
                self._lines[of, name] = (line, now)
                changed[name] = line
        return changed

    def begin(self) -> None:
        """A page was opened, which has nothing yet."""
        self.open = True
        self._values.clear()
        self._lines.clear()


def same_line(first: Line, second: Line, passed_seconds: float) -> bool:
    """Whether a page that got `first` that long ago shows `second` by now."""
    return len(first) == len(second) and all(
        a == b
        if isinstance(a, str) or isinstance(b, str)
        else a[1] == b[1] and abs(a[0] + a[1] * passed_seconds - b[0]) <= OFF_SECONDS
        for a, b in zip(first, second, strict=True)
    )


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """The loop of all panels, on a daemon thread that the first one starts."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="reelbook-page", daemon=True).start()
    return loop


def _on_page_thread(seconds: float, call: Callable[[], None]) -> None:
    # In a context of its own: what a cell's context says is meant for that cell. An error is logged.
    loop = _loop()
    loop.call_soon_threadsafe(loop.call_later, seconds, call, context=Context())
