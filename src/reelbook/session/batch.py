"""`Batch`: many jobs submitted together, awaited as they finish, and stopped when the balance runs out."""

from __future__ import annotations

import copy
import functools
import time
from collections import Counter
from collections.abc import AsyncIterator, Generator, Iterable, Iterator, Sequence
from typing import Any, overload

from .. import errors
from ..event_thread import EventThread, Future, until_done
from ..formatting import dollars
from ..requests import JobRequest
from ..states import REFUSED, SENDING, UNCERTAIN, state
from . import display
from .clip import Clip
from .job import Job

# Errors that the rest of a batch would meet too: why it stops, and what to do.
_STOPPED_BY: dict[type[errors.ReelbookError], tuple[str, str]] = {
    errors.InsufficientBalance: ("the balance ran out", "Add credits"),
    errors.AuthenticationError: ("the service doesn't accept the key", "Connect with a key that it accepts"),
    errors.PermissionRefused: ("the service doesn't allow the key to do that", "Look at what it says"),
    errors.LedgerUnavailable: ("the ledger couldn't be written", "Fix that"),
    errors.SubmissionUncertain: (
        "the service leaves submissions unanswered",
        "Find out what became of those with session.reconcile()",
    ),
}
MOST_UNCERTAIN = 3  # a service that leaves these unanswered may bill the rest unanswered too


class Batch(display.Shown, Sequence[Job]):
    """Jobs that were submitted together, in the order of their requests.

        async for job in session.submit_many(prompts):
            print(job.clip or job.error)

    `async for job in batch` yields each job when it has ended: its clip is on the disk, or `job.error` says
    why there is none. `await batch` returns all clips. `as_completed()` and `results()` do the same in code
    that can't await. Any number of callers may wait at once; Stop, Ctrl-C and a timeout end the waiting,
    never a job.

    When one is refused for its balance or its key (402, 401, 403), three are never answered, or the ledger
    can't be written, the jobs that haven't been sent are taken back: `stopped` says so, and `unpaid` has the
    requests to submit again.
    """

    def __init__(self, jobs: Sequence[Job], thread: EventThread) -> None:
        self._jobs = tuple(jobs)
        self._distinct = tuple(dict.fromkeys(jobs))  # with `once`, equal requests are one job
        self._thread = thread
        self._stop_error: errors.ReelbookError | None = None
        self._ended = 0
        # The n-th is done when n of the jobs have ended, so any number of callers can wait for any of them.
        self._ends: list[Future[Job]] = [Future() for _ in self._distinct]
        thread.submit(self._begin())

    def __len__(self) -> int:
        return len(self._jobs)

    def __iter__(self) -> Iterator[Job]:
        return iter(self._jobs)

    @overload
    def __getitem__(self, index: int) -> Job: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Job, ...]: ...
    def __getitem__(self, index: int | slice) -> Job | tuple[Job, ...]:
        return self._jobs[index]

    async def __aiter__(self) -> AsyncIterator[Job]:
        self._want()
        for end in self._ends:
            await until_done(end)
            yield end.result()

    def __await__(self) -> Generator[Any, None, list[Clip]]:
        return self._wait().__await__()

    def as_completed(self, timeout: float | None = None) -> Iterator[Job]:
        """Yields each job when it has ended, in the order they end; one that failed has its `error`.

        Raises WaitTimeout `timeout` seconds after this call, and WouldDeadlock on the session's own thread.
        """
        self._thread.refuse_own_thread()
        return self._until(None if timeout is None else time.monotonic() + timeout, timeout)

    def results(self, timeout: float | None = None) -> list[Clip]:
        """Waits until all jobs have ended, and returns their clips in the order of the requests.

        Where a clip is missing, raises the error that stopped the batch, or else that of the first job
        without one; the clips that did arrive are in their jobs' `clip`. `timeout` and WouldDeadlock are as
        in `as_completed`.
        """
        for _ in self.as_completed(timeout):
            pass
        return self._clips()

    def cancel(self) -> int:
        """Takes back the jobs that haven't been sent (see `Job.cancel`), and returns how many."""
        unsent = self._thread.run(lambda: sum(job._life.cancel() for job in self._distinct))
        queued = [job for job in self._distinct if job._life.known.ahead is not None]
        return unsent + sum(job.cancel() for job in queued)

    @property
    def estimated_cost_usd(self) -> float:
        """The estimated cost of its clips, an earlier run's included; unpaid ones cost nothing."""
        paid = (job for job in self._distinct if state(job.state).charge != "none")
        return round(sum(job.request.estimated_cost_usd for job in paid if job.request is not None), 6)

    @property
    def stopped(self) -> str | None:
        """Why the rest was taken back, how many jobs went through and what to do; None if it wasn't."""
        if self._stop_error is None:
            return None
        why, remedy = _stopped_by(self._stop_error)
        states = Counter(job.state for job in self._distinct)
        unpaid, sending, uncertain = len(self.unpaid), states[SENDING], states[UNCERTAIN]
        through = len(self._distinct) - unpaid - sending - uncertain
        said = (
            f"{why.capitalize()}: {through} of {len(self._distinct)} clips went through; {unpaid} did not, "
            "and nothing was paid for those."
        )
        if sending:
            said += f" Still being answered: {sending}."
        if uncertain:
            said += f" Sent and never answered, so perhaps billed: {uncertain}."
        return f"{said} {remedy} and submit the rest: session.submit_many(batch.unpaid)."

    @property
    def unpaid(self) -> tuple[JobRequest, ...]:
        """The requests that were refused or taken back, in their order. Nothing was paid for them."""
        unpaid = (job for job in self._distinct if state(job.state).charge == "none")
        return tuple(job.request for job in unpaid if job.request is not None)

    def __repr__(self) -> str:
        states = Counter(job.state for job in self._distinct)
        parts = [f"{number} {word}" for word, number in states.most_common()]
        return f"<Batch of {len(self)}: {', '.join([*parts, f'about {dollars(self.estimated_cost_usd)}'])}>"

    async def _begin(self) -> None:
        # On the session's thread, where jobs end: so their ends arrive one after the other.
        for job in self._distinct:
            job._life.outcome.add_done_callback(functools.partial(self._one_ended, job))

    def _one_ended(self, job: Job, _: object) -> None:
        place = self._ended
        self._ended += 1
        try:
            if self._stop_error is None and (error := stop_error(self._distinct)) is not None:
                self._stop_error = error
                why, remedy = _stopped_by(error)
                reason = (
                    f"Taken back before it was sent: {why}. Nothing was paid. {remedy} and submit it again."
                )
                for other in self._distinct:
                    other._life.cancel(reason, later=True)
        finally:
            # Last, so that whoever hears of a refusal finds the rest already taken back.
            self._ends[place].set_result(job)

    def _until(self, deadline: float | None, timeout: float | None) -> Iterator[Job]:
        self._want()
        for end in self._ends:
            if not end.wait(None if deadline is None else deadline - time.monotonic()):
                waiting = sum(not one.done() for one in self._ends)
                raise errors.WaitTimeout(
                    f"{waiting} of {len(self._ends)} jobs haven't ended after {timeout:g} s. "
                    "They go on, are watched and are billed."
                )
            yield end.result()

    async def _wait(self) -> list[Clip]:
        async for _ in self:
            pass
        return self._clips()

    def _want(self) -> None:
        # Whoever waits wants the clips, so a watch that was stopped starts again.
        for job in self._distinct:
            job._wanted()

    def _clips(self) -> list[Clip]:
        missing = [job for job in self._distinct if job.clip is None]
        if not missing:
            return [job.clip for job in self._jobs if job.clip is not None]
        error = self._stop_error or missing[0].error or errors.ReelbookError("A job is being watched again.")
        here = f"{len(self._distinct) - len(missing)} of {len(self._distinct)}"
        said = self.stopped or f"{here} clips are there: see each job's clip and error."
        raise with_message(error, f"{error} {said}")


class Clips(Iterator[Clip]):
    """A batch's clips in the order of its requests, each as soon as it and those before it are there.

    For `for` and `async for`. A job without a clip raises its error in its place; the next step goes on.
    """

    def __init__(self, batch: Batch, timeout: float | None = None) -> None:
        self.batch = batch
        self._left = iter(batch)
        self._timeout = timeout
        self._deadline = None if timeout is None else time.monotonic() + timeout

    def __next__(self) -> Clip:
        job = next(self._left)
        if self._deadline is None:
            return job.result()
        try:
            return job.result(max(0.0, self._deadline - time.monotonic()))
        except errors.WaitTimeout:
            raise errors.WaitTimeout(
                f"Not finished {self._timeout:g} s after map(). The jobs go on, are watched and are billed."
            ) from None

    def __aiter__(self) -> Clips:
        return self

    async def __anext__(self) -> Clip:
        job = next(self._left, None)
        if job is None:
            raise StopAsyncIteration
        return await job


def stop_error(jobs: Iterable[Job]) -> errors.ReelbookError | None:
    """The first error that the other jobs would meet too; None without one."""
    unanswered = []
    for job in jobs:
        if job.state == REFUSED and isinstance(job.error, tuple(_STOPPED_BY)):
            return job.error
        if job.state == UNCERTAIN:
            unanswered.append(job.error)
    return unanswered[-1] if len(unanswered) >= MOST_UNCERTAIN else None


def stop_reason(error: errors.ReelbookError, then: str) -> str:
    """Why the rest isn't sent, and what to do before `then`: "The balance ran out. Add credits and …"."""
    why, remedy = _stopped_by(error)
    return f"{why.capitalize()}. {remedy} and {then}."


def with_message(error: errors.ReelbookError, message: str) -> errors.ReelbookError:
    """A copy of an error: raising the same one again would make its traceback longer each time."""
    told = copy.copy(error)
    told.args = (message, *error.args[1:])
    return told


def _stopped_by(error: errors.ReelbookError) -> tuple[str, str]:
    return next(said for kind, said in _STOPPED_BY.items() if isinstance(error, kind))
