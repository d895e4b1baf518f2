"""The agent tool server over MCP: the protocol only, for those who have the extra `agents`.

What records calls in the ledger and takes up jobs lies in `session/tools.py`.
"""

from __future__ import annotations

from .server import ToolServer

__all__ = ["ToolServer"]
