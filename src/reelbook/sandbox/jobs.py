"""A job's life as data: what is kept of it, the states that it passes, and where it stands at a given moment.

Pure: the time is an argument. Carrying the moves out is job_queue.py's part.
"""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Final

from .. import wire
from .protocol import Pace

AT_ONCE, BRISK, LIFELIKE = "at once", "brisk", "lifelike"
ALMOST_DONE = 99

# Median seconds, and the spread (sigma of the logarithm) of the time a job takes.
_PACES: Final[dict[str, tuple[float, float]]] = {AT_ONCE: (0, 0), BRISK: (8, 0.15), LIFELIKE: (40, 0.35)}


@dataclass(frozen=True)
class Phase:
    """One state of a job.

    It begins at this share of the job's planned time; one that is an `end`, only when the job has what is
    named there, and nothing follows it. `tells` are the fields of its status beside request_id and status.
    """

    state: str
    begins: float
    tells: tuple[str, ...]
    end: str | None = None


# Interface, Job states. It names only the first move, from nothing to pending; the others are the sandbox's.
LIFE: Final = (
    Phase(wire.PENDING, 0.0, ("estimated_cost_usd",)),
    Phase(wire.PROCESSING, 0.15, ("estimated_cost_usd", "progress")),
    Phase(wire.COMPLETED, 1.0, ("video_url", "duration_seconds", "cost_usd"), end="video"),
    Phase(wire.FAILED, 1.0, ("error",), end="failure"),
)
# What a status may tell, as JSON Schema names its types.
TOLD: Final = {
    "estimated_cost_usd": "number",
    "progress": "integer",
    "video_url": "string",
    "duration_seconds": "number",
    "cost_usd": "number",
    "error": "string",
}
UNDER_WAY: Final = tuple(phase.state for phase in LIFE if phase.end is None)
_ORDER: Final = {phase.state: number for number, phase in enumerate(LIFE)}


@dataclass(frozen=True)
class SandboxJob:
    """All that is kept of a job. Times are seconds since the epoch, money is millionths of a dollar.

    `request` is what was asked for, by the names of payloads.FIELDS. `failure` is the text with which it
    ends, or already ended, as failed.
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

    @classmethod
    def of(cls, row: sqlite3.Row) -> SandboxJob:
        """The job of a row of the database."""
        return cls(**{**dict(row), "request": json.loads(row["request"])})

    @property
    def seconds(self) -> int:
        """The length that was asked for."""
        return int(self.request["duration_seconds"])

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


def state_at(job: SandboxJob, now: float) -> str:
    """The state that `job` has come to at `now`. It never goes back, and a finished one stays as it is."""
    if not job.under_way:
        return job.state
    elapsed = now - job.accepted_at
    reached = (
        phase.state
        for phase in reversed(LIFE[_ORDER[job.state] + 1 :])
        if elapsed >= phase.begins * job.planned_seconds
        and (phase.end is None or getattr(job, phase.end) is not None)
    )
    return next(reached, job.state)


def progress(job: SandboxJob, now: float) -> int:
    """0 to 99 while it runs: the share of the planned time, held at 99 until the clip is really there."""
    if not job.planned_seconds:
        return ALMOST_DONE
    start = LIFE[_ORDER[wire.PROCESSING]].begins * job.planned_seconds
    share = (now - job.accepted_at - start) / (job.planned_seconds - start)
    return max(0, min(ALMOST_DONE, int(100 * share)))


def status_body(job: SandboxJob, now: float, video_url: str | None) -> dict[str, Any]:
    """The answer of GET /api/v1/status: exactly the fields of the job's state (interface, Job states)."""
    told = {
        "estimated_cost_usd": wire.cost_usd(job.seconds),
        "progress": progress(job, now),
        "video_url": video_url,
        "duration_seconds": job.rendered_seconds,
        "cost_usd": (job.cost_micro or 0) / 1_000_000,
        "error": job.failure,
    }
    fields = LIFE[_ORDER[job.state]].tells
    return {"request_id": job.request_id, "status": job.state, **{name: told[name] for name in fields}}
