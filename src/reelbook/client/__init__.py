"""The asynchronous client: httpx, no widgets, no threads."""

from __future__ import annotations

from .belief import Belief
from .budget import Purpose
from .client import AsyncClient
from .gate import SharedRequests
from .pace import Pace
from .tools import ToolServer
from .watching import Observation, job_failed

__all__ = [
    "AsyncClient",
    "Belief",
    "Observation",
    "Pace",
    "Purpose",
    "SharedRequests",
    "ToolServer",
    "job_failed",
]
