"""What this machine knows about every clip that was asked for: its intent, its id, its file, its money.

One SQLite file in `REELBOOK_HOME`, shared by all kernels of the home. It never holds a key and never asks the
service; the session decides what to submit, ask and fetch.
"""

from .ledger import Ledger, LedgerFile
from .money import Funds, PaidClip
from .records import Account, EarlierRun, Entry, Marks, Sample, Spend, Submission, SweepCell
from .sweeps import SweepRecord
from .tool_calls import ToolCall, ToolJob
from .votes import KeptVote

__all__ = [
    "Account",
    "EarlierRun",
    "Entry",
    "Funds",
    "KeptVote",
    "Ledger",
    "LedgerFile",
    "Marks",
    "PaidClip",
    "Sample",
    "Spend",
    "Submission",
    "SweepCell",
    "SweepRecord",
    "ToolCall",
    "ToolJob",
]
