"""The session's thread and loop."""

from __future__ import annotations

import asyncio
import gc
import inspect

from reelbook.session.engine import Engine


def test_a_task_that_was_never_begun_is_ended_too() -> None:
    """Closing in the very step that starts a task leaves no coroutine that was never awaited."""
    engine = Engine()

    async def child() -> None:
        await asyncio.sleep(60)

    born = child()

    async def parent() -> None:
        engine.spawn(born)
        engine.loop.stop()

    engine.submit(parent())
    engine._thread.join(5)
    gc.collect()
    assert engine.closed
    assert inspect.getcoroutinestate(born) == inspect.CORO_CLOSED


def test_what_runs_is_cancelled_and_what_was_opened_is_closed() -> None:
    """Closing ends tasks first, then calls what was asked to be called."""
    engine = Engine()
    order: list[str] = []
    began = asyncio.Event()

    async def work() -> None:
        began.set()
        try:
            await asyncio.sleep(60)
        finally:
            order.append("cancelled")

    async def close() -> None:
        order.append("closed")

    engine.on_close(close)
    engine.submit(work())
    engine.call(began.wait())
    engine.close()
    assert order == ["cancelled", "closed"]
