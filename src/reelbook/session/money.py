"""The account's money as last heard, and who asks for it when. Every answer is kept as a sample."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any

from ..client import AsyncClient
from ..errors import (
    AuthenticationError,
    RateLimited,
    ReelbookError,
    ServiceError,
)
from ..models import Balance, Usage
from .books import Books
from .job import Job

SPARED_REQUESTS = 3
SCARCE_PAUSE_SECONDS = 20.0
PAUSE_SECONDS = 0.5
# The figures follow within half a minute, and the answer to the question may take a whole one.
FOLLOWED_SECONDS = 100.0


class Money:
    """Balance and usage, on the session's thread."""

    def __init__(
        self,
        client: AsyncClient,
        books: Books,
        *,
        jobs: Iterable[Job],
        reach: Callable[[], Awaitable[None]],
        spawn: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]],
        tell: Callable[[], None],
        listened_to: Callable[[], bool],
    ) -> None:
        # As last heard, less what the key's clips cost since: the service isn't asked again for each.
        self.balance_usd: float | None = None
        self.asking: asyncio.Task[None] | None = None
        self._looking: asyncio.Task[None] | None = None
        self._balance_only = False
        self._client = client
        self._books = books
        self._jobs = jobs
        self._reach = reach
        self._spawn = spawn
        self._tell = tell
        self._listened_to = listened_to

    async def balance(self, *, background: bool = False) -> Balance:
        """Asks for the balance."""
        asked_at = time.time()
        balance = await self._client.balance(background=background)
        self._books.heard_balance(balance, asked_at=asked_at)
        self._heard(balance.balance_usd)
        return balance

    async def usage(self, days: int, *, background: bool = False) -> Usage:
        """Asks what was used in the last `days` days."""
        asked_at = time.time()
        usage = await self._client.usage(days, background=background)
        self._books.heard_usage(usage, asked_at=asked_at)
        if usage.current_balance_usd is not None:
            self._heard(usage.current_balance_usd)
        return usage

    def moved(self) -> None:
        """Something was paid for: the balance is asked for soon, where somebody looks."""
        if self.balance_usd is not None and (likely := self._books.likely_balance_usd()) is not None:
            self.balance_usd = round(likely, 6)
            self._tell()
        if not self._listened_to() or (self.asking is not None and not self.asking.done()):
            return
        # A figure beside the work: the work needs the last requests more.
        left = self._client.budget().left
        self.asking = self._spawn(
            self._ask_quietly(SCARCE_PAUSE_SECONDS if left < SPARED_REQUESTS else PAUSE_SECONDS)
        )

    def answer_lost(self) -> None:
        """A paid answer was lost: figures are taken at once and once more when they must have followed.

        Whether somebody looks or not: without them nobody could find out later what became of it.
        """
        if self._looking is None or self._looking.done():
            self._looking = self._spawn(self._look_twice())

    async def _look_twice(self) -> None:
        await self._ask_quietly(PAUSE_SECONDS)
        await self._ask_quietly(FOLLOWED_SECONDS)

    async def refresh(self) -> None:
        """Asks for the balance behind everything else; a failure is left to the next time."""
        with contextlib.suppress(ReelbookError):
            await self._reach()
        await self._ask_quietly(0.0)

    async def _ask_quietly(self, pause_seconds: float) -> None:
        """By itself, so a sandbox that was stopped meanwhile isn't started for it.

        The usage holds the balance too (interface, Usage summary), and the count that `reconcile()` needs.
        """
        await asyncio.sleep(pause_seconds)
        try:
            if not await self._usage_held_balance():
                await self.balance(background=True)
        except ReelbookError:
            return  # the next change of money asks again
        finally:
            self._tell()

    async def _usage_held_balance(self) -> bool:
        if self._balance_only:
            return False
        try:
            usage = await self.usage(self._books.usage_days(), background=True)
        except (AuthenticationError, RateLimited):
            raise
        except ServiceError:
            self._balance_only = True  # this service has no such usage to give
            return False
        return usage.current_balance_usd is not None

    def _heard(self, balance_usd: float) -> None:
        self.balance_usd = balance_usd
        for job in self._jobs:
            if job._known.ended_at is not None and job._known.balance_after_usd is None:
                job._learn(balance_after_usd=balance_usd)
