"""The session's thread and loop."""

import asyncio
import contextlib
import gc
import inspect
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import CancelledError, ThreadPoolExecutor
from types import FrameType
from typing import Any
from unittest.mock import Mock

import pytest

from reelbook.errors import SessionClosed
from reelbook.event_thread import EventThread, Future

CLOSE = EventThread.close.__code__


def test_a_task_that_was_never_begun_is_ended_too() -> None:
    """Closing in the very step that hands work over leaves no coroutine that was never awaited."""
    engine = EventThread()

    async def child() -> None:
        await asyncio.Event().wait()

    born: list[Coroutine[Any, Any, None]] = []

    async def parent() -> None:
        born.append(child())
        engine.spawn(born[0])

    def close_and_hand_over() -> None:
        engine.submit(parent())
        engine._stop_wanted.set()

    engine.loop.call_soon_threadsafe(close_and_hand_over)
    engine._thread.join(60)
    gc.collect()
    assert engine.closed
    assert [inspect.getcoroutinestate(coroutine) for coroutine in born] == [inspect.CORO_CLOSED]


def test_what_runs_is_cancelled_and_what_was_opened_is_closed() -> None:
    """Closing ends tasks first, then calls what was asked to be called. Whoever waits in another thread is
    told that the session was closed, and not of a cancelled future.
    """
    engine, began = EventThread(), threading.Event()
    order: list[str] = []

    async def work() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            order.append("cancelled")

    async def close() -> None:
        order.append("closed")

    engine.closing.append(close)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(lambda: engine.call(work()))
        assert began.wait(60)
        engine.close()
        with pytest.raises(SessionClosed, match="This session is closed"):
            waiting.result(60)
    assert order == ["cancelled", "closed"]


def test_what_is_asked_for_while_it_closes_is_refused_and_not_waited_for_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The loop ends before the answer could come."""
    engine = EventThread()
    closing, goes_on = threading.Event(), threading.Event()

    async def close() -> None:
        closing.set()
        await asyncio.to_thread(goes_on.wait, 10)

    hand_over = engine.loop.call_soon_threadsafe

    def slowly(*asked: Any) -> object:
        """`close` goes on when the loop has been closing for a while."""
        handle = hand_over(*asked)
        if threading.current_thread() is closer:
            goes_on.wait(60)
        return handle

    monkeypatch.setattr(engine.loop, "call_soon_threadsafe", slowly)
    engine.closing.append(close)
    closer = threading.Thread(target=engine.close)
    closer.start()
    assert closing.wait(60)
    assert engine.closed
    with pytest.raises(SessionClosed):
        engine.submit(asyncio.sleep(60))
    goes_on.set()
    closer.join(60)
    assert engine.loop.is_closed()


@pytest.mark.parametrize("line", sorted({at for *_, at in CLOSE.co_lines() if at} - {CLOSE.co_firstlineno}))
def test_what_counts_as_closed_ends(line: int) -> None:
    """Stop at any line of `close()`: the thread ends, or it is as open as before, also a moment later."""
    engine, goes_on = EventThread(), threading.Event()
    engine.loop.call_soon_threadsafe(goes_on.wait, 10)

    def stop(frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code is not CLOSE:
            return None
        if event == "line" and frame.f_lineno == line:
            raise KeyboardInterrupt
        return stop

    with contextlib.ExitStack() as undo, contextlib.suppress(KeyboardInterrupt):
        undo.callback(sys.settrace, sys.gettrace())
        sys.settrace(stop)
        engine.close()
    closed = engine.closed
    goes_on.set()
    if closed:
        engine._thread.join(60)
        assert not engine._thread.is_alive()
    else:
        engine.run(lambda: None)
        assert not engine.closed
    engine.close()
    assert engine.closed


def test_a_future_tells_everybody_once(caplog: pytest.LogCaptureFixture) -> None:
    """Who asks before its end, on the thread that settles it; who asks later, at once; an error is logged."""
    future, heard = Future[int](), list[object]()

    future.add_done_callback(Mock(side_effect=ZeroDivisionError("theirs")))
    future.add_done_callback(lambda _: heard.append(threading.current_thread().name))
    with pytest.raises(TimeoutError):
        future.result(0.01)
    settling = threading.Thread(target=future.carry_out, args=(lambda: 7,), name="settles")
    settling.start()
    assert future.result(60) == 7
    settling.join(60)
    future.add_done_callback(heard.append)
    assert heard == ["settles", future]
    assert "ZeroDivisionError: theirs" in caplog.text


def test_a_signal_that_is_handled_for_longer_than_the_timeout_ends_no_wait_and_prolongs_none() -> None:
    """As on a busy machine, where a handler that only counts Ctrl-C gets its turn late."""
    future: Future[None] = Future()
    before = signal.signal(signal.SIGALRM, lambda *_: time.sleep(0.3))  # longer than the slices of a wait
    rescue = threading.Timer(10, future.set_result, [None])
    rescue.start()
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        assert not future.wait(0.25)
    finally:
        signal.signal(signal.SIGALRM, before)
        rescue.cancel()


def test_a_cancelled_future_ends_its_work() -> None:
    """Before it has begun and after; what comes to something all the same is kept."""
    engine = EventThread()

    async def work(*, stubborn: bool) -> str:
        begun.set()
        try:
            await asyncio.Event().wait()  # no sleep: the clock jumps over it
        except asyncio.CancelledError:
            if not stubborn:
                raise
        return "kept"

    for stubborn in (False, True):
        begun = threading.Event()
        future = engine.submit(work(stubborn=stubborn))
        assert begun.wait(60)
        future.cancel()
        if stubborn:
            assert future.result(60) == "kept"
        else:
            with pytest.raises(CancelledError):
                future.result(60)

    def submit_and_cancel() -> Future[str]:
        future = engine.submit(work(stubborn=True))
        future.cancel()
        return future

    with pytest.raises(CancelledError):
        engine.run(submit_and_cancel).result(60)
    engine.close()


ENDS_AT_WORK = """
import asyncio, time
from reelbook.event_thread import EventThread

async def work(seconds):
    while True:
        await asyncio.to_thread(time.sleep, seconds)

thread = EventThread()
for number in range(8):
    thread.run(lambda: thread.spawn(work(0.02 * (number + 1))))
time.sleep(0.1)
"""


def test_the_interpreters_end_closes_it_while_it_can_still_work() -> None:
    """Executors refuse work before `atexit` is called: what was under way would break, with tracebacks."""
    ended = subprocess.run([sys.executable, "-c", ENDS_AT_WORK], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
