"""A job's way from the submission to the clip on the disk, on the session's thread."""

from __future__ import annotations

import asyncio
import logging
import weakref
from contextlib import aclosing
from pathlib import Path

from ..account.balance import BalanceTracker
from ..account.connection import Connection
from ..client.downloads import LONGEST_SECONDS, SUFFIX_BYTES, limit_bytes
from ..client.scheduling.estimates import Belief, Pace, Took
from ..client.scheduling.forecast import known_at
from ..client.scheduling.watch import PATIENCE_SECONDS, Observation, job_failed
from ..errors import (
    InsufficientBalance,
    LedgerLocked,
    LinkExpired,
    NotFound,
    ReelbookError,
    ServiceUnreachable,
    SubmissionCancelled,
    SubmissionUncertain,
)
from ..event_thread import EventThread
from ..formatting import dollars, file_name
from ..ledger import CANCELLED, REFUSED, SENDING, UNCERTAIN
from ..ledger.account_ledger import AccountLedger
from ..models import Accepted, Completed, Failed, JobStatus
from ..requests import JobRequest
from .clip import Clip
from .job import Job, state_of, unforeseen

_log = logging.getLogger(__name__)

REPORT_STEP = 0.05
SAME_SECONDS = 0.5
ESTIMATE_SECONDS = 1.0  # how often it is looked whether the time left is still right, and to what it is
ANSWER_LOOK_SECONDS = 0.02
LOCKED_SECONDS = 0.25
DOWNLOADS_AT_A_TIME = 2
FRESH_LINKS = 3
TAKEN_BACK = "Taken back before it was sent. Nothing was paid."
GIVEN_UP = (
    "It said so every time it was asked, so Reelbook asks no more. The job is kept, and may be billed: "
    "watch() asks a few times more, and so does resume() in the week to come."
)


class JobLifecycle:
    """Carries jobs through, one task a job; what it learns goes into the job at once."""

    def __init__(
        self,
        connection: Connection,
        account: AccountLedger,
        balance: BalanceTracker,
        thread: EventThread,
        clips: Path,
    ) -> None:
        self._connection = connection
        self._client = connection.client
        self._account = account
        self._ledger = account.ledger
        self._balance = balance
        self._thread = thread
        self._clips = clips
        # Jobs of one kind share what is learnt of their time while one of them is on its way; afterwards the
        # ledger's records are all that is believed of the next ones.
        self._paces: weakref.WeakValueDictionary[tuple[object, ...], Pace] = weakref.WeakValueDictionary()
        self._ends_at: dict[Job, float] = {}  # by the jobs' own pace, whatever the key's requests allow
        self._estimating: asyncio.Task[None] | None = None
        self._tasks: dict[Job, asyncio.Task[None]] = {}
        self._again: set[Job] = set()  # to be watched anew, once the watch that is being ended has ended
        self._sent: set[Job] = set()
        self._let_be: set[Job] = set()
        self._unwanted: dict[Job, str] = {}
        self._downloads = asyncio.Semaphore(DOWNLOADS_AT_A_TIME)

    def start(self, job: Job) -> None:
        """Submits the job, or takes up its watch where it has an id already."""
        task = self._tasks.get(job)
        if task is not None and not task.cancelling():
            return
        if job.request_id is not None:
            job._learn(watched=True, error=None)
        if task is None:
            self._begin(job)
        else:
            self._again.add(job)

    def _begin(self, job: Job) -> None:
        self._again.discard(job)
        self._tasks[job] = self._thread.spawn(self._carry(job))
        self._tasks[job].add_done_callback(lambda _: self._ended(job))

    def _ended(self, job: Job) -> None:
        del self._tasks[job]
        self._ends_at.pop(job, None)
        if job in self._again:
            self._begin(job)

    async def answered(self) -> None:
        """Returns once every submission that is out has its answer: without it nobody knows the job's id."""
        while self._sent:  # noqa: ASYNC110 - a look is less than an event at each place that empties it
            await asyncio.sleep(ANSWER_LOOK_SECONDS)

    async def submitted(self) -> None:
        """Returns once every job has its id, or ended without one."""
        while any(job.request_id is None for job in self._tasks):  # noqa: ASYNC110 - as in `answered`
            await asyncio.sleep(ANSWER_LOOK_SECONDS)

    def stop_watching(self, job: Job) -> None:
        """Ends the watch of a job, at once or as soon as it has an id. Its waiters keep waiting."""
        if job.request_id is None:
            self._let_be.add(job)
        elif (task := self._tasks.get(job)) is not None:
            task.cancel()
            self._again.discard(job)
            job._learn(watched=False, next_ask_at=None, known_at=None)

    def cancel(self, job: Job, reason: str = TAKEN_BACK, *, later: bool = False) -> bool:
        """Takes a job back that wasn't sent. False if it was, or is over.

        With `later` also as soon as it turns out that what was sent had no effect.
        """
        if job.state != SENDING or job not in self._tasks:
            return False
        if job in self._sent:
            if later:
                self._unwanted[job] = reason
            return False
        if not self._ledger.cancelled(_entry(job)):
            return False
        self._tasks[job].cancel()
        error = SubmissionCancelled(reason)
        job._finish(error=error, state=CANCELLED, ended_at=_now())
        return True

    async def _carry(self, job: Job) -> None:
        try:
            if job.request_id is None:
                await self._submit(job)
                if job in self._let_be:
                    self._let_be.discard(job)
                    job._learn(watched=False)
                    return
            if not isinstance(job.status, Completed):
                await self._watch(job)
            if isinstance(job.status, Completed):
                await self._download(job, job.status)
        except ReelbookError as error:
            if isinstance(error, NotFound) and job.request_id is not None:
                error = self._given_up(job, error)
            job._finish(error=error)
        except Exception as bug:
            job._finish(error=unforeseen(bug))
            raise

    def _given_up(self, job: Job, error: NotFound) -> NotFound:
        """The error of a job that its service doesn't know. Later kernels ask again, and less often."""
        said = NotFound(f"{error} {GIVEN_UP}", answer=error.answer)
        job._learn(given_up=True)
        if job.entry_id is not None:
            self._ledger.abandoned(job.entry_id, str(said))
        return said

    async def _submit(self, job: Job) -> None:
        try:
            accepted = await self._sent_or_told(job)
            self._refuse_anothers_id(job, accepted.request_id)
        except SubmissionUncertain as error:
            self._ledger.uncertain(_entry(job), str(error))
            job._learn(state=UNCERTAIN, ended_at=_now())
            self._balance.answer_lost()
            raise
        except ReelbookError as error:
            self._ledger.refused(_entry(job), str(error))
            job._learn(state=REFUSED, ended_at=_now())
            if isinstance(error, InsufficientBalance):
                self._balance.moved()
            raise
        finally:
            self._sent.discard(job)
            self._unwanted.pop(job, None)
        # Before it is written down: whatever happens to the ledger, the job has its id.
        job._keep(
            state=accepted.status,
            accepted_at=_now(),
            request_id=accepted.request_id,
            estimated_cost_usd=accepted.estimated_cost_usd or _request(job).estimated_cost_usd,
            estimated_duration_seconds=accepted.estimated_duration_seconds,
        )
        try:
            self._ledger.accepted(
                _entry(job),
                accepted.request_id,
                estimated_cost_usd=accepted.estimated_cost_usd or None,  # as the job's card shows it
                estimated_duration_seconds=accepted.estimated_duration_seconds,
            )
        except Exception as error:
            raise ReelbookError(
                f"The service took this clip as {accepted.request_id}, but the ledger couldn't keep that id: "
                f"{error!r}. The job goes on and is billed. Note the id; watch() fetches the clip."
            ) from error
        job._learn()

    def _refuse_anothers_id(self, job: Job, request_id: str) -> None:
        """Raises SubmissionUncertain where the service gave this job an id that another one has already.

        Asked about, it would tell of the other one's clip, and nobody could say whether there is a second.
        """
        other = self._account.known(request_id)
        if other is None or other.id == job.entry_id:
            return
        cost = _request(job).estimated_cost_usd
        error = SubmissionUncertain(
            f"The service answered with the id of another job, {request_id}, “{other.prompt[:40]}”, so they "
            f"can't be told apart. It may be making this clip too, and may bill {dollars(cost)}. It was not "
            "sent again.",
            estimated_cost_usd=cost,
        )
        _log.warning("%s", error)
        raise error

    async def _sent_or_told(self, job: Job) -> Accepted:
        """The answer to the submission. What nobody foresaw is an error of our own, too: a paid request is
        never left without a verdict.
        """
        try:
            await self._connection.reach()
            return await self._send(job)
        except ReelbookError:
            raise
        except Exception as bug:
            if job not in self._sent:
                raise unforeseen(bug) from bug
            cost = _request(job).estimated_cost_usd
            raise SubmissionUncertain(
                f"{unforeseen(bug)}. The request was sent, so the service may be making this clip all the "
                f"same, and may bill {dollars(cost)}. It was not sent again.",
                estimated_cost_usd=cost,
            ) from bug

    async def _send(self, job: Job) -> Accepted:
        while True:
            try:
                return await self._attempted(job)
            except LedgerLocked as locked:  # nothing went out
                job._learn(error=locked)
                await asyncio.sleep(LOCKED_SECONDS)
                job._learn(error=None)

    async def _attempted(self, job: Job) -> Accepted:
        unanswered: list[int] = []

        def on_sending(goes_out: bool) -> None:
            if unanswered:  # nobody can say any more that nothing was paid
                self._refuse_unwanted(job)
            if not goes_out:
                self._ledger.unsent(_entry(job))
                if not unanswered:
                    self._sent.discard(job)
                    if job in self._unwanted:
                        self.cancel(job, self._unwanted[job])
                return
            if not self._ledger.sending(_entry(job)):
                raise SubmissionCancelled(TAKEN_BACK)
            self._sent.add(job)

        def on_uncertain(error: ReelbookError) -> None:
            self._refuse_unwanted(job)
            entry_id = _entry(job)
            job.entry_id = self._account.repeat(entry_id, _request(job), error)
            unanswered.append(entry_id)
            self._balance.answer_lost()
            job._learn(unanswered=len(unanswered))

        try:
            return await self._client.submit(
                _request(job),
                retry_uncertain=job.retry_uncertain,
                on_sending=on_sending,
                on_uncertain=on_uncertain,
            )
        except SubmissionUncertain as error:
            if error.refusal is not None:
                self._ledger.refused(_entry(job), str(error.refusal))
                job.entry_id = unanswered[-1]
            raise

    def _refuse_unwanted(self, job: Job) -> None:
        if job in self._unwanted:
            raise SubmissionCancelled("It was taken back.")

    async def _watch(self, job: Job) -> None:
        belief = self._belief(job)
        self._expect(job, belief.remaining_seconds(_now()))
        self._estimate()
        if self._estimating is None or self._estimating.done():
            self._estimating = self._thread.spawn(self._keep_estimating())
        # One that was given up before is asked about a few times, in case the service has found it again.
        patience = 0.0 if job._snapshot.given_up else PATIENCE_SECONDS
        watching = self._client.watch(_id(job), belief=belief, patience_seconds=patience)
        async with aclosing(watching) as observations:
            async for seen in observations:
                if isinstance(seen.error, ServiceUnreachable):
                    await self._connection.reach()
                self._observe(job, seen)
        if isinstance(job.status, Failed):
            self._balance.moved()
            raise job_failed(_id(job), job.status.error)

    def _belief(self, job: Job) -> Belief:
        """What is known of the job's time before the first question."""
        request, estimate = job.request, job._snapshot.estimated_duration_seconds
        # The wait for the rate limit is no part of the time that the service takes.
        submitted_at = job._snapshot.accepted_at or job._snapshot.began_at
        if request is None:
            return Belief(Pace(), submitted_at)
        kind = (request.mode, request.duration_seconds, request.aspect_ratio)
        # The interface doesn't say what is estimated: this may be the clip's length.
        if estimate is not None and abs(estimate - request.duration_seconds) < SAME_SECONDS:
            estimate = None
        pace = self._paces.get(kind)
        if pace is None:
            pace = self._paces[kind] = Pace([Took(*each) for each in self._account.took_seconds(request)])
        return Belief(pace, submitted_at, estimate)

    def _expect(self, job: Job, remaining_seconds: float | None) -> None:
        """The job ends in so many seconds. 0, where it runs longer than it looked: then nothing is known."""
        if remaining_seconds:
            self._ends_at[job] = _now() + remaining_seconds
        else:
            self._ends_at.pop(job, None)

    async def _keep_estimating(self) -> None:
        """While jobs are watched: what else is asked of the service puts their estimates off."""
        while self._watched:
            await asyncio.sleep(ESTIMATE_SECONDS)
            self._estimate()

    @property
    def _watched(self) -> list[Job]:
        """The jobs that are asked about."""
        return [job for job in self._tasks if job.request_id and job.running and not job._snapshot.ended_at]

    def _estimate(self) -> None:
        """Works out for all jobs together when their ends will be known, and tells where that has changed."""
        now, watched = _now(), self._watched
        # Those that run longer than they looked take requests, too.
        asked_at = {job: self._ends_at.get(job, 0.0) for job in watched}
        for job in watched:
            asked_at[job] = max(asked_at[job], job._snapshot.next_ask_at or 0.0)
        unsent = sum(job.request_id is None and job not in self._sent for job in self._tasks)
        known = known_at(asked_at, self._client.budget(now), unsent)
        for job in watched:
            was = job._snapshot.known_at
            # A moment that has passed says nothing any more; the question that tells is due.
            at = known[job] if job in self._ends_at and known[job] > now else None
            if (at is None) != (was is None) or abs((at or 0.0) - (was or 0.0)) > ESTIMATE_SECONDS:
                job._learn(known_at=at)

    def _observe(self, job: Job, seen: Observation) -> None:
        known = job._snapshot
        changes: dict[str, object] = {
            "asked_at": seen.asked_at or known.asked_at,
            "next_ask_at": seen.next_ask_at,
            "progress": known.progress
            if seen.progress is None
            else max(seen.progress, known.progress or 0.0),
            "error": seen.error,
        }
        if (status := seen.status) is not None:
            changes |= {"status": status, "state": state_of(status), "given_up": False}
            estimate = getattr(status, "estimated_cost_usd", None)
            changes["estimated_cost_usd"] = known.estimated_cost_usd if estimate is None else estimate
            if status.finished:
                changes |= {"ended_at": _now(), "known_at": None}
        if isinstance(status, Completed):
            changes |= {"cost_usd": status.cost_usd, "progress": 1.0}
        if isinstance(status, Failed):
            changes |= {"error": job_failed(_id(job), status.error)}
        job._keep(**changes)
        self._expect(job, seen.remaining_seconds)
        self._estimate()
        job._learn()
        if seen.status is not None:
            self._write_down(job, seen.status, seen.took and (seen.took.at_least, seen.took.at_most))

    def _write_down(self, job: Job, status: JobStatus, took: tuple[float, float] | None = None) -> None:
        """The service's answer about the job, for later kernels. Of a foreign job only the cost is kept.

        `took` is at least and at most how many seconds it took, where it has ended.
        """
        done = status if isinstance(status, Completed) else None
        if job.entry_id is not None:
            self._ledger.status(
                job.entry_id,
                state_of(status),
                progress=job.view().progress,
                video_url=done.video_url if done else None,
                duration_seconds=done.duration_seconds if done else None,
                cost_usd=done.cost_usd if done else None,
                error=status.error if isinstance(status, Failed) else None,
                took=took,
            )
        elif done is not None:
            self._account.tool_job_ended(_id(job), seconds=done.duration_seconds, cost_usd=done.cost_usd)

    async def _download(self, job: Job, status: Completed) -> None:
        job._learn(downloaded=None)
        self._balance.moved()
        for links_left in reversed(range(FRESH_LINKS + 1)):
            try:
                async with self._downloads:
                    await self._fetch(job, status)
                return
            except LinkExpired as expired:
                status = await self._with_fresh_link(job, status, expired, links_left)

    async def _with_fresh_link(
        self, job: Job, status: Completed, expired: LinkExpired, links_left: int
    ) -> Completed:
        """The job's status now, with another link than the expired one. Raises LinkExpired if it has none."""
        said = f"{FRESH_LINKS} fresh links that the service gave don't work either."
        if links_left:
            said = "The service gives no other link now."
            try:
                fresh = await self._client.status(_id(job), for_download=True)
            except ReelbookError as error:
                fresh, said = status, f"The service couldn't be asked for another: {error}"
            if isinstance(fresh, Completed) and fresh.video_url and fresh.video_url != status.video_url:
                job._learn(status=fresh)
                self._write_down(job, fresh)
                return fresh
        raise LinkExpired(f"{expired} {said} What arrived is kept; fetch it again later.") from None

    async def _fetch(self, job: Job, status: Completed) -> None:
        if not status.video_url:
            raise LinkExpired("The service says the clip is completed, but not where it lies.")
        request_id = _id(job)
        path = self._clips / file_name(request_id, ".mp4", room=SUFFIX_BYTES)
        seconds = min(status.duration_seconds or LONGEST_SECONDS, LONGEST_SECONDS)
        asked = seconds if job.request is None else job.request.duration_seconds

        def report(done: int, total: int | None) -> None:
            fraction = done / total if total else 0.0
            if fraction - (job._snapshot.downloaded or 0.0) >= REPORT_STEP:
                job._learn(downloaded=fraction)

        job._learn(downloaded=0.0)
        await self._client.download(
            status.video_url,
            path,
            report=report,
            max_bytes=limit_bytes(asked),
            expected_seconds=status.duration_seconds,
        )
        took = (job._snapshot.ended_at or _now()) - job._snapshot.began_at
        clip = Clip(
            path,
            request_id,
            request=job.request,
            cost_usd=status.cost_usd,
            took_seconds=took if job.request is not None else None,
            sandbox=self._connection.service == "sandbox",
        )
        if job.entry_id is not None:
            self._ledger.downloaded(job.entry_id, path)
        job._finish(clip, downloaded=None)


def _id(job: Job) -> str:
    """The id that the service gave the job when it accepted it."""
    assert job.request_id is not None
    return job.request_id


def _entry(job: Job) -> int:
    """The number of its entry: every job that is submitted here was written down before."""
    assert job.entry_id is not None
    return job.entry_id


def _request(job: Job) -> JobRequest:
    """What is asked for: known of every job that is submitted here."""
    assert job.request is not None
    return job.request


def _now() -> float:
    return asyncio.get_running_loop().time()
