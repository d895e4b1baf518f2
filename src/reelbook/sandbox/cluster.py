"""Clips drawn by a Dask cluster, whose scheduler may go away and come back.

Dask's own client tries to reach a lost scheduler for as long as `distributed.comm.timeouts.connect` says (30
s), forgets what it had asked for, and closes itself without telling those who wait. Here they are told at
once, and the scheduler is looked for until it is back. A cluster without workers for 30 s counts as lost.
"""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from ..errors import SandboxError
from .render_pool import ClusterLost, WorkerKilled

logger = logging.getLogger(__name__)

LOOK_SECONDS = 0.2
# How long to wait for new workers, or for those that replace killed ones.
WORKERS_AWAITED_SECONDS = 30.0

Connection = Literal["connected", "without workers", "lost"]
_NEWS: Final[dict[Connection, str]] = {
    "connected": "the Dask cluster of %s is back",
    "without workers": "the Dask cluster of %s has no workers; clips no longer wait for them",
    "lost": "the Dask scheduler at %s is lost; looking for it now and then",
}


@dataclass(frozen=True)
class ClusterState:
    """The cluster as last seen; "without workers" means for half a minute at least."""

    address: str
    connection: Connection
    workers: int


class DaskPool(Executor):
    """Draws on the workers of the Dask scheduler at `address` (`tcp://…`).

    Reelbook must be installed where the scheduler and the workers run. What is submitted fails with
    WorkerKilled if Dask gave up on it because its workers died, and with ClusterLost while the cluster is
    lost; the pool goes on looking for it. Raises SandboxError without Dask or a scheduler at that address.
    """

    def __init__(self, address: str) -> None:
        try:
            import distributed
        except ImportError:
            raise SandboxError(
                "Rendering on a Dask cluster needs Dask here too. Nothing was started. "
                "Run: pip install 'dask[distributed]'"
            ) from None
        self._distributed = distributed
        self.state = ClusterState(address, "connected", 0)
        self._empty_since: float | None = None  # the loop's time
        self.at_once = 2
        self._asked_for: set[Any] = set()  # Dask's futures
        started: Future[None] = Future()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._run(started)), name="reelbook-dask", daemon=True
        )
        self._thread.start()
        started.result()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(self._result(fn, args, kwargs), self._loop)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster; what it still draws for this pool is dropped. Always waits."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()

    async def _run(self, started: Future[None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._end = asyncio.Event()
        address = self.state.address
        try:
            self._client = await self._connect()
        except Exception as exc:
            started.set_exception(
                SandboxError(f"The Dask scheduler at {address} can't be reached: {exc}. Nothing was started.")
            )
            return
        started.set_result(None)
        watching = asyncio.create_task(self._watch())
        await self._end.wait()
        watching.cancel()
        await asyncio.wait([watching])
        with contextlib.suppress(TimeoutError):  # it says goodbye to a scheduler that may be gone
            await self._client.close()

    async def _connect(self) -> Any:
        client = self._distributed.Client(self.state.address, asynchronous=True, set_as_default=False)
        try:
            return await client
        except BaseException:
            await client.close()
            raise

    async def _watch(self) -> None:
        """Keeps `state` true. Dask's client reconnects until it closes; then another one is made."""
        while True:
            if self._client.status != "running":
                await self._note("lost", 0)
            if self._client.status == "closed":
                try:
                    self._client = await self._connect()
                except Exception as exc:
                    logger.debug("the Dask scheduler can't be reached: %s", exc)
            if self._client.status == "running":
                info, now = self._client.scheduler_info(n_workers=0), self._loop.time()
                workers = info.get("n_workers", 0)
                self.at_once = max(1, info.get("total_threads", workers)) + 1
                self._empty_since = None if workers else self._empty_since or now
                given_up = now - (self._empty_since or now) >= WORKERS_AWAITED_SECONDS
                await self._note("without workers" if given_up else "connected", workers)
            await asyncio.sleep(LOOK_SECONDS)

    async def _note(self, connection: Connection, workers: int) -> None:
        before = self.state
        self.state = replace(before, connection=connection, workers=workers)
        if connection != before.connection:
            logger.warning(_NEWS[connection], before.address)
        if connection == "without workers":
            for future in tuple(self._asked_for):
                await future.cancel()

    async def _result(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self.state.connection == "connected" and self._client.status == "running":
            # Not "pure": a second attempt must not get the first one's result.
            future = self._client.submit(fn, *args, pure=False, **kwargs)
            self._asked_for.add(future)
            try:
                return await future
            except self._distributed.KilledWorker as exc:
                raise WorkerKilled(str(exc)) from None
            except (CancelledError, OSError):
                if future.status == "error":
                    raise  # the drawing's own error
            finally:
                self._asked_for.discard(future)
        raise ClusterLost("the Dask cluster is lost")
