"""`Session`: what a person at a notebook talks to. The work is done on a thread of its own."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar
from urllib.parse import quote, urlsplit

from .. import wire
from ..client import AsyncClient, checks
from ..ledger import Spend
from ..models import Balance, Usage
from ..secret import Secret
from .books import Books
from .engine import Engine
from .experiment import Experiment
from .job import Job, JobRequest
from .jobs import Jobs
from .keys import Keys
from .money import Money
from .runner import Runner

if TYPE_CHECKING:
    from ..media.images import ImageSource, PreparedImage
    from ..sandbox.handle import Sandbox

T = TypeVar("T")
Service = Literal["sandbox", "live"]


@dataclass(frozen=True)
class Facts:
    """What is known without asking: the balance in USD as last heard, and the key's request budget."""

    balance_usd: float | None
    requests_left: int
    requests_limit: int
    requests_back_in_seconds: float | None


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
        self.keys = Keys(self._call)
        self._engine = Engine()
        self._client = AsyncClient(key, base_url)
        self._engine.on_close(self._client.aclose)
        # The home's own sandbox changes its address, and is the same service all the same.
        name = "sandbox" if sandbox else base_url
        self._books = Books(home, name, key, max_spend_usd=max_spend_usd)
        self._engine.on_close(self._close_books)
        clips = home / "clips" / quote(service if sandbox else urlsplit(base_url).netloc, safe="")
        self._jobs = Jobs(self, self._books)
        self._listeners: list[Callable[[Job | None], None]] = []
        self._money = Money(
            self._client,
            self._books,
            jobs=self._jobs,
            reach=self._reach,
            spawn=self._engine.spawn,
            tell=lambda: self.tell(None),
            listened_to=lambda: bool(self._listeners) or any(job.has_listeners for job in self._jobs),
        )
        self._runner = Runner(
            self._client,
            clips,
            sandbox=service == "sandbox",
            books=self._books,
            spawn=self._engine.spawn,
            reach=self._reach,
            money_moved=self._money.moved,
        )

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
        self._engine.refuse_closed()
        return self._jobs.take_up(request_id)

    def jobs(
        self,
        *,
        text: str | None = None,
        since: datetime | float | None = None,
        until: datetime | float | None = None,
        state: str | Collection[str] | None = None,
        min_cost_usd: float | None = None,
        max_cost_usd: float | None = None,
        experiment: str | None = None,
        limit: int = 50,
    ) -> tuple[Job, ...]:
        """The account's jobs, newest first, those of earlier kernels included.

        Every word of `text` must begin a word of the prompt. `since` and `until` (not included) are times of
        the submission: datetimes, or epoch seconds. `state` is one word of `JobView`, or several; the cost is
        the final one in USD, the estimate until it is known. To find a job isn't to watch it: `job.watch()`,
        or waiting for it, takes it up.
        """
        self._engine.refuse_closed()
        return tuple(
            self._jobs.find(
                text=text,
                since=_epoch(since),
                until=_epoch(until),
                state=state,
                min_cost_usd=min_cost_usd,
                max_cost_usd=max_cost_usd,
                experiment=experiment,
                limit=limit,
            )
        )

    @property
    def running(self) -> tuple[Job, ...]:
        """The jobs that this session submits, watches or fetches now, oldest first."""
        return tuple(job for job in self._jobs if job.running)

    def experiment(self, name: str) -> Experiment:
        """Groups what is submitted within `with session.experiment(name):`. Raises InvalidInput."""
        return Experiment(self, name)

    def resume(self) -> tuple[Job, ...]:
        """Takes up every unfinished job that a kernel left behind, and returns them.

        Jobs that another living kernel watches are left to it. What was sent and never answered is not
        among them: it is kept as uncertain.
        """
        self._engine.refuse_closed()
        return tuple(self._jobs.resume())

    def spend(self) -> Spend:
        """What this key's clips cost so far by the ledger: spent, reserved and uncertain, in USD."""
        return self._books.spend()

    def balance(self) -> Balance:
        """Asks for the balance in USD and waits (GET billing/balance)."""
        balance: Balance = self._call(lambda _: self._money.balance())
        return balance

    def usage(self, days: int = 30) -> Usage:
        """Asks what was used in the last `days` days and waits (GET billing/usage)."""
        usage: Usage = self._call(lambda _: self._money.usage(days))
        return usage

    @property
    def facts(self) -> Facts:
        """Balance and request budget as known now, without a request."""
        budget = self._client.budget(self.clock())
        return Facts(self._money.balance_usd, budget.left, budget.limit, budget.back_in_seconds)

    def refresh_balance(self) -> concurrent.futures.Future[None]:
        """Asks for the balance without waiting; `facts` change when it is there."""
        return self._engine.submit(self._money.refresh())

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
        self._engine.refuse_closed()
        self._jobs.watch(job)

    def cancel(self, job: Job) -> bool:
        """See `Job.cancel`."""

        async def cancel() -> bool:
            return self._runner.cancel(job)

        return self._engine.call(cancel())

    def carry(self, job: Job) -> None:
        """Submits a job, or goes on with its watch or its download."""

        async def carry() -> None:
            self._runner.start(job)
            self.tell(job)

        self._engine.submit(carry())

    def tell(self, changed: Job | None) -> None:
        """Tells those who subscribed."""
        for listener in tuple(self._listeners):
            listener(changed)

    def _submit(self, request: JobRequest, *, again: bool, once: str | None) -> Job:
        self._engine.refuse_closed()
        (job,) = self._jobs.submit([request], balance_usd=self._money.balance_usd, again=again, once=once)
        return job

    async def _close_books(self) -> None:
        self._books.close()

    def _call(self, ask: Callable[[AsyncClient], Awaitable[T]]) -> T:
        async def call() -> T:
            await self._reach()
            try:
                return await ask(self._client)
            finally:
                self.tell(None)

        return self._engine.call(call())

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


def _epoch(moment: datetime | float | None) -> float | None:
    return moment.timestamp() if isinstance(moment, datetime) else moment
