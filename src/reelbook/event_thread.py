"""One daemon thread with one event loop: everything a session does on the network happens here.

The kernel's loop only ever waits for it, so cells, widgets and scripts can all hand over work. They wait on a
`Future` that an interrupt can't break: Python raises KeyboardInterrupt (Stop, Ctrl-C) in the main thread,
between any two of its steps, so anything that must be whole is done on another one.
"""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures.thread  # noqa: F401  # registers its function for the end before ours
import contextlib
import contextvars
import functools
import logging
import threading
import weakref
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import CancelledError
from typing import Any, Final, Generic, TypeVar

from . import timing
from .deadlines import Countdown, Deadline
from .errors import SessionClosed, WouldDeadlock
from .executions import keep_out

_log = logging.getLogger(__name__)

T = TypeVar("T")

SLICE_SECONDS: Final = 0.2  # Windows hears no Ctrl-C during a wait without end


class Future(Generic[T]):
    """The outcome of work on another thread: a `concurrent.futures.Future` that is safe in the main thread.

    Python's own takes a lock even in `done()`, and an interrupt may leave that locked for good. This one
    shares no lock between threads: the thread that does the work settles it, once.
    """

    def __init__(self) -> None:
        self._outcome: tuple[T | None, BaseException | None] | None = None
        self._callbacks: deque[Callable[[Future[T]], object]] = deque()
        self._cancelled = False
        self._end: Callable[[], object] | None = None

    def done(self) -> bool:
        return self._outcome is not None

    def wait(self, timeout: float | None = None) -> bool:
        """Waits for the end, at most `timeout` seconds. Returns whether it is done."""
        # A lock, as `SimpleQueue.get` waits without end if a signal's handler returns after its timeout.
        news = threading.Lock()
        news.acquire()

        def tell(_: object) -> None:
            news.release()

        self.add_done_callback(tell)
        countdown = Countdown(timeout)
        try:
            while not self.done() and (pause := countdown.next_pause(SLICE_SECONDS)):
                news.acquire(timeout=pause)
        finally:
            with contextlib.suppress(ValueError):
                self._callbacks.remove(tell)
        return self.done()

    def result(self, timeout: float | None = None) -> T:
        """Waits for the result. Raises TimeoutError, CancelledError, and the work's own error."""
        self.wait(timeout)
        if self._outcome is None:
            raise TimeoutError
        result, error = self._outcome
        try:
            if error is not None:
                raise error
            return result  # type: ignore[return-value]  # None only where that is a T
        finally:
            del self, error  # or the error would hold itself, by its traceback

    def exception(self) -> BaseException | None:
        """The error that it ended with; None without one or before the end."""
        return None if self._outcome is None else self._outcome[1]

    def cancel(self) -> None:
        """Asks for the work to end, which may have an outcome all the same."""
        self._cancelled = True
        if self._end is not None:
            self._end()

    def add_done_callback(self, callback: Callable[[Future[T]], object]) -> None:
        """Calls `callback` with this future when it is done, on the thread that settles it; or at once."""
        self._callbacks.append(callback)
        if self.done():
            # Whichever thread takes it out calls it: this one or the one that settles.
            with contextlib.suppress(ValueError):
                self._callbacks.remove(callback)
                self._call(callback)

    def carry_out(self, work: Callable[[], T]) -> None:
        """Does the work on this thread and settles it with the outcome; unless it was cancelled before."""
        try:
            if self._cancelled:
                raise CancelledError
            result = work()
        except BaseException as error:
            self.set_exception(error)
        else:
            self.set_result(result)

    def set_result(self, result: T) -> None:
        self._settle((result, None))

    def set_exception(self, error: BaseException) -> None:
        self._settle((None, error))

    def _settle(self, outcome: tuple[T | None, BaseException | None]) -> None:
        assert self._outcome is None
        self._outcome = outcome
        with contextlib.suppress(IndexError):
            while True:
                self._call(self._callbacks.popleft())

    def _call(self, callback: Callable[[Future[T]], object]) -> None:
        try:
            callback(self)
        except Exception:
            _log.exception("A callback of what was waited for failed. Nothing else is affected.")


def uninterrupted(call: Callable[[], T]) -> T:
    """The result of `call`, done on a thread of its own: an interrupt ends the waiting, never the call."""
    future: Future[T] = Future()
    work = functools.partial(contextvars.copy_context().run, call)
    threading.Thread(target=future.carry_out, args=(work,), daemon=True).start()
    return future.result()


STOP_SECONDS = 2.0
SETTLE_SECONDS = 5.0
CLOSED: Final = "This session is closed. reelbook.connect() makes a new one."


_running: weakref.WeakSet[EventThread] = weakref.WeakSet()


class EventThread:
    """A thread with an event loop. `submit` hands work over, `call` and `run` also wait, `close` ends it.

    Tasks in `settling` are awaited on the loop before running ones are cancelled, for at most SETTLE_SECONDS;
    those in `closing` before it ends. `at_exit`: the interpreter's end closes it, and nobody did before.
    """

    def __init__(self, name: str = "reelbook-session") -> None:
        # Made here and not by asyncio.run, so that a patched asyncio (nest-asyncio) doesn't matter.
        self.loop = timing.current().new_loop()
        self._tasks: set[asyncio.Task[Any]] = set()
        self.settling: list[Callable[[], Awaitable[None]]] = []
        self.closing: list[Callable[[], Awaitable[None]]] = []
        self.at_exit = False
        self._lock = threading.RLock()  # between handing over and the end, after which nothing runs
        self._ending = False
        self._stop_wanted = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        keep_out(self._thread)
        self._thread.start()
        _running.add(self)

    @property
    def closed(self) -> bool:
        """Whether it takes no more work."""
        if self._ending:
            self._ask_to_stop()  # Stop may have interrupted `close`: what counts as closed ends
        return self._ending or not self._thread.is_alive() or self.loop.is_closed()

    @property
    def is_current(self) -> bool:
        return threading.current_thread() is self._thread

    def now(self) -> float:
        """The loop's time in seconds; only differences mean anything."""
        return self.loop.time()

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Runs `coroutine` on the thread's loop and returns at once. Raises SessionClosed."""
        future: Future[T] = Future()
        try:
            self._hand_over(functools.partial(self._begin, coroutine, future))
        except SessionClosed:
            coroutine.close()
            raise
        return future

    def spawn(self, coroutine: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Starts a task on the thread's own thread; it is cancelled when the thread closes."""
        task = self.loop.create_task(coroutine)
        # From its creation on: a task that never began would leave a coroutine that was never awaited.
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Runs `coroutine` on the thread's loop and waits for it.

        Raises WouldDeadlock on its own thread, and SessionClosed also where the thread is closed meanwhile.
        """
        if self.is_current:
            coroutine.close()
            self.refuse_own_thread()
        future = self.submit(coroutine)
        try:
            return future.result()
        except CancelledError:
            raise SessionClosed(CLOSED) from None
        except BaseException:
            future.cancel()  # Stop ends a call that nobody waits for any more
            raise

    def run(self, step: Callable[[], T]) -> T:
        """Runs `step` on the thread and waits for its result. An interrupt ends only the waiting."""
        if self.is_current:
            return step()
        future: Future[T] = Future()
        try:
            self._hand_over(functools.partial(future.carry_out, step))
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def refuse_closed(self) -> None:
        if self.closed:
            raise SessionClosed(CLOSED)

    def refuse_own_thread(self) -> None:
        """Raises WouldDeadlock if this is the thread's own thread, where waiting would never end."""
        if self.is_current:
            raise WouldDeadlock(
                "This call waits, and was made on the session's own thread, which it would wait for. "
                "Make it from a cell or another thread, or await the job instead."
            )

    def close(self) -> None:
        """Cancels what runs, closes what was opened and ends the thread. Safe to call twice."""
        if self.loop.is_closed() or not self._thread.is_alive():
            return
        with self._lock:
            # First: work handed over from now on would wait for an answer that never comes.
            self._ending = True
            self._ask_to_stop()
        if not self.is_current:
            countdown = Countdown(STOP_SECONDS + (SETTLE_SECONDS if self.settling else 0.0))
            while self._thread.is_alive() and (pause := countdown.next_pause()):
                self._thread.join(pause)

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_until_complete(self._live())
        finally:
            self.loop.close()

    def _ask_to_stop(self) -> None:
        with contextlib.suppress(RuntimeError):  # it has ended
            self.loop.call_soon_threadsafe(self._stop_wanted.set)

    def _hand_over(self, begin: Callable[[], None]) -> None:
        """Calls `begin` on the loop, in the caller's context. Raises SessionClosed."""
        self.refuse_closed()
        with self._lock:
            if self._ending:
                raise SessionClosed(CLOSED)
            self.loop.call_soon_threadsafe(begin)

    def _begin(self, coroutine: Coroutine[Any, Any, T], future: Future[T]) -> None:
        task = self.spawn(coroutine)

        def settle(task: asyncio.Task[T]) -> None:
            if task.cancelled():
                future.set_exception(CancelledError())
            elif (error := task.exception()) is not None:
                future.set_exception(error)
            else:
                future.set_result(task.result())

        def end() -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended, and the task with it
                self.loop.call_soon_threadsafe(task.cancel)

        task.add_done_callback(settle)
        future._end = end
        if future._cancelled:
            task.cancel()

    async def _live(self) -> None:
        await self._stop_wanted.wait()
        await asyncio.sleep(0)  # work handed over a moment ago begins, so that it can be ended
        for settle in self.settling:
            with contextlib.suppress(TimeoutError):
                async with Deadline(SETTLE_SECONDS):
                    await settle()
        # Only our own: a library's tasks are ended by what started them.
        while tasks := tuple(self._tasks):
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        await self.loop.shutdown_asyncgens()
        for close in self.closing:
            await close()


async def until_done(future: Future[Any]) -> None:
    """Waits for a future of another thread without owning it: Stop ends the waiting, not the work."""
    loop = asyncio.get_running_loop()
    waiter = loop.create_future()

    def tell(_: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended, and nobody waits any more
            loop.call_soon_threadsafe(waiter.set_result, None)

    future.add_done_callback(tell)
    while not future.done():  # in slices: a kernel's loop that only waits for a thread notices no Stop
        await asyncio.wait({waiter}, timeout=SLICE_SECONDS)


def _close_all() -> None:
    for thread in [each for each in _running if not each.closed]:
        thread.at_exit = True
        thread.close()


# Closed at the interpreter's end while that can still be done: `concurrent.futures` refuses new work before
# `atexit`'s functions are called, which would break what is being fetched or written. Of `threading`'s own
# functions, which have no public name, the last one registered is called first.
getattr(threading, "_register_atexit", atexit.register)(_close_all)
