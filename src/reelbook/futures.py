"""A future that an interrupt can't break: how the main thread waits for what another thread does.

Python raises KeyboardInterrupt (Stop, Ctrl-C) in the main thread, between any two of its steps. What must be
whole is therefore done on another thread, and the main thread only waits for it.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import contextvars
import threading
from collections.abc import Callable
from typing import Any, Final, TypeVar

from .deadlines import Countdown

T = TypeVar("T")

SLICE_SECONDS: Final = 0.2  # Windows hears no Ctrl-C while a wait without an end lasts


class _Lock(type(threading.RLock())):  # type: ignore[misc]  # the class has no public name
    """What a future needs of a `threading.Condition`: entered in C, which no interrupt divides."""

    def wait(self, timeout: float | None = None) -> bool:
        """`Future.wait` has waited already."""
        return True

    def notify_all(self) -> None:
        """Waiters are told by a callback."""


class Future(concurrent.futures.Future[T]):
    """As `concurrent.futures.Future`, and safe to wait for in the main thread.

    There, even `done()` enters a Condition, in Python code. An interrupt between its lock and the `with`
    block leaves the lock taken for good, and the thread that sets the result waits for ever.
    """

    def __init__(self) -> None:
        super().__init__()
        self._condition: Any = _Lock()

    def wait(self, timeout: float | None = None) -> bool:
        """Waits for the end, `timeout` seconds at most. Whether it is done."""
        gate = threading.Lock()
        gate.acquire()

        def open_gate(_: object) -> None:
            gate.release()

        countdown = Countdown(timeout)
        self.add_done_callback(open_gate)
        try:
            while pause := countdown.next_pause(SLICE_SECONDS):
                if gate.acquire(timeout=pause):
                    break
        finally:
            with self._condition, contextlib.suppress(ValueError):
                if not self.done():  # from then on all are called, in their order
                    self._done_callbacks.remove(open_gate)  # type: ignore[attr-defined]  # it has no public name
        return self.done()

    def result(self, timeout: float | None = None) -> T:
        """The result. Raises TimeoutError, CancelledError and the error it ended with."""
        self.wait(timeout)
        return super().result(0)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """The error it ended with, or None. Raises TimeoutError and CancelledError."""
        self.wait(timeout)
        return super().exception(0)


def uninterrupted(call: Callable[[], T], name: str) -> T:
    """The result of `call`, done on a thread of its own: an interrupt ends the waiting, never the call."""
    future: Future[T] = Future()
    context = contextvars.copy_context()

    def carry_out() -> None:
        try:
            future.set_result(context.run(call))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=carry_out, name=name, daemon=True).start()
    return future.result()
