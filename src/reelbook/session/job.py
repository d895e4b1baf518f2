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
from typing import TYPE_CHECKING, Any, Final

from .. import wire
from ..errors import ReelbookError, WaitTimeout
from ..event_thread import ended
from ..formatting import terminal_line
from ..futures import Future
from ..ledger import (
    CANCELLED,
    INTENDED,
    LOST,
    NOT_ACCEPTED,
    REFUSED,
    SENDING,
    UNCERTAIN,
    KnownBy,
)
from ..listeners import tell_all
from ..models import JobStatus
from ..suggestions import Meant
from . import display
from .clip import Clip

if TYPE_CHECKING:
    from ..requests import JobRequest
    from .clip import Clip
    from .session import Session

FINAL = frozenset({wire.COMPLETED, wire.FAILED, REFUSED, UNCERTAIN, CANCELLED, LOST, NOT_ACCEPTED})

# The interface doesn't name them, so a service that uses one means something of its own.
_OWN = frozenset({INTENDED, SENDING, REFUSED, CANCELLED, UNCERTAIN, LOST, NOT_ACCEPTED})


@dataclass(frozen=True)
class Marks:
    """What a person put to a job; kept by the ledger, never sent to the service."""

    starred: bool = False
    note: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Known:
    """All that is known of a job at one moment. Times are the session's clock, in seconds."""

    began_at: float
    accepted_at: float | None = None  # None: as `began_at`, or not yet
    state: str = SENDING
    request_id: str | None = None
    status: JobStatus | None = None
    watched: bool = True
    progress: float | None = None
    ends_at: float | None = None
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
    marks: Marks = Marks()


@dataclass(frozen=True)
class EarlierRun:
    """The run that submitted a job which a later one got back.

    `known_by` is what it was recognised by: its cell's id, its cell's text alone, or the label in `once`.
    `notebook` is the path of its notebook, None where that isn't known.
    """

    at: datetime
    known_by: KnownBy
    notebook: str | None = None


@dataclass(frozen=True)
class JobView:
    """What a card shows of a job; times in seconds, relative to now. None: not known.

    `state` is `sending` (not answered yet), `pending`, `processing`, `completed`, `failed`, `refused` (the
    service said no at the submission), `uncertain` (sent, never answered), `lost` (it was accepted, its id
    never arrived), `not accepted` (it turned out not to be), `cancelled` (taken back before it was sent), or
    a word of the service's own. `progress` and `download` go from 0 to 1; a completed clip whose `download`
    is None waits for its turn to be fetched. `from_earlier_run`: the cell was run again, and this is the job
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
}


class Job(Meant):
    """One submitted clip. `await job` or `job.result()` gives the Clip; in a notebook it shows a live card.

    `request` is what was asked for, `prompt` its prompt or the one that an agent tool was called with,
    `experiment` the name that it was submitted under; None: not known, none.

    Waiting can be stopped at any time: a timeout, Stop or Ctrl-C ends the waiting and never the job, which
    goes on at the service and is billed.
    """

    def __init__(
        self,
        session: Session,
        number: int,
        request: JobRequest | None,
        known: Known,
        tell: Callable[[Job], None],
        *,
        entry_id: int | None = None,
        retry_uncertain: bool = False,
        experiment: str | None = None,
    ) -> None:
        self.session = session
        self.experiment = experiment
        self.entry_id = entry_id
        self.retry_uncertain = retry_uncertain
        self.earlier_run: EarlierRun | None = None
        self.number = number
        self.request = request
        self.prompt = request.prompt if request else None
        self._known = known
        self._outcome: Future[Clip] = Future()
        self._ending = threading.RLock()  # an outcome's callbacks run inside it
        self._tell = tell
        self._listeners: list[Callable[[Job], None]] = []

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """As `Meant`. What a clip has is asked of its job where the `await` was forgotten."""
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
        return self._known.request_id

    @property
    def state(self) -> str:
        """One word; see `JobView`."""
        return self._known.state

    @property
    def status(self) -> JobStatus | None:
        """The service's last answer about the job, in the type of its state."""
        return self._known.status

    @property
    def error(self) -> ReelbookError | None:
        """What went wrong, or None."""
        return self._known.error

    @property
    def clip(self) -> Clip | None:
        """The clip, once it is on the disk."""
        return self._known.clip

    @property
    def submitted_at(self) -> datetime:
        """When it was submitted, by this machine's clock and in its time zone."""
        ago = self.session.clock() - self._known.began_at
        return datetime.fromtimestamp(time.time() - ago).astimezone()

    @property
    def starred(self) -> bool:
        """Whether a person starred it."""
        return self._known.marks.starred

    @property
    def note(self) -> str:
        """A person's note on it, empty without one."""
        return self._known.marks.note

    @property
    def tags(self) -> tuple[str, ...]:
        """A person's tags on it."""
        return self._known.marks.tags

    @property
    def from_earlier_run(self) -> bool:
        """Whether it was given back to a cell that was run again; `earlier_run` says by what it was known."""
        return self.earlier_run is not None

    @property
    def running(self) -> bool:
        """Whether it is on its way and looked after: sent, watched or fetched."""
        return self._known.watched and not self._outcome.done()

    def view(self) -> JobView:
        """All that a card shows, as of now."""
        known, now = self._known, self.session.clock()
        ended = known.ended_at
        waits = self.session.facts.requests_back_in_seconds
        unsent = known.state == SENDING
        return JobView(
            state=known.state,
            watched=known.watched,
            progress=known.progress,
            elapsed_seconds=max(0.0, (now if ended is None else ended) - known.began_at),
            remaining_seconds=None
            if known.ends_at is None or ended is not None
            else max(0.0, known.ends_at - now),
            took_seconds=None if ended is None else max(0.0, ended - known.began_at),
            asked_seconds_ago=None if known.asked_at is None else max(0.0, now - known.asked_at),
            next_ask_in_seconds=None if known.next_ask_at is None else max(0.0, known.next_ask_at - now),
            waiting_seconds=waits if unsent or (known.watched and ended is None) else None,
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
        self.session.refuse_own_thread()
        outcome = self._wanted()
        if not outcome.wait(timeout):
            raise WaitTimeout(f"Not finished after {timeout:g} s. The job goes on, is watched and is billed.")
        return self._settled(outcome)

    def __await__(self) -> Generator[Any, None, Clip]:
        return self._wait().__await__()

    def stop_watching(self) -> None:
        """Asks no more about the job. It goes on and is billed; `watch()` takes it up again."""
        self.session.stop_watching(self)

    def watch(self) -> None:
        """Takes up a job that isn't watched, or a download that broke off."""
        self.session.watch(self)

    def cancel(self) -> bool:
        """Takes the job back if it wasn't sent yet. False if it was: then it goes on and is billed."""
        return self.session.cancel(self)

    def mark(
        self, *, starred: bool | None = None, note: str | None = None, tags: Iterable[str] | None = None
    ) -> None:
        """Stars it, sets its note or all its tags; what isn't given stays. The ledger keeps it."""
        self.session.mark(self, starred=starred, note=note, tags=tags)

    def delete_clip(self) -> None:
        """Deletes the clip's file; the record, its marks and its cost stay.

        `watch()` fetches it again while its link at the service lives. Raises OSError where the file can't
        be deleted.
        """
        self.session.delete_clip(self)

    def subscribe(self, callback: Callable[[Job], None]) -> Callable[[], None]:
        """`callback(job)` is called on the session's thread at every change; its errors are logged.

        Returns what ends that.
        """
        self._listeners.append(callback)
        return lambda: self._listeners.remove(callback) if callback in self._listeners else None

    def _ipython_display_(self) -> None:
        display.show(self)

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

    @property
    def has_listeners(self) -> bool:
        """Whether anybody looks at this job, such as a card."""
        return bool(self._listeners)

    def _keep(self, **changes: Any) -> None:
        """What is learnt, before anybody is told."""
        self._known = replace(self._known, **changes)

    def _learn(self, **changes: Any) -> None:
        self._keep(**changes)
        tell_all((*self._listeners, self._tell), self)

    def _finish(self, clip: Clip | None = None, error: ReelbookError | None = None, **changes: Any) -> None:
        """The last thing that is learnt of the job, and its outcome, as one: nobody sees it half ended."""
        with self._ending:
            ended = {"watched": False, "next_ask_at": None, "ends_at": None, "clip": clip, "error": error}
            self._known = replace(self._known, **(ended | changes))
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
            self._known = replace(self._known, clip=None, downloaded=None, error=error)
        self._learn()

    def _unsettle(self) -> None:
        if self._outcome.done():
            self._outcome = Future()

    def _wanted(self) -> Future[Clip]:
        # Whoever waits wants the clip, so a watch that was stopped is taken up again.
        with self._ending:
            stopped = not self._known.watched and not self._outcome.done()
        if stopped:
            self.watch()
        return self._outcome

    async def _wait(self) -> Clip:
        outcome = self._wanted()
        await ended(outcome)
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
