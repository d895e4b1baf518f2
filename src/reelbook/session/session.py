"""`Session`: what a person at a notebook talks to. The work is done on a thread of its own."""

from __future__ import annotations

import concurrent.futures
import contextlib
import functools
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar, Unpack
from urllib.parse import urlsplit

from .. import validation, wire
from ..errors import InvalidInput
from ..event_thread import Engine
from ..executions import follow
from ..formatting import file_name
from ..ledger import Spend
from ..ledger.records import named_states, refuse_strange
from ..ledger.search import Filter
from ..listeners import tell_all
from ..requests import (
    BatchItem,
    BatchOptions,
    JobRequest,
    checked,
    merged,
)
from ..secret import Secret, veiled
from ..suggestions import Meant, by_name
from .batch import Batch, Clips
from .books import Books
from .connection import Connection
from .experiment import Experiment
from .facts import Facts
from .job import Job, Marks
from .job_lifecycle import Runner
from .job_registry import Jobs
from .keys import Keys
from .money import Money
from .receipt import Receipt, receipt_of
from .reconcile import Reconciler
from .rotation import Rotation, rotate
from .spending import Spending, nearing
from .tools import SessionTools
from .usage_history import UsageHistory
from .warning import caller, say_unsent

if TYPE_CHECKING:
    from ..client import AsyncClient
    from ..event_thread import Engine
    from ..media.images import ImageSource, PreparedImage
    from ..models import Balance, Usage
    from ..sandbox.handle import Sandbox
    from .books import Books
    from .clip import Clip
    from .connection import Connection
    from .job import Job
    from .job_registry import Jobs
    from .money import Money
    from .reconcile import Reconciler, Reconciliation

Service = Literal["sandbox", "live"]


class Session(SessionTools, Meant):
    """A connection to the service, made by `reelbook.connect()`.

    Submitting returns a `Job` at once and never blocks a cell. `service` says whether this is the local
    sandbox or a live service.
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
        follow()
        self.service = service
        self.home = home
        self.keys = Keys(self._call, key)
        self._engine = Engine()
        # The home's own sandbox changes its address, and is the same service all the same.
        name = "sandbox" if sandbox else base_url
        self._books = Books(home, name, key, max_spend_usd=max_spend_usd)
        self._connection = Connection(
            key,
            base_url,
            home,
            sandbox,
            shared=self._books.requests,
            is_known=lambda request_id: self._books.known(request_id) is not None,
        )
        self._client = self._connection.client
        self._engine.on_close(self._client.aclose)
        self._engine.on_close(self._close_books)
        self._engine.on_exit(self._tell_unsent)
        self._left_unsent = 0
        host = service if sandbox else urlsplit(base_url).netloc.lower()
        clips = home / "clips" / file_name(host)
        self._jobs = Jobs(self, self._books)
        self._listeners: list[Callable[[Job | None], None]] = []
        self._money = Money(
            self._client,
            self._books,
            jobs=self._jobs,
            reach=self._connection.reach,
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
            reach=self._connection.reach,
            money_moved=self._money.moved,
            answer_lost=self._money.answer_lost,
        )
        self._engine.on_ending(self._runner.answered)
        self._reconciler = Reconciler(
            self._money,
            self._books,
            self._jobs,
            reach=self._connection.reach,
            tell=lambda: self.tell(None),
            sandbox=service == "sandbox",
        )

    def __repr__(self) -> str:
        return f"<Session {self.service} {self.base_url}{' closed' if self.closed else ''}>"

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Waits until all that was submitted is answered, then closes. After an error it closes at once."""
        try:
            if kind is None and not self.closed:
                self._engine.call(self._runner.submitted())
        finally:
            self.close()

    @property
    def sandbox(self) -> Sandbox | None:
        """The sandbox with its controls, None on a live service and on a sandbox reached by its address."""
        return self._connection.sandbox

    @property
    def base_url(self) -> str:
        """The service's address."""
        return self._client.base_url

    @property
    def ledger_trouble(self) -> str | None:
        """What is wrong with the ledger's file, what is safe and what to do; None if all is well."""
        return self._books.trouble

    @property
    def closed(self) -> bool:
        """Whether `close()` was called."""
        return self._engine.closed

    @by_name
    def submit(
        self,
        request: JobRequest,
        *,
        again: bool = False,
        once: str | None = None,
        retry_uncertain: bool = False,
    ) -> Job:
        """Submits a request as it is and returns its Job at once; see `text_to_video` for the options.

            job = session.submit(rb.JobRequest.from_text("a red fox in snow", seed=7))

        Raises InvalidInput for one whose picture isn't kept, and SpendLimitReached, before anything is sent.
        """
        if not request.complete:
            raise InvalidInput("Its picture isn't kept. Give the image again. Nothing was sent.")
        return self._submit([request], again=again, once=once, retry_uncertain=retry_uncertain)[0]

    @by_name
    def text_to_video(
        self,
        prompt: str,
        *,
        duration_seconds: int = wire.DEFAULT_SECONDS,
        aspect_ratio: str = wire.DEFAULT_ASPECT_RATIO,
        seed: int = wire.RANDOM_SEED,
        again: bool = False,
        once: str | None = None,
        retry_uncertain: bool = False,
    ) -> Job:
        """Submits a clip made from text and returns its Job at once (POST generate/text-to-video).

        Costs 0.05 USD a second. `duration_seconds` is 1 to 10, `aspect_ratio` 16:9, 9:16 or 1:1; a fixed
        `seed` gives reproducible results, -1 a random one. What the service says to it is in the job.

        A cell that is run again and asks for the same gets the job of its earlier run back and pays nothing;
        `again=True` buys a new clip. Tasks, threads and pools that a cell gives work to are a part of it. A
        cell is known by its notebook and its id; where a front end gives no lasting id, by its text. Within
        one run, and in scripts, nothing is merged, unless an equal submission carried the same label in
        `once`.

        `retry_uncertain=True` sends the request again after a 5xx, a lost answer, a reset or a timeout, as
        the interface (Errors) advises. It is off because the service has no idempotency key: an attempt that
        wasn't answered may have been accepted, so **each repetition may buy a second clip**. The ledger keeps
        such an attempt as uncertain and counts it, and a spending limit ends the repetitions.

        Raises InvalidInput and SpendLimitReached before anything is sent.
        """
        request = JobRequest.from_text(
            prompt, duration_seconds=duration_seconds, aspect_ratio=aspect_ratio, seed=seed
        )
        return self.submit(request, again=again, once=once, retry_uncertain=retry_uncertain)

    @by_name
    def image_to_video(
        self,
        image: ImageSource | PreparedImage,
        prompt: str,
        *,
        duration_seconds: int = wire.DEFAULT_SECONDS,
        again: bool = False,
        once: str | None = None,
        retry_uncertain: bool = False,
    ) -> Job:
        """Submits a clip that moves a still image, returns its Job (POST generate/image-to-video).

        `image` is a path, bytes, a file object, a PIL image or a numpy array. Costs 0.05 USD a second.
        `again`, `once` and `retry_uncertain` are as in `text_to_video`. Raises InvalidImage, other
        InvalidInput and SpendLimitReached before anything is sent.
        """
        image = veiled(image)  # type: ignore[assignment]  # opened as a path, and never printed
        request = JobRequest.from_image(
            image, prompt, duration_seconds=duration_seconds, prepare=self._client.prepare_image
        )
        return self.submit(request, again=again, once=once, retry_uncertain=retry_uncertain)

    @by_name
    def submit_many(
        self,
        requests: Iterable[BatchItem],
        *,
        duration_seconds: int = wire.DEFAULT_SECONDS,
        aspect_ratio: str = wire.DEFAULT_ASPECT_RATIO,
        seed: int = wire.RANDOM_SEED,
        experiment: str | None = None,
        again: bool = False,
        once: str | None = None,
        retry_uncertain: bool = False,
    ) -> Batch:
        """Submits many clips as one batch and returns it at once: all are written down, or none is.

        A request is a prompt, a mapping of the arguments of `text_to_video` or (with an "image") of
        `image_to_video`, or a JobRequest. What one leaves out is filled in from the arguments here; an image
        takes no ratio and no seed. `again`, `once` and `retry_uncertain` are as in `text_to_video`: with
        `once`, equal requests are one job. `experiment` groups them under a name.

        Raises InvalidInput, saying which request it is, and SpendLimitReached where all together would pass
        the limit: then nothing was written down or sent.
        """
        self._engine.refuse_closed()
        defaults = {"duration_seconds": duration_seconds, "aspect_ratio": aspect_ratio, "seed": seed}
        wanted = checked(requests, defaults, self._client.prepare_image)
        submit = functools.partial(self._submit, again=again, once=once, retry_uncertain=retry_uncertain)
        with contextlib.nullcontext() if experiment is None else Experiment(self, experiment):
            jobs = submit(wanted) if once is None or again else merged(wanted, submit)
        return Batch(self, jobs, self._runner, self._engine)

    def map(
        self, requests: Iterable[BatchItem], *, timeout: float | None = None, **options: Unpack[BatchOptions]
    ) -> Clips:
        """Submits a batch at once, and gives its clips in the order of the requests, as `Executor.map` does.

        For `for` and `async for`; `options` are those of `submit_many`. In `for`, `timeout` in seconds from
        this call on raises WaitTimeout, and the jobs go on.
        """
        return Clips(self.submit_many(requests, **options), timeout)

    def job(self, request_id: str) -> Job:
        """Takes up a job by its id, such as one that another kernel submitted, and watches it."""
        request_id = validation.identifier(request_id, "request_id")
        self._engine.refuse_closed()
        return self._engine.run(lambda: self._jobs.take_up(request_id))

    @property
    def running(self) -> tuple[Job, ...]:
        """The jobs that this session submits, watches or fetches now, oldest first."""
        return tuple(job for job in self._jobs if job.running)

    def experiment(self, name: str) -> Experiment:
        """Groups what is submitted within `with session.experiment(name):`. Raises InvalidInput."""
        return Experiment(self, name)

    def resume(self, *, unsent: bool = False) -> tuple[Job, ...]:
        """Takes up every unfinished job that a kernel left behind, and returns them.

        Jobs that another living kernel watches are left to it. One that the service said it doesn't know is
        asked about a few times more, for a week. What was sent and never answered is not among them: it is
        kept as uncertain. Nothing is bought, unless `unsent`: then what a kernel or a script had submitted
        and not sent when it ended is sent now, once, and paid. What was asked for again since is left out,
        and so are images that `REELBOOK_HOME/images` has no longer. Raises SpendLimitReached, and then none
        of it is sent.
        """
        self._engine.refuse_closed()
        jobs = self._engine.run(self._jobs.resume)
        if unsent:
            send = functools.partial(
                self._jobs.send_unsent, caller=caller(), balance_usd=self._money.balance_usd
            )
            jobs += self._engine.run(send)
        return tuple(jobs)

    def rotate_key(self, name: str | None = None, *, rate_limit: int | None = None) -> Rotation:
        """Makes a key, tries it with one request and uses it from then on, while the jobs go on.

        Left out, `name` is the former one with a number and `rate_limit` (requests a minute) the same.
        Requests under way finish with the former key, and no later one carries it; the ledger goes on with
        the same jobs, limit and spend. The former key works until `rotation.revoke_old()`; before that, keep
        the new one: `rotation.keep()` or `rotation.new.api_key.reveal()`. Raises KeyUncertain and
        RotationFailed, which say what exists; the session then goes on with the former key.
        """
        return rotate(
            self.keys,
            name,
            rate_limit,
            call=self._call,
            connection=self._connection,
            books=self._books,
            running=self.running,
        )

    @property
    def facts(self) -> Facts:
        """Balance, request budget and spending limit as known now, without a request."""
        budget, limit = self._client.budget(self.clock()), self._books.max_spend_usd
        return Facts(self._money.balance_usd, budget.left, budget.limit, budget.back_in_seconds, limit)

    def subscribe(self, callback: Callable[[Job | None], None]) -> Callable[[], None]:
        """`callback` is called on the session's thread with a job that changed, or None when `facts` did.

        Returns what ends that. The callback must not wait for the session.
        """
        self._listeners.append(callback)
        return lambda: self._listeners.remove(callback) if callback in self._listeners else None

    def close(self) -> None:
        """Ends the session's thread and connections. Jobs go on at the service; the sandbox stays.

        A submission that is out is given 5 s for its answer, so that its id is known to the next session.
        What isn't sent yet is left unsent: `resume(unsent=True)` of the next session sends it. The end of
        `with reelbook.connect() as session:` waits for all that was submitted in it to be sent and answered.
        """
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
        self._engine.run(lambda: self._jobs.watch(job))

    def cancel(self, job: Job) -> bool:
        """See `Job.cancel`."""
        return self._engine.run(lambda: self._runner.cancel(job))

    def carry(self, job: Job) -> None:
        """Submits a job, or goes on with its watch or its download. For the session's own thread."""
        self._runner.start(job)
        self.tell(job)

    def tell(self, changed: Job | None) -> None:
        """Tells those who subscribed."""
        tell_all(self._listeners, changed)

    def _submit(
        self,
        requests: Sequence[JobRequest],
        *,
        again: bool,
        once: str | None,
        retry_uncertain: bool = False,
    ) -> list[Job]:
        self._engine.refuse_closed()
        withdrawn = False
        submit = functools.partial(
            self._jobs.submit,
            requests,
            self._books.wanted(requests, once=once),
            caller=caller(),
            balance_usd=self._money.balance_usd,
            again=again,
            retry_uncertain=retry_uncertain,
            withdrawn=lambda: withdrawn,
        )
        try:
            jobs = self._engine.run(submit)
        except BaseException:
            withdrawn = True  # Stop: what isn't written down by now isn't bought any more
            raise
        self._jobs.keep_pictures(requests)
        return jobs

    async def _close_books(self) -> None:
        self._left_unsent = self._jobs.close()
        self._books.close()

    def _tell_unsent(self) -> None:
        if self._left_unsent:
            say_unsent(self._left_unsent, self.home, kept=not self._books.in_memory)

    @by_name
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
        mode: wire.Mode | None = None,
        starred: bool | None = None,
        tag: str | None = None,
        sort: Literal["newest", "oldest", "costliest"] = "newest",
        limit: int = 50,
        after: Job | None = None,
    ) -> tuple[Job, ...]:
        """The account's jobs, newest first, those of earlier kernels included.

        Every word of `text` must begin a word of the prompt or of the note. `since` and `until` (not
        included) are times of the submission: datetimes, or epoch seconds. `state` is one word of `JobView`,
        or several; the cost is the final one in USD, the estimate until it is known. `after` is the last job
        of the page before. To find a job isn't to watch it: `job.watch()`, or waiting for it, takes it up.
        Raises InvalidInput for a state that there isn't.
        """
        self._engine.refuse_closed()
        if state is not None:
            state = named_states(state)
            refuse_strange(state, lambda each: bool(self._books.find(Filter(state=each), limit=1)))
        wanted = Filter(
            text=text,
            since=epoch(since),
            until=epoch(until),
            state=state,
            min_cost_usd=min_cost_usd,
            max_cost_usd=max_cost_usd,
            experiment=experiment,
            mode=mode,
            starred=starred,
            tag=tag,
        )
        return tuple(self._jobs.find(wanted, sort=sort, limit=limit, after=after))

    def tags(self) -> dict[str, int]:
        """The tags in use in alphabetical order, and how many jobs have each."""
        self._engine.refuse_closed()
        return self._books.tags()

    def experiments(self) -> list[str]:
        """The names of the experiments, the one used last first."""
        self._engine.refuse_closed()
        return self._books.experiments()

    def pick(self, winner: Job | Clip | str, among: Iterable[Job | Clip | str]) -> None:
        """Keeps that a person chose `winner` among the clips of `among`; each is a job, a clip or its id.

        Clips that the ledger doesn't know are left out. Raises InvalidInput where that is no choice:
        `winner` isn't among them, or is alone.
        """
        self._engine.refuse_closed()
        ids = list(dict.fromkeys(map(_request_id, among)))
        chosen = _request_id(winner)
        if not chosen or chosen not in ids or len(ids) < 2:
            raise InvalidInput("A winner is one of at least two clips. Nothing was kept.")
        self._books.pick(chosen, [each for each in ids if each])

    def picks(self, *, limit: int = 100) -> tuple[Picked, ...]:
        """The winners that were picked, in Compare or by `pick()`, the newest first.

        A table of them: `[(each.winner.request.prompt, len(each.among)) for each in session.picks()]`.
        """
        self._engine.refuse_closed()
        found = []
        for pick in self._books.picks(limit):
            entries = {number: self._books.by_id(number) for number in (pick.winner, *pick.among)}
            jobs = {number: self._jobs.of(entry, watch=False) for number, entry in entries.items() if entry}
            if pick.winner in jobs:
                among = tuple(jobs[number] for number in pick.among if number in jobs)
                at = datetime.fromtimestamp(pick.at).astimezone()
                found.append(Picked(jobs[pick.winner], among, at))
        return tuple(found)

    def mark(
        self,
        job: Job,
        *,
        starred: bool | None = None,
        note: str | None = None,
        tags: Iterable[str] | None = None,
    ) -> None:
        """See `Job.mark`."""
        self._engine.refuse_closed()
        all_tags = None if tags is None else tuple(tags)

        def mark() -> None:
            had = job._known.marks
            marks = Marks(
                starred=had.starred if starred is None else starred,
                note=had.note if note is None else note,
                tags=had.tags if all_tags is None else all_tags,
            )
            self._jobs.mark(job, marks)

        self._engine.run(mark)

    def delete_clip(self, job: Job) -> None:
        """See `Job.delete_clip`."""
        self._engine.refuse_closed()
        self._engine.run(lambda: self._jobs.delete_clip(job))

    def spend(self) -> Spend:
        """What this key's clips cost so far by the ledger: spent, reserved and uncertain, in USD.

        A clip that an agent tool bought is among them once it was taken up and has ended.
        """
        self._engine.refuse_closed()
        return self._books.spend()

    def spending(self) -> Spending:
        """The running total: what this session's clips cost so far, and what `max_spend` leaves, in USD.

        `print(session.spending())` says it in a sentence. `spend()` counts the clips of earlier sessions too.
        """
        self._engine.refuse_closed()
        own, limit = self._books.spend_here(), self._books.max_spend_usd
        counted = self._books.spend().committed_usd
        return Spending(
            own.spent_usd, own.reserved_usd, own.uncertain_usd, limit, counted, tools_usd=own.tools_usd
        )

    def spending_notes(self, cost_usd: float) -> tuple[str, ...]:
        """What there is to say before a submission of that cost; empty while limit and balance are far off.

        By what was last heard of the balance: nothing is asked.
        """
        self._engine.refuse_closed()
        near = nearing(
            cost_usd,
            spend=self._books.spend(),
            limit_usd=self._books.max_spend_usd,
            balance_usd=self._books.likely_balance_usd(),
        )
        return tuple(each.text for each in near)

    def receipt(
        self,
        experiment: str | None = None,
        *,
        since: datetime | float | None = None,
        until: datetime | float | None = None,
    ) -> Receipt:
        """What the key's clips cost by the ledger, one by one and in all; one experiment's where it is named.

        `since` and `until` (not included) are times of the submission: datetimes, or epoch seconds.
        `receipt().to_csv("receipt.csv")` writes a file for a spreadsheet.
        """
        self._engine.refuse_closed()
        from_at, to_at = epoch(since), epoch(until)
        entries = self._books.bought(experiment=experiment, since=from_at, until=to_at)
        tools = [] if experiment is not None else self._books.bought_by_tools(since=from_at, until=to_at)
        name = "sandbox" if self.service == "sandbox" else urlsplit(self._connection.client.base_url).netloc
        accounts = {*(each.account_id for each in entries), *(each.account_id for each in tools)}
        return receipt_of(entries, dict.fromkeys(accounts, name), experiment, tools)

    def balance(self) -> Balance:
        """Asks for the balance in USD and waits (GET billing/balance)."""
        return self._call(lambda _: self._money.balance())

    def usage(self, days: int = 30) -> Usage:
        """Asks what was used in the last `days` days and waits (GET billing/usage)."""
        return self._call(lambda _: self._money.usage(days))

    def usage_history(self, days: int = 30) -> UsageHistory:
        """What was used day by day in the last `days` days: see `UsageHistory`. Doesn't wait."""
        validation.days(days)
        return UsageHistory(self._money, self._books, self._engine, days, reach=self._connection.reach)

    def reconcile(self, *, alone: bool = False) -> Reconciliation:
        """Finds out what became of submissions whose answer was lost, and waits for it.

        Compares balance and usage, asked for now, with what was known before; what is sure is kept, the rest
        says what to do. Others may use the account: `alone=True` says that only this key, from this home, has
        used it since then. On a live service nothing is sure without that, and "not accepted" takes hours.
        """
        return self._engine.call(self._reconciler.find_out(alone=alone))

    def _find_out(self, *, alone: bool = False) -> concurrent.futures.Future[Reconciliation]:
        """As `reconcile`, without waiting."""
        return self._engine.submit(self._reconciler.find_out(alone=alone))

    def refresh_balance(self) -> concurrent.futures.Future[None]:
        """Asks for the balance without waiting; `facts` change when it is there."""
        return self._engine.submit(self._money.refresh())

    def _call(self, ask: Callable[[AsyncClient], Awaitable[T]]) -> T:
        async def call() -> T:
            await self._connection.reach()
            try:
                return await ask(self._client)
            finally:
                tell_all(self._listeners, None)

        return self._engine.call(call())


@dataclass(frozen=True)
class Picked:
    """That a person chose `winner` among `among`, which it is one of, at that moment."""

    winner: Job
    among: tuple[Job, ...]
    at: datetime


def _request_id(clip: Job | Clip | str) -> str | None:
    return clip if isinstance(clip, str) else clip.request_id


def epoch(moment: datetime | float | None) -> float | None:
    """A time as epoch seconds."""
    return moment.timestamp() if isinstance(moment, datetime) else moment


T = TypeVar("T")
