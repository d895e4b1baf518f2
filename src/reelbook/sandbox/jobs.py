"""Jobs: what is kept of each, the states that it passes with time, and the queue that carries this out.

A job's state at a moment is a function of what is kept of it. The queue draws what was accepted, moves it on,
and charges it when it is done. Jobs are in the database only, so that they survive a killed server.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import logging
import math
import random
import re
import secrets
import sqlite3
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import BrokenExecutor
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from .. import wire
from ..atomic_files import write_whole
from ..web.database import SqliteFile
from ..wire import MICRO
from .accounts import charge, micro, require_funds
from .clock import Clock
from .places import Places
from .protocol import PACES, Pace
from .render import Spec
from .render_pool import Renders

logger = logging.getLogger(__name__)

KEEP_VIDEOS_SECONDS = 7 * wire.DAY_SECONDS
UNDER_WAY: Final = tuple(each for each in wire.STATUS_FIELDS if each not in (wire.COMPLETED, wire.FAILED))
PROCESSING_BEGINS: Final = 0.15  # of a job's planned time
ALMOST_DONE = 99
STUCK_SECONDS: Final[float] = wire.DAY_SECONDS
FAILURES: Final = {"policy": "The prompt was refused by the content policy."}
# A job that has ended stays as it is, and is charged once.
_UNDER_WAY: Final = "SELECT * FROM jobs WHERE finished_at IS NULL AND request_id = coalesce(?, request_id)"
_MARK: Final = re.compile(r"\[\s*(fail|slow|stuck)\s*(?::([^\[\]]*))?\]", re.IGNORECASE)


@dataclass(frozen=True)
class SandboxJob:
    """All that is kept of a job. Times are seconds since the epoch, money is millionths of a dollar.

    `request` is what was asked for, by the names of payloads.FIELDS, `key_id` the key that asked. `failure`
    is the text with which it ends, or has ended, as failed.
    """

    request_id: str
    state: str
    mode: str
    request: Mapping[str, Any]
    accepted_at: float
    planned_seconds: float
    failure: str | None = None
    video: str | None = None
    rendered_seconds: float | None = None
    rendered_at: float | None = None
    finished_at: float | None = None
    cost_micro: int | None = None
    key_id: str = ""

    @classmethod
    def of(cls, row: sqlite3.Row) -> SandboxJob:
        return cls(**{**dict(row), "request": json.loads(row["request"])})

    @property
    def seconds(self) -> int:
        """The length that was asked for."""
        return int(self.request["duration_seconds"])

    @property
    def under_way(self) -> bool:
        return self.state in UNDER_WAY


def outcome_in(prompt: str) -> tuple[float | None, str | None]:
    """How many seconds a job is to take, and the text with which it is to fail, by its prompt's brackets.

    They are `[fail: policy]`, `[slow: 60]` (seconds) and `[stuck]`; None is what they don't say.
    """
    marks = {name.lower(): more.strip() for name, more in _MARK.findall(prompt)}
    seconds, failure = None, None
    if "stuck" in marks:
        seconds, failure = STUCK_SECONDS, "It was stuck for a day."
    elif re.fullmatch(r"\d{1,5}", marks.get("slow", "")):
        seconds = float(marks["slow"])
    if "fail" in marks:
        failure = FAILURES.get(marks["fail"].lower(), marks["fail"] or "The prompt asked for a failure.")
    return seconds, failure


def planned_seconds(pace: Pace, request_id: str) -> float:
    """How long the job `request_id` takes at `pace`, in seconds: the same for the same id."""
    median, sigma = PACES[pace] if isinstance(pace, str) else (pace, 0)
    if not sigma:
        return float(median)
    return random.Random(request_id).lognormvariate(math.log(median), sigma)  # noqa: S311  # no secret


def state_at(job: SandboxJob, now: float) -> str:
    """The state that `job` has come to at `now`. It never goes back, and a finished one stays as it is.

    The interface names only the first move, from nothing to pending (Job states); the others are the
    sandbox's. A job ends when its time is up and there is something to end with.
    """
    if not job.under_way:
        return job.state
    elapsed = now - job.accepted_at
    if elapsed >= job.planned_seconds and job.failure is not None:
        return wire.FAILED
    if elapsed >= job.planned_seconds and job.video is not None:
        return wire.COMPLETED
    return wire.PROCESSING if elapsed >= PROCESSING_BEGINS * job.planned_seconds else job.state


def progress(job: SandboxJob, now: float) -> int:
    """0 to 99 while it runs: the share of the planned time, held at 99 until the clip is really there."""
    if not job.planned_seconds:
        return ALMOST_DONE
    start = PROCESSING_BEGINS * job.planned_seconds
    share = (now - job.accepted_at - start) / (job.planned_seconds - start)
    return max(0, min(ALMOST_DONE, int(100 * share)))


def status_body(job: SandboxJob, now: float, video_url: str | None) -> dict[str, Any]:
    """The answer of GET /api/v1/status: exactly the fields of the job's state (interface, Job states)."""
    told = {
        "estimated_cost_usd": wire.cost_usd(job.seconds),
        "progress": progress(job, now),
        "video_url": video_url,
        "duration_seconds": job.rendered_seconds,
        "cost_usd": (job.cost_micro or 0) / MICRO,
        "error": job.failure,
    }
    fields = {name: told[name] for name in wire.STATUS_FIELDS[job.state]}
    return {"request_id": job.request_id, "status": job.state, **fields}


class JobQueue:
    """All jobs. Lives on the server's event loop; what waits for the disk is done in threads."""

    def __init__(self, store: SqliteFile, clock: Clock, places: Places, renders: Renders) -> None:
        self._store = store
        self._clock = clock
        self._places = places
        self._renders = renders
        self._waiting: list[SandboxJob] = []  # to be drawn
        self._served: dict[str, int] = {}  # the turn in which each key was served last
        self._turns = itertools.count(1)
        self._workers_used = 0
        self._drawing: set[asyncio.Task[None]] = set()
        # What became of each drawing, until its job has ended: a full disk may not take it at once.
        self._outcomes: dict[str, dict[str, Any]] = {}

    @property
    def under_way(self) -> int:
        return int(self._store.read("SELECT count(*) FROM jobs WHERE finished_at IS NULL")[0][0])

    def resume(self) -> None:
        """Take up the jobs that were under way when the server last stopped."""
        with self._store.transaction() as db:
            # A clock that was moved on returns to the machine's time after a restart.
            now = {"now": self._clock.now()}
            db.execute("UPDATE jobs SET accepted_at = min(accepted_at, :now) WHERE finished_at IS NULL", now)
        rows = self._store.read("SELECT * FROM jobs WHERE finished_at IS NULL ORDER BY rowid")
        for job in map(SandboxJob.of, rows):
            self._draw(job)

    async def accept(self, job: SandboxJob, image: bytes | None) -> None:
        """Take on a new `job`. Raises Refused if it can't be paid; then nothing is kept."""

        async def accepted() -> None:
            await asyncio.to_thread(self._write_accepted, job, image)
            self._draw(job)

        # To its end, even when whoever asked is gone: what was written must be drawn.
        await asyncio.shield(asyncio.create_task(accepted()))

    async def find(self, request_id: str) -> SandboxJob | None:
        """The job as it stands now; None if no job has that id."""
        await self.move_on(request_id)
        rows = self._store.read("SELECT * FROM jobs WHERE request_id = ?", (request_id,))
        return SandboxJob.of(rows[0]) if rows else None

    async def move_on(self, request_id: str | None = None) -> None:
        """Carry out the moves that are due by now: of one job, or of all."""
        self._draw_next()  # there may be more workers by now
        now = self._clock.now()
        if self._moved(self._store.read(_UNDER_WAY, (request_id,)), now):
            await asyncio.to_thread(self._write_moved, request_id, now)

    async def close(self) -> None:
        """Stop drawing. Jobs under way stay as they are and go on at the next start."""
        self._waiting.clear()
        for task in self._drawing:
            task.cancel()
        await asyncio.gather(*self._drawing, return_exceptions=True)

    def tidy(self) -> None:
        """Remove old clips, and files that no job knows: before any is drawn, as its file comes first."""
        before = self._clock.now() - KEEP_VIDEOS_SECONDS
        rows = self._store.read(
            "SELECT request_id, video FROM jobs WHERE finished_at IS NULL OR finished_at >= ?", (before,)
        )
        for folder, column in ((self._places.videos, "video"), (self._places.images, "request_id")):
            kept = {row[column] for row in rows}
            for file in folder.iterdir():
                if file.name not in kept:
                    with contextlib.suppress(OSError):  # a person's folder; on Windows, a clip that plays
                        file.unlink()

    def _remove_old_clips(self) -> None:
        before = self._clock.now() - KEEP_VIDEOS_SECONDS
        rows = self._store.read("SELECT video FROM jobs WHERE finished_at < ? AND video NOTNULL", (before,))
        for row in rows:
            self._places.videos.joinpath(row["video"]).unlink(missing_ok=True)

    def _draw(self, job: SandboxJob) -> None:
        if job.failure is None and job.video is None:
            self._waiting.append(job)
            self._draw_next()

    def _draw_next(self) -> None:
        """Keeps the workers busy, for the key served longest ago first: nobody waits for another's flood."""
        while self._waiting and self._workers_used < self._renders.at_once:
            job = min(self._waiting, key=lambda job: self._served.get(job.key_id, 0))
            self._waiting.remove(job)
            self._served[job.key_id] = next(self._turns)
            self._workers_used += 1
            task = asyncio.create_task(self._drawn(job))
            self._drawing.add(task)
            task.add_done_callback(self._drawing.discard)

    async def _drawn(self, job: SandboxJob) -> None:
        begun, ticks = self._clock.now(), time.monotonic()
        outcome: dict[str, Any]
        try:
            try:
                image, asked = None, job.request
                if job.mode == "image-to-video":
                    kept = self._places.images / job.request_id
                    image = await asyncio.to_thread(kept.read_bytes)
                rendered = await self._renders.draw(
                    Spec(asked["prompt"], job.seconds, asked["aspect_ratio"], asked["seed"], image)
                )
            finally:
                self._workers_used -= 1
                self._draw_next()  # before the disk, so that no worker idles
            video = f"{secrets.token_urlsafe(24)}.mp4"
            await asyncio.to_thread(write_whole, self._places.videos / video, rendered.mp4)
            # By how long the drawing really took: a clock that was moved on meanwhile doesn't count.
            rendered_at = begun + time.monotonic() - ticks
            outcome = {"video": video, "rendered_seconds": rendered.seconds, "rendered_at": rendered_at}
        except BrokenExecutor:
            outcome = {"failure": "The clip could not be drawn: the drawing process ended twice."}
        except Exception as exc:
            logger.exception("job %s could not be drawn", job.request_id)
            why = getattr(exc, "strerror", None) or type(exc).__name__
            outcome = {"failure": f"The clip could not be drawn: {why}."}

        self._outcomes[job.request_id] = outcome
        with contextlib.suppress(OSError, sqlite3.Error):  # the next move and the next start make up for it
            await self.move_on()
            await asyncio.to_thread(self._remove_old_clips)

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

    def _write_moved(self, request_id: str | None, now: float) -> None:
        """Carries out the moves of the job, or of all jobs under way, and charges those that complete."""
        with self._store.transaction() as db:
            moved = self._moved(db.execute(_UNDER_WAY, (request_id,)).fetchall(), now)
            for job in moved:
                db.execute(
                    "UPDATE jobs SET state = :state, failure = :failure, video = :video,"
                    " rendered_seconds = :rendered_seconds, rendered_at = :rendered_at,"
                    " finished_at = :finished_at, cost_micro = :cost_micro WHERE request_id = :request_id",
                    vars(job),
                )
                if job.cost_micro is not None:
                    charge(db, job.cost_micro)
        for job in moved:
            if not job.under_way:
                self._outcomes.pop(job.request_id, None)
                self._places.images.joinpath(job.request_id).unlink(missing_ok=True)

    def _moved(self, rows: Iterable[sqlite3.Row], now: float) -> list[SandboxJob]:
        """The jobs of `rows` about which there is something new at `now`, as they are then."""
        moved = []
        for job in map(SandboxJob.of, rows):
            current = job_at(replace(job, **self._outcomes.get(job.request_id, {})), now)
            if current != job:
                moved.append(current)
        return moved


def job_at(job: SandboxJob, now: float) -> SandboxJob:
    """`job` in the state that it has come to at `now`, with its end and its cost if it has ended."""
    job = replace(job, state=state_at(job, now))
    if job.under_way:
        return job
    if job.state == wire.COMPLETED:
        assert job.rendered_seconds is not None
        job = replace(job, cost_micro=round(micro(wire.PRICE_USD_PER_SECOND) * job.rendered_seconds))
    # When it ended, not when somebody looked: usage counts by it.
    return replace(job, finished_at=max(job.accepted_at + job.planned_seconds, job.rendered_at or 0))
