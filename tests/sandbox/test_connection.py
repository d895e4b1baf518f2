"""A request's connection in the application's hands, over a real socket."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from reelbook.sandbox.connection import BreakableProtocol, Connection, connection_of

Break = Callable[[Connection], None]


@contextmanager
def breaking(break_: Break) -> Iterator[socket.socket]:
    """A connection to a server that does this to every request's."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        break_(connection_of(scope))

    config = uvicorn.Config(app, http=BreakableProtocol, lifespan="off", log_config=None, ws="none")
    server = uvicorn.Server(config)
    listening = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        with socket.create_connection(listening.getsockname(), 10) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
            yield client
    finally:
        server.should_exit = True
        thread.join(60)


def test_bytes_that_are_no_http_arrive_before_the_end() -> None:
    """Written, then closed in good order."""

    def garble(connection: Connection) -> None:
        connection.write(b"no HTTP")
        connection.close()

    with breaking(garble) as client:
        assert (client.recv(100), client.recv(100)) == (b"no HTTP", b"")


def test_a_reset_is_one() -> None:
    """The client is told that the connection broke, not that it ended."""
    with breaking(Connection.reset) as client, pytest.raises(ConnectionResetError):
        client.recv(100)
