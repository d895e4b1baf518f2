"""The connection under a request, in the hands of the application: what faults need to break it.

ASGI knows only whole answers: no reset, no close before the answer, no bytes that are no HTTP. uvicorn lets
its protocol class be replaced, and this one puts the connection into `scope["state"]`, ASGI's own place for
what a server hands to its application. It uses nothing of uvicorn's protocol but its constructor, and
nothing of asyncio but the documented transport.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import TYPE_CHECKING, Any

from starlette.types import Scope
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from uvicorn.config import Config
    from uvicorn.server import ServerState

_STATE = "reelbook.connection"


class Connection:
    """One client's connection, to be broken on purpose."""

    transport: asyncio.Transport

    def write(self, data: bytes) -> None:
        """Send bytes that need not be HTTP."""
        self.transport.write(data)

    def close(self) -> None:
        """End it in good order, after what was written."""
        self.transport.close()

    def reset(self) -> None:
        """End it with a RST at once; what wasn't sent yet is lost."""
        linger = struct.pack("ii", 1, 0)  # closing doesn't wait, so the system sends a RST in place of a FIN
        self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.transport.abort()


class BreakableProtocol(H11Protocol):
    """uvicorn's HTTP protocol, whose application finds the connection with `connection_of`."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self._connection = Connection()
        super().__init__(config, server_state, {**app_state, _STATE: self._connection}, _loop)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        """asyncio's own call: a client is there."""
        self._connection.transport = transport
        super().connection_made(transport)


def connection_of(scope: Scope) -> Connection:
    """The connection on which the request of `scope` came."""
    connection: Connection = scope["state"][_STATE]
    return connection
