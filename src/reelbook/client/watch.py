"""Follows one job to its end: asks when the scheduler says so, and reports what was learnt."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import errors
from ..formatting import terminal_line
from ..lazy_module import LazyModule
from .scheduling.estimates import Belief, Took
from .scheduling.scheduler import Scheduler

if TYPE_CHECKING:
    from .. import models
else:
    models = LazyModule("reelbook.models")

# A proxy, a lagging replica or a deployment may deny a job for a while, and it is there all the same.
REFUSALS = 5
PATIENCE_SECONDS = 600.0

_FAULTS = (errors.ConnectionFailed, errors.RateLimited, errors.ServerError, errors.UnexpectedAnswer)


@dataclass(frozen=True)
class Observation:
    """One answer of a watch, or the error that came instead.

    `progress` goes from 0 to 1, never backwards; `remaining_seconds` is a guess from its pace, or from how
    long such jobs take, None where nothing is known. `asked_at` and `next_ask_at` (a guess) are the event
    loop's time, in seconds. `took` is how long a finished job took, as far as that was seen.
    """

    status: models.JobStatus | None = None
    error: errors.ReelbookError | None = None
    progress: float | None = None
    remaining_seconds: float | None = None
    asked_at: float | None = None
    next_ask_at: float | None = None
    took: Took | None = None


async def watch(
    scheduler: Scheduler,
    belief: Belief,
    ask: Callable[[], Awaitable[models.JobStatus]],
    service_answers: Callable[[], Awaitable[bool]],
    *,
    patience_seconds: float = PATIENCE_SECONDS,
) -> AsyncGenerator[Observation, None]:
    """Asks until the job is finished; `ask` waits for its turn. See `AsyncClient.watch`.

    `service_answers` tells whether the service answers requests other than those about this job.
    """
    loop = asyncio.get_running_loop()
    refusals, refused_since = 0, loop.time()
    with scheduler.watched(belief):
        while True:
            status: models.JobStatus | None = None
            error: errors.ReelbookError | None = None
            try:
                status = await ask()
            except _FAULTS as fault:
                error = fault
            except errors.AuthenticationError:
                raise
            except errors.ServiceError as refusal:
                error = refusal
                if refusals == 0:
                    refused_since = loop.time()
                refusals += 1
                long_enough = loop.time() - refused_since >= patience_seconds
                if refusals >= REFUSALS and long_enough and await service_answers():
                    raise
            now = loop.time()
            done = status is not None and status.finished
            took: Took | None = None
            if status is None:
                belief.failed(now)
            elif done:
                took = belief.ended(now, completed=isinstance(status, models.Completed))
            else:
                refusals = 0
                if isinstance(status, models.Pending) and status.queue_position is not None:
                    belief.queued(status.queue_seconds, now)
                else:
                    belief.told(status.progress if isinstance(status, models.Processing) else None, now)
            left = None if done else belief.remaining_seconds(now)
            next_at = None if done else scheduler.next_question_at(belief)
            yield Observation(status, error, belief.progress, left, now, next_at, took)
            if done:
                return


def job_failed(request_id: str, reason: str | None) -> errors.JobFailed:
    """The error of a job that the service reported as failed; `reason` is its own text, if it gave any."""
    quoted = terminal_line(reason or "") or "The service gave no reason."
    said = f"The service couldn't make this clip: “{quoted}”"
    return errors.JobFailed(said, request_id=request_id, reason=reason)
