"""The asynchronous client: httpx, no widgets, no threads."""

from __future__ import annotations

from .client import AsyncClient
from .scheduling.budget import Purpose
from .scheduling.estimates import Belief, Pace
from .scheduling.scheduler import SharedRequests
from .scheduling.watch import Observation, job_failed

__all__ = [
    "AsyncClient",
    "Belief",
    "Observation",
    "Pace",
    "Purpose",
    "SharedRequests",
    "job_failed",
]
