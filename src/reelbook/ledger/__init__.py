"""What this machine knows of every clip that was asked for: intents, ids, clips, money and shared requests.

One SQLite file in `REELBOOK_HOME`, shared by all kernels of the home. It never holds a key and never asks the
service; what to submit, ask and fetch is the session's.
"""

from ..executions import CellId, KnownBy, Place, PlaceCounter
from .ledger import Ledger, LedgerFile
from .money import Funds
from .records import Account, EarlierRun, Entry, Marks, Sample, Spend, Submission, SweepCell
from .sweeps import SweepRecord, Sweeps
from .tool_calls import ToolCall, ToolCalls, ToolJob
from .votes import KeptVote

__all__ = [
    "Account",
    "CellId",
    "EarlierRun",
    "Entry",
    "Funds",
    "KeptVote",
    "KnownBy",
    "Ledger",
    "LedgerFile",
    "Marks",
    "Place",
    "PlaceCounter",
    "Sample",
    "Spend",
    "Submission",
    "SweepCell",
    "SweepRecord",
    "Sweeps",
    "ToolCall",
    "ToolCalls",
    "ToolJob",
]
