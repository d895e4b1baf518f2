"""A sweep's run: buys its cells one by one, can be stopped and resumed, and says how each is doing.

The ledger knows which cell has which clip; this is a view of that, kept on the session's thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from .. import states, wire
from ..account.limits import without_spend_warnings
from ..errors import (
    ConfirmationNeeded,
    InvalidInput,
    LedgerLocked,
    ReelbookError,
    SubmissionCancelled,
    WaitTimeout,
)
from ..event_thread import Future, until_done
from ..executions import current_execution
from ..formatting import count, dollars
from ..ledger import Submission, SweepCell, SweepRecord
from ..ledger.records import cell_state
from ..ledger.sweeps import PAUSED, RUNNING, STOPPED, sameness, sweep_state
from ..listeners import Listeners, call_in_thread
from ..requests import JobRequest, options
from ..saved_files import csv_of
from ..secret import quotable
from ..session import Clip, Job, Session
from ..session.batch import stop_error, stop_reason, with_message
from ..session.session import current_experiment
from ..states import LEFT_OUT, PLANNED
from .axes import Axis, Cell
from .plan import CONFIRM_ABOVE_USD, Plan, plan

TICK_SECONDS: Final = 0.2
LOOK_SECONDS: Final = 2.0
AT_A_TIME: Final = 10  # each is a flush of the disk, and the session's thread has other work too
_STOPPED: Final = "Taken back before it was sent: the sweep was stopped. Nothing was paid."


class Swept:
    """What a run needs of a sweep."""

    template: str
    name: str | None
    axes: tuple[Axis, ...]
    cells: tuple[Cell, ...]
    _record: Mapping[str, Any]

    def to_record(self) -> dict[str, object]:
        """What the ledger keeps of it, as JSON; only the digests of pictures."""
        return dict(self._record)


@dataclass(frozen=True)
class RunCell:
    """A cell of a run at one moment.

    `state` is `planned`, `left out` or its job's (see `JobView`). `found`: its clip existed, at no cost.
    """

    cell: Cell
    job: Job | None = None
    found: bool = False
    left_out: bool = False

    @property
    def number(self) -> int:
        return self.cell.number

    @property
    def request(self) -> JobRequest:
        """What is asked for; once it is sent, with the seed that was drawn for it."""
        sent = None if self.job is None or self.state in (PLANNED, LEFT_OUT) else self.job.request
        return sent or self.cell.request

    @property
    def state(self) -> str:
        return cell_state(None if self.job is None else self.job.state, left_out=self.left_out)

    @property
    def missing(self) -> bool:
        """Whether nothing was bought for it yet; for an uncertain cell something may have been."""
        return not self.left_out and (self.job is None or states.state(self.job.state).charge == "none")


class SweepRun:
    """A sweep and its clips. `sweep.run(session)` begins one, `Sweep.open(session, id)` takes one up again.

        run = sweep.run(session)
        run.pause(); run.resume(); run.stop()
        clips = await run

    After `pause()` or `stop()` nothing more is bought; what was sent goes on and is paid for. `resume()` buys
    exactly what is missing. `id` is None until the sweep is begun. `trouble` says why it paused by itself.
    """

    def __init__(self, session: Session, sweep: Swept, *, record: SweepRecord | None = None) -> None:
        self.session = session
        self.sweep = sweep
        self.id: str | None = None
        self.trouble: str | None = None
        self.planned_seconds: tuple[float, float, float] | None = None
        self._rows = session._ledger.sweeps
        self._experiment = sweep.name or current_experiment()
        self._thread = session._thread
        self._cells = {cell.number: RunCell(cell) for cell in sweep.cells}
        self._told = {each.number: _shown(each) for each in self.cells}
        self._listeners: Listeners[[RunCell | None]] = Listeners()
        self._buys = False  # from start() or resume() until it is paused or stopped, here or elsewhere
        self._runs_elsewhere = False
        self._watched_elsewhere = False  # another kernel looks after one of its jobs
        self._tried: set[int] = set()  # since it was begun or resumed
        self._over: Future[None] = Future()
        self._over.set_result(None)
        if record is not None:
            self.id, self.planned_seconds = record.id, record.planned_seconds
            self._thread.run(self._load)
            self._thread.run(self._go)

    @property
    def state(self) -> str:
        """`planned`, `running`, `paused`, `stopped` or `completed`."""
        if self.id is None:
            return PLANNED
        alive = self._runs_elsewhere or (self._buys and not self._over.done())
        wish = self._rows.wish(int(self.id))
        return sweep_state(wish, [each.state for each in self.cells], alive=alive)

    @property
    def cells(self) -> tuple[RunCell, ...]:
        """Its cells as they are now, in the order of buying."""
        return tuple(self._cells.values())

    @property
    def counts(self) -> Mapping[str, int]:
        """How many cells are in which state."""
        return Counter(each.state for each in self.cells)

    @property
    def elapsed_seconds(self) -> float:
        """How long it has run so far, without the time in which it was paused."""
        return 0.0 if self.id is None else self._rows.record(self.id).elapsed_seconds

    @property
    def remaining_seconds(self) -> float | None:
        """About how many seconds until all its clips are here, at least until the key may ask for them.

        The longest of its jobs' times, and the plan's if some have none. None if the planned time has passed,
        or if all that is missing is being downloaded.
        """
        jobs = [each.job for each in self.cells if each.job is not None and each.job.running]
        views = [job.view() for job in jobs]
        asked = [view for view in views if view.state != wire.COMPLETED]  # else it is being fetched
        left = [view.remaining_seconds for view in asked if view.remaining_seconds is not None]
        if len(left) < len(asked) or self._waiting():
            planned = self.planned_seconds[1] - self.elapsed_seconds if self.planned_seconds else 0.0
            if planned <= 0:
                return None
            left += [planned, *(view.waiting_seconds or 0.0 for view in asked)]
        return max(left, default=None)

    def plan(self) -> Plan:
        """What would be bought now."""
        missing = [each.cell.request for each in self.cells if each.missing]
        return plan(self.session, missing, self.sweep.template)

    def start(
        self, *, confirm: bool = False, confirm_above_usd: float = CONFIRM_ABOVE_USD, again: bool = False
    ) -> None:
        """Begins to buy, and returns at once.

        A notebook cell that runs again goes on with the sweep that it began before, unless `again`. Raises
        ConfirmationNeeded above `confirm_above_usd` without `confirm`, and InvalidInput if the limit or the
        balance doesn't allow it: nothing is recorded or sent then.
        """
        if self.id is None:
            record = self.sweep.to_record()
            place = self.session._places.place(sameness(record), current_execution())
            if not again and (earlier := self._rows.earlier(record, place)) is not None:
                self.id = str(earlier)
                self.planned_seconds = self._rows.record(earlier).planned_seconds
                self._thread.run(self._load)
        planned = self.plan()
        if planned.problems:
            raise InvalidInput(f"{' '.join(planned.problems)} Nothing was sent.")
        if planned.cost_usd > confirm_above_usd and not confirm:
            raise ConfirmationNeeded(
                f"This makes {count(planned.bought, 'clip')} for about {dollars(planned.cost_usd)}. "
                "Pass confirm=True to buy them. Nothing was sent.",
                cost_usd=planned.cost_usd,
            )
        if self.id is None:
            self.planned_seconds = planned.seconds
            self.session._jobs.keep_images(each.cell.request for each in self.cells)
            number = self._rows.begin(
                record,
                self._cells,
                planned_seconds=planned.seconds,
                place=place,
                left_out={each.number for each in self.cells if each.left_out},
            )
            self.id = str(number)
        self.resume()

    def pause(self) -> None:
        """Buys nothing more for now. What was sent goes on and is paid for."""
        self._set_state(PAUSED)

    def stop(self) -> None:
        """Buys nothing more. What was sent goes on and is paid for; `resume()` still works."""
        self._set_state(STOPPED)

    def resume(self) -> None:
        """Buys what is missing, and returns at once. What is uncertain isn't missing."""
        self._set_state(RUNNING)

    def leave_out(self, numbers: Iterable[int]) -> None:
        """Leaves these cells out. What was already bought stays."""
        self._choose(numbers, left_out=True)

    def take_in(self, numbers: Iterable[int]) -> None:
        """Takes in cells that were left out."""
        self._choose(numbers, left_out=False)

    def send_again(self, number: int) -> Job:
        """Buys a cell again that ended without a clip (failed, refused, uncertain), and pays again.

        Raises InvalidInput for any other, and SpendLimitReached.
        """

        def send() -> Job:
            [cell] = self._chosen([number])
            if cell.job is None or not states.state(cell.job.state).missing or self.id is None:
                raise InvalidInput(f"Cell {number} is {cell.state}: there is nothing to send again.")
            job = self._buy(cell)
            self._go()
            return job

        return self._thread.run(send)

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until nothing more is coming, at most `timeout` seconds. Returns whether that is so.

        Raises WouldDeadlock on the session's own thread.
        """
        self._thread.refuse_own_thread()
        return self._over.wait(timeout)

    def results(self, timeout: float | None = None) -> list[Clip]:
        """Waits until nothing more is coming, and returns the clips in the order of the cells.

        Raises the error of a missing clip that wasn't left out, and InvalidInput before it is begun. After
        `timeout` seconds raises WaitTimeout; the run goes on. Raises WouldDeadlock on the session's thread.
        """
        if not self.wait(timeout):
            raise WaitTimeout(f"Not all clips are here after {timeout:g} s. The sweep goes on.")
        return self._clips()

    def __await__(self) -> Generator[Any, None, list[Clip]]:
        yield from until_done(self._over).__await__()
        return self._clips()

    def to_pandas(self) -> Any:  # pandas has no types
        """A DataFrame with a row for each cell: what it varies, its state, its clip and its marks."""
        import pandas as pd  # type: ignore[import-untyped]  # and heavy: only here

        return pd.DataFrame([_row(each) for each in self.cells], dtype=object).infer_objects()

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """The same as CSV, also written to `path` if given.

        A text that a spreadsheet would calculate gets a ' in front of it. Raises InvalidInput where there is
        no such folder, and ReelbookError if the disk refuses.
        """
        rows = [_row(each) for each in self.cells]
        return csv_of(list(rows[0]), [row.values() for row in rows], path, what="The table")

    def subscribe(self, callback: Callable[[RunCell | None], None]) -> Callable[[], None]:
        """Calls `callback` on the session's thread with each cell that changes; with None for the run itself.

        Returns a function that ends that.
        """

        def job_changed(job: Job | None) -> None:
            for cell in self.cells if job is not None else ():
                if cell.job is job:
                    self._told[cell.number] = _shown(cell)
                    callback(cell)

        ends = contextlib.ExitStack()
        ends.callback(self._listeners.subscribe(callback))
        ends.callback(self.session.subscribe(job_changed))
        return ends.close

    def on_done(self, callback: Callable[[SweepRun], object]) -> None:
        """Calls `callback(run)` once, when nothing more is coming of what was bought; at once if that is so.

            run.on_done(lambda run: print(run.state, run.counts))

        A paused or stopped sweep counts, too. It is called on a thread of its own, as with `Job.on_done`.
        Raises InvalidInput before the sweep is begun.
        """
        _ = self._number  # raises before the sweep is begun

        def tell(_: object) -> None:
            if not self.session.closed:
                call_in_thread(callback, self)

        self._over.add_done_callback(tell)

    def __repr__(self) -> str:
        words = ", ".join(f"{number} {state}" for state, number in self.counts.items())
        return f"<SweepRun {self.id or '(not begun)'} {self.state}: {words}>"

    # On the session's thread.

    @property
    def _number(self) -> int:
        if self.id is None:
            raise InvalidInput("The sweep isn't begun yet: start() does that.")
        return int(self.id)

    def _load(self) -> None:
        """Brings the cells up to date with the ledger, and takes up what a dead kernel left in progress."""
        jobs, ledger = self.session._jobs, self.session._ledger
        begun = {each.entry.id for each in self._rows.cells(self._number) if each.entry is not None}
        taken_up = {entry.id for entry in ledger.left_over(begun)}
        self._runs_elsewhere = not self._buys and self._rows.record(self._number).state == RUNNING
        self._watched_elsewhere = False
        for kept in self._rows.cells(self._number):
            entry = kept.entry
            job = None if entry is None else jobs.of(entry, watch=entry.id in taken_up)
            self._keep(kept.number, job=job, found=kept.found, left_out=kept.left_out)
            if entry is not None and entry.clip_path is None and not states.state(entry.state).missing:
                self._watched_elsewhere |= not ledger.is_own(entry)

    def _keep(self, number: int, **changes: Any) -> None:
        """Stores what is known of a cell now, and tells of it unless that was told already."""
        cell = self._cells[number] = replace(self._cells[number], **changes)
        if (shown := _shown(cell)) != self._told[number]:
            self._told[number] = shown
            self._listeners.tell(cell)

    def _set_state(self, state: str) -> None:
        """Records that it is to run, pause or stop, and does that."""
        number = self._number

        def change() -> None:
            self._rows.change(number, state)
            if state != RUNNING:
                self._halt(queued=True)
            else:
                self._buys, self.trouble = True, None
                self._tried.clear()
                self._load()
                self._take_found()
            self._go()
            self._listeners.tell(None)

        self._thread.run(change)

    def _choose(self, numbers: Iterable[int], *, left_out: bool) -> None:
        if not isinstance(numbers, Iterable):
            raise InvalidInput(f"Cells are a list of their numbers, such as [1], not {quotable(numbers)}.")
        chosen = list(numbers)

        def choose() -> None:
            changed = [each for each in self._chosen(chosen) if each.missing or each.left_out]
            if self.id is not None:
                self._rows.leave_out(self._number, [each.number for each in changed], left_out=left_out)
            for cell in changed:
                self._keep(cell.number, left_out=left_out)

        self._thread.run(choose)

    def _chosen(self, numbers: Sequence[int]) -> list[RunCell]:
        known = [*self._cells]  # a list, as what was given may not be hashable
        if strange := [each for each in numbers if each not in known]:
            raise InvalidInput(f"The sweep has the cells 1 to {len(self._cells)}, not {strange[0]}.")
        return [self._cells[each] for each in numbers]

    def _take_found(self) -> None:
        """Gives the ledger's entries to cells whose clips were made before."""
        missing = [each for each in self.cells if each.missing]
        found = self._rows.found([each.cell.request for each in missing])
        taken = {
            each.number: entry.id for each in missing if (entry := found.get(each.cell.request.sameness))
        }
        if taken:
            self._rows.take(self._number, taken)
            self._load()

    def _go(self) -> None:
        if self._over.done():
            self._over = Future()
            self._thread.spawn(self._keep_buying())

    @property
    def _elsewhere(self) -> bool:
        return self._runs_elsewhere or self._watched_elsewhere

    async def _keep_buying(self) -> None:
        try:
            looked_at = self._thread.now()
            while self._buy_next():
                await asyncio.sleep(TICK_SECONDS)
                if self._elsewhere and self._thread.now() - looked_at >= LOOK_SECONDS:
                    self._load()
                    looked_at = self._thread.now()
        finally:
            self._over.set_result(None)
            self._listeners.tell(None)

    def _buy_next(self) -> bool:
        """Buys what fits now, or takes back what may not be sent. Returns whether more is to come."""
        if (wish := self._rows.wish(self._number)) != RUNNING:
            self._halt(queued=True)
        elif self._buys and (error := stop_error(self._tried_jobs())) is not None:
            self._pause(stop_reason(error, "resume the sweep"))
        elif self._buys:
            unsent = sum(each.job is not None and each.job.state == states.SENDING for each in self.cells)
            room = self.session.facts.requests_limit - unsent
            for cell in self._waiting()[: max(0, min(room, AT_A_TIME))]:
                self._tried.add(cell.number)
                try:
                    self._buy(cell)
                except InvalidInput as error:
                    self.trouble = str(error)  # only this cell's: the others are bought all the same
                except LedgerLocked:
                    self._tried.discard(cell.number)  # it is tried again at the next look
                    break
                except ReelbookError as error:
                    self._pause(str(error))
                    break
        running = any(each.job is not None and each.job.running for each in self.cells)
        return running or self._elsewhere or (wish == RUNNING and bool(self._waiting()))

    def _waiting(self) -> list[RunCell]:
        untried = [each for each in self.cells if each.missing and each.number not in self._tried]
        return untried if self._buys else []

    def _tried_jobs(self) -> list[Job]:
        return [each.job for each in self.cells if each.number in self._tried and each.job is not None]

    def _halt(self, *, queued: bool = False) -> None:
        """Takes back what this run hasn't sent yet; if `queued`, also what waits in a class's queue."""
        tried = self._tried_jobs()
        self._buys = False
        self._tried.clear()  # a person may send single cells later
        for job in tried:
            job._life.cancel(_STOPPED, later=True)
            if queued:
                self._thread.spawn(_take_out_of_queue(job))

    def _pause(self, trouble: str) -> None:
        self.trouble = trouble
        self._rows.change(self._number, PAUSED)
        self._halt()
        self._listeners.tell(None)

    def _buy(self, cell: RunCell) -> Job:
        """Submits a cell, or returns the job that it has by now."""
        request = cell.cell.request
        if not request.complete:
            raise InvalidInput(f"The image of cell {cell.number} isn't kept any more. Nothing was sent.")
        entry, seen = None, cell.job
        if seen is not None and seen.entry_id is not None:
            entry = self.session._ledger.get(seen.entry_id)
            if entry is not None and not (entry.state == seen.state and states.state(entry.state).missing):
                entry = None  # something has become of it, or may yet
        new = Submission.of(
            request,
            repeats=entry.id if entry is not None and entry.state == states.UNCERTAIN else None,
            cell=SweepCell(self._number, cell.number, entry),
            experiment=self._experiment,
            **cell.cell.made_of(self.sweep.template),
        )
        with without_spend_warnings():  # the plan has said it
            [job] = self.session._submit([new])
        self._keep(cell.number, job=job, found=False)
        self._watched_elsewhere |= job.from_earlier_run  # another kernel was quicker
        return job

    def _clips(self) -> list[Clip]:
        _ = self._number  # raises before the sweep is begun
        wanted = [each for each in self.cells if not each.left_out]
        clips = [each.job.clip for each in wanted if each.job is not None and each.job.clip is not None]
        if len(clips) == len(wanted):
            return clips
        said = f"{len(clips)} of {len(wanted)} clips are there: see each cell's state and job."
        errors = [each.job.error for each in wanted if each.job is not None and each.job.error is not None]
        errors.sort(key=lambda error: isinstance(error, SubmissionCancelled))  # a pause takes the others back
        error = errors[0] if errors else ReelbookError("The sweep was stopped.")
        raise with_message(error, f"{self.trouble or error} {said}")


async def _take_out_of_queue(job: Job) -> None:
    """Takes a job out of a class's queue. If the room is away, it stays there and is made."""
    with contextlib.suppress(ReelbookError):
        await job._life.take_back()


def _row(cell: RunCell) -> dict[str, object]:
    job = cell.job
    view = None if job is None else job.view()
    asked = {name: getattr(cell.request, name) for name in ("prompt", *options())}
    slots = {name: value for name, value in cell.cell.values.items() if name not in asked}
    known = {
        "state": cell.state,
        "found": cell.found,
        "cost_usd": 0.0 if cell.found else view and view.cost_usd,
        "took_seconds": view and view.took_seconds,
        "picked": job is not None and job.picked,
        "note": "" if job is None else job.note,
        "tags": "" if job is None else ", ".join(job.tags),
        "error": view and view.error,
        "id": job and job.request_id,
        "file": job and job.clip and str(job.clip.path),
    }
    # A slot may be called as one of the other columns is.
    named = {f"slot_{name}" if name in ("number", *known) else name: value for name, value in slots.items()}
    return {"number": cell.number, **named, **asked, **known}


def _shown(cell: RunCell) -> tuple[object, ...]:
    known = None if cell.job is None else cell.job._life.known
    return cell.job, cell.state, cell.found, known and (known.progress, known.clip is None)
