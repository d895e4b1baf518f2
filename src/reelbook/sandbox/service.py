"""The sandbox's state, put together: opened, kept going and closed as one thing."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path

from .. import wire
from .access import Access, ensure_access, new_api_key, write_access
from .accounts import Accounts, Key
from .clock import Clock
from .cluster import DaskPool, WhenDaskIsLost
from .faults import Faults
from .job_queue import JobQueue
from .jobs import BRISK, Job, Pace, checked_pace, planned_seconds
from .limits import Limits
from .payloads import Wanted
from .places import Places
from .render_pool import Renders, WorkerPool
from .store import Store

logger = logging.getLogger(__name__)

TICK_SECONDS = 0.5
MAX_IMAGE_BYTES = 10 * 1024 * 1024
IDLE_MINUTES = 15.0
RANDOM_SEEDS = 2**31
NOTEBOOK_KEY = "notebook"


@dataclass(frozen=True)
class Settings:
    """What the control plane may change while the sandbox runs."""

    pace: Pace = BRISK
    max_image_bytes: int = MAX_IMAGE_BYTES
    fail_next: str | None = None


class Service:
    """All state of one sandbox. `start`, `submit` and `close` belong to the server's loop.

    `pace` is how long jobs take, `rate_limit` (requests a minute) that of a new notebook key, `balance_usd`
    None keeps the balance, `idle_minutes` None never ends by itself. `dask` draws in place of the executor
    that `make_executor` makes; `when_dask_is_lost` says whether that one steps in, or jobs fail.
    """

    def __init__(
        self,
        home: Path,
        *,
        pace: Pace = BRISK,
        clock: Clock | None = None,
        make_executor: Callable[[], Executor] = WorkerPool,
        dask: DaskPool | None = None,
        when_dask_is_lost: WhenDaskIsLost = "draw-here",
        rate_limiting: bool = True,
        rate_limit: int = wire.DEFAULT_REQUESTS_PER_MINUTE,
        balance_usd: float | None = None,
        max_image_bytes: int = MAX_IMAGE_BYTES,
        idle_minutes: float | None = IDLE_MINUTES,
    ) -> None:
        self.settings = Settings(checked_pace(pace), max_image_bytes)
        self.instance = secrets.token_hex(8)
        self.clock = clock or Clock()
        self.limits = Limits()
        self.limits.lifted = not rate_limiting
        self.faults = Faults()
        self.places = Places.under(home)
        self.places.create()
        self.store = Store(self.places.database)
        self.accounts = Accounts(self.store, self.clock)
        self.access = self._access(rate_limit)
        if balance_usd is not None:
            self.accounts.set_balance(balance_usd)
        self.dask = dask
        self.when_dask_is_lost = when_dask_is_lost
        self.renders = Renders(make_executor)
        if dask is not None:
            self.renders = Renders(lambda: dask, self.renders if when_dask_is_lost == "draw-here" else None)
        self.jobs = JobQueue(self.store, self.clock, self.places, self.renders)
        self.end: Callable[[], None] = lambda: None
        self._idle_minutes = idle_minutes
        self._last_use = time.monotonic()
        self._ticking: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Go on with unfinished jobs and keep time from now on."""
        await asyncio.to_thread(self.jobs.tidy)
        self.jobs.resume()
        self._ticking = asyncio.create_task(self._tick())

    async def close(self) -> None:
        """End the workers and close the database. Jobs under way go on at the next start."""
        if self._ticking is not None:
            self._ticking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._ticking
        await self.jobs.close()
        await asyncio.to_thread(self.renders.close)
        if self.dask is not None:
            await asyncio.to_thread(self.dask.shutdown)
        self.accounts.save_uses()
        self.store.close()

    async def submit(self, wanted: Wanted) -> Job:
        """Accept a job. Raises accounts.BalanceTooLow."""
        request_id = f"req_{secrets.token_hex(12)}"
        failure = self.settings.fail_next
        self.settings = replace(self.settings, fail_next=None)
        job = Job(
            request_id=request_id,
            state=wire.PENDING,
            mode=wanted.mode,
            prompt=wanted.prompt,
            duration_seconds=wanted.duration_seconds,
            aspect_ratio=wanted.aspect_ratio,
            seed=secrets.randbelow(RANDOM_SEEDS) if wanted.seed == wire.RANDOM_SEED else wanted.seed,
            accepted_at=self.clock.now(),
            planned_seconds=planned_seconds(self.settings.pace, request_id),
            failure=failure,
        )
        try:
            await self.jobs.accept(job, wanted.image)
        except BaseException:
            self.settings = replace(self.settings, fail_next=self.settings.fail_next or failure)
            raise
        return job

    def key_of(self, authorization: str) -> Key | None:
        """The active key that an Authorization header names, None if it names none."""
        scheme, _, secret = authorization.partition(" ")
        return self.accounts.authenticate(secret.strip()) if scheme.lower() == "bearer" else None

    def note_use(self) -> None:
        """Somebody asked for something: the sandbox stays."""
        self._last_use = time.monotonic()

    @property
    def idle_seconds(self) -> float:
        """How long nobody asked for anything and no job was under way."""
        return time.monotonic() - self._last_use

    def _access(self, rate_limit: int) -> Access:
        access = ensure_access(self.places)
        known = self.accounts.knows(access.api_key)
        if known and self.accounts.authenticate(access.api_key.reveal()) is None:
            # Somebody revoked the notebook's own key; without a new one no session could come in again.
            access = replace(access, api_key=new_api_key())
            write_access(self.places, access)
        if not self.accounts.knows(access.api_key):
            self.accounts.register(access.api_key, NOTEBOOK_KEY, rate_limit)
        return access

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            try:
                await self.jobs.move_on()
                await asyncio.to_thread(self.accounts.save_uses)
            except Exception:
                logger.exception("moving jobs on failed; trying again")
            if self.jobs.under_way:
                self.note_use()
            if self._idle_minutes is not None and self.idle_seconds > self._idle_minutes * 60:
                logger.info("nobody used the sandbox for %g minutes", self._idle_minutes)
                self.end()
                return
