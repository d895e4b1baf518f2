"""One account at the service: its connection, its money and its keys. It knows no job.

The ledger keeps what the service said about the money. Each question has a module of its own: the balance,
the limits, receipts, the usage day by day, and what became of requests whose answer was lost.
"""

from .balance import Facts
from .keys import Rotation
from .limits import Spending
from .receipt import Receipt

__all__ = ["Facts", "Receipt", "Rotation", "Spending"]
