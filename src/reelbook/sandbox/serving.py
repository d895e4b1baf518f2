"""Runs the service on a socket: the same way in a process of its own and in a thread.

Who starts it, and how it is found, is server.py's part.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

from .app import make_app
from .service import Service

if TYPE_CHECKING:
    import uvicorn

LOOPBACK = "127.0.0.1"
LOOPBACK_NAMES = (LOOPBACK, "localhost", "::1")
BACKLOG = 2048
KEEP_ALIVE_SECONDS = 30


def bound_socket(host: str, *ports: int) -> socket.socket:
    """A listening socket on the first of `ports` that is free; 0 is any free one. Raises OSError if none is."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for port in ports:
        # With the protocol named, asyncio sets TCP_NODELAY; without it each kept-alive request costs 44 ms.
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((host, port))
            listening.listen(BACKLOG)
        except OSError:
            listening.close()
            if port == ports[-1]:
                raise
        else:
            return listening
    raise ValueError("no port given")


def local_url(listening: socket.socket) -> str:
    """The address by which this machine reaches `listening`."""
    host, port = listening.getsockname()[:2]
    if host in ("0.0.0.0", "::"):  # noqa: S104  # compared, not bound
        host = LOOPBACK
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def make_server(service: Service, *, host: str, on_started: Callable[[], None]) -> uvicorn.Server:
    """A uvicorn server of `service`; `on_started` is called when it answers. Run its `serve(sockets=[…])`."""
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets=sockets)
            on_started()

    config = uvicorn.Config(
        make_app(service, loopback_only=host in LOOPBACK_NAMES),
        loop="asyncio",
        http="h11",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=1,
    )
    server = Server(config)

    def end() -> None:
        server.should_exit = True

    service.end = end
    return server
