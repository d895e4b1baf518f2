"""Where clips are drawn, and what happens when a worker dies."""

import asyncio
import os
import time
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from typing import Any

import psutil
import pytest

from reelbook.sandbox.render import Rendered, Spec
from reelbook.sandbox.render_pool import NICENESS, Renders, WorkerPool

pytestmark = [pytest.mark.browser]


class FragileExecutor(Executor):
    """Breaks, with all that it draws, where the prompt "poison" is among it."""

    def __init__(self) -> None:
        self.drawing: dict[Future[Any], str] = {}
        self.broken = False

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """A clip, unless the executor breaks first."""
        if self.broken:
            raise BrokenExecutor("broken")
        future: Future[Any] = Future()
        self.drawing[future] = args[0].prompt
        asyncio.get_running_loop().call_soon(self._end)
        return future

    def _end(self) -> None:
        self.broken |= "poison" in self.drawing.values()
        for future in self.drawing:
            if self.broken:
                future.set_exception(BrokenExecutor("broken"))
            else:
                future.set_result(Rendered(b"clip", 1.0))
        self.drawing.clear()


@pytest.mark.anyio
async def test_a_clip_that_kills_its_worker_fails_alone() -> None:
    """All that was drawn beside it is drawn once more, and succeeds."""
    made: list[FragileExecutor] = []

    def make() -> Executor:
        made.append(FragileExecutor())
        return made[-1]

    renders = Renders(make)
    prompts = ["fox", "poison", "owl", "bear"]
    outcomes = await asyncio.gather(
        *(renders.draw(Spec(prompt, 1, "16:9", 7)) for prompt in prompts), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [Rendered, BrokenExecutor, Rendered, Rendered]
    assert len(made) == 3
    assert await renders.draw(Spec("late", 1, "16:9", 7)) == Rendered(b"clip", 1.0)


def test_workers_let_everything_else_go_first_and_end_in_the_middle_of_what_they_do() -> None:
    """At a lower priority (19 is the lowest); a shutdown waits for no drawing, and leaves no process."""
    pool = WorkerPool(1)
    worker = psutil.Process(pool.submit(os.getpid).result(timeout=20))
    assert worker.nice() == min(19, os.nice(0) + NICENESS)
    endless = pool.submit(time.sleep, 600)
    begun = time.monotonic()
    pool.shutdown()
    assert time.monotonic() - begun < 60
    assert not worker.is_running()
    with pytest.raises((BrokenExecutor, CancelledError)):  # by how far the worker had come
        endless.result(timeout=60)


@pytest.mark.anyio
async def test_a_killed_worker_is_replaced() -> None:
    """The pool that lost one is thrown away, and the clip drawn by a new one."""
    pools: list[WorkerPool] = []

    def make() -> Executor:
        pools.append(WorkerPool(1))
        return pools[-1]

    renders = Renders(make)
    spec = Spec("a red fox", 1, "1:1", 7)
    await renders.draw(spec)
    psutil.Process(pools[0].submit(os.getpid).result(timeout=20)).kill()
    try:
        assert (await renders.draw(spec)).seconds == 1.0
        assert len(pools) == 2
    finally:
        renders.close()
