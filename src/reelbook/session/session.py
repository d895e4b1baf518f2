"""`Session`: what a person at a notebook works with. The work is done on a thread of its own."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import math
import sys
import time
import weakref
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from datetime import date, datetime
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, Unpack
from urllib.parse import urlsplit

from .. import wire
from ..account import Facts, Receipt, Spending
from ..account.balance import BalanceTracker
from ..account.connection import Connection, ServiceAddress
from ..account.keys import Keys
from ..account.limits import caller_warner, say_unsent, spend_notices
from ..account.receipt import receipt_of
from ..account.reconcile import find_out
from ..account.usage_history import UsageHistory
from ..agent_tools.server import ToolServer
from ..client.downloads import LONGEST_SECONDS, limit_bytes
from ..errors import InvalidInput, LedgerLocked
from ..event_thread import EventThread, Future
from ..executions import PlaceCounter, current_execution
from ..formatting import file_name
from ..ledger import Entry, Ledger, Submission, SweepRecord
from ..ledger.search import ALL_ENTRIES, Filter, named_states
from ..listeners import Listeners
from ..media.recent_images import RecentImages
from ..requests import (
    BatchItem,
    BatchOptions,
    ImageOptions,
    JobRequest,
    TextOptions,
    checked,
    checked_days,
    checked_identifier,
    lists_options,
)
from ..secret import Secret, hidden, quotable
from ..suggestions import SuggestsNames, by_name
from .batch import Batch, Clips
from .job import Job, JobRegistry
from .job_lifecycle import LOCKED_SECONDS
from .reconciliation import Reconciliation, tell_jobs
from .tools import ToolAddress, Tooling, configured

if TYPE_CHECKING:
    from ..client import AsyncClient
    from ..media.images import ImageSource, PreparedImage
    from ..models import Balance, Usage
    from ..sandbox.handle import Sandbox
    from .clip import Clip


T = TypeVar("T")


class Session(Tooling, SuggestsNames):
    """A connection to the service, made by `reelbook.connect()`. What it does, in the order of work:

    Connect. `service` is the local "sandbox" or a "live" one, `base_url` its address, and `facts` has what is
    known without asking, such as `facts.requests_left`:

        session = rb.connect("sandbox")
        print(session.service, session.balance().balance_usd, session.facts.requests_left)

    Ask for a clip. A `Job` comes at once, and a cell that runs again doesn't pay again; `submit` takes the
    same as a `JobRequest`:

        job = session.text_to_video("a red fox runs through snow", duration_seconds=3, seed=7)
        clip = await job  # job.result() in code that can't await
        job = session.image_to_video(clip.frame(1), "slow zoom in", duration_seconds=3)

    Ask for many, as one `Batch`, in an experiment that gives them a name. `map` returns clips in order:

        with session.experiment("fog"):
            batch = session.submit_many(["a lantern in fog", "a ship in fog"], duration_seconds=2)
        async for job in batch:
            print(job.clip or job.error)
        clips = list(session.map(["a kite", "a balloon"], duration_seconds=1))

    Track the money, by this machine's ledger and by the service (`usage`, `usage_history`):

        print(session.spending(), session.usage(days=7).total_cost_usd)
        session.receipt("fog").to_csv("fog.csv")

    Find clips of any kernel again. `running` are the jobs in progress, `job` takes one up, `pick` chooses:

        foxes = session.jobs(text="fox", state="completed")
        job = session.job(foxes[0].request_id)
        print(session.prompts(), session.experiments(), session.tags(), session.picks(), session.sweeps())

    After a crash, take up what a kernel left behind, and find out about answers that were lost:

        session.resume()
        print(session.reconcile())

    Manage the keys. A secret is shown once, by `reveal()`; `keys.rotate` replaces the key in use:

        key = session.keys.create("colab", rate_limit=20)
        session.keys.revoke(key.key_id)

    Call agent tools, if the extra `agents` is installed:

        print([tool.name for tool in session.tools()])
        result = await session.call_tool("get_balance")

    `subscribe` reports every change, `Session.of(job)` is a job's session, `sandbox` controls the sandbox.
    `close()` ends the session, while jobs go on at the service; then `closed` is True, and methods raise
    `SessionClosed`. `with rb.connect() as session:` waits at its end until everything has been sent.
    """

    _ledger: Ledger
    _made: ClassVar[weakref.WeakSet[Session]] = weakref.WeakSet()

    def __init__(self, address: ServiceAddress, ledger: Ledger, home: Path) -> None:
        self.service = address.service
        self.home = home
        self._listeners: Listeners[[Job | None]] = Listeners()
        self._places = PlaceCounter()
        self._ledger = ledger
        self._connection = Connection(address, ledger)
        self._client = self._connection.client
        self._thread = EventThread()
        ledger.store.troubled.subscribe(self._ledger_changed)
        self._balance = BalanceTracker(
            self._connection,
            self._ledger,
            self._thread,
            on_change=lambda: self._tell(None),
            on_balance=lambda balance_usd: self._jobs.heard_balance(balance_usd),
            observed=lambda: bool(self._listeners) or self._jobs.observed,
        )
        # The home's own sandbox changes its address.
        host = "sandbox" if address.sandbox else urlsplit(address.url).netloc.lower()
        shared = (self._connection, self._ledger, self._balance, self._thread)
        clips, images = home / "clips" / file_name(host), RecentImages(home)
        self._jobs = JobRegistry(*shared, clips, images, self._tell)
        self.keys = Keys(
            address.key,
            self._connection,
            self._ledger,
            call=self._call,
            clip_under_way=lambda: self._thread.run(self._jobs.watched_clip_id),
        )
        self._thread.settling.append(self._jobs.answered)
        self._thread.closing += (self._client.aclose, self._close_ledger)
        self._made.add(self)

    @classmethod
    def of(cls, job: Job) -> Session:
        """The session that looks after the job."""
        return next(each for each in cls._made if each._jobs is job._life.services)

    def __repr__(self) -> str:
        return f"<Session {self.service} {self.base_url}{' closed' if self.closed else ''}>"

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Waits until everything submitted is answered, then closes. After an error it closes at once."""
        try:
            if kind is None and not self.closed:
                self._thread.call(self._jobs.submitted())
        finally:
            self.close()

    @property
    def sandbox(self) -> Sandbox | None:
        """The sandbox with its controls; None on a live service and on a sandbox reached by its address."""
        return self._connection.sandbox

    @property
    def base_url(self) -> str:
        return self._client.base_url

    @by_name
    def submit(
        self,
        request: JobRequest,
        *,
        again: bool = False,
        once: str | None = None,
        retry_uncertain: bool = False,
    ) -> Job:
        """Submits a request unchanged and returns its Job at once; see `text_to_video` for the options.

            job = session.submit(rb.JobRequest.from_text("a red fox in snow", seed=7))

        Raises InvalidInput for one whose image wasn't kept, and SpendLimitReached, before anything is sent.
        """
        if not request.complete:
            raise InvalidInput("Its image isn't kept. Give it again. Nothing was sent.")
        batch = self._submissions([request], again=again, once=once, retry_uncertain=retry_uncertain)
        return self._submit(batch)[0]

    @by_name
    @lists_options("text-to-video")
    def text_to_video(
        self,
        prompt: str,
        *,
        again: bool = False,
        once: str | None = None,
        retry_uncertain: bool = False,
        **options: Unpack[TextOptions],
    ) -> Job:
        """Submits a clip made from text and returns its Job at once (POST generate/text-to-video).

            job = session.text_to_video("a red fox in snow", duration_seconds=3, seed=7)
            clip = await job

        Costs 0.05 USD a second. `duration_seconds` is 1 to 10, `aspect_ratio` 16:9, 9:16 or 1:1; a fixed
        `seed` gives reproducible results; for -1 one is drawn, and `job.request.seed` says which. The
        service's answer is in the job.

        A cell that runs again and asks for the same gets the job of its earlier run back and pays nothing;
        `again=True` buys a new clip. A cell is recognised by its notebook and its id, or else by its text,
        and tasks and threads that it starts belong to it; work for a pool that is still busy with an earlier
        cell's counts as that cell's, unless `once` labels it. Within one run, and in scripts, nothing is
        merged, unless an equal submission had the same label in `once`.

        `retry_uncertain=True` sends the request again after a 5xx, a lost answer, a reset or a timeout, as
        the interface (Errors) advises. It is off because the service has no idempotency key: **each
        repetition may buy a second clip**. The ledger counts an unanswered attempt as uncertain, and a
        spending limit ends the repetitions.

        Raises InvalidInput, SpendLimitReached and LedgerUnavailable before anything is sent.
        """
        request = JobRequest.from_text(prompt, **options)
        return self.submit(request, again=again, once=once, retry_uncertain=retry_uncertain)

    @by_name
    @lists_options("image-to-video")
    def image_to_video(
        self,
        image: ImageSource | PreparedImage,
        prompt: str,
        *,
        again: bool = False,
        once: str | None = None,
        retry_uncertain: bool = False,
        **options: Unpack[ImageOptions],
    ) -> Job:
        """Submits a clip that moves a still image and returns its Job (POST generate/image-to-video).

            job = session.image_to_video("cat.png", "the cat turns its head")
            clip = await job

        `image` is a path, bytes, a file object, a PIL image or a numpy array. Costs 0.05 USD a second.
        `again`, `once` and `retry_uncertain` are as in `text_to_video`. Raises InvalidImage, other
        InvalidInput and SpendLimitReached before anything is sent.
        """
        image = hidden(image)  # type: ignore[assignment]  # opened as a path, and never printed
        request = JobRequest.from_image(image, prompt, **options)
        return self.submit(request, again=again, once=once, retry_uncertain=retry_uncertain)

    @by_name
    @lists_options("text-to-video")
    def submit_many(
        self,
        requests: Iterable[BatchItem],
        *,
        experiment: str | None = None,
        again: bool = False,
        once: str | None = None,
        retry_uncertain: bool = False,
        **options: Unpack[TextOptions],
    ) -> Batch:
        """Submits many clips as one batch and returns it at once: all are recorded, or none is.

            batch = session.submit_many(["a fox in fog", "a fox in rain"], seed=7)
            clips = await batch

        A request is a prompt, a mapping of the arguments of `text_to_video` or (with an "image") of
        `image_to_video`, or a JobRequest. What one leaves out is filled in from the arguments here; an image
        takes no ratio and no seed. `again`, `once` and `retry_uncertain` are as in `text_to_video`: with
        `once`, equal requests are one job. `experiment` groups them under a name.

        Raises InvalidInput, saying which request it is, and SpendLimitReached where all together would exceed
        the limit: then nothing was recorded or sent.
        """
        self._thread.refuse_closed()
        wanted = checked(requests, options)
        with contextlib.nullcontext() if experiment is None else self.experiment(experiment):
            batch = self._submissions(wanted, again=again, once=once, retry_uncertain=retry_uncertain)
        if once is not None and not again:  # equal requests are one job
            batch = list({each.sameness: each for each in batch}.values())
        jobs = self._submit(batch)
        if len(jobs) < len(wanted):
            made = {each.sameness: job for each, job in zip(batch, jobs, strict=True)}
            jobs = [made[each.sameness] for each in wanted]
        return Batch(jobs, self._thread)

    def map(
        self, requests: Iterable[BatchItem], *, timeout: float | None = None, **options: Unpack[BatchOptions]
    ) -> Clips:
        """Submits a batch at once, and returns its clips in the order of the requests, like `Executor.map`.

        For `for` and `async for`; `options` are those of `submit_many`. `for` raises WaitTimeout `timeout`
        seconds after this call, and the jobs go on.
        """
        return Clips(self.submit_many(requests, **options), timeout)

    def job(self, request_id: str) -> Job:
        """Takes up a job by its id, such as one that another kernel submitted, and watches it."""
        request_id = checked_identifier(request_id, "request_id")
        return self._thread.run(lambda: self._jobs.take_up(request_id))

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
        asked about a few more times, for a week; a submission that was never answered stays uncertain.
        Nothing is bought, unless `unsent`: then what a kernel or a script submitted and didn't send is sent
        now, once, and paid, except requests that were repeated since, and images that aren't kept any more.
        Raises SpendLimitReached, and then nothing is sent.
        """
        jobs = self._thread.run(self._jobs.resume)
        if unsent:
            warn = caller_warner()
            jobs += self._thread.run(lambda: self._jobs.send_unsent(warn))
        return tuple(jobs)

    @property
    def facts(self) -> Facts:
        """Balance, request budget, spending limit and the ledger's state as known now, without a request."""
        budget, funds = self._client.budget(self._thread.now()), self._balance.funds
        return Facts(
            None if funds is None else funds.left_usd,
            budget.left,
            budget.limit,
            budget.back_in_seconds,
            self._ledger.max_spend_usd,
            self._ledger.store.trouble,
            not self._ledger.store.in_memory,
            0.0 if funds is None else funds.to_come_usd,
            self._client.key_trouble,
        )

    def subscribe(self, callback: Callable[[Job | None], None]) -> Callable[[], None]:
        """Calls `callback` on the session's thread with a job that changed, or with None when `facts` did.

        It must not wait for the session. Returns a function that ends the subscription.
        """
        return self._listeners.subscribe(callback)

    def close(self) -> None:
        """Ends the session's thread and connections. Jobs go on at the service; the sandbox stays.

        A submission in flight gets 5 s for its answer. Jobs that haven't been sent stay unsent, until the
        next session's `resume(unsent=True)`; the end of a `with` waits for them instead.
        """
        self._thread.close()

    def _submissions(
        self, requests: Sequence[JobRequest], *, once: str | None = None, **how: Any
    ) -> list[Submission]:
        """The requests as submissions, each at its place in the cell that runs on this thread."""
        if once is not None and (not isinstance(once, str) or not once.strip()):
            raise InvalidInput('once is a label of your own, such as once="fox, night". Nothing was sent.')
        how["experiment"] = current_experiment()
        execution = current_execution()
        return [
            Submission.of(each, place=self._places.place(each.sameness, execution, once=once), **how)
            for each in requests
        ]

    def _submit(self, batch: Sequence[Submission]) -> list[Job]:
        self._thread.refuse_closed()
        withdrawn = False
        submit = functools.partial(self._jobs.submit, batch, caller_warner(), withdrawn=lambda: withdrawn)
        try:
            while True:
                try:
                    jobs = self._thread.run(submit)
                    break
                except LedgerLocked:
                    if self._thread.is_current or not may_wait():
                        raise
                    time.sleep(LOCKED_SECONDS)
        except BaseException:
            withdrawn = True  # Stop: what isn't recorded by now won't be bought
            raise
        self._jobs.keep_images(each.request for each in batch)
        return jobs

    async def _close_ledger(self) -> None:
        unsent = self._jobs.close()
        if lost := self._ledger.file.close():
            print(lost, file=sys.stderr)  # noqa: T201 - nobody can ask for it any more
        if unsent and self._thread.at_exit:
            say_unsent(unsent, self.home, kept=not self._ledger.store.in_memory)

    def _tell(self, job: Job | None) -> None:
        self._balance.outdated = True
        self._listeners.tell(job)

    def _ledger_changed(self) -> None:
        """Reports at once that the ledger can't be written, or can again. Called on any thread."""
        said = self._ledger.store.trouble or "The ledger can be written again."
        print(said, file=sys.stderr)  # noqa: T201 - scripts have no panel that could say it
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._thread.loop.call_soon_threadsafe(self._tell, None)

    @by_name
    def jobs(
        self,
        *,
        text: str | None = None,
        since: date | float | None = None,
        until: date | float | None = None,
        state: str | Collection[str] | None = None,
        min_cost_usd: float | None = None,
        max_cost_usd: float | None = None,
        experiment: str | None = None,
        mode: wire.Mode | None = None,
        picked: bool | None = None,
        tag: str | None = None,
        sweep: str | None = None,
        where: Mapping[str, object] | None = None,
        sort: Literal["newest", "oldest", "costliest"] = "newest",
        limit: int = 50,
        after: Job | None = None,
    ) -> tuple[Job, ...]:
        """The account's jobs, newest first, those of earlier kernels included.

            foxes = session.jobs(text="fox", state="completed")
            rb.JobBoard(jobs=foxes)

        Every word of `text` must begin a word of the prompt or of the note. `since` and `until` (not
        included) are times of the submission: datetimes, dates or epoch seconds. `state` is one word of
        `JobView`, or several; the cost is the final one in USD, or the estimate until it is known. `sweep` is
        the id of a sweep, and `where` the required values of its axes: {"place": "snow"}. `after` is the last
        job of the page before. Finding a job doesn't watch it: `job.watch()`, or waiting for it, does. Raises
        InvalidInput for an unknown state, mode, sweep, value or order.
        """
        if where and sweep is None:
            raise InvalidInput("where takes values of a sweep's axes: name that sweep with sweep=…")
        wanted = Filter(
            text=text,
            since=epoch(since),
            until=epoch(until),
            state=None if state is None else named_states(state, self._ledger),
            min_cost_usd=min_cost_usd,
            max_cost_usd=max_cost_usd,
            experiment=experiment,
            mode=mode,
            picked=picked,
            tag=tag,
            sweep=None if sweep is None else int(self._ledger.sweeps.record(sweep).id),
            cells=None if sweep is None else self._ledger.sweeps.cells_at(sweep, where or {}),
        )
        find = functools.partial(self._jobs.find, wanted, sort=sort, limit=limit, after=after)
        return tuple(self._thread.run(find))

    def prompts(self, text: str = "", *, limit: int = 20) -> tuple[str, ...]:
        """The prompts of the account's clips, at most `limit`, the one used last first, each once.

            session.prompts("fox")

        Every word of `text` must begin a word of the prompt, or of a note on its clip.
        """
        return tuple(self._ledger.prompts(text, limit))

    def tags(self) -> dict[str, int]:
        """The tags in use in alphabetical order, and how many jobs have each."""
        return self._ledger.tags()

    def experiments(self) -> list[str]:
        """The names of the experiments, the one used last first."""
        return self._ledger.experiments()

    def pick(self, clip: Job | Clip | str, *, note: str | None = None) -> None:
        """Picks a clip, given as a job, a clip or its id: "this one".

            session.pick(job, note="the light on the tail")

        `job.mark(picked=False)` takes that back. `note` is kept as the job's note. Raises InvalidInput for a
        clip that the ledger doesn't know.
        """
        if isinstance(clip, Job):
            job: Job | None = clip
        else:
            job = self._known(clip if isinstance(clip, str) else clip.request_id)
        if job is None:
            raise InvalidInput("Nothing was picked. The clip must be one that session.jobs() lists.")
        job.mark(picked=True, note=note)

    def picks(self, *, since: date | float | None = None) -> tuple[Job, ...]:
        """The picked jobs in the order of picking, those of earlier kernels included.

        `since` is a time of the picking: a datetime, a date or epoch seconds.
        """
        since_at = epoch(since)
        return self._thread.run(lambda: tuple(map(self._job_of_entry, self._ledger.picks(since_at))))

    def sweeps(self) -> tuple[SweepRecord, ...]:
        """The sweeps that were run with this key, newest first; see `Sweep.run`.

            for each in session.sweeps():
                print(each.id, each.name, each.state, each.counts)

        `rb.Sweep.open(session, each.id).resume()` goes on with the missing clips.
        """
        return tuple(self._ledger.sweeps.all())

    def spending(self) -> Spending:
        """What the clips of this session and of the key have cost so far, and what `max_spend` leaves.

        `print(session.spending())` says it in a sentence. A clip that an agent tool bought is included once
        it was taken up and has ended.
        """
        own, of_key = self._ledger.spend(here=True), self._ledger.spend()
        return Spending(**vars(own), limit_usd=self._ledger.max_spend_usd, of_key=of_key)

    def receipt(
        self,
        experiment: str | None = None,
        *,
        since: date | float | None = None,
        until: date | float | None = None,
    ) -> Receipt:
        """What the key's clips cost by the ledger, one by one and in all; or those of one experiment.

        `since` and `until` (not included) are times of the submission: datetimes, dates or epoch seconds.
        `receipt().to_csv("receipt.csv")` writes a file for a spreadsheet.
        """
        from_at, to_at = epoch(since), epoch(until)
        wanted = Filter(experiment=experiment, since=from_at, until=to_at)
        entries = self._ledger.find(wanted, limit=ALL_ENTRIES)
        tools = [] if experiment is not None else self._ledger.tool_jobs.list(since=from_at, until=to_at)
        name = "sandbox" if self.service == "sandbox" else urlsplit(self.base_url).netloc
        return receipt_of(entries, {self._ledger.account.id: name}, experiment, tools)

    def balance(self) -> Balance:
        """Asks for the balance in USD and waits for it (GET billing/balance)."""
        return self._call(lambda _: self._balance.balance())

    def usage(self, days: int = 30) -> Usage:
        """Asks what was used in the last `days` days and waits for it (GET billing/usage)."""
        return self._call(lambda _: self._balance.usage(days))

    def usage_history(self, days: int = 30) -> UsageHistory:
        """What was used day by day in the last `days` days; asked for bit by bit, without waiting."""
        checked_days(days)
        return UsageHistory(self._connection, self._ledger, self._balance, self._thread, days)

    def reconcile(self, *, alone: bool = False) -> Reconciliation:
        """Finds out what became of submissions whose answer was lost, and waits for it.

        Compares what was spent by now, or how many requests a sandbox counted, with what was known before,
        and records what is certain; for the rest it says what to do. `alone=True` says that only this key,
        from this home, has used the account since then: without that nothing is certain on a live service,
        and "not accepted" takes hours. A class's room knows which jobs are yours; those that it has go on.
        """
        return self._thread.call(self._reconciled(alone=alone))

    def _fetch_link(self, url: str) -> Path:
        """Downloads a video that a tool's result links to: over https or from the server's own address."""

        async def fetch(server: ToolServer) -> Path:
            if not url.lower().startswith("https:") and wire.origin(url) != wire.origin(server.url):
                raise InvalidInput("This link is neither https nor the tool server's own. It wasn't fetched.")
            name = hashlib.sha256(url.encode()).hexdigest()[:32]
            path = self.home / "clips" / "links" / f"{name}.mp4"
            most = limit_bytes(LONGEST_SECONDS)
            return await self._client.download(url, path, max_bytes=most)

        return self._thread.call(self._asked(fetch))

    def _known(self, request_id: str) -> Job | None:
        def find() -> Job | None:
            entry = self._ledger.by_request_id(request_id)
            return None if entry is None else self._job_of_entry(entry)

        return self._thread.run(find) if request_id else None

    def _job_of_entry(self, entry: Entry) -> Job:
        return self._jobs.of(entry, watch=False)

    def _spending_notes(self, cost_usd: float) -> tuple[str, ...]:
        """What to say before a submission of that cost, by the last known balance."""
        facts = self.facts
        near = spend_notices(
            cost_usd,
            spend=self._ledger.spend(),
            limit_usd=facts.max_spend_usd,
            balance_usd=facts.balance_usd,
            to_come_usd=facts.to_come_usd,
        )
        return tuple(each.text for each in near)

    def _refresh_balance(self) -> Future[None]:
        """Asks for the balance in the background, unless this session has heard it; `facts` will change."""
        return self._thread.submit(self._balance.refresh())

    def _reconciling(self, *, alone: bool = False) -> Future[Reconciliation]:
        return self._thread.submit(self._reconciled(alone=alone))

    async def _reconciled(self, *, alone: bool) -> Reconciliation:
        try:
            findings = await find_out(self._connection, self._ledger, self._balance, alone=alone)
            return tell_jobs(findings, self._job_of_entry)
        finally:
            self._tell(None)

    # What its tools need, see `Tooling`.

    def _tool_called(self) -> None:
        self._balance.moved()

    def _tool_address(self) -> ToolAddress | None:
        return None if self._connection.sandbox is not None else configured()

    async def _find_tool_address(self) -> ToolAddress:
        await self._connection.reach()
        sandbox = self._connection.sandbox
        assert sandbox is not None
        return sandbox.mcp_url, Secret.of(sandbox.user_id)

    def _call(self, ask: Callable[[AsyncClient], Awaitable[T]]) -> T:
        async def call() -> T:
            await self._connection.reach()
            try:
                return await ask(self._client)
            finally:
                self._tell(None)

        return self._thread.call(call())


_at_once: ContextVar[bool] = ContextVar("reelbook_at_once", default=False)


@contextlib.contextmanager
def without_waiting() -> Iterator[None]:
    """Within it, nothing waits for a locked ledger or for the service: a panel keeps no kernel busy."""
    token = _at_once.set(True)
    try:
        yield
    finally:
        _at_once.reset(token)


def may_wait() -> bool:
    """Whether the caller may be kept waiting: unless it runs within `without_waiting`."""
    return not _at_once.get()


# The innermost one last. Names, no tokens: several tasks may enter one Experiment at a time.
_entered: ContextVar[tuple[str, ...]] = ContextVar("reelbook_experiment", default=())


def current_experiment() -> str | None:
    """The name of the experiment that this code runs in; None outside of one."""
    return next(reversed(_entered.get()), None)


class Experiment:
    """Groups submissions under a name: `with session.experiment("fog"):`.

    It applies to the code inside the block, also across an `await`, but not to a button pressed meanwhile.
    The same name may be used again, in another cell or on another day.
    """

    def __init__(self, session: Session, name: str) -> None:
        if not isinstance(name, str) or not name.strip():
            raise InvalidInput("An experiment needs a name. Nothing was sent.")
        self.name = name.strip()
        self._session = session

    def __enter__(self) -> Experiment:
        _entered.set((*_entered.get(), self.name))
        return self

    def __exit__(self, *_: object) -> None:
        _entered.set(_entered.get()[:-1])

    def jobs(self, **filters: Any) -> tuple[Job, ...]:
        """Its jobs, newest first; the filters are those of `Session.jobs`."""
        return self._session.jobs(experiment=self.name, **filters)

    def receipt(self) -> Receipt:
        """What its clips cost, one by one and in all."""
        return self._session.receipt(self.name)

    def __repr__(self) -> str:
        return f"<Experiment “{self.name}”>"


def epoch(moment: date | float | None) -> float | None:
    """Epoch seconds; for a date, those of its local midnight. Raises InvalidInput for anything but a time."""
    if isinstance(moment, date) and not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)
    if isinstance(moment, datetime):
        with contextlib.suppress(ValueError, OverflowError, OSError):  # at the ends of the calendar
            return moment.timestamp()
        return math.inf if moment.year > 5000 else -math.inf
    if moment is None or isinstance(moment, Real):
        return moment
    raise InvalidInput(f"A time is a datetime, a date or epoch seconds, not {quotable(moment)}.")


def job_of(clip: Clip) -> Job | None:
    """The job of a clip, from whichever open session's ledger has it; it isn't watched."""
    asked = (each._known(clip.request_id) for each in Session._made if not each.closed)
    return next((job for job in asked if job is not None), None)
