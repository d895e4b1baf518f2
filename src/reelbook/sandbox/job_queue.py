"""The jobs under way: accepted, drawn, moved on as time passes, charged when they are done.

Every move is written to the database before anyone is told, so that a server that was killed goes on where
it stopped. How long things take and which moves there are is said in jobs.py.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import secrets
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from dataclasses import asdict, replace
from typing import TypeVar

from .. import wire
from .accounts import charge, micro, require_funds
from .clock import Clock
from .jobs import SandboxJob, state_at
from .places import Places, write_whole
from .render import Spec
from .render_pool import ClusterLost, Renders
from .store import Database

logger = logging.getLogger(__name__)

KEEP_VIDEOS_SECONDS = 7 * 86_400.0

T = TypeVar("T")


class JobQueue:
    """All jobs. Lives on the server's event loop; what waits for the disk is done in threads."""

    def __init__(self, store: Database, clock: Clock, places: Places, renders: Renders) -> None:
        self._store = store
        self._clock = clock
        self._places = places
        self._renders = renders
        self._under_way: dict[str, SandboxJob] = {}
        self._drawing: set[asyncio.Task[None]] = set()
        self._moving = asyncio.Lock()

    @property
    def under_way(self) -> int:
        """How many jobs are neither completed nor failed."""
        return len(self._under_way)

    def resume(self) -> None:
        """Go on with what was under way when the server last ended."""
        rows = self._store.read("SELECT * FROM jobs WHERE finished_at IS NULL ORDER BY rowid")
        for job in map(SandboxJob.of, rows):
            # A clock that was moved on stands back at the machine's time after a restart.
            job = replace(job, accepted_at=min(job.accepted_at, self._clock.now()))
            self._under_way[job.request_id] = job
            self._draw(job)

    async def accept(self, job: SandboxJob, image: bytes | None) -> None:
        """Take on a new `job`. Raises BalanceTooLow if it can't be paid; then nothing is kept."""
        await asyncio.to_thread(self._write_accepted, job, image)
        self._under_way[job.request_id] = job
        self._draw(job)

    async def find(self, request_id: str) -> SandboxJob | None:
        """The job as it stands now, None if there is none of that id."""
        await self.move_on()
        job = self._under_way.get(request_id)
        if job is not None:
            return job
        rows = self._store.read("SELECT * FROM jobs WHERE request_id = ?", (request_id,))
        return SandboxJob.of(rows[0]) if rows else None

    async def move_on(self) -> None:
        """Carry out all moves that are due by now."""
        now = self._clock.now()
        if all(state_at(job, now) == job.state for job in self._under_way.values()):
            return
        async with self._moving:
            moved = [
                _moved(job, state)
                for job in self._under_way.values()
                if (state := state_at(job, now)) != job.state
            ]
            await _whole(lambda: self._write_moved(moved))
            for job in moved:
                if job.under_way:
                    self._under_way[job.request_id] = job
                else:
                    del self._under_way[job.request_id]
                    self._places.images.joinpath(job.request_id).unlink(missing_ok=True)

    async def close(self) -> None:
        """Stop drawing. Jobs under way stay as they are and go on at the next start."""
        for task in self._drawing:
            task.cancel()
        await asyncio.gather(*self._drawing, return_exceptions=True)

    def tidy(self) -> None:
        """Remove clips finished more than 7 days ago, and files that no job knows."""
        before = self._clock.now() - KEEP_VIDEOS_SECONDS
        rows = self._store.read(
            "SELECT request_id, video FROM jobs WHERE finished_at IS NULL OR finished_at >= ?", (before,)
        )
        for folder, column in ((self._places.videos, "video"), (self._places.images, "request_id")):
            kept = {row[column] for row in rows}
            for file in folder.iterdir():
                if file.name not in kept:
                    file.unlink(missing_ok=True)

    def _draw(self, job: SandboxJob) -> None:
        if job.failure is not None or job.video is not None:
            return
        task = asyncio.create_task(self._drawn(job, self._clock.now(), time.monotonic()))
        self._drawing.add(task)
        task.add_done_callback(self._drawing.discard)

    async def _drawn(self, job: SandboxJob, begun: float, ticks: float) -> None:
        try:
            image = await asyncio.to_thread(self._image, job)
            asked = job.request
            rendered = await self._renders.draw(
                Spec(asked["prompt"], job.seconds, asked["aspect_ratio"], asked["seed"], image)
            )
            video = f"{secrets.token_urlsafe(24)}.mp4"
            await asyncio.to_thread(write_whole, self._places.videos / video, rendered.mp4)
            # By how long the drawing really took: a clock that was moved on meanwhile has no part in it.
            rendered_at = begun + time.monotonic() - ticks
            outcome = {"video": video, "rendered_seconds": rendered.seconds, "rendered_at": rendered_at}
        except ClusterLost as exc:
            outcome = {"failure": f"The clip could not be drawn: {exc}."}
        except BrokenExecutor:
            outcome = {"failure": "The clip could not be drawn: the drawing process ended twice."}
        except Exception as exc:
            logger.exception("job %s could not be drawn", job.request_id)
            outcome = {"failure": f"The clip could not be drawn: {type(exc).__name__}."}
        async with self._moving:
            job = replace(self._under_way[job.request_id], **outcome)  # type: ignore[arg-type]  # fields of SandboxJob
            await _whole(lambda: self._write_outcome(job))
            self._under_way[job.request_id] = job
        await self.move_on()

    def _image(self, job: SandboxJob) -> bytes | None:
        return (self._places.images / job.request_id).read_bytes() if job.mode == "image-to-video" else None

    def _write_accepted(self, job: SandboxJob, image: bytes | None) -> None:
        kept = self._places.images / job.request_id
        try:
            with self._store.transaction() as db:
                require_funds(db, micro(wire.cost_usd(job.seconds)))
                if image is not None:
                    write_whole(kept, image)
                columns = asdict(job) | {"request": json.dumps(job.request)}
                names, values = ", ".join(columns), ", ".join(f":{name}" for name in columns)
                db.execute(f"INSERT INTO jobs ({names}) VALUES ({values})", columns)  # noqa: S608  # our own names
        except BaseException:
            kept.unlink(missing_ok=True)
            raise

    def _write_outcome(self, job: SandboxJob) -> None:
        with self._store.transaction() as db:
            db.execute(
                "UPDATE jobs SET failure = ?, video = ?, rendered_seconds = ?, rendered_at = ?"
                " WHERE request_id = ?",
                (job.failure, job.video, job.rendered_seconds, job.rendered_at, job.request_id),
            )

    def _write_moved(self, jobs: list[SandboxJob]) -> None:
        with self._store.transaction() as db:
            for job in jobs:
                db.execute(
                    "UPDATE jobs SET state = ?, finished_at = ?, cost_micro = ? WHERE request_id = ?",
                    (job.state, job.finished_at, job.cost_micro, job.request_id),
                )
                if job.cost_micro is not None:
                    charge(db, job.cost_micro)


def _moved(job: SandboxJob, state: str) -> SandboxJob:
    """`job` in `state`, with what that state costs and when it began."""
    job = replace(job, state=state)
    if job.under_way:
        return job
    if job.state == wire.COMPLETED:
        assert job.rendered_seconds is not None
        job = replace(job, cost_micro=round(micro(wire.PRICE_USD_PER_SECOND) * job.rendered_seconds))
    # When it ended, not when somebody looked: usage counts by it.
    return replace(job, finished_at=max(job.accepted_at + job.planned_seconds, job.rendered_at or 0))


async def _whole(write: Callable[[], T]) -> T:
    """Run `write` in a thread to its end, even when cancelled: memory must not fall behind the disk."""
    running = asyncio.ensure_future(asyncio.to_thread(write))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        with contextlib.suppress(Exception):
            await running
        raise
