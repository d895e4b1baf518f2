"""A request's body as it comes in, and what is left of it."""

from __future__ import annotations

import contextlib

from starlette.types import Message, Receive

from ..deadlines import Deadline

MOST_DRAINED_BYTES = 256 << 20
DRAIN_SECONDS = 10.0


class Body:
    """A request's body, so that a refusal can read the rest of it before it goes out.

    A connection closed on unread bytes is reset, and whoever still sends an image never sees the answer.
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
        """Waits until the client is gone, at most `seconds`; whether it is. To be called after `drain`."""
        with contextlib.suppress(TimeoutError):
            async with Deadline(seconds):
                while (await self.receive())["type"] != "http.disconnect":
                    pass
                return True
        return False
