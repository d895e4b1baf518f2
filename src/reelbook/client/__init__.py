"""The asynchronous client: httpx, no widgets, no threads."""

from __future__ import annotations

from .client import AsyncClient, job_failed
from .gate import Purpose
from .watching import Observation

__all__ = ["AsyncClient", "Observation", "Purpose", "job_failed"]
