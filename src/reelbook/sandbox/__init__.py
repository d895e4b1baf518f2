"""The sandbox: the service's whole interface as a local server with its own state (server.py finds and starts it)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .handle import Sandbox
    from .server import ensure, find, in_thread, stop

__all__ = ["Sandbox", "ensure", "find", "in_thread", "stop"]


def __getattr__(name: str) -> Any:
    # A drawing process imports this package too, and needs no server.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import handle, server

    return getattr(handle if name == "Sandbox" else server, name)
