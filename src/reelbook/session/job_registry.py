"""The jobs of a session: those it submits, takes up from an earlier kernel, and finds in the ledger."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from .. import wire
from ..account.connection import Connection
from ..account.limits import Caller, SpendWarner
from ..client.scheduling.watch import job_failed
from ..errors import (
    Answer,
    DownloadFailed,
    NotFound,
    ReelbookError,
    SessionClosed,
    SubmissionCancelled,
    SubmissionUncertain,
)
from ..event_thread import EventThread
from ..ledger import (
    CANCELLED,
    INTENDED,
    LOST,
    NOT_ACCEPTED,
    REFUSED,
    SENDING,
    UNCERTAIN,
    EarlierRun,
    Entry,
    Marks,
    Submission,
)
from ..ledger.account_ledger import AccountLedger
from ..ledger.funds import Funds
from ..ledger.search import Filter, Sort
from ..media.images import PreparedImage
from ..media.recent_images import RecentImages
from ..requests import JobRequest
from .clip import Clip
from .job import FINAL, Job, JobSnapshot
from .job_lifecycle import TAKEN_BACK, JobLifecycle

WAS_ACCEPTED: Final = (
    "The service accepted this clip, and its id never arrived. It counts as spent. Look for it in the "
    "service's web app; sending it again is paid again."
)
_NOT_SENT: Final = " before this was sent. Nothing was paid. The next session's resume(unsent=True) sends it."
NOTHING_PAID: Final = (
    "The service never answered, and nothing was paid for it. Send it again if you want the clip."
)


class JobRegistry:
    """Makes a session's `Job`s, one for each of the ledger's entries, and is their `JobControl`."""

    def __init__(
        self,
        lifecycle: JobLifecycle,
        account: AccountLedger,
        connection: Connection,
        thread: EventThread,
        images: RecentImages,
        tell: Callable[[Job], None],
    ) -> None:
        self.thread = thread
        self.tell = tell
        self._lifecycle = lifecycle
        self._account = account
        self._ledger = account.ledger
        self._connection = connection
        self._images = images
        self._own: list[Job] = []
        self._numbers = 0
        self._found: dict[int, Job] = {}
        self._warner = SpendWarner(account)

    def __iter__(self) -> Iterator[Job]:
        """Those submitted or taken up here, oldest first."""
        return iter(self._own)

    @property
    def observed(self) -> bool:
        """Whether anybody looks at one of them, such as a card."""
        return any(job._listeners for job in self._own)

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
        funds = self._account.funds()
        written = self._account.intend(batch, again=again, withdrawn=withdrawn)
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
            self._account.take_back(new)
            raise
        for job, (_, earlier) in zip(jobs, written, strict=True):
            if earlier is None:
                self._start(job)
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
        for job in self._own:
            if job.request_id == request_id:
                return self._watched(job)
        entry = self._account.known(request_id)
        if entry is not None:
            return self.of(entry, watch=True)
        job = self._new(None, self._snapshot(request_id=request_id, state=wire.PENDING), None)
        job.prompt = self._ledger.tool_calls.prompt_of(request_id)
        return self._start(job)

    def resume(self) -> list[Job]:
        """Takes up what kernels that are gone have left unfinished."""
        return [self.of(entry, watch=True) for entry in self._account.left_over()]

    def send_unsent(self, *, caller: Caller) -> list[Job]:
        """Submits what kernels have left unsent, but for images that aren't kept any more.

        Raises as `submit`, and then nothing is sent.
        """
        left, funds = self._account.left_unsent(), self._account.funds()
        requests = {entry.id: self._request(entry) for entry in left}
        written = self._account.intend_again([entry for entry in left if requests[entry.id].complete])
        try:
            self._warner.look(written, funds, caller)
            jobs = [
                self._intended(requests[entry.id], entry, funds, retry_uncertain=False) for entry in written
            ]
        except BaseException:
            self._account.take_back(written, left_unsent=True)
            raise
        for job in jobs:
            self._start(job)
        return jobs

    def find(self, wanted: Filter, *, sort: Sort, limit: int, after: Job | None) -> list[Job]:
        """The account's jobs in the ledger, behind `after`. None is watched because it was found."""
        # One that was taken up by an id which the ledger doesn't know is only known here.
        first = after is None and wanted.asks_nothing
        foreign = [job for job in self._own if job.entry_id is None and first]
        behind = None if after is None else after.entry_id
        entries = self._account.find(wanted, sort=sort, limit=limit, after=behind)
        return [*reversed(foreign), *(self.of(entry, watch=False) for entry in entries)][:limit]

    def heard_balance(self, balance_usd: float) -> None:
        """The balance was asked for: jobs that ended meanwhile show what they left of it."""
        for job in self._own:
            if job._snapshot.ended_at is not None and job._snapshot.balance_after_usd is None:
                job._learn(balance_after_usd=balance_usd)

    def proof(self) -> str | None:
        """The id of a clip under way that the service is known to know."""
        return next(
            (
                job.request_id
                for job in self._own
                if job.running and job.request_id is not None and job._snapshot.asked_at is not None
            ),
            None,
        )

    def close(self) -> int:
        """Tells those who still wait that the jobs aren't looked after any more. How many weren't sent."""
        waiting = [job for job in self._own if not job._outcome.done()]
        unsent = {job for job in waiting if self._is_unsent(job)}
        for job in waiting:
            said = _NOT_SENT if job in unsent else _left(job)
            error = SessionClosed(f"The session was closed{said}")
            job._settle(error=error)
            job._learn(watched=False, next_ask_at=None, known_at=None, error=error)
        return len(unsent)

    def of(self, entry: Entry, *, watch: bool) -> Job:
        """The job of an entry: the one there is already, or one made from what was written down."""
        for job in self._own:
            if job.entry_id == entry.id:
                return self._watched(job) if watch else job
        known = self._remembered(entry)
        job = self._found.setdefault(entry.id, self._new(self._request(entry), known, entry))
        job._snapshot = known
        job._unsettle()  # another kernel may have brought it further
        if not _is_open(known):
            job._settle(known.clip, known.error)
            if watch and known.state in FINAL:  # another kernel is still sending the rest
                self._own.append(job)
        elif watch:
            self.watch(job)
        return job

    # What a job asks for: see `JobControl`.

    def seconds_until_request(self) -> float | None:
        """How long until the key may ask again, None where it may now."""
        return self._connection.client.budget(self.thread.now()).back_in_seconds

    def stop_watching(self, job: Job) -> None:
        """Asks no more about the job."""
        self._lifecycle.stop_watching(job)

    def cancel(self, job: Job, reason: str = TAKEN_BACK, *, later: bool = False) -> bool:
        """Takes the job back if it wasn't sent; with `later` also once it turns out that it had no effect."""
        return self._lifecycle.cancel(job, reason, later=later)

    def mark(self, job: Job, marks: Marks) -> None:
        """Keeps what a person put to the job. One that the ledger doesn't know has it in this kernel only."""
        if job.entry_id is not None:
            marks = self._account.mark(job.entry_id, marks)
        job._learn(marks=marks)

    def delete_clip(self, job: Job) -> None:
        """Deletes the file of a job's clip; the job is then as one whose clip was lost. Raises OSError."""
        if job.clip is not None:
            job.clip.path.unlink(missing_ok=True)
            job._lost_clip(_not_here(job.clip.path))

    def watch(self, job: Job) -> None:
        """Goes on with a job whose clip isn't here, as one of the session's own."""
        if job.clip is not None and not job.clip.path.exists():
            job._lost_clip(_not_here(job.clip.path))
        if job.clip is not None or job.request_id is None:
            return
        job._unsettle()
        if job not in self._own:
            self._own.append(job)
        self._begin(job)

    def _is_unsent(self, job: Job) -> bool:
        # Not one whose first attempt wasn't answered, and may have been bought.
        asked = job.request_id is None and not job._snapshot.unanswered
        entry = self._ledger.get(job.entry_id) if asked and job.entry_id is not None else None
        return entry is not None and entry.state == INTENDED

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

    def _watched(self, job: Job) -> Job:
        """The job, watched again if its watch ended too early."""
        if _is_open(job._snapshot) and not job.running:
            self.watch(job)
        return job

    def _remembered(self, entry: Entry) -> JobSnapshot:
        """What the ledger knows of a job, on the session's clock."""
        ago = self.thread.now() - time.time()
        clip = _clip(entry, sandbox=self._connection.service == "sandbox")
        return JobSnapshot(
            began_at=(entry.accepted_at or entry.intended_at) + ago,
            # What is written down and not sent is on its way all the same.
            state=SENDING if entry.state == INTENDED else entry.state,
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

    def _start(self, job: Job) -> Job:
        self._own.append(job)
        self._begin(job)
        return job

    def _begin(self, job: Job) -> None:
        self._lifecycle.start(job)
        self.tell(job)

    def _new(
        self,
        request: JobRequest | None,
        known: JobSnapshot,
        entry: Entry | None,
        *,
        retry_uncertain: bool = False,
    ) -> Job:
        self._numbers += 1
        return Job(
            self,
            self._numbers,
            request,
            known,
            entry_id=None if entry is None else entry.id,
            retry_uncertain=retry_uncertain,
            experiment=None if entry is None else entry.experiment,
        )


def _is_open(known: JobSnapshot) -> bool:
    """Whether there is something to ask about or to fetch: not without an id, whatever became of it."""
    ended = known.state in FINAL and known.state != wire.COMPLETED
    return known.request_id is not None and known.clip is None and not ended


def _left(job: Job) -> str:
    """What becomes of a job that was sent and that nobody looks after any more."""
    if job.request_id is not None:
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
    if entry.state == LOST:
        return SubmissionUncertain(WAS_ACCEPTED, estimated_cost_usd=entry.estimated_cost_usd)
    if entry.state == NOT_ACCEPTED:
        return ReelbookError(NOTHING_PAID)
    if entry.state in (SENDING, INTENDED, UNCERTAIN):
        return SubmissionUncertain(
            said or "Another kernel is sending this; it has no id yet.",
            estimated_cost_usd=entry.estimated_cost_usd,
        )
    if entry.state == REFUSED:
        return ReelbookError(said or "The service never took this job. Nothing was paid.")
    if entry.state == CANCELLED:
        return SubmissionCancelled(said or "Taken back before it was sent. Nothing was paid.")
    if entry.state == wire.FAILED:
        return job_failed(entry.request_id or "", entry.error)
    if entry.state == wire.COMPLETED and clip is None:
        return _not_here(entry.clip_path)
    return None


def _not_here(path: Path | str | None) -> DownloadFailed:
    where = f" It was at {path}." if path else ""
    return DownloadFailed(f"The clip isn't on this disk.{where} watch() fetches it while its link lives.")


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
