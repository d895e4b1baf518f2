"""How many connections the sandbox keeps open, and how long it waits for a client.

Every connection is an open file of the process. Without bounds, clients that connect and say nothing, or that
stop half-way, would use all of them up, and nobody else would be served.
"""

from __future__ import annotations

import asyncio
from typing import Final, Literal

from .connection import BreakableProtocol

try:
    import resource
except ImportError:  # Windows, where sockets aren't counted
    resource = None  # type: ignore[assignment]

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


class LimitedProtocol(BreakableProtocol):
    """uvicorn's HTTP protocol with deadlines, and with a bound on connections.

    There are at most `limit_concurrency` of them, half of it from one address. At the bound, a new one takes
    the place of the one that has been idle the longest, or else of the one whose request has been incomplete
    the longest. Where the requests of all are complete and under way, none is dropped, and the new one gets a
    503.
    """

    _deadline: asyncio.TimerHandle | None = None
    _unread_deadline: asyncio.TimerHandle | None = None
    _waiting: tuple[Part | None, object] | None = None
    _waiting_since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        """asyncio's own call: a client is there."""
        super().connection_made(transport)
        self._keep_time()
        self._make_room()

    def data_received(self, data: bytes) -> None:
        """asyncio's own call: a client sent something."""
        super().data_received(data)
        self._keep_time()

    def on_response_complete(self) -> None:
        """uvicorn's own call: an answer is complete."""
        super().on_response_complete()
        self._keep_time()

    def pause_writing(self) -> None:
        """asyncio's own call: the client doesn't read what it asked for."""
        super().pause_writing()
        self._unread_deadline = self.loop.call_later(UNREAD_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """asyncio's own call: the client reads again."""
        super().resume_writing()
        self._stop(self._unread_deadline)

    def connection_lost(self, exc: Exception | None) -> None:
        """asyncio's own call: the connection has ended."""
        self._stop(self._deadline)
        self._stop(self._unread_deadline)
        super().connection_lost(exc)

    @property
    def _awaited(self) -> Part | None:
        """What the client has yet to send."""
        if self.cycle is None or self.cycle.response_complete:
            return "head"
        return "body" if self.cycle.more_body else None

    def _keep_time(self) -> None:
        """Begin a deadline when the client is waited for; what it sends meanwhile doesn't extend it."""
        waiting = (self._awaited, self.cycle)
        if self._waiting == waiting:
            return
        self._waiting, self._waiting_since = waiting, self.loop.time()
        self._stop(self._deadline)
        awaited, _ = waiting
        self._deadline = self.loop.call_later(SECONDS[awaited], self._give_up) if awaited else None

    def _give_up(self) -> None:
        self.transport.close()  # once the end of the last answer has been sent
        self._deadline = self.loop.call_later(UNREAD_SECONDS, self.transport.abort)

    @staticmethod
    def _stop(deadline: asyncio.TimerHandle | None) -> None:
        if deadline is not None:
            deadline.cancel()

    def _make_room(self) -> None:
        limit = self.limit_concurrency
        if limit is None:
            return
        everyone = [
            other
            for other in self.connections
            if isinstance(other, LimitedProtocol) and not other.transport.is_closing()
        ]
        neighbours = [other for other in everyone if other._address == self._address]
        if len(neighbours) > limit // 2:
            crowd = neighbours
        elif len(everyone) >= limit:  # from here on uvicorn refuses
            crowd = everyone
        else:
            return
        waiting = [other for other in crowd if other is not self and other._droppable]
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


def raise_file_limit() -> None:
    """Let this process open as many files as the most connections need, as far as the system allows it."""
    if resource is None:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS * FILES_PER_CONNECTION + OTHER_FILES
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def most_connections() -> int:
    """How many connections may be open at once, by the files that this process may open."""
    if resource is None:
        return MOST_CONNECTIONS
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    return max(16, min(MOST_CONNECTIONS, (files - OTHER_FILES) // FILES_PER_CONNECTION))
