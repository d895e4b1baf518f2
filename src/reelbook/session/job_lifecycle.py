"""One job's life, from its submission to the clip on the disk: its state, and the task that moves it along.

All of it happens on the session's thread. The state is replaced as a whole, so any thread may read it.
"""

import asyncio
import contextlib
import logging
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeVar

from .. import errors, states, timing, wire
from ..account.balance import BalanceTracker
from ..account.connection import Connection
from ..client.client import SubmissionRecord
from ..client.downloads import LONGEST_SECONDS, SUFFIX_BYTES, limit_bytes
from ..client.forecast import known_at
from ..client.scheduling.estimates import Belief, Pace, Took
from ..client.watch import PATIENCE_SECONDS, Observation, job_failed
from ..event_thread import EventThread, Future
from ..formatting import dollars, file_name, local
from ..ledger import Entry, Ledger, Marks
from ..models import Accepted, Completed, Failed, JobStatus, Pending, state_of
from ..requests import JobRequest
from .clip import Clip

T = TypeVar("T")

_log = logging.getLogger(__name__)

DOWNLOADS_AT_A_TIME: Final = 2
ESTIMATE_SECONDS: Final = 1.0  # how often the times left are computed, and to what precision
FRESH_LINKS: Final = 3
LOCKED_SECONDS: Final = 0.25  # until a ledger that another program has locked is tried again
REPORT_STEP: Final = 0.05
SAME_SECONDS: Final = 0.5
TAKEN_BACK: Final = "Taken back before it was sent. Nothing was paid."
GIVEN_UP: Final = (
    "It has said so every time, so Reelbook has stopped asking. The job is kept, and may be billed: "
    "watch() asks a few more times, and so does resume() for a week."
)


@dataclass(frozen=True, kw_only=True)
class JobFigures:
    """What a `JobSnapshot` and a `JobView` both have, in the same words: see `JobView`."""

    state: str = states.SENDING
    watched: bool = True
    progress: float | None = None
    estimated_cost_usd: float | None = None
    cost_usd: float | None = None
    balance_before_usd: float | None = None
    balance_after_usd: float | None = None
    unanswered: int = 0
    given_up: bool = False
    ahead: int | None = None


@dataclass(frozen=True, kw_only=True)
class JobSnapshot(JobFigures):
    """All that is known of a job at one moment. Times are the session's clock, in seconds."""

    began_at: float
    accepted_at: float | None = None  # None: as `began_at`, or not yet
    request_id: str | None = None
    status: JobStatus | None = None
    known_at: float | None = None  # about when its end will be known
    ended_at: float | None = None
    asked_at: float | None = None
    next_ask_at: float | None = None
    estimated_duration_seconds: float | None = None
    error: errors.ReelbookError | None = None
    downloaded: float | None = None
    clip: Clip | None = None
    marks: Marks = Marks()  # noqa: RUF009 - frozen

    @property
    def took_seconds(self) -> float | None:
        """How long it took; of a clip only where one kernel watched all of it."""
        if self.clip is not None:
            return self.clip.took_seconds
        return None if self.ended_at is None else max(0.0, self.ended_at - self.began_at)

    @property
    def open(self) -> bool:
        """Whether there is something to ask about or to fetch; never without an id."""
        return self.request_id is not None and self.clip is None and not states.state(self.state).missing


@dataclass(eq=False)
class JobServices:
    """What the jobs of one session share: its client, its ledger, and what is learnt about their times.

    `own` are those submitted or taken up here, oldest first, `active` those that a task moves along now.
    """

    connection: Connection
    ledger: Ledger
    balance: BalanceTracker
    thread: EventThread
    clips: Path

    def __post_init__(self) -> None:
        self.client = self.connection.client
        self.own: dict[JobLifecycle, None] = {}
        self.active: dict[JobLifecycle, None] = {}
        self.downloads = asyncio.Semaphore(DOWNLOADS_AT_A_TIME)
        # Shared while a job of the kind is in progress; after that the ledger's records count.
        self._paces: weakref.WeakValueDictionary[tuple[object, ...], Pace] = weakref.WeakValueDictionary()
        self._estimating: asyncio.Task[None] | None = None

    def seconds_until_request(self) -> float | None:
        """The seconds until the key may ask again; None if it may now."""
        return self.client.budget(self.thread.now()).back_in_seconds

    async def answered(self) -> None:
        """Returns once every submission that is out has its answer: without it nobody knows the job's id."""
        while out := [life for life in self.active if not life.quiet.is_set()]:
            await out[0].quiet.wait()

    async def submitted(self) -> None:
        """Returns once every job has its id, or has ended without one."""
        while waiting := [life for life in self.active if life.request_id is None]:
            await waiting[0].submitted.wait()

    def pace(self, request: JobRequest) -> Pace:
        kind = (request.mode, request.duration_seconds, request.aspect_ratio)
        if (pace := self._paces.get(kind)) is None:
            took = self.ledger.took_seconds(request) or timing.current().took
            pace = self._paces[kind] = Pace([Took(*each) for each in took])
        return pace

    def estimate(self) -> None:
        """Computes for all jobs together when their ends will be known, and tells where that has changed."""
        now = _now()
        watched = [life for life in self.active if life.asked_about]
        # Jobs that run longer than expected take requests, too.
        asked_at = {life: max(life.ends_at or 0.0, life.known.next_ask_at or 0.0) for life in watched}
        unsent = sum(life.request_id is None and life.quiet.is_set() for life in self.active)
        known = known_at(self.client.budget(now), asked_at, unsent)
        for life in watched:
            was = life.known.known_at
            # A time that has passed says nothing any more; the question that settles it is due.
            at = known[life] if life.ends_at is not None and known[life] > now else None
            if (at is None) != (was is None) or abs((at or 0.0) - (was or 0.0)) > ESTIMATE_SECONDS:
                life.learn(known_at=at)
        # Other requests to the service delay the estimates.
        if watched and (self._estimating is None or self._estimating.done()):
            self._estimating = self.thread.spawn(self._estimate_again())

    async def _estimate_again(self) -> None:
        while any(life.asked_about for life in self.active):
            await asyncio.sleep(ESTIMATE_SECONDS)
            self.estimate()


class JobLifecycle(SubmissionRecord):
    """The life of one job: its state, the task that moves it along, and the outcome that people wait for.

    `entry_id` is its number in the ledger, None for one taken up by its id alone; `changed` hears of changes.
    """

    def __init__(
        self,
        services: JobServices,
        request: JobRequest | None,
        known: JobSnapshot,
        *,
        entry_id: int | None = None,
        retry_uncertain: bool = False,
    ) -> None:
        self.services = services
        self.request = request
        self.known = known
        self.entry_id = entry_id
        self.outcome: Future[Clip] = Future()
        self.changed: Callable[[], None] = lambda: None
        self.ends_at: float | None = None  # by its own pace, however many requests the key has
        self.quiet = asyncio.Event()  # no request for it is waiting for an answer
        self.quiet.set()
        self.submitted = asyncio.Event()  # it has its id, or ended without one
        self._retry_uncertain = retry_uncertain
        self._unanswered: list[int] = []  # entries of attempts that were never answered, and were repeated
        self._task: asyncio.Task[None] | None = None
        self._watch_wanted = True  # False: it isn't watched once it has its id
        self._cancel_reason: str | None = None  # why it is to be taken back as soon as that can't cost money

    @property
    def request_id(self) -> str | None:
        return self.known.request_id

    @property
    def running(self) -> bool:
        return self.known.watched and not self.outcome.done()

    @property
    def asked_about(self) -> bool:
        """Whether the service is being asked about it now."""
        return self.request_id is not None and self.running and self.known.ended_at is None

    def begin(self) -> None:
        """Submits the job, or watches it where it has an id already; from then on it is the session's own."""
        self.services.own[self] = None
        if self._task is not None and not self._task.cancelling():
            return
        if self.request_id is not None:
            self.keep(watched=True, error=None)
        if self._task is None:
            self._start()
        else:  # the watch that is being ended comes to its end first
            self._task.add_done_callback(lambda _: self._start())
        self.changed()

    def watch(self) -> None:
        """Goes on with a job whose clip isn't here. A damaged one stays beside the one that is fetched."""
        self._watch_wanted = True
        clip = self.known.clip
        if clip is not None and not clip._can_be_read:
            with _file_is("put aside", clip):
                clip.path.replace(clip.path.with_suffix(".damaged"))
            self.lost_clip()
        if self.known.open:
            self.reopen()
            self.begin()

    def stop_watching(self) -> None:
        """Ends the watch, at once or as soon as the job has an id. Its waiters keep waiting."""
        if self.request_id is None:
            self._watch_wanted = False
        elif self._task is not None:
            self._task.cancel()
            self.learn(watched=False, next_ask_at=None, known_at=None)

    def cancel(self, reason: str = TAKEN_BACK, *, later: bool = False) -> bool:
        """Takes it back and returns True if it wasn't sent; with `later`, also once an attempt has failed."""
        if self.known.state != states.SENDING or self._task is None:
            return False
        if not self.quiet.is_set():
            if later:
                self._cancel_reason = reason
            return False
        if not self.services.ledger.cancelled(_required(self.entry_id)):
            return False
        self._task.cancel()
        error = errors.SubmissionCancelled(reason)
        self.finish(error=error, state=states.CANCELLED, ended_at=_now())
        return True

    async def take_back(self) -> bool:
        """Takes it back out of a class's queue. Returns False if it isn't in one, or was sent meanwhile."""
        client, request_id = self.services.client, self.request_id
        if request_id is None or self.known.ahead is None or "take_back" not in client.offers:
            return False
        try:
            await client.take_back(request_id)
        except (errors.BadRequest, errors.NotFound):
            return False
        self.stop_watching()
        if self.entry_id is not None:
            self.services.ledger.ended(self.entry_id, states.CANCELLED)
        self.finish(
            error=errors.SubmissionCancelled(TAKEN_BACK), state=states.CANCELLED, ended_at=_now(), ahead=None
        )
        return True

    def mark(self, *, picked: bool | None, **changes: Any) -> None:
        """Changes a person's marks. Without a ledger's entry they last as long as this kernel."""
        given = {name: value for name, value in changes.items() if value is not None}
        if picked is not None and picked != self.known.marks.picked:
            given["picked_at"] = time.time() if picked else None
        marks = replace(self.known.marks, **given)
        if self.entry_id is not None:
            marks = self.services.ledger.mark(self.entry_id, marks)
        self.learn(marks=marks)

    def delete_clip(self) -> None:
        """Deletes its file, as if the clip had been lost."""
        if self.known.clip is not None:
            with _file_is("deleted", self.known.clip):
                self.known.clip.path.unlink()
            self.lost_clip()

    def keep(self, **changes: Any) -> None:
        """Stores what was learnt, without telling anybody yet."""
        self.known = replace(self.known, **changes)

    def learn(self, **changes: Any) -> None:
        """Stores what was learnt, and tells everybody."""
        self.keep(**changes)
        self.changed()

    def finish(
        self, clip: Clip | None = None, error: errors.ReelbookError | None = None, **changes: Any
    ) -> None:
        """Stores the last thing learnt together with the outcome: no callback sees it half ended."""
        over = {"watched": False, "next_ask_at": None, "known_at": None, "clip": clip, "error": error}
        self.keep(**(over | changes))
        self.settle(clip, error)
        self.changed()

    def settle(self, clip: Clip | None = None, error: errors.ReelbookError | None = None) -> None:
        """Sets the outcome, unless there is one, for everybody who waits now or later."""
        if self.outcome.done():
            return
        if error is not None:
            self.outcome.set_exception(error)
        elif clip is not None:
            self.outcome.set_result(clip)

    def reopen(self) -> None:
        """Clears the outcome: whoever waits from now on waits for another."""
        if self.outcome.done():
            self.outcome = Future()

    def found_out(self, state: str, error: errors.ReelbookError) -> None:
        """Stores what became of it, or why that can't be told, as the outcome from now on."""
        self.reopen()
        self.finish(error=error, state=state)

    def accepted_as(self, request_id: str) -> None:
        """It was accepted, under this id: it goes on."""
        self.reopen()
        self.keep(state=wire.PENDING, request_id=request_id, accepted_at=_now(), ended_at=None, error=None)
        self.begin()

    def lost_clip(self) -> None:
        """Its file is gone: whoever waits from now on waits for it to be fetched again."""
        assert self.known.clip is not None
        self.reopen()
        self.learn(clip=None, downloaded=None, error=clip_missing(self.known.clip.path))

    @property
    def stopped(self) -> bool:
        """Whether its watch was stopped, or will be once it has its id. Certain on the session's thread."""
        watched = self.known.watched and self._watch_wanted
        return not watched and not self.outcome.done()

    def _start(self) -> None:
        if self._task is not None or not self.running:
            return
        self.services.active[self] = None
        self._task = self.services.thread.spawn(self._run())
        self._task.add_done_callback(lambda _: self._ended())

    def _ended(self) -> None:
        self._task, self.ends_at = None, None
        del self.services.active[self]
        self.submitted.set()

    async def _run(self) -> None:
        try:
            if self.request_id is None:
                await self._submit()
                if not self._watch_wanted:
                    self._watch_wanted = True
                    self.learn(watched=False)
                    return
            if not isinstance(self.known.status, Completed):
                await self._watch()
            if isinstance(self.known.status, Completed):
                await self._download(self.known.status)
        except errors.ReelbookError as error:
            if isinstance(error, errors.NotFound) and self.request_id is not None:
                error = self._given_up(error)
            self.finish(error=error)
        except Exception as bug:
            self.finish(error=unforeseen(bug))
            raise

    def _given_up(self, error: errors.NotFound) -> errors.NotFound:
        """The error of a job that the service doesn't know. Later kernels ask again, less often."""
        said = errors.NotFound(f"{error} {GIVEN_UP}", answer=error.answer)
        self.learn(given_up=True)
        if self.entry_id is not None:
            self.services.ledger.abandoned(self.entry_id, str(said))
        return said

    async def _submit(self) -> None:
        ledger, balance = self.services.ledger, self.services.balance
        try:
            accepted = await self._send()
            self._refuse_anothers_id(accepted.request_id)
        except errors.ReelbookError as error:
            uncertain = isinstance(error, errors.SubmissionUncertain)
            state = states.UNCERTAIN if uncertain else states.REFUSED
            ledger.ended(_required(self.entry_id), state, str(error))
            self.learn(state=state, ended_at=_now())
            if uncertain:
                balance.answer_lost()
            elif isinstance(error, errors.InsufficientBalance):
                balance.moved()
            raise
        finally:
            self._cancel_reason = None
            self.quiet.set()
        # Before it is recorded: whatever happens to the ledger, the job has its id.
        self.keep(
            state=accepted.status,
            accepted_at=_now(),
            request_id=accepted.request_id,
            ahead=accepted.queue_position,
            estimated_cost_usd=accepted.estimated_cost_usd or self.known.estimated_cost_usd,
            estimated_duration_seconds=accepted.estimated_duration_seconds,
        )
        self.submitted.set()
        try:
            ledger.accepted(
                _required(self.entry_id),
                accepted.request_id,
                estimated_cost_usd=accepted.estimated_cost_usd or None,  # as the job's card shows it
                estimated_duration_seconds=accepted.estimated_duration_seconds,
            )
        except Exception as error:
            raise errors.ReelbookError(
                f"The service took this clip as {accepted.request_id}, but the ledger couldn't keep that id: "
                f"{error!r}. The job goes on and is billed. Note the id; watch() fetches the clip."
            ) from error
        self.changed()

    async def _send(self) -> Accepted:
        """Sends it. Any other error becomes a ReelbookError, so that a paid request always gets a verdict."""
        try:
            await self.services.connection.reach()
            while True:
                try:
                    return await self.services.client.submit(
                        _required(self.request), retry_uncertain=self._retry_uncertain, record=self
                    )
                except errors.LedgerLocked as locked:  # nothing went out
                    self.learn(error=locked)
                    await asyncio.sleep(LOCKED_SECONDS)
                    self.learn(error=None)
        except errors.ReelbookError as error:
            if isinstance(error, errors.SubmissionUncertain) and error.refusal is not None:
                self.services.ledger.ended(_required(self.entry_id), states.REFUSED, str(error.refusal))
                self.entry_id = self._unanswered[-1]
            raise
        except Exception as bug:
            if self.quiet.is_set():
                raise unforeseen(bug) from bug
            raise self._uncertain(
                f"{unforeseen(bug)}. It was sent, so the service may be making this clip all the same"
            ) from bug

    def _uncertain(self, said: str) -> errors.SubmissionUncertain:
        cost = _required(self.request).estimated_cost_usd
        return errors.SubmissionUncertain(
            f"{said}, and may bill {dollars(cost)}. It was not sent again.", estimated_cost_usd=cost
        )

    # What the client reports of its attempts, and asks: see `SubmissionRecord`.

    def repeat_key(self) -> str:
        """The same for every attempt, in later kernels too."""
        return _required(self.services.ledger.get(_required(self.entry_id))).repeat_key

    def sending(self) -> None:
        if self._cancel_reason is not None:
            # After an attempt that was never answered: nobody can say any more that nothing was paid.
            raise errors.SubmissionCancelled("It was taken back.")
        if not self.services.ledger.sending(_required(self.entry_id)):
            raise errors.SubmissionCancelled(TAKEN_BACK)
        self.quiet.clear()

    def unsent(self) -> None:
        self.services.ledger.unsent(_required(self.entry_id))
        if not self._unanswered:
            self.quiet.set()
            if self._cancel_reason is not None:
                self.cancel(self._cancel_reason)

    def unanswered(self, error: errors.ReelbookError) -> None:
        if self._cancel_reason is not None:
            raise errors.SubmissionCancelled("It was taken back.")
        entry_id = _required(self.entry_id)
        self.entry_id = self.services.ledger.repeat(entry_id, _required(self.request), error)
        self._unanswered.append(entry_id)
        self.services.balance.answer_lost()
        self.learn(unanswered=len(self._unanswered))

    def _refuse_anothers_id(self, request_id: str) -> None:
        """Raises SubmissionUncertain for an id that another job has: nobody could tell their clips apart."""
        other = self.services.ledger.by_request_id(request_id)
        if other is None or other.id == self.entry_id:
            return
        error = self._uncertain(
            f"The service answered with the id of another job, {request_id}, “{other.prompt[:40]}”, so they "
            "can't be told apart. It may be making this clip too"
        )
        _log.warning("%s", error)
        raise error

    async def _watch(self) -> None:
        belief = self._belief()
        self._expect(belief.remaining_seconds(_now()))
        self.services.estimate()
        # One that was given up is asked about a few more times: the service may have found it again.
        patience = 0.0 if self.known.given_up else PATIENCE_SECONDS
        watching = self.services.client.watch(
            _required(self.request_id), belief=belief, patience_seconds=patience
        )
        async with aclosing(watching) as observations:
            async for seen in observations:
                if isinstance(seen.error, errors.ServiceUnreachable):
                    await self.services.connection.reach()
                self._observe(seen)
        if isinstance(status := self.known.status, Failed):
            self.services.balance.moved()
            raise job_failed(status.request_id, status.error)

    def _belief(self) -> Belief:
        request, estimate = self.request, self.known.estimated_duration_seconds
        # The wait for the rate limit isn't part of the time that the service takes.
        submitted_at = self.known.accepted_at or self.known.began_at
        if request is None:
            return Belief(Pace(), submitted_at)
        # The interface doesn't say what is estimated: this may be the clip's length.
        if estimate is not None and abs(estimate - request.duration_seconds) < SAME_SECONDS:
            estimate = None
        return Belief(self.services.pace(request), submitted_at, estimate)

    def _expect(self, remaining_seconds: float | None) -> None:
        """Expects its end in so many seconds. 0: it runs longer than expected, so nothing is known."""
        self.ends_at = _now() + remaining_seconds if remaining_seconds else None

    def _observe(self, seen: Observation) -> None:
        known, status = self.known, seen.status
        changes: dict[str, object] = {
            "asked_at": seen.asked_at or known.asked_at,
            "next_ask_at": seen.next_ask_at,
            "error": seen.error,
        }
        if seen.progress is not None:
            changes["progress"] = max(seen.progress, known.progress or 0.0)
        if status is not None:
            ahead = status.queue_position if isinstance(status, Pending) else None
            changes |= {"status": status, "state": state_of(status), "ahead": ahead, "given_up": False}
        if isinstance(status, Completed | Failed):
            changes |= {"ended_at": _now(), "known_at": None, "cost_usd": status.cost_usd}
        elif status is not None and status.estimated_cost_usd is not None:
            changes["estimated_cost_usd"] = status.estimated_cost_usd
        if isinstance(status, Completed):
            changes["progress"] = 1.0
        if isinstance(status, Failed):
            changes["error"] = job_failed(status.request_id, status.error)
        self.keep(**changes)
        self._expect(seen.remaining_seconds)
        self.services.estimate()
        self.changed()
        if status is not None:
            self.write_down(status, seen.took and (seen.took.at_least, seen.took.at_most))

    def write_down(self, status: JobStatus, took: tuple[float, float] | None = None) -> None:
        """Records the service's answer; of a foreign job only the cost. `took`: at least, at most seconds."""
        if self.entry_id is not None:
            self.services.ledger.status(self.entry_id, status, progress=self.known.progress, took=took)
        elif isinstance(status, Completed):
            self.services.ledger.tool_jobs.ended(
                status.request_id, seconds=status.duration_seconds, cost_usd=status.cost_usd
            )

    async def _download(self, status: Completed) -> None:
        self.learn(downloaded=None)
        self.services.balance.moved()
        for links_left in reversed(range(FRESH_LINKS + 1)):
            try:
                async with self.services.downloads:
                    await self._fetch(status)
                return
            except errors.LinkExpired as expired:
                status = await self._with_fresh_link(status, expired, links_left)

    async def _with_fresh_link(
        self, status: Completed, expired: errors.LinkExpired, links_left: int
    ) -> Completed:
        """The job's status now, with another link than the expired one. Raises LinkExpired if it has none."""
        said = f"{FRESH_LINKS} fresh links that the service gave don't work either."
        if links_left:
            said = "The service gives no other link now."
            try:
                fresh = await self.services.client.status(status.request_id, for_download=True)
            except errors.ReelbookError as error:
                fresh, said = status, f"The service couldn't be asked for another: {error}"
            if isinstance(fresh, Completed) and fresh.video_url and fresh.video_url != status.video_url:
                self.learn(status=fresh)
                self.write_down(fresh)
                return fresh
        raise errors.LinkExpired(f"{expired} {said} What arrived is kept; fetch it again later.") from None

    async def _fetch(self, status: Completed) -> None:
        if not status.video_url:
            raise errors.LinkExpired("The service says the clip is completed, but not where it is.")
        path = self.services.clips / file_name(status.request_id, ".mp4", room=SUFFIX_BYTES)
        seconds = min(status.duration_seconds or LONGEST_SECONDS, LONGEST_SECONDS)
        asked = seconds if self.request is None else self.request.duration_seconds

        def report(done: int, total: int | None) -> None:
            fraction = done / total if total else 0.0
            if fraction - (self.known.downloaded or 0.0) >= REPORT_STEP:
                self.learn(downloaded=fraction)

        self.learn(downloaded=0.0)
        await self.services.client.download(
            status.video_url,
            path,
            report=report,
            max_bytes=limit_bytes(asked),
            expected_seconds=status.duration_seconds,
        )
        clip = Clip(
            path,
            status.request_id,
            request=self.request,
            cost_usd=status.cost_usd,
            sandbox=self.services.connection.service == "sandbox",
            **from_entry(None if self.entry_id is None else self.services.ledger.get(self.entry_id)),
        )
        if self.entry_id is not None:
            self.services.ledger.downloaded(self.entry_id, path)
        self.finish(clip, downloaded=None)


def from_entry(entry: Entry | None) -> dict[str, Any]:
    """What a clip has from its entry alone: when it was asked for, how long it took, a sweep's template."""
    if entry is None:
        return {}
    kept = {name: entry.record[name] for name in ("template", "slots") if name in entry.record}
    made_at = local(entry.intended_at).replace(microsecond=0)
    return {"made_at": made_at, "took_seconds": entry.took_seconds, **kept}


def clip_missing(path: Path | str | None) -> errors.DownloadFailed:
    where = f" It was at {path}." if path else ""
    return errors.DownloadFailed(
        f"The clip isn't on this disk.{where} watch() fetches it while its link works."
    )


@contextlib.contextmanager
def _file_is(done: str, clip: Clip) -> Iterator[None]:
    """A file that is gone already is fine. Raises ReelbookError where the disk refuses."""
    try:
        yield
    except FileNotFoundError:
        pass
    except OSError as disk:
        raise errors.ReelbookError(
            f"The clip's file couldn't be {done}: {disk.strerror or disk}. It is still there: {clip.path}."
        ) from disk


def unforeseen(bug: Exception) -> errors.ReelbookError:
    """A bug of ours, or of a library, as an error that callers expect."""
    return errors.ReelbookError(f"Something unexpected went wrong: {bug!r}")


def _now() -> float:
    return asyncio.get_running_loop().time()


def _required(value: T | None) -> T:
    """A value that the job has by now: its request and entry if submitted here, its id once accepted."""
    assert value is not None
    return value
