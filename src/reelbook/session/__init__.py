"""Sessions, jobs and clips: the only place that chooses between the sandbox and a live service."""

from ..ledger import EarlierRun
from ..requests import JobRequest
from .batch import Batch
from .clip import Clip
from .connector import connect
from .job import Job, JobView
from .joining import join
from .nested_loops import allow_nested_loops
from .passports import Passport, passport
from .reconciliation import Reconciliation, Verdict
from .session import Session
from .tools import Tools, connect_tools

__all__ = [
    "Batch",
    "Clip",
    "EarlierRun",
    "Job",
    "JobRequest",
    "JobView",
    "Passport",
    "Reconciliation",
    "Session",
    "Tools",
    "Verdict",
    "allow_nested_loops",
    "connect",
    "connect_tools",
    "join",
    "passport",
]
