"""A listening socket, this machine's address, and a uvicorn server that reports when it answers."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final

from starlette.types import ASGIApp

if TYPE_CHECKING:
    import uvicorn

LOOPBACK: Final = "127.0.0.1"
LOOPBACK_NAMES: Final = (LOOPBACK, "localhost", "::1")
BACKLOG: Final = 2048  # connections that the system keeps until they are accepted
# asyncio accepts this many at a time before it handles the first, and each takes a file.
ACCEPTED_AT_ONCE: Final = 16
KEEP_ALIVE_SECONDS: Final = 30
_ELSEWHERE: Final = "192.0.2.1"  # RFC 5737: nobody's address. Nothing is sent to it.
GRACE_SECONDS: Final = 1  # for what is in progress at the end


def bound_socket(host: str, port: int) -> socket.socket:
    """A listening socket on `port`; 0 is any free one. Raises OSError if it isn't free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio sets TCP_NODELAY; without it each kept-alive request costs 44 ms.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening


def own_address() -> str | None:
    """This machine's address in the network that it would use; None without one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((_ELSEWHERE, 9))  # chooses the way; a datagram socket sends nothing by it
        except OSError:
            return None
        host: str = probe.getsockname()[0]
    return None if host.startswith("127.") else host


def make_server(
    app: ASGIApp,
    *,
    on_started: Callable[[], None] = lambda: None,
    on_ended: Callable[[], None] = lambda: None,
    **more: Any,
) -> uvicorn.Server:
    """A uvicorn server of `app`, to be given to `run` or `in_thread`; `more` goes to uvicorn.Config.

    `on_started` is called once it answers, `on_ended` when it has shut down.
    """
    import uvicorn

    from .connections import LimitedProtocol, most_connections

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets=sockets)
            if self.should_exit:
                return
            for each in sockets or ():
                each.listen(BACKLOG)  # asyncio made it as short as what it accepts at once
            on_started()

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            await super().shutdown(sockets=sockets)
            on_ended()

    return Server(
        uvicorn.Config(
            app,
            loop="asyncio",
            http=LimitedProtocol,
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            limit_concurrency=most_connections(),
            backlog=ACCEPTED_AT_ONCE,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=GRACE_SECONDS,
            **more,
        )
    )


def run(server: uvicorn.Server, listening: socket.socket) -> None:
    """Runs the server on the main thread until SIGINT or SIGTERM, or until it is told to exit."""

    def end(*_: object) -> None:
        server.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM):
        # uvicorn sends itself the signal again when it is done, which would interrupt the cleanup.
        signal.signal(number, end)
    asyncio.run(server.serve(sockets=[listening]))


@contextlib.contextmanager
def in_thread(
    make: Callable[[Callable[[], None]], uvicorn.Server],
    listening: socket.socket,
    name: str,
    *,
    on_ended: Callable[[], None] = lambda: None,
) -> Iterator[bool]:
    """Runs a server in a thread of that name until the block ends, and yields whether it answers.

    `make` gets the function that the server calls once it answers. `on_ended` is called on the thread at its
    end.
    """
    answers: SimpleQueue[bool] = SimpleQueue()
    server = make(lambda: answers.put(True))

    def work() -> None:
        try:
            with asyncio.Runner() as runner:
                runner.run(server.serve(sockets=[listening]))
        finally:
            on_ended()
            answers.put(False)

    thread = threading.Thread(target=work, name=name, daemon=True)
    thread.start()
    try:
        yield answers.get()
    finally:
        server.should_exit = True
        thread.join()
