"""A listening socket, this machine's address, and a uvicorn server that reports when it answers."""

import asyncio
import contextlib
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp

from ..atomic_files import write_whole
from ..errors import ReelbookError
from .connections import LimitedProtocol, most_connections

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


def kept_socket(host: str, port: int | None, file: Path, *usual: int) -> socket.socket:
    """A listening socket on `port`, or else on the one that `file` keeps, a usual one, or any that is free.

    Clients know the address, so `file` keeps the port for the next time. Raises OSError if none is free.
    """
    ports = [*usual, 0] if port is None else [port]
    if port is None:
        with contextlib.suppress(OSError, ValueError):
            ports.insert(0, int(file.read_bytes()))
    for number in ports:
        try:
            listening = bound_socket(host, number)
        except (OSError, OverflowError) as error:
            problem = error
        else:
            write_whole(file, str(listening.getsockname()[1]).encode())
            return listening
    raise problem


def own_address() -> str | None:
    """This machine's address in the network that it would use; None without one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((_ELSEWHERE, 9))  # chooses the way; a datagram socket sends nothing by it
        except OSError:
            return None
        host: str = probe.getsockname()[0]
    return None if host.startswith("127.") else host


class Server(uvicorn.Server):
    """A uvicorn server of `app` on the socket `listening`; `more` goes to uvicorn.Config.

    `on_started` is called once it answers, `on_ended` when it has shut down.
    """

    def __init__(
        self,
        app: ASGIApp,
        listening: socket.socket,
        *,
        on_started: Callable[[], None] = lambda: None,
        on_ended: Callable[[], None] = lambda: None,
        **more: Any,
    ) -> None:
        super().__init__(
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
        self._listening = listening
        self._on_started = on_started
        self._on_ended = on_ended
        self._answers = False
        self._settled = threading.Event()  # it answers, or never will

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.should_exit:
            return
        self._listening.listen(BACKLOG)  # asyncio made it as short as what it accepts at once
        self._on_started()
        self._answers = True
        self._settled.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets=sockets)
        self._on_ended()

    def end(self, *_: object) -> None:
        """Ends it soon. From any thread."""
        self.should_exit = True

    def run_until_signal(self) -> None:
        """Runs it on the main thread until SIGINT or SIGTERM, or until it is ended."""
        for number in (signal.SIGINT, signal.SIGTERM):
            # uvicorn sends itself the signal again when it is done, which would interrupt the cleanup.
            signal.signal(number, self.end)
        self._run()

    def _run(self) -> None:
        with self._listening:  # which uvicorn closes only if it came so far as to listen
            asyncio.run(self.serve(sockets=[self._listening]))

    @contextlib.contextmanager
    def in_thread(self, name: str) -> Iterator[None]:
        """Runs it in a thread of that name until the block ends. Raises ReelbookError if it can't start."""

        def work() -> None:
            try:
                self._run()
            finally:
                self._settled.set()

        thread = threading.Thread(target=work, name=name, daemon=True)
        thread.start()
        try:
            self._settled.wait()
            if not self._answers:
                raise ReelbookError(f"{name} could not be started in a thread.")
            yield
        finally:
            self.end()
            thread.join()
