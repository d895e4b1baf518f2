"""The agent tool server over MCP: only the protocol, for those who have the extra `agents`.

`session/tools.py` records calls in the ledger and takes up jobs.
"""

from __future__ import annotations

from .server import ToolServer

__all__ = ["ToolServer"]
