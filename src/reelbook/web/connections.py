"""The connection under a request: deadlines, a bound on open connections, and breaking one on purpose.

Each connection takes an open file of the process, and a sandbox's faults break connections, for which ASGI
has no message. uvicorn lets its protocol class be replaced; this one puts itself into `scope["state"]`.
"""

import asyncio
import contextlib
import socket
import struct
from typing import Any, Final, Literal

from starlette.types import Message, Receive, Scope
from uvicorn.protocols.http.h11_impl import H11Protocol

from ..deadlines import Deadline

try:
    import resource
except ImportError:  # Windows, where sockets aren't counted
    resource = None  # type: ignore[assignment]
from uvicorn.config import Config
from uvicorn.server import ServerState

Part = Literal["head", "body"]

# How long a whole request head may take, counted from the connection's start or from the end of the answer
# before, and how long its body. An image of 10 MiB takes 2 minutes at 0.7 Mbit/s.
SECONDS: Final[dict[Part, float]] = {"head": 30, "body": 120}
# An answer that waits while its client reads nothing: long enough for a laptop's short sleep.
UNREAD_SECONDS: Final = 120.0

MOST_CONNECTIONS: Final = 2048
FILES_PER_CONNECTION: Final = 2  # the socket, and the clip that it may be sending
# For the database, the workers' pipes, the log, and connections that were accepted but not yet counted.
OTHER_FILES: Final = 128

# How much is read of a body that nobody wants.
MOST_DRAINED_BYTES: Final = 256 << 20
DRAIN_SECONDS: Final = 10.0

_STATE = "reelbook.connection"


class LimitedProtocol(H11Protocol):
    """uvicorn's HTTP protocol with deadlines and a bound on connections, which can be broken on purpose.

    There are at most `limit_concurrency` of them, half of it from one address. At an address's bound, a new
    one replaces the one that has been idle the longest, or else the one whose request has been incomplete the
    longest. Where all requests are complete and in progress, none is dropped, and the new one gets a 503. The
    application finds the connection of a request with `connection_of`.
    """

    _deadline: asyncio.TimerHandle | None = None
    _unread_deadline: asyncio.TimerHandle | None = None
    _waiting: tuple[Part | None, object] | None = None
    _waiting_since = 0.0

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, {**app_state, _STATE: self}, _loop)

    def reset(self) -> None:
        """End the connection with a RST at once; what wasn't sent yet is lost."""
        linger = struct.pack("ii", 1, 0)  # closing doesn't wait, so the system sends a RST in place of a FIN
        self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        super().connection_made(transport)
        self._keep_time()
        self._make_room()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._keep_time()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._keep_time()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread_deadline = self.loop.call_later(UNREAD_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        _stop(self._unread_deadline)

    def connection_lost(self, exc: Exception | None) -> None:
        _stop(self._deadline)
        _stop(self._unread_deadline)
        super().connection_lost(exc)

    @property
    def _awaited(self) -> Part | None:
        """What the client has yet to send."""
        if self.cycle is None or self.cycle.response_complete:
            return "head"
        return "body" if self.cycle.more_body else None

    def _keep_time(self) -> None:
        """Starts a deadline whenever the client is awaited; what it sends meanwhile doesn't extend it."""
        waiting = (self._awaited, self.cycle)
        if self._waiting == waiting:
            return
        self._waiting, self._waiting_since = waiting, self.loop.time()
        _stop(self._deadline)
        awaited, _ = waiting
        self._deadline = self.loop.call_later(SECONDS[awaited], self._give_up) if awaited else None

    def _give_up(self) -> None:
        self.transport.close()  # once the end of the last answer has been sent
        self._deadline = self.loop.call_later(UNREAD_SECONDS, self.transport.abort)

    def _make_room(self) -> None:
        """Leaves half of all connections to other addresses. Where all are taken, uvicorn answers 503."""
        neighbours = [
            other
            for other in self.connections
            if isinstance(other, LimitedProtocol)
            and other._address == self._address
            and not other.transport.is_closing()
        ]
        if self.limit_concurrency is None or len(neighbours) <= self.limit_concurrency // 2:
            return
        waiting = [other for other in neighbours if other is not self and other._droppable]
        if waiting:
            min(waiting, key=lambda other: (other._awaited != "head", other._waiting_since)).transport.close()
        else:
            self.limit_concurrency = 0  # uvicorn answers 503

    @property
    def _droppable(self) -> bool:
        return self._awaited is not None and self.transport.get_write_buffer_size() == 0

    @property
    def _address(self) -> str:
        return self.client[0] if self.client else ""


class RequestBody:
    """A request's body, so that a refusal can read the rest of it before it is sent.

    A connection closed on unread bytes is reset, and a client still sending an image never sees the answer.
    """

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._ended = False

    async def receive(self) -> Message:
        """The next message of the client: a piece of the body, or that it is gone."""
        message = await self._receive()
        self._ended = not message.get("more_body", False)
        return message

    async def drain(self) -> None:
        """Reads and forgets what is left, within bounds: an endless body ends in a reset after all."""
        left = MOST_DRAINED_BYTES
        with contextlib.suppress(TimeoutError):
            async with Deadline(DRAIN_SECONDS):
                while not self._ended and left > 0:
                    left -= len((await self.receive()).get("body", b""))

    async def gone_within(self, seconds: float) -> bool:
        """Waits up to `seconds` for the client to go, and returns whether it did; call it after `drain`."""
        with contextlib.suppress(TimeoutError):
            async with Deadline(seconds):
                while (await self.receive())["type"] != "http.disconnect":
                    pass
                return True
        return False


def connection_of(scope: Scope) -> LimitedProtocol:
    """The connection on which the request of `scope` came."""
    connection: LimitedProtocol = scope["state"][_STATE]
    return connection


def most_connections() -> int:
    """How many connections may be open at once; raises this process's limit of open files for it."""
    if resource is None:
        return MOST_CONNECTIONS
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS * FILES_PER_CONNECTION + OTHER_FILES
    if 0 <= files < wanted:  # endless is -1 on some systems, enormous on others
        files = wanted if most < 0 else min(wanted, most)
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))
    enough_for = (files - OTHER_FILES) // FILES_PER_CONNECTION
    return MOST_CONNECTIONS if files < 0 else max(16, min(MOST_CONNECTIONS, enough_for))


def _stop(deadline: asyncio.TimerHandle | None) -> None:
    if deadline is not None:
        deadline.cancel()
