"""A job's life as data: what is kept of it, which moves there are, and where it stands at a given moment.

Pure: the time is an argument. Carrying the moves out is job_queue.py's part.
"""

from __future__ import annotations

import hashlib
import math
import sqlite3
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Final

from .. import wire

# Interface, States and transitions: it names only the first move; these are the sandbox's.
MOVES: Final[dict[str, frozenset[str]]] = {
    wire.PENDING: frozenset({wire.PROCESSING, wire.FAILED}),
    wire.PROCESSING: frozenset({wire.COMPLETED, wire.FAILED}),
    wire.COMPLETED: frozenset(),
    wire.FAILED: frozenset(),
}
UNDER_WAY: Final = (wire.PENDING, wire.PROCESSING)

PENDING_SHARE = 0.15
ALMOST_DONE = 99

AT_ONCE, BRISK, LIFELIKE = "at once", "brisk", "lifelike"
Pace = str | float

# Median seconds, and the spread (sigma of the logarithm) of the time a job takes.
_PACES: Final[dict[str, tuple[float, float]]] = {AT_ONCE: (0, 0), BRISK: (8, 0.15), LIFELIKE: (40, 0.35)}


@dataclass(frozen=True)
class Job:
    """All that is kept of a job. Times are seconds since the epoch, money is millionths of a dollar.

    `failure` is the text with which it ends, or already ended, as failed.
    """

    request_id: str
    state: str
    mode: str
    prompt: str
    duration_seconds: int
    aspect_ratio: str
    seed: int
    accepted_at: float
    planned_seconds: float
    failure: str | None = None
    video: str | None = None
    rendered_seconds: float | None = None
    rendered_at: float | None = None
    finished_at: float | None = None
    cost_micro: int | None = None

    @classmethod
    def of(cls, row: sqlite3.Row) -> Job:
        """The job of a row of the database."""
        return cls(**{**dict(row), "seed": int(row["seed"])})

    @property
    def estimated_cost_usd(self) -> float:
        """0.05 USD a second of what was asked for (interface, Limits)."""
        return wire.cost_usd(self.duration_seconds)

    @property
    def under_way(self) -> bool:
        """Whether it is neither completed nor failed."""
        return self.state in UNDER_WAY


def checked_pace(pace: object) -> Pace:
    """`pace` if it is one: "at once", "brisk", "lifelike", or seconds from 0 to a day. Raises ValueError."""
    if isinstance(pace, str) and pace in _PACES:
        return pace
    if isinstance(pace, int | float) and not isinstance(pace, bool) and 0 <= pace <= 86_400:
        return float(pace)
    raise ValueError('pace is "at once", "brisk", "lifelike" or a number of seconds up to a day')


def planned_seconds(pace: Pace, request_id: str) -> float:
    """How long the job `request_id` takes at `pace`, in seconds: the same for the same id."""
    median, sigma = _PACES[pace] if isinstance(pace, str) else (pace, 0)
    if not sigma:
        return float(median)
    digest = hashlib.sha256(f"pace {request_id}".encode()).digest()
    share = (int.from_bytes(digest[:8]) + 0.5) / 2**64
    return median * math.exp(sigma * NormalDist().inv_cdf(share))


def next_move(job: Job, now: float) -> str | None:
    """The state that `job` should move to at `now`, None if it stays."""
    elapsed = now - job.accepted_at
    if job.state == wire.PENDING and elapsed >= PENDING_SHARE * job.planned_seconds:
        return wire.PROCESSING
    if job.state == wire.PROCESSING and elapsed >= job.planned_seconds:
        if job.failure is not None:
            return wire.FAILED
        if job.video is not None:
            return wire.COMPLETED
    return None


def progress(job: Job, now: float) -> int:
    """0 to 99 while it runs: the share of the planned time, held at 99 until the clip is really there."""
    if not job.planned_seconds:
        return ALMOST_DONE
    start = PENDING_SHARE * job.planned_seconds
    share = (now - job.accepted_at - start) / (job.planned_seconds - start)
    return max(0, min(ALMOST_DONE, int(100 * share)))


def status_body(job: Job, now: float, video_url: str | None) -> dict[str, Any]:
    """The answer of GET /api/v1/status: exactly the fields of the job's state (interface, Job states)."""
    body: dict[str, Any] = {"request_id": job.request_id, "status": job.state}
    if job.under_way:
        body["estimated_cost_usd"] = job.estimated_cost_usd
    if job.state == wire.PROCESSING:
        body["progress"] = progress(job, now)
    if job.state == wire.COMPLETED:
        body["video_url"] = video_url
        body["duration_seconds"] = job.rendered_seconds
        body["cost_usd"] = (job.cost_micro or 0) / 1_000_000
    if job.state == wire.FAILED:
        body["error"] = job.failure
    return body
