"""One clip on its way: what is known of it at any moment, and how to wait for it.

The session's thread replaces what is known as a whole, so any thread may read it at any time.
"""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Protocol

from .. import wire
from ..errors import ReelbookError, WaitTimeout
from ..event_thread import EventThread, Future, until_done
from ..formatting import terminal_line
from ..ledger import CANCELLED, INTENDED, LOST, NOT_ACCEPTED, REFUSED, SENDING, UNCERTAIN, EarlierRun, Marks
from ..listeners import Listeners
from ..models import JobStatus
from ..suggestions import SuggestsNames
from . import display
from .clip import Clip

if TYPE_CHECKING:
    from ..requests import JobRequest

FINAL = frozenset({wire.COMPLETED, wire.FAILED, REFUSED, UNCERTAIN, CANCELLED, LOST, NOT_ACCEPTED})

# The interface doesn't name them, so a service that uses one means something of its own.
_OWN = frozenset({INTENDED, SENDING, REFUSED, CANCELLED, UNCERTAIN, LOST, NOT_ACCEPTED})


@dataclass(frozen=True)
class JobSnapshot:
    """All that is known of a job at one moment. Times are the session's clock, in seconds."""

    began_at: float
    accepted_at: float | None = None  # None: as `began_at`, or not yet
    state: str = SENDING
    request_id: str | None = None
    status: JobStatus | None = None
    watched: bool = True
    progress: float | None = None
    known_at: float | None = None  # about when its end will be known
    ended_at: float | None = None
    asked_at: float | None = None
    next_ask_at: float | None = None
    estimated_cost_usd: float | None = None
    estimated_duration_seconds: float | None = None
    cost_usd: float | None = None
    balance_before_usd: float | None = None
    balance_after_usd: float | None = None
    error: ReelbookError | None = None
    downloaded: float | None = None
    clip: Clip | None = None
    unanswered: int = 0
    given_up: bool = False  # the service said again and again that it doesn't know the job
    marks: Marks = Marks()  # noqa: RUF009 - frozen


@dataclass(frozen=True)
class JobView:
    """What a card shows of a job: `job.view()`. Times in seconds, relative to now. None: not known.

        view = job.view()
        print(view.state, view.progress, view.remaining_seconds)

    `state` is `sending` (not answered yet), `pending`, `processing`, `completed`, `failed`, `refused` (the
    service said no at the submission), `uncertain` (sent, never answered), `lost` (it was accepted, its id
    never arrived), `not accepted` (it turned out not to be), `cancelled` (taken back before it was sent), or
    a word of the service's own. `progress` and `download` go from 0 to 1; a completed clip whose `download`
    is None waits for its turn to be fetched. `remaining_seconds` is about how long until the job is known to
    have ended, never less than until the key may ask again; None also where it takes longer than it looked.
    `from_earlier_run`: the cell was run again, and this is the job
    that its earlier run submitted; `earlier_run` says which run that was.
    `unanswered`: so many attempts before the last were never answered, and may be billed too. `unheard`: it
    was taken up by its id, and the service hasn't said anything of it yet.
    """

    state: str
    watched: bool
    progress: float | None
    elapsed_seconds: float
    remaining_seconds: float | None
    took_seconds: float | None
    asked_seconds_ago: float | None
    next_ask_in_seconds: float | None
    waiting_seconds: float | None
    estimated_cost_usd: float | None
    cost_usd: float | None
    balance_before_usd: float | None
    balance_after_usd: float | None
    error: str | None
    download: float | None
    from_earlier_run: bool = False
    earlier_run: EarlierRun | None = None
    unanswered: int = 0
    unheard: bool = False


def state_of(status: JobStatus) -> str:
    """The state that the service names; set apart where its word means something else here."""
    return f"{status.status} by the service" if status.status in _OWN else status.status


_EARLIER: Final = {
    "id": "from an earlier run of this cell",
    "text": "from an earlier run of this cell, recognised by its text",
    "label": "from an earlier submission with this label",
    "sweep": "from an earlier run of this sweep",
}


class JobControl(Protocol):
    """What a job needs of the session that looks after it. But for `thread`, on the session's own thread."""

    @property
    def thread(self) -> EventThread:
        """The session's thread, whose clock the job's times are told by."""

    def seconds_until_request(self) -> float | None:
        """How long until the key may ask again, None where it may now."""

    def watch(self, job: Job) -> None:
        """Goes on with a job whose clip isn't here."""

    def stop_watching(self, job: Job) -> None:
        """Asks no more about the job."""

    def cancel(self, job: Job, reason: str = ..., *, later: bool = False) -> bool:
        """Takes the job back if it wasn't sent; with `later` also once it turns out that it had no effect."""

    def mark(self, job: Job, marks: Marks) -> None:
        """Keeps what a person put to the job."""

    def delete_clip(self, job: Job) -> None:
        """Deletes the file of the job's clip."""

    def tell(self, job: Job) -> None:
        """The job has changed."""


class Job(SuggestsNames):
    """One submitted clip. `await job` or `job.result()` gives the Clip; in a notebook it shows a live card.

        clip = await job                # in a cell
        clip = job.result(timeout=120)  # in code that can't await

    `request` is what was asked for, `prompt` its prompt or the one that an agent tool was called with,
    `experiment` the name that it was submitted under; None: not known, none.

    Waiting can be stopped at any time: a timeout, Stop or Ctrl-C ends the waiting and never the job, which
    goes on at the service and is billed.
    """

    def __init__(
        self,
        control: JobControl,
        number: int,
        request: JobRequest | None,
        snapshot: JobSnapshot,
        *,
        entry_id: int | None = None,
        retry_uncertain: bool = False,
        experiment: str | None = None,
    ) -> None:
        self.experiment = experiment
        self.entry_id = entry_id
        self.retry_uncertain = retry_uncertain
        self.earlier_run: EarlierRun | None = None
        self.number = number
        self.request = request
        self.prompt = request.prompt if request else None
        self._control = control
        self._snapshot = snapshot
        self._outcome: Future[Clip] = Future()
        self._ending = threading.RLock()  # an outcome's callbacks run inside it
        self._listeners: Listeners[[Job]] = Listeners()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """As `SuggestsNames`. What a clip has is asked of its job where the `await` was forgotten."""
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
        """The service's id, None until it answered."""
        return self._snapshot.request_id

    @property
    def state(self) -> str:
        """One word; see `JobView`."""
        return self._snapshot.state

    @property
    def status(self) -> JobStatus | None:
        """The service's last answer about the job, in the type of its state."""
        return self._snapshot.status

    @property
    def error(self) -> ReelbookError | None:
        """What went wrong, or None."""
        return self._snapshot.error

    @property
    def clip(self) -> Clip | None:
        """The clip, once it is on the disk."""
        return self._snapshot.clip

    @property
    def submitted_at(self) -> datetime:
        """When it was submitted, by this machine's clock and in its time zone."""
        ago = self._control.thread.now() - self._snapshot.began_at
        return datetime.fromtimestamp(time.time() - ago).astimezone()

    @property
    def starred(self) -> bool:
        """Whether a person starred it."""
        return self._snapshot.marks.starred

    @property
    def note(self) -> str:
        """A person's note on it, empty without one."""
        return self._snapshot.marks.note

    @property
    def tags(self) -> tuple[str, ...]:
        """A person's tags on it."""
        return self._snapshot.marks.tags

    @property
    def from_earlier_run(self) -> bool:
        """Whether it was given back to a cell that was run again; `earlier_run` says by what it was known."""
        return self.earlier_run is not None

    @property
    def running(self) -> bool:
        """Whether it is on its way and looked after: sent, watched or fetched."""
        return self._snapshot.watched and not self._outcome.done()

    def view(self) -> JobView:
        """All that a card shows, as of now."""
        known, now = self._snapshot, self._control.thread.now()
        until_done = known.ended_at
        waits = self._control.seconds_until_request()
        unsent = known.state == SENDING
        return JobView(
            state=known.state,
            watched=known.watched,
            progress=known.progress,
            elapsed_seconds=max(0.0, (now if until_done is None else until_done) - known.began_at),
            remaining_seconds=None
            if known.known_at is None or until_done is not None
            else max(known.known_at - now, waits or 0.0),
            took_seconds=None if until_done is None else max(0.0, until_done - known.began_at),
            asked_seconds_ago=None if known.asked_at is None else max(0.0, now - known.asked_at),
            next_ask_in_seconds=None
            if known.next_ask_at is None
            else max(known.next_ask_at - now, waits or 0.0),
            waiting_seconds=waits if unsent or (known.watched and until_done is None) else None,
            estimated_cost_usd=known.estimated_cost_usd,
            cost_usd=known.cost_usd,
            balance_before_usd=known.balance_before_usd,
            balance_after_usd=known.balance_after_usd,
            error=None if known.error is None else str(known.error),
            download=known.downloaded if known.clip is None else None,
            from_earlier_run=self.from_earlier_run,
            earlier_run=self.earlier_run,
            unheard=self.request is None and known.status is None,
            unanswered=known.unanswered,
        )

    def result(self, timeout: float | None = None) -> Clip:
        """Waits for the clip, for code that can't await.

        `timeout` in seconds raises WaitTimeout, and the job goes on. Raises JobFailed, InsufficientBalance
        and the other errors of the submission, SubmissionUncertain, DownloadFailed; WouldDeadlock on the
        session's own thread.
        """
        self._control.thread.refuse_own_thread()
        outcome = self._wanted()
        if not outcome.wait(timeout):
            raise WaitTimeout(f"Not finished after {timeout:g} s. The job goes on, is watched and is billed.")
        return self._settled(outcome)

    def __await__(self) -> Generator[Any, None, Clip]:
        return self._wait().__await__()

    def stop_watching(self) -> None:
        """Asks no more about the job. It goes on and is billed; `watch()` takes it up again."""
        self._control.thread.refuse_closed()
        self._control.thread.loop.call_soon_threadsafe(self._control.stop_watching, self)

    def watch(self) -> None:
        """Takes up a job that isn't watched, or a download that broke off."""
        self._control.thread.refuse_closed()
        self._control.thread.run(lambda: self._control.watch(self))

    def cancel(self) -> bool:
        """Takes the job back if it wasn't sent yet. False if it was: then it goes on and is billed."""
        return self._control.thread.run(lambda: self._control.cancel(self))

    def mark(
        self, *, starred: bool | None = None, note: str | None = None, tags: Iterable[str] | None = None
    ) -> None:
        """Stars it, sets its note or all its tags; what isn't given stays. The ledger keeps it."""
        self._control.thread.refuse_closed()
        all_tags = None if tags is None else tuple(tags)

        def mark() -> None:
            had = self._snapshot.marks
            marks = Marks(
                starred=had.starred if starred is None else starred,
                note=had.note if note is None else note,
                tags=had.tags if all_tags is None else all_tags,
            )
            self._control.mark(self, marks)

        self._control.thread.run(mark)

    def delete_clip(self) -> None:
        """Deletes the clip's file; the record, its marks and its cost stay.

        `watch()` fetches it again while its link at the service lives. Raises OSError where the file can't
        be deleted.
        """
        self._control.thread.refuse_closed()
        self._control.thread.run(lambda: self._control.delete_clip(self))

    def subscribe(self, callback: Callable[[Job], None]) -> Callable[[], None]:
        """`callback(job)` is called on the session's thread at every change; its errors are logged.

        Returns what ends that.
        """
        return self._listeners.subscribe(callback)

    def _ipython_display_(self) -> None:
        display.show(self)

    def _display_(self) -> Any:  # in marimo
        return display.panel(self)

    def __repr__(self) -> str:
        words = "a job taken up by its id"
        if (prompt := self.prompt) is not None:
            words = f"“{prompt if len(prompt) <= 40 else prompt[:39] + '…'}”"
        if self.request is not None:
            words = f"{words}, {self.request.duration_seconds} s"
        earlier = "" if self.earlier_run is None else f", {_EARLIER[self.earlier_run.known_by]}"
        no_id = "(no id)" if self.state in FINAL else "(no id yet)"
        return terminal_line(f"<Job {self.request_id or no_id} {self.state}: {words}{earlier}>")

    # What follows is for the session, on its own thread.

    def _keep(self, **changes: Any) -> None:
        """What is learnt, before anybody is told."""
        self._snapshot = replace(self._snapshot, **changes)

    def _learn(self, **changes: Any) -> None:
        self._keep(**changes)
        self._listeners.tell(self)
        self._control.tell(self)

    def _finish(self, clip: Clip | None = None, error: ReelbookError | None = None, **changes: Any) -> None:
        """The last thing that is learnt of the job, and its outcome, as one: nobody sees it half ended."""
        with self._ending:
            until_done = {
                "watched": False,
                "next_ask_at": None,
                "known_at": None,
                "clip": clip,
                "error": error,
            }
            self._snapshot = replace(self._snapshot, **(until_done | changes))
            self._settle(clip, error)
        self._learn()

    def _settle(self, clip: Clip | None = None, error: ReelbookError | None = None) -> None:
        if self._outcome.done():
            return
        if error is not None:
            self._outcome.set_exception(error)
        elif clip is not None:
            self._outcome.set_result(clip)

    def _found_out(self, state: str, error: ReelbookError) -> None:
        """What became of it, or why that can't be told: whoever waits from now on hears of that."""
        self._unsettle()
        self._settle(error=error)
        self._learn(state=state, error=error)

    def _lost_clip(self, error: ReelbookError) -> None:
        """Its file is gone: whoever waits from now on waits for it to be fetched again."""
        with self._ending:
            self._unsettle()
            self._snapshot = replace(self._snapshot, clip=None, downloaded=None, error=error)
        self._learn()

    def _unsettle(self) -> None:
        if self._outcome.done():
            self._outcome = Future()

    def _wanted(self) -> Future[Clip]:
        # Whoever waits wants the clip, so a watch that was stopped is taken up again.
        with self._ending:
            stopped = not self._snapshot.watched and not self._outcome.done()
        if stopped:
            self.watch()
        return self._outcome

    async def _wait(self) -> Clip:
        outcome = self._wanted()
        await until_done(outcome)
        return self._settled(outcome)

    @staticmethod
    def _settled(outcome: Future[Clip]) -> Clip:
        error = outcome.exception()
        if error is None:
            return outcome.result()
        # A copy: raising the same error again would add to its traceback each time.
        raise copy.copy(error)


def unforeseen(bug: Exception) -> ReelbookError:
    """A mistake of ours, or of a library, as an error that callers expect."""
    return ReelbookError(f"Something unforeseen went wrong: {bug!r}")
