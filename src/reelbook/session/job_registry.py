"""The jobs of a session: those it submits, takes up from an earlier kernel, and finds in the ledger."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from .. import states, wire
from ..account.limits import Caller, SpendWarner
from ..client.scheduling.watch import job_failed
from ..errors import Answer, NotFound, ReelbookError, SessionClosed, SubmissionCancelled, SubmissionUncertain
from ..ledger import EarlierRun, Entry, Funds, Submission
from ..ledger.search import EVERYTHING, Filter, Sort
from ..media.images import PreparedImage
from ..media.recent_images import RecentImages
from ..requests import JobRequest
from .clip import Clip
from .job import Job
from .job_lifecycle import JobLifecycle, JobServices, JobSnapshot, clip_missing

WAS_ACCEPTED: Final = (
    "The service accepted this clip, and its id never arrived. It counts as spent. Look for it in the "
    "service's web app; sending it again is paid again."
)
_NOT_SENT: Final = " before this was sent. Nothing was paid. The next session's resume(unsent=True) sends it."
NOTHING_PAID: Final = (
    "The service never answered, and nothing was paid for it. Send it again if you want the clip."
)


class JobRegistry:
    """Makes a session's `Job`s, one for each of the ledger's entries. `tell` hears of every change."""

    def __init__(self, services: JobServices, images: RecentImages, tell: Callable[[Job], None]) -> None:
        self.services = services
        self.thread = services.thread
        self.tell = tell
        self._ledger = services.ledger
        self._images = images
        self._jobs: dict[JobLifecycle, Job] = {}
        self._found: dict[int, Job] = {}  # by the number of their entry
        self._numbers = 0
        self._warner = SpendWarner(services.ledger)

    def __iter__(self) -> Iterator[Job]:
        """Those submitted or taken up here, oldest first."""
        return iter([self._jobs[life] for life in self.services.own])

    @property
    def observed(self) -> bool:
        """Whether anybody looks at one of them, such as a card."""
        return any(job._listeners for job in self)

    def submit(
        self,
        batch: Sequence[Submission],
        *,
        caller: Caller,
        again: bool,
        retry_uncertain: bool,
        withdrawn: Callable[[], bool],
    ) -> list[Job]:
        """Writes all of them down, or none, and starts those that are new: one step, on the session's thread.

        Raises SpendLimitReached, and SpendingWarning where that is an error.
        """
        funds = self._ledger.funds()
        written = self._ledger.intend(batch, again=again, withdrawn=withdrawn)
        new = [entry for entry, earlier in written if earlier is None]
        try:
            self._warner.look(new, funds, caller)
            jobs = [
                self._intended(each.request, entry, funds, retry_uncertain=retry_uncertain)
                if earlier is None
                else self._from_earlier_run(entry, earlier)
                for each, (entry, earlier) in zip(batch, written, strict=True)
            ]
        except BaseException:
            self._ledger.take_back(new)
            raise
        for job, (_, earlier) in zip(jobs, written, strict=True):
            if earlier is None:
                job._life.begin()
        return jobs

    def keep_images(self, requests: Iterable[JobRequest]) -> None:
        """Keeps the images of what was submitted, for later kernels. One that can't be kept is let go."""
        images = {id(image): image for request in requests if (image := request.image) is not None}
        for image in images.values():
            with contextlib.suppress(OSError):
                self._images.keep(image)

    def image(self, digest: str) -> PreparedImage | None:
        """One of the images that were kept; None where it isn't any more."""
        return self._images.find(digest)

    def take_up(self, request_id: str) -> Job:
        """The job of the service's id, watched."""
        for job in self:
            if job.request_id == request_id:
                return _watched(job)
        entry = self._ledger.by_request_id(request_id)
        if entry is not None:
            return self.of(entry, watch=True)
        job = self._new(None, self._snapshot(request_id=request_id, state=wire.PENDING), None)
        job.prompt = self._ledger.tool_calls.prompt_of(request_id)
        job._life.begin()
        return job

    def resume(self) -> list[Job]:
        """Takes up what kernels that are gone have left unfinished."""
        return [self.of(entry, watch=True) for entry in self._ledger.left_over()]

    def send_unsent(self, *, caller: Caller) -> list[Job]:
        """Submits what kernels have left unsent, but for images that aren't kept any more.

        Raises as `submit`, and then nothing is sent.
        """
        left, funds = self._ledger.left_unsent(), self._ledger.funds()
        requests = {entry.id: replace(self._request(entry)) for entry in left}  # checked anew
        written = self._ledger.intend_again([entry for entry in left if requests[entry.id].complete])
        try:
            self._warner.look(written, funds, caller)
            jobs = [
                self._intended(requests[entry.id], entry, funds, retry_uncertain=False) for entry in written
            ]
        except BaseException:
            self._ledger.take_back(written, left_unsent=True)
            raise
        for job in jobs:
            job._life.begin()
        return jobs

    def find(self, wanted: Filter, *, sort: Sort, limit: int, after: Job | None) -> list[Job]:
        """The account's jobs in the ledger, behind `after`. None is watched because it was found."""
        # One that was taken up by an id which the ledger doesn't know is only known here.
        first = after is None and wanted == EVERYTHING
        foreign = [job for job in self if job.entry_id is None and first]
        behind = None if after is None else after.entry_id
        entries = self._ledger.find(wanted, sort=sort, limit=limit, after=behind)
        return [*reversed(foreign), *(self.of(entry, watch=False) for entry in entries)][:limit]

    def heard_balance(self, balance_usd: float) -> None:
        """The balance was asked for: jobs that ended meanwhile show what they left of it."""
        for life in self.services.own:
            if life.known.ended_at is not None and life.known.balance_after_usd is None:
                life.learn(balance_after_usd=balance_usd)

    def proof(self) -> str | None:
        """The id of a clip under way that the service is known to know."""
        return next(
            (
                life.request_id
                for life in self.services.own
                if life.running and life.request_id is not None and life.known.asked_at is not None
            ),
            None,
        )

    def close(self) -> int:
        """Tells those who still wait that the jobs aren't looked after any more. How many weren't sent."""
        waiting = [life for life in self.services.own if not life.outcome.done()]
        unsent = {life for life in waiting if self._is_unsent(life)}
        for life in waiting:
            said = _NOT_SENT if life in unsent else _left(life)
            error = SessionClosed(f"The session was closed{said}")
            life.settle(error=error)
            life.learn(watched=False, next_ask_at=None, known_at=None, error=error)
        return len(unsent)

    def of(self, entry: Entry, *, watch: bool) -> Job:
        """The job of an entry: the one there is already, or one made from what was written down."""
        for job in self:
            if job.entry_id == entry.id:
                return _watched(job) if watch else job
        known = self._remembered(entry)
        if entry.id not in self._found:
            self._found[entry.id] = self._new(self._request(entry), known, entry)
        job = self._found[entry.id]
        life = job._life
        life.known = known
        life.reopen()  # another kernel may have brought it further
        if not known.open:
            life.settle(known.clip, known.error)
            if watch and states.state(known.state).final:  # another kernel is still sending the rest
                self.services.own[life] = None
        elif watch:
            life.watch()
        return job

    def _is_unsent(self, life: JobLifecycle) -> bool:
        # Not one whose first attempt wasn't answered, and may have been bought.
        asked = life.request_id is None and not life.known.unanswered
        entry = self._ledger.get(life.entry_id) if asked and life.entry_id is not None else None
        return entry is not None and entry.state == states.INTENDED

    def _intended(
        self, request: JobRequest, entry: Entry, funds: Funds | None, *, retry_uncertain: bool
    ) -> Job:
        balance_usd = None if funds is None else funds.heard_usd
        known = self._snapshot(estimated_cost_usd=request.estimated_cost_usd, balance_before_usd=balance_usd)
        self._found.pop(entry.id, None)  # of one that was left unsent
        return self._new(request, known, entry, retry_uncertain=retry_uncertain)

    def _from_earlier_run(self, entry: Entry, earlier: EarlierRun) -> Job:
        job = self.of(entry, watch=True)
        job.earlier_run = earlier
        return job

    def _remembered(self, entry: Entry) -> JobSnapshot:
        """What the ledger knows of a job, on the session's clock."""
        ago = self.thread.now() - time.time()
        clip = _clip(entry, sandbox=self.services.connection.service == "sandbox")
        return JobSnapshot(
            began_at=(entry.accepted_at or entry.intended_at) + ago,
            # A recorded job that hasn't been sent yet still counts as running.
            state=states.SENDING if entry.state == states.INTENDED else entry.state,
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

    def _snapshot(self, **known: Any) -> JobSnapshot:
        return JobSnapshot(began_at=self.thread.now(), **known)

    def _request(self, entry: Entry) -> JobRequest:
        """What was asked for, with its image where that is still among the recent ones."""
        if entry.image_digest is None:
            return entry.request
        return replace(entry.request, image=self._images.find(entry.image_digest))

    def _new(
        self,
        request: JobRequest | None,
        known: JobSnapshot,
        entry: Entry | None,
        *,
        retry_uncertain: bool = False,
    ) -> Job:
        self._numbers += 1
        life = JobLifecycle(
            self.services,
            request,
            known,
            entry_id=None if entry is None else entry.id,
            retry_uncertain=retry_uncertain,
        )
        experiment = None if entry is None else entry.experiment
        self._jobs[life] = Job(self._numbers, life, self.tell, experiment=experiment)
        return self._jobs[life]


def _watched(job: Job) -> Job:
    """The job, watched again if its watch ended too early."""
    if job._life.known.open and not job.running:
        job._life.watch()
    return job


def _left(life: JobLifecycle) -> str:
    """What becomes of a job that was sent and that nobody looks after any more."""
    if life.request_id is not None:
        return ". The job goes on at the service and is billed; the next session's resume() takes it up."
    return (
        " before the service answered. It may be making this clip, and may bill it. The next session's "
        "reconcile() finds out."
    )


def _error(entry: Entry, clip: Clip | None) -> ReelbookError | None:
    """Why there is no clip, in the words that were written down."""
    said = entry.error or ""
    if entry.abandoned_at is not None:
        return NotFound(said, answer=Answer(404))
    # What was written down of these two is from before it was known what became of them.
    if entry.state == states.LOST:
        return SubmissionUncertain(WAS_ACCEPTED, estimated_cost_usd=entry.estimated_cost_usd)
    if entry.state == states.NOT_ACCEPTED:
        return ReelbookError(NOTHING_PAID)
    if entry.state in (states.SENDING, states.INTENDED, states.UNCERTAIN):
        return SubmissionUncertain(
            said or "Another kernel is sending this; it has no id yet.",
            estimated_cost_usd=entry.estimated_cost_usd,
        )
    if entry.state == states.REFUSED:
        return ReelbookError(said or "The service never took this job. Nothing was paid.")
    if entry.state == states.CANCELLED:
        return SubmissionCancelled(said or "Taken back before it was sent. Nothing was paid.")
    if entry.state == wire.FAILED:
        return job_failed(entry.request_id or "", entry.error)
    if entry.state == wire.COMPLETED and clip is None:
        return clip_missing(entry.clip_path)
    return None


def _clip(entry: Entry, *, sandbox: bool) -> Clip | None:
    """The entry's clip, if it still lies where it was put."""
    if entry.request_id is None or entry.clip_path is None or not Path(entry.clip_path).exists():
        return None
    return Clip(
        Path(entry.clip_path),
        entry.request_id,
        request=entry.request,
        cost_usd=entry.cost_usd,
        took_seconds=entry.took_seconds,
        sandbox=sandbox,
    )
