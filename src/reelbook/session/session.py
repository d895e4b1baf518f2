"""`Session`: what a person at a notebook talks to. The work is done on a thread of its own."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import quote, urlsplit

from .. import wire
from ..client import AsyncClient, checks
from ..errors import ReelbookError, SubmissionUncertain
from ..ledger import Entry, Spend
from ..models import ApiKey, Balance, CreatedKey, Revoked, Usage
from ..secret import Secret
from .books import Books, clip_of, request_of
from .clip import Clip
from .engine import Engine
from .job import UNCERTAIN, Job, JobRequest, Known
from .runner import Runner

if TYPE_CHECKING:
    from ..media.images import ImageSource, PreparedImage
    from ..sandbox.handle import Sandbox

SPARED_REQUESTS = 3
SCARCE_PAUSE_SECONDS = 20.0
PAUSE_SECONDS = 0.5

T = TypeVar("T")
Service = Literal["sandbox", "live"]


@dataclass(frozen=True)
class Facts:
    """What is known without asking: the balance in USD as last heard, and the key's request budget."""

    balance_usd: float | None
    requests_left: int
    requests_limit: int
    requests_back_in_seconds: float | None


class Keys:
    """The account's API keys (interface, "API key"). All calls wait for the answer."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def list(self) -> tuple[ApiKey, ...]:
        """All keys, without the keys themselves."""
        return self._session._call(lambda client: client.list_keys())

    def create(self, name: str, *, rate_limit: int = wire.DEFAULT_REQUESTS_PER_MINUTE) -> CreatedKey:
        """Makes a key of 1 to 100 requests a minute; `result.api_key.reveal()` shows it, this once."""
        return self._session._call(lambda client: client.create_key(name, rate_limit=rate_limit))

    def revoke(self, key_id: str) -> Revoked:
        """Revokes a key at once and for good."""
        return self._session._call(lambda client: client.revoke_key(key_id))


class Session:
    """A connection to the service, made by `reelbook.connect()`.

    Submitting returns a `Job` at once and never blocks a cell. `service` says whether this is the local
    sandbox or a live service; `sandbox` is the sandbox with its controls, None on a live service.
    """

    def __init__(
        self,
        key: Secret,
        base_url: str,
        *,
        service: Service,
        home: Path,
        sandbox: Sandbox | None = None,
        max_spend_usd: float | None = None,
    ) -> None:
        self.service = service
        self.sandbox = sandbox
        self.home = home
        self.keys = Keys(self)
        self._engine = Engine()
        self._client = AsyncClient(key, base_url)
        self._engine.on_close(self._client.aclose)
        # The home's own sandbox changes its address, and is the same service all the same.
        name = "sandbox" if sandbox else base_url
        self._books = Books(home, name, key, max_spend_usd=max_spend_usd)
        self._engine.on_close(self._close_books)
        clips = home / "clips" / quote(service if sandbox else urlsplit(base_url).netloc, safe="")
        self._runner = Runner(
            self._client,
            clips,
            sandbox=service == "sandbox",
            books=self._books,
            spawn=self._engine.spawn,
            reach=self._reach,
            money_moved=self._ask_balance_soon,
        )
        self._jobs: list[Job] = []
        self._listeners: list[Callable[[Job | None], None]] = []
        self._balance_usd: float | None = None
        self._asking: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        return f"<Session {self.service} {self.base_url}{' closed' if self.closed else ''}>"

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def base_url(self) -> str:
        """The service's address."""
        return self._client.base_url

    @property
    def closed(self) -> bool:
        """Whether `close()` was called."""
        return self._engine.closed

    def text_to_video(
        self,
        prompt: str,
        *,
        duration_seconds: int = wire.DEFAULT_SECONDS,
        aspect_ratio: str = wire.DEFAULT_ASPECT_RATIO,
        seed: int = wire.RANDOM_SEED,
        again: bool = False,
        once: str | None = None,
    ) -> Job:
        """Submits a clip made from text and returns its Job at once (POST generate/text-to-video).

        Costs 0.05 USD a second. `duration_seconds` is 1 to 10, `aspect_ratio` 16:9, 9:16 or 1:1; a fixed
        `seed` gives reproducible results, -1 a random one. What the service says to it is in the job.

        A cell that is run again unchanged gets the job of its earlier run back and pays nothing; `again=True`
        buys a new clip. Within one run, and in scripts, nothing is merged, unless an equal submission
        carried the same label in `once`.

        Raises InvalidInput and SpendLimitReached before anything is sent.
        """
        request = JobRequest(
            mode="text-to-video",
            prompt=checks.prompt(prompt),
            duration_seconds=checks.duration_seconds(duration_seconds),
            aspect_ratio=checks.aspect_ratio(aspect_ratio),
            seed=checks.seed(seed),
        )
        return self._submit(request, again=again, once=once)

    def image_to_video(
        self,
        image: ImageSource | PreparedImage,
        prompt: str,
        *,
        duration_seconds: int = wire.DEFAULT_SECONDS,
        again: bool = False,
        once: str | None = None,
    ) -> Job:
        """Submits a clip that moves a still image, returns its Job (POST generate/image-to-video).

        `image` is a path, bytes, a file object, a PIL image or a numpy array. Costs 0.05 USD a second.
        `again` and `once` are as in `text_to_video`. Raises InvalidImage, other InvalidInput and
        SpendLimitReached before anything is sent.
        """
        request = JobRequest(
            mode="image-to-video",
            prompt=checks.prompt(prompt),
            duration_seconds=checks.duration_seconds(duration_seconds),
            image=self._client.prepare_image(image),
        )
        return self._submit(request, again=again, once=once)

    def job(self, request_id: str) -> Job:
        """Takes up a job by its id, such as one that another kernel submitted, and watches it."""
        request_id = checks.identifier(request_id, "request_id")
        for job in self._jobs:
            if job.request_id == request_id:
                return job
        self._engine.refuse_closed()
        entry = self._books.known(request_id)
        if entry is not None:
            return self._taken_up(entry)
        return self._start(None, self._known(request_id=request_id, state=wire.PENDING))

    def resume(self) -> tuple[Job, ...]:
        """Takes up every unfinished job that a kernel left behind, and returns them.

        Jobs that another living kernel watches are left to it. What was sent and never answered is not
        among them: it is kept as uncertain.
        """
        return tuple(self._taken_up(entry) for entry in self._books.left_over())

    def spend(self) -> Spend:
        """What this key's clips cost so far by the ledger: spent, reserved and uncertain, in USD."""
        return self._books.spend()

    def jobs(self) -> tuple[Job, ...]:
        """The jobs of this session, oldest first."""
        return tuple(self._jobs)

    def balance(self) -> Balance:
        """Asks for the balance in USD and waits (GET billing/balance)."""

        async def ask(client: AsyncClient) -> Balance:
            balance = await client.balance()
            self._heard_balance(balance.balance_usd)
            return balance

        return self._call(ask)

    def usage(self, days: int = 30) -> Usage:
        """Asks what was used in the last `days` days and waits (GET billing/usage)."""
        return self._call(lambda client: client.usage(days))

    @property
    def facts(self) -> Facts:
        """Balance and request budget as known now, without a request."""
        budget = self._client.budget(self.clock())
        return Facts(self._balance_usd, budget.left, budget.limit, budget.back_in_seconds)

    def refresh_balance(self) -> concurrent.futures.Future[None]:
        """Asks for the balance without waiting; `facts` change when it is there."""
        return self._engine.submit(self._ask_balance())

    def subscribe(self, callback: Callable[[Job | None], None]) -> Callable[[], None]:
        """`callback` is called on the session's thread with a job that changed, or None when `facts` did.

        Returns what ends that. The callback must not wait for the session.
        """
        self._listeners.append(callback)
        return lambda: self._listeners.remove(callback) if callback in self._listeners else None

    def close(self) -> None:
        """Ends the session's thread and connections. Jobs go on at the service; the sandbox stays."""
        self._engine.close()

    def clock(self) -> float:
        """The session's time in seconds; only differences mean anything."""
        return self._engine.loop.time()

    def refuse_own_thread(self) -> None:
        """Raises WouldDeadlock on the session's own thread."""
        self._engine.refuse_own_thread()

    def stop_watching(self, job: Job) -> None:
        """See `Job.stop_watching`."""
        self._engine.loop.call_soon_threadsafe(self._runner.stop_watching, job)

    def watch(self, job: Job) -> None:
        """See `Job.watch`."""
        if job.clip is None and job.request_id is not None:
            job._unsettle()
            self._engine.loop.call_soon_threadsafe(self._take_up, job)

    def cancel(self, job: Job) -> bool:
        """See `Job.cancel`."""

        async def cancel() -> bool:
            return self._runner.cancel(job)

        return self._engine.call(cancel())

    def _submit(self, request: JobRequest, *, again: bool, once: str | None) -> Job:
        self._engine.refuse_closed()
        intended = self._books.intend(request, again=again, once=once)
        if not intended.new:
            job = self._taken_up(intended.entry)
            job.from_earlier_run = True
            return job
        known = self._known(
            estimated_cost_usd=request.estimated_cost_usd, balance_before_usd=self._balance_usd
        )
        return self._start(request, known, intended.entry.id)

    def _taken_up(self, entry: Entry) -> Job:
        """The job of a ledger's entry: this session's own, or one made from what was written down."""
        for job in self._jobs:
            if job.entry_id == entry.id:
                return job
        request = request_of(entry)
        known = self._known(
            state=wire.PENDING,
            request_id=entry.request_id,
            estimated_cost_usd=entry.estimated_cost_usd,
        )
        if entry.request_id is None:
            # Nothing to ask about, and nothing that may be sent: it has no id and may have been bought.
            error = SubmissionUncertain(
                entry.error or "Another kernel is sending this; it has no id yet.",
                estimated_cost_usd=entry.estimated_cost_usd,
            )
            return self._ended(request, replace(known, state=UNCERTAIN, error=error), entry, error=error)
        clip = clip_of(entry, request, sandbox=self.service == "sandbox")
        if clip is not None:
            ended = replace(known, state=wire.COMPLETED, clip=clip, progress=1.0, cost_usd=entry.cost_usd)
            return self._ended(request, ended, entry, clip=clip)
        return self._start(request, known, entry.id)

    def _ended(
        self,
        request: JobRequest,
        known: Known,
        entry: Entry,
        *,
        clip: Clip | None = None,
        error: SubmissionUncertain | None = None,
    ) -> Job:
        """A job that is over: nothing is asked and nothing is sent for it."""
        known = replace(known, watched=False, ended_at=known.began_at + (entry.took_seconds or 0.0))
        job = Job(self, len(self._jobs) + 1, request, known, tell=self._tell, entry_id=entry.id)
        job._settle(clip, error)
        self._jobs.append(job)
        return job

    def _known(self, **known: Any) -> Known:
        return Known(began_at=self.clock(), **known)

    def _start(self, request: JobRequest | None, known: Known, entry_id: int | None = None) -> Job:
        job = Job(self, len(self._jobs) + 1, request, known, tell=self._tell, entry_id=entry_id)

        async def start() -> None:
            self._runner.start(job)
            self._tell(job)

        self._engine.submit(start())
        self._jobs.append(job)
        return job

    async def _close_books(self) -> None:
        self._books.close()

    def _take_up(self, job: Job) -> None:
        job._learn(watched=True, error=None)
        self._runner.start(job)

    def _call(self, ask: Callable[[AsyncClient], Awaitable[T]]) -> T:
        async def call() -> T:
            await self._reach()
            try:
                return await ask(self._client)
            finally:
                self._tell(None)

        return self._engine.call(call())

    def _tell(self, changed: Job | None) -> None:
        for listener in tuple(self._listeners):
            listener(changed)

    def _ask_balance_soon(self) -> None:
        seen = self._listeners or any(job.has_listeners for job in self._jobs)
        if seen and (self._asking is None or self._asking.done()):
            # A figure beside the work: the work needs the last requests more.
            scarce = self.facts.requests_left < SPARED_REQUESTS
            pause = SCARCE_PAUSE_SECONDS if scarce else PAUSE_SECONDS
            self._asking = self._engine.spawn(self._ask_balance(pause))

    async def _ask_balance(self, pause_seconds: float = 0.0) -> None:
        await asyncio.sleep(pause_seconds)
        try:
            await self._reach()
            self._heard_balance((await self._client.balance(background=True)).balance_usd)
        except ReelbookError:
            return  # the next change of money asks again
        finally:
            self._tell(None)

    def _heard_balance(self, balance_usd: float) -> None:
        self._balance_usd = balance_usd
        for job in self._jobs:
            if job._known.ended_at is not None and job._known.balance_after_usd is None:
                job._learn(balance_after_usd=balance_usd)

    async def _reach(self) -> None:
        """Starts the sandbox again if it ended by itself meanwhile; a live service is left alone."""
        if self.sandbox is None:
            return
        parts = urlsplit(self.base_url)
        try:
            _, writer = await asyncio.open_connection(parts.hostname, parts.port)
            writer.close()
        except OSError:
            from ..sandbox import server

            self.sandbox = await asyncio.to_thread(server.ensure, self.home)
            self._client.moved_to(self.sandbox.url)
