"""Where clips are drawn: worker processes of the sandbox's own, or whatever executor it is given.

Knows nothing of jobs. A worker ends when the server does, even by SIGKILL; a pool that broke is replaced.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor
from multiprocessing.connection import Connection, wait

from .render import Rendered, Spec, render

# Drawing takes whole cores; the server's answers and the person's notebook go first.
NICENESS = 10
USUALLY_AT_ONCE = 4  # for an executor that doesn't say


class WorkerKilled(BrokenExecutor):
    """The workers that drew a clip died. The executor and whatever else it draws are fine."""


class ClusterLost(Exception):
    """The executor can't reach its workers, and may find them again. No clip is at fault."""


class Renders:
    """Draws clips on one executor, made at the first; while it has lost its cluster, `substitute` draws."""

    def __init__(self, make_executor: Callable[[], Executor], substitute: Renders | None = None) -> None:
        self._make_executor = make_executor
        self._substitute = substitute
        self._executor: Executor | None = None
        self._second_attempt = asyncio.Lock()

    @property
    def at_once(self) -> int:
        """How many clips keep its workers busy. Those that it has been given can't be reordered."""
        return int(getattr(self._ready(), "at_once", USUALLY_AT_ONCE))

    async def draw(self, spec: Spec) -> Rendered:
        """Draw `spec`, once more if a worker dies; raises BrokenExecutor if one dies again."""
        try:
            try:
                return await self._attempt(spec)
            except BrokenExecutor:
                # A worker's death ends all that was being drawn. One after the other, so that the clip which
                # kills its worker fails alone.
                async with self._second_attempt:
                    return await self._attempt(spec)
        except ClusterLost:
            if self._substitute is None:
                raise
        return await self._substitute.draw(spec)

    def close(self) -> None:
        """End the workers; what they were drawing is lost, and drawn again after the next start."""
        if self._executor is not None:
            self._executor.shutdown(wait=False)
        if self._substitute is not None:
            self._substitute.close()

    def _ready(self) -> Executor:
        if self._executor is None:
            self._executor = self._make_executor()
        return self._executor

    async def _attempt(self, spec: Spec) -> Rendered:
        executor = self._ready()
        try:
            return await asyncio.wrap_future(executor.submit(render, spec))
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # Nobody here gave this clip up, so the executor did. Its job must learn of it.
            raise BrokenExecutor("the executor dropped a clip") from None
        except WorkerKilled:
            raise
        except BrokenExecutor:
            if self._executor is executor:
                self._executor = None
                executor.shutdown(wait=False)
            raise


class WorkerPool(ProcessPoolExecutor):
    """`workers` processes (one a core), started as needed. They ignore Ctrl-C and end with the server."""

    def __init__(self, workers: int | None = None) -> None:
        spawn = multiprocessing.get_context("spawn")
        # Nothing is ever sent: a worker learns of the end by the pipe's closing.
        lifeline, self._ours = spawn.Pipe(duplex=False)
        self.at_once = workers or os.cpu_count() or 1
        super().__init__(self.at_once, spawn, _begin_worker, (lifeline,))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the workers in the middle of what they do. Always waits: it takes them milliseconds."""
        self._ours.close()
        super().shutdown(wait=True, cancel_futures=True)


def _begin_worker(lifeline: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is meant for the server
    if hasattr(os, "nice"):  # not on Windows
        os.nice(NICENESS)
    threading.Thread(target=_end_with_server, args=(lifeline,), daemon=True).start()
    import av  # noqa: F401  # loaded now, so that the first clip needn't wait for it
    import numpy  # noqa: F401  # the same
    import PIL.Image  # noqa: F401  # the same


def _end_with_server(lifeline: Connection) -> None:
    parent = multiprocessing.parent_process()
    wait([lifeline] if parent is None else [lifeline, parent.sentinel])
    os._exit(0)
