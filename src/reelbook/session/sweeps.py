"""What a sweep's run needs from its session: its rows in the ledger, its jobs, and the figures for a plan."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from .. import states, wire
from ..account.limits import without_spend_warnings
from ..client.forecast import forecast
from ..client.scheduling.estimates import Pace, Took
from ..errors import InvalidInput, ReelbookError
from ..ledger import Entry, Submission, SweepCell, SweepRecord
from ..ledger.sweeps import KeptCell
from ..requests import JobRequest
from ..secret import quotable
from .job import Job, JobRegistry

Submit = Callable[[Sequence[Submission]], list[Job]]

_STOPPED: Final = "Taken back before it was sent: the sweep was stopped. Nothing was paid."


class AxisValue(NamedTuple):
    """A value of an axis as a person reads it, and the numbers of the sweep's cells that have it."""

    label: str
    cells: frozenset[int]


class SweepControl:
    """One session's sweeps. Whatever returns jobs or buys is called on the session's own thread."""

    def __init__(self, submit: Submit, jobs: JobRegistry) -> None:
        self.thread = jobs.thread
        self._submit = submit
        self._jobs = jobs
        self._ledger = jobs.ledger

    def record(self, sweep: int | str) -> SweepRecord:
        """The sweep of that number. Raises InvalidInput where this key has none."""
        with contextlib.suppress(ValueError, OverflowError):
            if (found := self._ledger.sweeps.get(int(sweep))) is not None:
                return found
        raise InvalidInput(f"This key has no sweep {sweep}. session.sweeps() lists what there is.")

    def axes(self, sweep: int | str) -> dict[str, list[AxisValue]]:
        record: Mapping[str, Any] = self.record(sweep).record
        places = [cell["place"] for cell in record["cells"]]
        return {
            axis["name"]: [
                AxisValue(label, frozenset(n for n, place in enumerate(places, 1) if place[at] == index))
                for index, label in enumerate(axis["labels"])
            ]
            for at, axis in enumerate(record["axes"])
        }

    def cells_at(self, sweep: int | str, where: Mapping[str, object]) -> frozenset[int] | None:
        """The cells with these values of these axes; None for all. Raises InvalidInput for unknown ones."""
        cells: frozenset[int] | None = None
        axes = self.axes(sweep) if where else {}
        for axis, value in where.items():
            found = [each.cells for each in axes.get(axis, ()) if each.label == str(value)]
            if not found:
                known = [f"{name}: {', '.join(each.label for each in axes[name])}" for name in axes]
                raise InvalidInput(f"The sweep has no {axis} {quotable(value)}. It has {'; '.join(known)}.")
            cells = found[0] if cells is None else cells & found[0]
        return cells

    def cells(self, sweep: int) -> list[tuple[KeptCell, Job | None]]:
        """Its cells, each with its job. Jobs that a dead kernel left in progress are taken up."""
        entries = {each.entry.id for each in self._ledger.sweeps.cells(sweep) if each.entry is not None}
        taken_up = {entry.id for entry in self._ledger.left_over(entries)}
        held = []
        for cell in self._ledger.sweeps.cells(sweep):
            job = None if cell.entry is None else self._jobs.of(cell.entry, watch=cell.entry.id in taken_up)
            held.append((cell, job))
        return held

    def buy(self, request: JobRequest, sweep: int, number: int, *, seen: Job | None, **kept: Any) -> Job:
        """Submits a cell that was `seen` with that job, or returns the job that it has by now."""
        entry = None
        if seen is not None and seen.entry_id is not None:
            entry = self._ledger.get(seen.entry_id)
            if entry is not None and not (entry.state == seen.state and states.state(entry.state).missing):
                entry = None  # something has become of it, or may yet
        repeats = entry.id if entry is not None and entry.state == states.UNCERTAIN else None
        cell = SweepCell(sweep, number, entry)
        with without_spend_warnings():  # the plan has said it
            [job] = self._submit([Submission.of(request, repeats=repeats, cell=cell, **kept)])
        return job

    def take_back(self, job: Job, *, queued: bool) -> None:
        """Takes a job back as soon as that can't cost money; if `queued`, also out of a class's queue."""
        job._life.cancel(_STOPPED, later=True)
        if queued:
            self.thread.spawn(_taken_out(job))

    def refresh(self, job: Job) -> bool:
        """Takes over what another kernel learnt of a job. Returns whether that one still looks after it."""
        over = job.running or job.clip is not None or states.state(job.state).missing
        entry = None if over or job.entry_id is None else self._ledger.get(job.entry_id)
        if entry is None or self._ledger.is_own(entry):
            return False
        self._jobs.of(entry, watch=False)
        return entry.clip_path is None and not states.state(entry.state).missing

    # What a plan is based on.

    def found(self, requests: Iterable[JobRequest]) -> dict[str, Entry]:
        """By sameness, the entries whose clips are what the requests would make: those with a fixed seed."""
        fixed = [each for each in requests if each.seed not in (None, wire.RANDOM_SEED)]
        completed = self._ledger.sweeps.completed(fixed).items()
        return {
            each: entry for each, entry in completed if entry.clip_path and Path(entry.clip_path).exists()
        }

    def forecast(self, requests: Sequence[JobRequest]) -> tuple[float, float, float]:
        """When all of these would be done, in seconds from now: early, likely and late."""
        paces: dict[tuple[object, ...], Pace] = {}
        kinds = [(each.mode, each.duration_seconds, each.aspect_ratio) for each in requests]
        for kind, request in zip(kinds, requests, strict=True):
            if kind not in paces:
                paces[kind] = Pace([Took(*each) for each in self._ledger.took_seconds(request, alike=True)])
        budget = self.thread.run(self._jobs.client.budget_beside_others)
        return forecast([paces[kind] for kind in kinds], budget, self.thread.now())


async def _taken_out(job: Job) -> None:
    """Takes a job out of the queue. If the room is away, it stays there and is made."""
    with contextlib.suppress(ReelbookError):
        await job._life.take_back()
