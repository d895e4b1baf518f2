"""The agent tool server over MCP: only the protocol, for those who have the extra `agents`.

`session/tools.py` records calls in the ledger and takes up jobs.
"""

from .server import ToolServer

__all__ = ["ToolServer"]
