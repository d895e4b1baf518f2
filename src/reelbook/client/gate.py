"""Lets requests through as the budget allows, the important ones first. `budget.py` decides, this waits."""

from __future__ import annotations

import asyncio
import enum
import heapq
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ..errors import ServiceUnreachable
from .answers import Reply
from .budget import Budget


class Purpose(enum.IntEnum):
    """What a request is for, in the order in which it is let through."""

    CLICK = 0  # a person asked for it and waits
    SUBMIT = 1
    POLL = 2
    BACKGROUND = 3


class Turn:
    """One request's place in the budget; `answered` is to be called with its reply."""

    def __init__(self) -> None:
        self.reply: Reply | None = None

    def answered(self, reply: Reply) -> None:
        self.reply = reply


class Gate:
    """One key's door. Belongs to the event loop that uses it; times are that loop's."""

    def __init__(self, budget: Budget | None = None) -> None:
        self.budget = budget or Budget()
        self._queue: list[tuple[Purpose, int, asyncio.Future[None]]] = []
        self._order = itertools.count()
        self._timer: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def turn(self, purpose: Purpose) -> AsyncIterator[Turn]:
        """Waits until a request of this purpose may go out; the body sends it."""
        await self._wait(purpose)
        loop = asyncio.get_running_loop()
        turn = Turn()
        try:
            yield turn
        except ServiceUnreachable:
            self.budget.unsent()
            raise
        except BaseException:
            self._settle(turn, loop.time())
            raise
        else:
            self._settle(turn, loop.time())
        finally:
            self._admit()

    def _settle(self, turn: Turn, now: float) -> None:
        if turn.reply is None:
            self.budget.lost(now)
        else:
            self.budget.answered(turn.reply.status, turn.reply.headers, now)

    async def _wait(self, purpose: Purpose) -> None:
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._queue, (purpose, next(self._order), place))
        self._admit()
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.budget.unsent()  # let through and cancelled in the same moment
                self._admit()
            raise

    def _admit(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        loop = asyncio.get_running_loop()
        while self._queue:
            if self._queue[0][2].done():  # cancelled while it waited
                heapq.heappop(self._queue)
                continue
            wait = self.budget.wait_seconds(loop.time())
            if wait > 0:
                self._timer = loop.call_later(wait, self._admit)
                return
            self.budget.sent()
            heapq.heappop(self._queue)[2].set_result(None)
