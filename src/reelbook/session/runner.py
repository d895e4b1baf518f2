"""A job's way from the submission to the clip on the disk, on the session's thread."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..client import AsyncClient, Observation, job_failed
from ..errors import (
    DownloadFailed,
    InsufficientBalance,
    ReelbookError,
    ServiceUnreachable,
    SubmissionCancelled,
    SubmissionUncertain,
)
from ..ledger import CANCELLED, REFUSED, SENDING, UNCERTAIN
from ..models import Accepted, Completed, Failed
from .books import Books
from .clip import Clip
from .forecast import Forecast
from .job import Job

REPORT_STEP = 0.05


class Runner:
    """Carries jobs through. One task a job; what it learns goes into the job at once."""

    def __init__(
        self,
        client: AsyncClient,
        clips: Path,
        *,
        sandbox: bool,
        books: Books,
        spawn: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]],
        reach: Callable[[], Awaitable[None]],
        money_moved: Callable[[], None],
    ) -> None:
        self._client = client
        self._clips = clips
        self._sandbox = sandbox
        self._books = books
        self._spawn = spawn
        self._reach = reach
        self._money_moved = money_moved
        self._forecast = Forecast()
        self._tasks: dict[Job, asyncio.Task[None]] = {}
        self._sent: set[Job] = set()
        self._let_be: set[Job] = set()

    def start(self, job: Job) -> None:
        """Submits the job, or takes up its watch where it has an id already."""
        if job not in self._tasks:
            if job.request_id is not None:
                job._learn(watched=True, error=None)
            task = self._spawn(self._carry(job))
            self._tasks[job] = task
            task.add_done_callback(lambda _: self._tasks.pop(job, None))

    def stop_watching(self, job: Job) -> None:
        """Ends the watch of a job, at once or as soon as it has an id. Its waiters keep waiting."""
        if job.request_id is None:
            self._let_be.add(job)
        elif (task := self._tasks.get(job)) is not None:
            task.cancel()
            job._learn(watched=False, next_ask_at=None, ends_at=None)

    def cancel(self, job: Job) -> bool:
        """Takes a job back that wasn't sent. False if it was, or is over."""
        if job.state != SENDING or job in self._sent or job not in self._tasks:
            return False
        if not self._books.cancelled(job):
            return False
        self._tasks[job].cancel()
        error = SubmissionCancelled("Taken back before it was sent. Nothing was paid.")
        job._learn(state=CANCELLED, error=error, watched=False, ended_at=_now())
        job._settle(error=error)
        return True

    async def _carry(self, job: Job) -> None:
        try:
            if job.request_id is None:
                await self._submit(job)
                if job in self._let_be:
                    self._let_be.discard(job)
                    job._learn(watched=False)
                    return
            if not isinstance(job.status, Completed):
                await self._watch(job)
            if isinstance(job.status, Completed):
                await self._download(job, job.status)
        except ReelbookError as error:
            job._learn(error=error, watched=False, next_ask_at=None, ends_at=None)
            job._settle(error=error)
        except Exception as bug:
            job._learn(watched=False, error=ReelbookError(f"Something unforeseen went wrong: {bug!r}"))
            job._settle(error=bug)
            raise

    async def _submit(self, job: Job) -> None:
        try:
            await self._reach()
            accepted = await self._send(job)
        except SubmissionUncertain as error:
            self._books.uncertain(job, error)
            job._learn(state=UNCERTAIN, ended_at=_now())
            raise
        except ReelbookError as error:
            self._books.refused(job, error)
            job._learn(state=REFUSED, ended_at=_now())
            if isinstance(error, InsufficientBalance):
                self._money_moved()
            raise
        finally:
            self._sent.discard(job)
        self._books.accepted(job, accepted)
        assert job.request is not None
        expected = self._forecast.expected_seconds(
            job.request.mode, job.request.duration_seconds, accepted.estimated_duration_seconds
        )
        job._learn(
            state=accepted.status,
            request_id=accepted.request_id,
            estimated_cost_usd=accepted.estimated_cost_usd or job.request.estimated_cost_usd,
            ends_at=None if expected is None else _now() + expected,
        )

    async def _send(self, job: Job) -> Accepted:
        def on_sending(goes_out: bool) -> None:
            if not goes_out:
                self._sent.discard(job)
                self._books.unsent(job)
                return
            if not self._books.sending(job):
                raise SubmissionCancelled("Taken back before it was sent. Nothing was paid.")
            self._sent.add(job)

        request = job.request
        assert request is not None
        if request.image is not None:
            return await self._client.image_to_video(
                request.image,
                request.prompt,
                duration_seconds=request.duration_seconds,
                on_sending=on_sending,
            )
        return await self._client.text_to_video(
            request.prompt,
            duration_seconds=request.duration_seconds,
            aspect_ratio=request.aspect_ratio or "",
            seed=request.seed if request.seed is not None else -1,
            on_sending=on_sending,
        )

    async def _watch(self, job: Job) -> None:
        assert job.request_id is not None
        async for seen in self._client.watch(job.request_id):
            if isinstance(seen.error, ServiceUnreachable):
                await self._reach()
            self._observe(job, seen)
        if isinstance(job.status, Failed):
            self._money_moved()
            raise job_failed(job.status)

    def _observe(self, job: Job, seen: Observation) -> None:
        known = job._known
        ends_at = known.ends_at if seen.remaining_seconds is None else _now() + seen.remaining_seconds
        changes: dict[str, object] = {
            "asked_at": seen.asked_at or known.asked_at,
            "next_ask_at": seen.next_ask_at,
            "progress": known.progress
            if seen.progress is None
            else max(seen.progress, known.progress or 0.0),
            "ends_at": ends_at,
            "error": seen.error,
        }
        if (status := seen.status) is not None:
            changes |= {"status": status, "state": status.status}
            estimate = getattr(status, "estimated_cost_usd", None)
            changes["estimated_cost_usd"] = known.estimated_cost_usd if estimate is None else estimate
            if status.finished:
                changes |= {"ended_at": _now(), "ends_at": None}
        if isinstance(status, Completed):
            changes |= {"cost_usd": status.cost_usd, "progress": 1.0}
            if job.request is not None:
                self._forecast.learn(job.request.mode, job.request.duration_seconds, _now() - known.began_at)
        job._learn(**changes)
        if seen.status is not None:
            self._books.heard(job, seen.status)

    async def _download(self, job: Job, status: Completed) -> None:
        if not status.video_url:
            raise DownloadFailed(
                "The service says the clip is completed, but not where it lies. Ask it again later."
            )
        path = self._clips / f"{quote(status.request_id, safe='')}.mp4"

        def report(done: int, total: int | None) -> None:
            fraction = done / total if total else 0.0
            if fraction - (job._known.downloaded or 0.0) >= REPORT_STEP:
                job._learn(downloaded=fraction)

        job._learn(downloaded=0.0)
        self._money_moved()
        await self._client.download(status.video_url, path, report=report)
        took = (job._known.ended_at or _now()) - job._known.began_at
        clip = Clip(
            path,
            status.request_id,
            request=job.request,
            cost_usd=status.cost_usd,
            took_seconds=took if job.request is not None else None,
            sandbox=self._sandbox,
        )
        self._books.downloaded(job, path)
        job._learn(clip=clip, downloaded=None, watched=False, error=None)
        job._settle(clip)


def _now() -> float:
    return asyncio.get_running_loop().time()
