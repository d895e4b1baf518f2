"""Sessions, jobs and clips: the only place that chooses between the sandbox and a live service."""

from __future__ import annotations

from .batch import Batch
from .clip import Clip
from .connecting import connect
from .facts import Facts
from .finding import Picked
from .job import Job
from .known import EarlierRun, JobView
from .nesting import allow_nested_loops
from .receipt import Receipt
from .reconcile import Reconciliation, Verdict
from .requests import JobRequest
from .rotation import Rotation
from .session import Session
from .spending import Spending
from .tools import Tools, connect_tools

__all__ = [
    "Batch",
    "Clip",
    "EarlierRun",
    "Facts",
    "Job",
    "JobRequest",
    "JobView",
    "Picked",
    "Receipt",
    "Reconciliation",
    "Rotation",
    "Session",
    "Spending",
    "Tools",
    "Verdict",
    "allow_nested_loops",
    "connect",
    "connect_tools",
]
