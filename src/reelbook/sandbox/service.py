"""The sandbox's whole state, and its answers to HTTP (app.py) and to tools (tool_server.py)."""

import asyncio
import contextlib
import logging
import secrets
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from .. import wire
from ..web.database import SqliteFile
from ..web.limits import Limits
from ..web.payloads import Wanted
from ..web.refusals import Refused
from .accounts import Accounts
from .clock import Clock
from .cluster import DaskPool
from .jobs import JobQueue, SandboxJob, outcome_in, planned_seconds, status_body
from .places import Access, Places, ensure_access, new_api_key, write_access
from .protocol import Pace, Settings
from .render_pool import Renders, WorkerPool
from .store import MIGRATIONS

logger = logging.getLogger(__name__)

VIDEOS: Final = "/videos/"
TICK_SECONDS = 0.5
IDLE_MINUTES = 15.0
RANDOM_SEEDS = 2**31
NOTEBOOK_KEY = "notebook"

Answered = Mapping[str, Any]


class SandboxService:
    """All state of one sandbox. `start`, `accept` and `close` belong to the server's loop.

    `pace` is how long jobs take, `rate_limit` (requests a minute) that of a new notebook key, `balance_usd`
    None keeps the balance, `idle_minutes` None never ends by itself. `dask` draws in place of the executor
    that `make_executor` makes, which steps in while the cluster is lost.
    """

    def __init__(
        self,
        home: Path,
        *,
        pace: Pace = Settings.pace,
        clock: Clock | None = None,
        make_executor: Callable[[], Executor] = WorkerPool,
        dask: DaskPool | None = None,
        rate_limiting: bool = True,
        rate_limit: int = wire.DEFAULT_REQUESTS_PER_MINUTE,
        balance_usd: float | None = None,
        idle_minutes: float | None = None,
    ) -> None:
        self.settings = Settings(rate_limiting, pace=pace)
        self.instance = secrets.token_hex(8)
        self.clock = clock or Clock()
        self.limits = Limits()
        self.places = Places(home)
        self.places.create()
        self.store = SqliteFile(self.places.database, MIGRATIONS)
        self.accounts = Accounts(self.store, self.clock)
        self.access = self._access(rate_limit)
        if balance_usd is not None:
            self.accounts.set_balance(balance_usd)
        self.dask = dask
        self.renders = Renders(make_executor)
        if dask is not None:
            self.renders = Renders(lambda: dask, substitute=self.renders)
        self.jobs = JobQueue(self.store, self.clock, self.places, self.renders)
        self.end: Callable[[], None] = lambda: None
        # By the video's name: how many of its links have expired, and the status of those that did.
        self._links: dict[str, tuple[int, int]] = {}
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

    async def accept(self, wanted: Wanted, key_id: str = "") -> Answered:
        """Accept a job of that key (interface, Endpoints: generate). Raises Refused if it can't be paid."""
        request_id = f"req_{secrets.token_hex(12)}"
        seconds, failure = outcome_in(wanted.request["prompt"])
        fail_next = self.settings.fail_next
        self.settings = replace(self.settings, fail_next=None)
        seed = wanted.request["seed"]
        if seed == wire.RANDOM_SEED:
            seed = secrets.randbelow(RANDOM_SEEDS)
        job = SandboxJob(
            request_id=request_id,
            state=wire.PENDING,
            mode=wanted.mode,
            request={**wanted.request, "seed": seed},
            accepted_at=self.clock.now(),
            planned_seconds=planned_seconds(self.settings.pace, request_id) if seconds is None else seconds,
            failure=fail_next or failure,
            key_id=key_id,
        )
        try:
            await self.jobs.accept(job, wanted.image)
        except Exception:
            self.settings = replace(self.settings, fail_next=self.settings.fail_next or fail_next)
            raise
        return {
            "request_id": request_id,
            "status": job.state,
            "estimated_cost_usd": wire.cost_usd(job.seconds),
            "estimated_duration_seconds": job.seconds,
        }

    async def status(self, request_id: str, base_url: str) -> Answered:
        """The job as it stands (interface, Endpoints: status), its clip below `base_url`. Raises Refused."""
        job = await self.jobs.find(request_id)
        if job is None:
            raise Refused(404, "No such request_id")
        url = None
        if job.video is not None:
            link, _ = self.link(job.video)
            url = f"{base_url}{VIDEOS}{job.video}" + (f"?link={link}" if link else "")
        return status_body(job, self.clock.now(), url)

    async def balance(self) -> Answered:
        await self.jobs.move_on()
        return self.accounts.balance()

    async def usage(self, days: int) -> Answered:
        await self.jobs.move_on()
        return self.accounts.usage(days, self.settings.usage_days)

    def link(self, video: str) -> tuple[int, int]:
        """The number of the one working link to `video` (0: no number), and the status of the others."""
        return self._links.get(video, (0, 404))

    def expire(self, video: str, status: int) -> None:
        """Answers the link to `video` that was given out last with `status` from now on."""
        self._links[video] = (self.link(video)[0] + 1, status)

    def note_use(self) -> None:
        """Notes that the sandbox was used, so that it doesn't end yet."""
        self._last_use = time.monotonic()

    @property
    def idle_seconds(self) -> float:
        """How long nobody has asked for anything and no job was under way."""
        return time.monotonic() - self._last_use

    def _access(self, rate_limit: int) -> Access:
        access = ensure_access(self.places)
        if self.accounts.authenticate(access.api_key.reveal()) is None:
            if self.accounts.knows(access.api_key):
                # Somebody revoked the notebook's own key; without a new one no session could come in again.
                access = replace(access, api_key=new_api_key())
                write_access(self.places, access)
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
            elif self._idle_minutes is not None and self.idle_seconds > self._idle_minutes * 60:
                logger.info("nobody used the sandbox for %g minutes", self._idle_minutes)
                self.end()
                return
