"""`Job`, a submitted clip as a person handles it, and `JobRegistry`, which makes one for each ledger entry.

A job's `JobLifecycle` moves it along.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from .. import errors, states, wire
from ..account.limits import SpendWarner, Warn
from ..client.watch import job_failed
from ..event_thread import Future, until_done
from ..formatting import local, terminal_line
from ..ledger import EarlierRun, Entry, Funds, Submission
from ..ledger.search import EVERYTHING, Filter, Sort
from ..listeners import Listeners, call_in_thread
from ..media.recent_images import RecentImages
from ..models import JobStatus
from ..requests import JobRequest
from ..suggestions import SuggestsNames
from . import display
from .clip import Clip
from .job_lifecycle import JobFigures, JobLifecycle, JobServices, JobSnapshot, clip_missing, from_entry


@dataclass(frozen=True, kw_only=True)
class JobView(JobFigures):
    """What a card shows of a job: `job.view()`. Times in seconds, relative to now. None: not known.

        view = job.view()
        print(view.state, view.progress, view.remaining_seconds)

    `state` is `sending` (not answered yet), `pending`, `processing`, `completed`, `failed`, `refused` (the
    service said no at the submission), `uncertain` (sent, never answered), `lost` (it was accepted, its id
    never arrived), `not accepted` (it turned out not to be), `cancelled` (never sent), or a word of the
    service's own. `progress` and `download` go from 0 to 1; a completed clip whose `download` is None waits
    for its turn to be fetched. `remaining_seconds` is about how long until the job is known to have ended,
    never less than until the key may ask again; None also where it takes longer than expected.
    `from_earlier_run`: the cell was run again, and this is the job that its earlier run submitted;
    `earlier_run` says which run that was. `unanswered`: how many attempts before the last were never
    answered, and may be billed too. `unheard`: it was taken up by its id, and the service hasn't said
    anything about it yet. `given_up`: the service keeps saying that it doesn't know the job. `ahead`: how
    many clips a class's room sends before it, None where it waits in no queue.
    """

    elapsed_seconds: float
    remaining_seconds: float | None = None
    took_seconds: float | None = None
    asked_seconds_ago: float | None = None
    next_ask_in_seconds: float | None = None
    waiting_seconds: float | None = None
    error: str | None = None
    download: float | None = None
    from_earlier_run: bool = False
    earlier_run: EarlierRun | None = None
    unheard: bool = False

    @property
    def price_usd(self) -> float | None:
        """What it cost, or the estimate while that isn't known."""
        return self.estimated_cost_usd if self.cost_usd is None else self.cost_usd

    @property
    def charge(self) -> states.Charge:
        """How sure it is that its price has to be paid."""
        return states.charge_of(self.state, cost_known=self.cost_usd is not None, abandoned=self.given_up)


class Job(display.Shown, SuggestsNames):
    """One submitted clip. `await job` or `job.result()` returns the Clip; in a notebook it shows a live card.

        clip = await job                # in a cell
        clip = job.result(timeout=120)  # in code that can't await

    `request` is what was asked for; `prompt` its prompt, or the one that an agent tool was called with;
    `experiment` the name that it was submitted under. Each is None where it isn't known.

    Waiting can be stopped at any time: a timeout, Stop or Ctrl-C ends the waiting and never the job, which
    goes on at the service and is billed.
    """

    def __init__(
        self, number: int, life: JobLifecycle, tell: Callable[[Job], None], entry: Entry | None = None
    ) -> None:
        self.number = number
        self.experiment = None if entry is None else entry.experiment
        self.earlier_run: EarlierRun | None = None
        self.request = life.request
        self.prompt = life.request.prompt if life.request else None
        self._submitted_at = time.time() if entry is None else entry.intended_at
        self._life = life
        self._thread = life.services.thread
        self._tell = tell
        self._listeners: Listeners[[Job]] = Listeners()
        life.changed = self._changed

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """As `SuggestsNames`; for an attribute of clips the error says to await the job."""
            __tracebackhide__ = True
            if name[0] != "_" and (hasattr(Clip, name) or name in Clip.__dataclass_fields__):
                raise AttributeError(
                    f"A job has no {name!r}, its clip has: (await job).{name}, or job.result().{name}",
                    name=name,
                    obj=None,
                )
            return super().__getattr__(name)

    @property
    def request_id(self) -> str | None:
        """The service's id; None until it has answered."""
        return self._life.request_id

    @property
    def entry_id(self) -> int | None:
        """Its number in the ledger; None for a job that the ledger doesn't know."""
        return self._life.entry_id

    @property
    def state(self) -> str:
        """One word; see `JobView`."""
        return self._life.known.state

    @property
    def status(self) -> JobStatus | None:
        """The service's last answer about the job, as the type of its state."""
        return self._life.known.status

    @property
    def error(self) -> errors.ReelbookError | None:
        """What went wrong, or None."""
        return self._life.known.error

    @property
    def clip(self) -> Clip | None:
        """The clip, once it is on the disk."""
        return self._life.known.clip

    @property
    def submitted_at(self) -> datetime:
        """When it was submitted or taken up, by this machine's clock then and in its time zone."""
        return local(self._submitted_at)

    @property
    def picked(self) -> bool:
        return self._life.known.marks.picked

    @property
    def note(self) -> str:
        """A person's note on it; empty without one."""
        return self._life.known.marks.note

    @property
    def tags(self) -> tuple[str, ...]:
        return self._life.known.marks.tags

    @property
    def from_earlier_run(self) -> bool:
        """Whether it was returned to a cell that ran again; `earlier_run` says how it was recognised."""
        return self.earlier_run is not None

    @property
    def running(self) -> bool:
        """Whether it is being sent, watched or fetched."""
        return self._life.running

    def view(self) -> JobView:
        """All that a card shows, as of now."""
        known, now = self._life.known, self._thread.now()
        ended_at, waits = known.ended_at, self._life.services.seconds_until_request()
        needs_request = known.state == states.SENDING or (known.watched and ended_at is None)

        def seconds_until(at: float | None) -> float | None:
            return None if at is None else max(at - now, waits or 0.0)

        same: dict[str, Any] = {each.name: getattr(known, each.name) for each in fields(JobFigures)}
        return JobView(
            **same,
            elapsed_seconds=max(0.0, (now if ended_at is None else ended_at) - known.began_at),
            remaining_seconds=None if ended_at is not None else seconds_until(known.known_at),
            took_seconds=known.took_seconds,
            asked_seconds_ago=None if known.asked_at is None else max(0.0, now - known.asked_at),
            next_ask_in_seconds=seconds_until(known.next_ask_at),
            waiting_seconds=waits if needs_request else None,
            error=None if known.error is None else str(known.error),
            download=known.downloaded if known.clip is None else None,
            from_earlier_run=self.from_earlier_run,
            earlier_run=self.earlier_run,
            unheard=self.request is None and known.status is None,
        )

    def result(self, timeout: float | None = None) -> Clip:
        """Waits for the clip and returns it, for code that can't await.

        `timeout` in seconds raises WaitTimeout, and the job goes on. Raises JobFailed, InsufficientBalance
        and the submission's other errors, DownloadFailed; WouldDeadlock on the session's own thread.
        """
        self._thread.refuse_own_thread()
        outcome = self._wanted()
        if not outcome.wait(timeout):
            raise errors.WaitTimeout(
                f"Not finished after {timeout:g} s. The job goes on, is watched and is billed."
            )
        return _settled(outcome)

    def __await__(self) -> Generator[Any, None, Clip]:
        return self._wait().__await__()

    def stop_watching(self) -> None:
        """Stops asking about the job. It goes on and is billed; `watch()` takes it up again."""
        self._thread.run(self._life.stop_watching)

    def watch(self) -> None:
        """Takes up a job that isn't watched, a download that broke off, or a clip that is gone or damaged.

        Raises ReelbookError where a damaged clip can't be put aside.
        """
        self._thread.run(self._life.watch)

    def cancel(self) -> bool:
        """Takes the job back if it hasn't been sent yet. Returns False if it has: it goes on and is billed.

        In a class's room a job that waits in the queue hasn't been sent; the room is asked.
        """
        if self._life.known.ahead is not None:
            return self._thread.call(self._life.take_back())
        return self._thread.run(self._life.cancel)

    def mark(
        self, *, picked: bool | None = None, note: str | None = None, tags: Iterable[str] | None = None
    ) -> None:
        """Picks it (`picked=False` takes that back), sets its note or all its tags, and leaves the rest."""
        if tags is not None:
            tags = (tags,) if isinstance(tags, str) else tuple(tags)  # not one tag for each letter
        self._thread.run(functools.partial(self._life.mark, picked=picked, note=note, tags=tags))

    def delete_clip(self) -> None:
        """Deletes the clip's file; the record, its marks and its cost stay.

        `watch()` fetches it again while its link works. Raises ReelbookError where the disk refuses.
        """
        self._thread.run(self._life.delete_clip)

    def subscribe(self, callback: Callable[[Job], None]) -> Callable[[], None]:
        """Calls `callback(job)` on the session's thread at every change. Returns a function to end that."""
        return self._listeners.subscribe(callback)

    def on_done(self, callback: Callable[[Job], object]) -> None:
        """Calls `callback(job)` once the clip is here or won't come; at once if that is so already.

            job.on_done(lambda job: print(job.prompt, job.clip or job.error))

        It is called on a thread of its own, where it may block. Its errors are logged with their traceback,
        which a notebook shows. A job that a closed session leaves behind isn't done.
        """

        def tell(outcome: Future[Clip]) -> None:
            if not isinstance(outcome.exception(), errors.SessionClosed):
                call_in_thread(callback, self)

        self._life.outcome.add_done_callback(tell)

    def __repr__(self) -> str:
        words = "nothing is known of it yet" if self.status is None else "a job taken up by its id"
        if self.prompt is not None:
            words = f"“{terminal_line(self.prompt, 40)}”"
        if self.request is not None:
            words += f", {self.request.duration_seconds} s"
        if self.earlier_run is not None:
            words += f", from an earlier run, known by its {self.earlier_run.known_by}"
        no_id = "(no id)" if states.state(self.state).final else "(no id yet)"
        return terminal_line(f"<Job {self.request_id or no_id} {self.state}: {words}>")

    def _changed(self) -> None:
        self._listeners.tell(self)
        self._tell(self)

    def _wanted(self) -> Future[Clip]:
        if self._life.stopped:
            self._thread.run(self._life.watch)  # somebody waits, and so wants the clip
        return self._life.outcome

    async def _wait(self) -> Clip:
        outcome = self._wanted()
        await until_done(outcome)
        return _settled(outcome)


def _settled(outcome: Future[Clip]) -> Clip:
    if (error := outcome.exception()) is not None:
        raise copy.copy(error)  # the same one, raised again, would have a longer traceback each time
    return outcome.result()


# What becomes of a job when its session is closed.
_NOT_SENT: Final = " before this was sent. Nothing was paid. The next session's resume(unsent=True) sends it."
_UNANSWERED: Final = (
    " before the service answered. It may be making this clip, and may bill it. The next session's "
    "reconcile() finds out."
)
_GOES_ON: Final = ". The job goes on at the service and is billed; the next session's resume() takes it up."


@dataclass(eq=False)
class JobRegistry(JobServices):
    """Makes a session's `Job`s, one for each of the ledger's entries. `tell` hears of every change.

    It works on the session's thread, so that nobody finds an entry before its job is made.
    """

    images: RecentImages
    tell: Callable[[Job], None]

    def __post_init__(self) -> None:
        super().__post_init__()
        self._jobs: dict[JobLifecycle, Job] = {}
        self._found: dict[int, Job] = {}  # by the number of their entry
        self._warner = SpendWarner(self.ledger)

    def __iter__(self) -> Iterator[Job]:
        """Iterates over the jobs that were submitted or taken up here, oldest first; on any thread."""
        return iter([self._jobs[life] for life in list(self.own)])  # in one step

    @property
    def observed(self) -> bool:
        """Whether anything, such as a card, displays one of them."""
        return any(job._listeners for job in self)

    def submit(self, batch: Sequence[Submission], warn: Warn, *, withdrawn: Callable[[], bool]) -> list[Job]:
        """Records all of them or none, and starts the new ones, in one step on the session's thread.

        Raises SpendLimitReached, LedgerUnavailable, and SpendingWarning where that is an error.
        """
        funds = self.ledger.funds()
        written = self.ledger.intend(batch, withdrawn=withdrawn)
        new = {entry.id: entry for entry, earlier in written if earlier is None}
        jobs = []
        try:
            self._warner.look(list(new.values()), funds, warn)
            for each, (entry, earlier) in zip(batch, written, strict=True):
                if earlier is None:
                    jobs.append(
                        self._intended(each.request, entry, funds, retry_uncertain=each.retry_uncertain)
                    )
                else:
                    jobs.append(self.of(entry, watch=True))
                    jobs[-1].earlier_run = earlier
        except BaseException:
            for entry_id in new:
                self.ledger.cancelled(entry_id)
            raise
        for job in jobs:
            if job.entry_id in new:
                job._life.begin()
        return jobs

    def send_unsent(self, warn: Warn) -> list[Job]:
        """Submits what kernels left unsent, except where an image wasn't kept. Raises as `submit` does."""
        left, funds = self.ledger.left_unsent(), self.ledger.funds()
        requests = {entry.id: replace(self._request(entry)) for entry in left}  # validated again
        written = self.ledger.intend_again([entry for entry in left if requests[entry.id].complete])
        try:
            self._warner.look(written, funds, warn)
            jobs = [self._intended(requests[entry.id], entry, funds) for entry in written]
        except BaseException:
            for entry in written:
                self.ledger.cancelled(entry.id, left_unsent=True)
            raise
        for job in jobs:
            job._life.begin()
        return jobs

    def keep_images(self, requests: Iterable[JobRequest]) -> None:
        """Keeps the images of submitted jobs for later kernels. One that can't be kept is skipped."""
        images = {id(image): image for request in requests if (image := request.image) is not None}
        for image in images.values():
            with contextlib.suppress(OSError):
                self.images.keep(image)

    def take_up(self, request_id: str) -> Job:
        """The job with the service's id, watched."""
        for job in self:
            if job.request_id == request_id:
                return _watched(job)
        if (entry := self.ledger.by_request_id(request_id)) is not None:
            return self.of(entry, watch=True)
        known = JobSnapshot(began_at=self.thread.now(), state=wire.PENDING, request_id=request_id)
        job = self._new(JobLifecycle(self, None, known))
        job.prompt = self.ledger.tool_calls.prompt_of(request_id)
        job._life.begin()
        return job

    def resume(self) -> list[Job]:
        """Takes up what kernels that are gone have left unfinished."""
        return [self.of(entry, watch=True) for entry in self.ledger.left_over()]

    def find(self, wanted: Filter, *, sort: Sort, limit: int, after: Job | None) -> list[Job]:
        """The account's jobs in the ledger, after the job `after`. Finding a job doesn't watch it."""
        # A job that was taken up by an id which the ledger doesn't know is known only here.
        first = after is None and wanted == EVERYTHING
        foreign = [job for job in self if job.entry_id is None and first]
        behind = None if after is None else after.entry_id
        entries = self.ledger.find(wanted, sort=sort, limit=limit, after=behind)
        return [*reversed(foreign), *(self.of(entry, watch=False) for entry in entries)][:limit]

    def heard_balance(self, balance_usd: float) -> None:
        """Notes a new balance: jobs that ended meanwhile show what they left of it."""
        for life in self.own:
            if life.known.ended_at is not None and life.known.balance_after_usd is None:
                life.learn(balance_after_usd=balance_usd)

    def watched_clip_id(self) -> str | None:
        """The id of a clip in progress that the service was already asked about; None without one."""
        asked = (life for life in self.own if life.running and life.known.asked_at is not None)
        return next((life.request_id for life in asked if life.request_id is not None), None)

    def close(self) -> int:
        """Tells those who still wait that nothing watches their jobs now. Returns how many weren't sent."""
        unsent = 0
        for life in [each for each in self.own if not each.outcome.done()]:
            # Not one whose first attempt wasn't answered: it may have been bought.
            asked = life.request_id is None and not life.known.unanswered
            entry = self.ledger.get(life.entry_id) if asked and life.entry_id is not None else None
            left = _UNANSWERED if life.request_id is None else _GOES_ON
            if entry is not None and entry.state == states.INTENDED:
                unsent += 1
                left = _NOT_SENT
            life.finish(error=errors.SessionClosed(f"The session was closed{left}"))
        return unsent

    def of(self, entry: Entry, *, watch: bool) -> Job:
        """The job of an entry: the one that exists, or one made from the ledger."""
        for job in self:
            if job.entry_id == entry.id:
                return _watched(job) if watch else job
        known = self._remembered(entry)
        if entry.id not in self._found:
            life = JobLifecycle(self, self._request(entry), known, entry_id=entry.id)
            self._found[entry.id] = self._new(life, entry)
        job = self._found[entry.id]
        life = job._life
        life.known = known
        life.reopen()  # another kernel may have moved it on
        if not known.open:
            life.settle(known.clip, known.error)
            if watch and states.state(known.state).final:  # another kernel is still sending the rest
                self.own[life] = None
        elif watch:
            life.watch()
        return job

    def _intended(
        self, request: JobRequest, entry: Entry, funds: Funds | None, *, retry_uncertain: bool = False
    ) -> Job:
        known = JobSnapshot(
            began_at=self.thread.now(),
            estimated_cost_usd=request.estimated_cost_usd,
            balance_before_usd=None if funds is None else funds.heard_usd,
        )
        self._found.pop(entry.id, None)  # of one that was left unsent
        life = JobLifecycle(self, request, known, entry_id=entry.id, retry_uncertain=retry_uncertain)
        return self._new(life, entry)

    def _new(self, life: JobLifecycle, entry: Entry | None = None) -> Job:
        self._jobs[life] = Job(len(self._jobs) + 1, life, self.tell, entry)
        return self._jobs[life]

    def _request(self, entry: Entry) -> JobRequest:
        """What was asked for, with its image if that is still among the recent ones."""
        if entry.image_digest is None:
            return entry.request
        return replace(entry.request, image=self.images.find(entry.image_digest))

    def _remembered(self, entry: Entry) -> JobSnapshot:
        """What the ledger knows of a job, on the session's clock."""
        ago = self.thread.now() - time.time()
        clip = clip_of(entry, sandbox=self.connection.service == "sandbox")
        return JobSnapshot(
            began_at=(entry.accepted_at or entry.intended_at) + ago,
            state=entry.shown_state,
            request_id=entry.request_id,
            watched=False,
            progress=1.0 if clip else entry.progress,
            ended_at=None if entry.ended_at is None else entry.ended_at + ago,
            estimated_cost_usd=entry.estimated_cost_usd,
            estimated_duration_seconds=entry.estimated_duration_seconds,
            cost_usd=entry.cost_usd,
            error=_error(entry, clip),
            given_up=entry.abandoned_at is not None,
            clip=clip,
            marks=entry.marks,
        )


def _watched(job: Job) -> Job:
    if job._life.known.open and not job.running:
        job._life.watch()
    return job


def _error(entry: Entry, clip: Clip | None) -> errors.ReelbookError | None:
    said = entry.error or ""
    if entry.abandoned_at is not None:
        return errors.NotFound(said, answer=errors.Answer(404))
    # What was recorded for these two is older than what is known of them now.
    if entry.state == states.LOST:
        return errors.SubmissionUncertain(
            "The service accepted this clip, and its id never arrived. It counts as spent. Look for it in "
            "the service's web app; sending it again costs as much again.",
            estimated_cost_usd=entry.estimated_cost_usd,
        )
    if entry.state == states.NOT_ACCEPTED:
        return errors.ReelbookError(
            "The service never answered, and nothing was paid for it. Send it again if you want the clip."
        )
    if entry.state in (states.SENDING, states.INTENDED, states.UNCERTAIN):
        return errors.SubmissionUncertain(
            said or "Another kernel is sending this; it has no id yet.",
            estimated_cost_usd=entry.estimated_cost_usd,
        )
    if entry.state == states.REFUSED:
        return errors.ReelbookError(said or "The service never took this job. Nothing was paid.")
    if entry.state == states.CANCELLED:
        return errors.SubmissionCancelled(said or "Taken back before it was sent. Nothing was paid.")
    if entry.state == wire.FAILED:
        return job_failed(entry.request_id or "", entry.error)
    if entry.state == wire.COMPLETED and clip is None:
        return clip_missing(entry.clip_path)
    return None


def clip_of(entry: Entry, *, sandbox: bool) -> Clip | None:
    """The entry's clip, if its file is still there."""
    if entry.request_id is None or entry.clip_path is None or not Path(entry.clip_path).exists():
        return None
    return Clip(
        Path(entry.clip_path),
        entry.request_id,
        request=entry.request,
        cost_usd=entry.cost_usd,
        sandbox=sandbox,
        **from_entry(entry),
    )
