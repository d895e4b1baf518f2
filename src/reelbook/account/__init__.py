"""One account at the service: its connection, its money and its keys. It knows nothing of jobs.

The ledger keeps what the service said about the money.
"""

from .balance import Facts
from .keys import Rotation
from .limits import Spending
from .receipt import Receipt

__all__ = ["Facts", "Receipt", "Rotation", "Spending"]
