"""Sessions, jobs and clips: the only place that chooses between the sandbox and a live service."""

from __future__ import annotations

from ..requests import JobRequest
from .batch import Batch
from .clip import Clip
from .connector import connect
from .facts import Facts
from .job import EarlierRun, Job, JobView
from .nested_loops import allow_nested_loops
from .receipt import Receipt
from .reconcile import Reconciliation, Verdict
from .rotation import Rotation
from .session import Picked, Session
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
