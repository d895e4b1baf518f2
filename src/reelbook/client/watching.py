"""Follows one job to its end: `polling.py` decides when to ask, this asks and tells what was learnt."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import (
    ConnectionFailed,
    NotFound,
    RateLimited,
    ReelbookError,
    ServerError,
    UnexpectedAnswer,
)
from ..lazy import LazyModule
from . import polling
from .progress import Progress

if TYPE_CHECKING:
    from .. import models
    from ..models import JobStatus
else:
    models = LazyModule("reelbook.models")

NOT_FOUND_GRACE_SECONDS = 30.0


@dataclass(frozen=True)
class Observation:
    """One answer of a watch, or the error that came instead.

    `progress` goes from 0 to 1, never backwards; `remaining_seconds` is a guess from its pace. Times are the
    event loop's, in seconds. The first observation of a watch comes before the first question, with the
    time of that question only.
    """

    status: JobStatus | None = None
    error: ReelbookError | None = None
    progress: float | None = None
    remaining_seconds: float | None = None
    asked_at: float | None = None
    next_ask_at: float | None = None


async def watch(ask: Callable[[], Awaitable[JobStatus]]) -> AsyncIterator[Observation]:
    """Asks until the job is finished. See `AsyncClient.watch`."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    asked: list[float] = []
    failures, progress = 0, Progress()
    ask_at = began + polling.next_ask_seconds(asked, 0.0, None)
    yield Observation(next_ask_at=ask_at)
    while True:
        await asyncio.sleep(ask_at - loop.time())
        status: JobStatus | None = None
        error: ReelbookError | None = None
        try:
            status = await ask()
        except NotFound as unknown:  # some services know a job only a moment after they accepted it
            if loop.time() - began > NOT_FOUND_GRACE_SECONDS:
                raise
            error = unknown
        except (ConnectionFailed, RateLimited, ServerError, UnexpectedAnswer) as fault:
            error = fault
        now = loop.time()
        asked.append(now - began)
        failures = 0 if status else failures + 1
        if isinstance(status, models.Processing):
            progress.tell(status.progress, now)
        remaining = progress.remaining_seconds(now)
        ask_at = now + polling.next_ask_seconds(asked, now - began, remaining, failures)
        done = status is not None and status.finished
        yield Observation(status, error, progress.fraction, remaining, now, None if done else ask_at)
        if done:
            return
