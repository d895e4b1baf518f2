"""What a person holds of a submitted clip: what is known of it at any moment, and how to wait for it.

What carries it on is its `JobLifecycle`.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from .. import states
from ..errors import ReelbookError, WaitTimeout
from ..event_thread import Future, until_done
from ..formatting import terminal_line
from ..ledger import EarlierRun, Marks
from ..listeners import Listeners
from ..models import JobStatus
from ..suggestions import SuggestsNames
from . import display
from .clip import Clip
from .job_lifecycle import JobLifecycle


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
    was taken up by its id, and the service hasn't said anything of it yet. `given_up`: the service says again
    and again that it doesn't know the job.
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
    given_up: bool = False

    @property
    def price_usd(self) -> float | None:
        """What it cost, or the estimate while that isn't known."""
        return self.estimated_cost_usd if self.cost_usd is None else self.cost_usd

    @property
    def charge(self) -> states.Charge:
        """How sure it is that its price has to be paid."""
        return states.charge_of(self.state, cost_known=self.cost_usd is not None, abandoned=self.given_up)


_EARLIER: Final = {
    "id": "from an earlier run of this cell",
    "text": "from an earlier run of this cell, recognised by its text",
    "pool": "from an earlier run of this cell, or of another that shares its pool of threads",
    "label": "from an earlier submission with this label",
    "sweep": "from an earlier run of this sweep",
}


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
        self, number: int, life: JobLifecycle, tell: Callable[[Job], None], *, experiment: str | None = None
    ) -> None:
        self.number = number
        self.experiment = experiment
        self.earlier_run: EarlierRun | None = None
        self.request = life.request
        self.prompt = life.request.prompt if life.request else None
        self._life = life
        self._thread = life.services.thread
        self._tell = tell
        self._listeners: Listeners[[Job]] = Listeners()
        life.changed = self._changed

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
        return self._life.request_id

    @property
    def entry_id(self) -> int | None:
        """Its number in the ledger, None for a job that the ledger doesn't know."""
        return self._life.entry_id

    @property
    def state(self) -> str:
        """One word; see `JobView`."""
        return self._life.known.state

    @property
    def status(self) -> JobStatus | None:
        """The service's last answer about the job, in the type of its state."""
        return self._life.known.status

    @property
    def error(self) -> ReelbookError | None:
        """What went wrong, or None."""
        return self._life.known.error

    @property
    def clip(self) -> Clip | None:
        """The clip, once it is on the disk."""
        return self._life.known.clip

    @property
    def submitted_at(self) -> datetime:
        """When it was submitted, by this machine's clock and in its time zone."""
        ago = self._thread.now() - self._life.known.began_at
        return datetime.fromtimestamp(time.time() - ago).astimezone()

    @property
    def starred(self) -> bool:
        """Whether a person starred it."""
        return self._life.known.marks.starred

    @property
    def note(self) -> str:
        """A person's note on it, empty without one."""
        return self._life.known.marks.note

    @property
    def tags(self) -> tuple[str, ...]:
        """A person's tags on it."""
        return self._life.known.marks.tags

    @property
    def from_earlier_run(self) -> bool:
        """Whether it was given back to a cell that was run again; `earlier_run` says by what it was known."""
        return self.earlier_run is not None

    @property
    def running(self) -> bool:
        """Whether it is on its way and looked after: sent, watched or fetched."""
        return self._life.running

    def view(self) -> JobView:
        """All that a card shows, as of now."""
        known, now = self._life.known, self._thread.now()
        ended_at = known.ended_at
        waits = self._life.services.seconds_until_request()
        return JobView(
            state=known.state,
            watched=known.watched,
            progress=known.progress,
            elapsed_seconds=max(0.0, (now if ended_at is None else ended_at) - known.began_at),
            remaining_seconds=None
            if known.known_at is None or ended_at is not None
            else max(known.known_at - now, waits or 0.0),
            took_seconds=None if ended_at is None else max(0.0, ended_at - known.began_at),
            asked_seconds_ago=None if known.asked_at is None else max(0.0, now - known.asked_at),
            next_ask_in_seconds=None
            if known.next_ask_at is None
            else max(known.next_ask_at - now, waits or 0.0),
            waiting_seconds=waits
            if known.state == states.SENDING or (known.watched and ended_at is None)
            else None,
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
            given_up=known.given_up,
        )

    def result(self, timeout: float | None = None) -> Clip:
        """Waits for the clip, for code that can't await.

        `timeout` in seconds raises WaitTimeout, and the job goes on. Raises JobFailed, InsufficientBalance
        and the other errors of the submission, SubmissionUncertain, DownloadFailed; WouldDeadlock on the
        session's own thread.
        """
        self._thread.refuse_own_thread()
        outcome = self._wanted()
        if not outcome.wait(timeout):
            raise WaitTimeout(f"Not finished after {timeout:g} s. The job goes on, is watched and is billed.")
        return _settled(outcome)

    def __await__(self) -> Generator[Any, None, Clip]:
        return self._wait().__await__()

    def stop_watching(self) -> None:
        """Asks no more about the job. It goes on and is billed; `watch()` takes it up again."""
        self._thread.refuse_closed()
        self._thread.loop.call_soon_threadsafe(self._life.stop_watching)

    def watch(self) -> None:
        """Takes up a job that isn't watched, or a download that broke off."""
        self._thread.refuse_closed()
        self._thread.run(self._life.watch)

    def cancel(self) -> bool:
        """Takes the job back if it wasn't sent yet. False if it was: then it goes on and is billed."""
        return self._thread.run(self._life.cancel)

    def mark(
        self, *, starred: bool | None = None, note: str | None = None, tags: Iterable[str] | None = None
    ) -> None:
        """Stars it, sets its note or all its tags; what isn't given stays. The ledger keeps it."""
        self._thread.refuse_closed()
        all_tags = None if tags is None else tuple(tags)

        def mark() -> None:
            had = self._life.known.marks
            self._life.mark(
                Marks(
                    starred=had.starred if starred is None else starred,
                    note=had.note if note is None else note,
                    tags=had.tags if all_tags is None else all_tags,
                )
            )

        self._thread.run(mark)

    def delete_clip(self) -> None:
        """Deletes the clip's file; the record, its marks and its cost stay.

        `watch()` fetches it again while its link at the service lives. Raises OSError where the file can't
        be deleted.
        """
        self._thread.refuse_closed()
        self._thread.run(self._life.delete_clip)

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
        no_id = "(no id)" if states.state(self.state).final else "(no id yet)"
        return terminal_line(f"<Job {self.request_id or no_id} {self.state}: {words}{earlier}>")

    def _changed(self) -> None:
        self._listeners.tell(self)
        self._tell(self)

    def _wanted(self) -> Future[Clip]:
        # Whoever waits wants the clip, so a watch that was stopped is taken up again.
        if self._life.stopped:
            self.watch()
        return self._life.outcome

    async def _wait(self) -> Clip:
        outcome = self._wanted()
        await until_done(outcome)
        return _settled(outcome)


def _settled(outcome: Future[Clip]) -> Clip:
    error = outcome.exception()
    if error is None:
        return outcome.result()
    # A copy: raising the same error again would add to its traceback each time.
    raise copy.copy(error)
