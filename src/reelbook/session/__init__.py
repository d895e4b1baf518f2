"""Sessions, jobs and clips: the only place that chooses between the sandbox and a live service."""

from __future__ import annotations

from .clip import Clip
from .connecting import connect
from .job import Job, JobRequest, JobView
from .nesting import allow_nested_loops
from .session import Facts, Session

__all__ = ["Clip", "Facts", "Job", "JobRequest", "JobView", "Session", "allow_nested_loops", "connect"]
