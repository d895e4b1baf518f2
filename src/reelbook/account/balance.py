"""The account's money as last heard, and when to ask for it. Every answer is kept as a sample."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from ..errors import AuthenticationError, RateLimited, ReelbookError, ServiceError, SessionClosed
from ..event_thread import EventThread
from ..ledger import Funds, Ledger
from ..ledger.money import sample_of
from ..models import Balance, Usage
from .connection import Connection

T = TypeVar("T", Balance, Usage)

USAGE_DAYS = 30  # the period that the background asks about, so that its answers can be compared
SPARED_REQUESTS = 3
SCARCE_PAUSE_SECONDS = 20.0
PAUSE_SECONDS = 0.5
# The figures follow within half a minute, and the answer may take a whole one.
FOLLOWED_SECONDS = 100.0


@dataclass(frozen=True)
class Facts:
    """What is known without asking: `session.facts`. Amounts in USD, None where nothing is known.

        facts = session.facts
        print(facts.balance_usd, facts.requests_left, "of", facts.requests_limit)

    `balance_usd` is what is left: the balance as last heard, minus `to_come_usd`, which clips may still cost.
    `requests_left` of `requests_limit` may be sent now, and the next one comes back in
    `requests_back_in_seconds`. `max_spend_usd` is this session's limit for the key's clips. `trouble` says
    why the ledger can't be written, and so nothing bought; `kept` whether it is on the disk; `key_trouble`
    that the service refuses the key.
    """

    balance_usd: float | None
    requests_left: int
    requests_limit: int
    requests_back_in_seconds: float | None
    max_spend_usd: float | None = None
    trouble: str | None = None
    kept: bool = True
    to_come_usd: float = 0.0
    key_trouble: str | None = None


class BalanceTracker:
    """Balance and usage, on the session's thread. It asks by itself only while somebody looks (`observed`).

    `on_change` is called after each answer and each attempt, `on_balance` with each balance.
    """

    def __init__(
        self,
        connection: Connection,
        ledger: Ledger,
        thread: EventThread,
        *,
        on_change: Callable[[], None],
        on_balance: Callable[[float], None],
        observed: Callable[[], bool],
    ) -> None:
        self.outdated = True  # something has happened since the ledger was read
        self._funds: Funds | None = None
        self._reading = threading.Lock()
        self.asking: asyncio.Task[None] | None = None
        self._looking: asyncio.Task[None] | None = None
        self._first = asyncio.Lock()
        self._moved = False
        self._connection = connection
        self._client = connection.client
        self._ledger = ledger
        self._thread = thread
        self._on_change = on_change
        self._on_balance = on_balance
        self._observed = observed

    @property
    def funds(self) -> Funds | None:
        """What is left of the balance, the same for everybody; None if nobody has heard it."""
        with self._reading:  # another caller waits for it, or would get an outdated answer
            if self.outdated:
                self.outdated = False
                with contextlib.suppress(SessionClosed):  # then it stays as it was
                    self._funds = self._ledger.funds()
            return self._funds

    async def balance(self, *, background: bool = False) -> Balance:
        return await self._kept(self._client.balance(background=background))

    async def usage(self, days: int, *, background: bool = False) -> Usage:
        return await self._kept(self._client.usage(days, background=background))

    def moved(self) -> None:
        """Something was paid for: asks for the balance soon, if somebody looks."""
        self._on_change()
        if not self._observed():
            return
        self._moved = True
        if self.asking is None or self.asking.done():
            self.asking = self._thread.spawn(self._ask_until_still())

    async def _ask_until_still(self) -> None:
        """Asks, and asks again if money moved meanwhile: the first answer may not include that."""
        while self._moved:
            # It is only a figure: the work needs the last requests more.
            left = self._client.budget().left
            await asyncio.sleep(SCARCE_PAUSE_SECONDS if left < SPARED_REQUESTS else PAUSE_SECONDS)
            self._moved = False
            await self._ask_quietly()

    def answer_lost(self) -> None:
        """A paid answer was lost: takes figures for `reconcile()`, now and once they have followed."""

        async def look_twice() -> None:
            for pause_seconds in (PAUSE_SECONDS, FOLLOWED_SECONDS):
                await asyncio.sleep(pause_seconds)
                await self._ask_quietly()

        if self._looking is None or self._looking.done():
            self._looking = self._thread.spawn(look_twice())

    async def refresh(self) -> None:
        """Asks with the lowest priority, unless a balance was heard in this session."""
        async with self._first:
            if (known := self.funds) is not None and known.heard_at >= self._ledger.opened_at:
                return
            with contextlib.suppress(ReelbookError):
                await self._connection.reach()
            await self._ask_quietly()

    async def _ask_quietly(self) -> None:
        """Asks without a caller, so it doesn't start a sandbox that was stopped meanwhile.

        The usage includes the balance (interface, Usage summary), and the count that `reconcile()` needs.
        """
        usage: Usage | None = None
        try:
            try:
                usage = await self.usage(USAGE_DAYS, background=True)
            except ServiceError as error:
                if isinstance(error, AuthenticationError | RateLimited):
                    raise
            if usage is None or usage.current_balance_usd is None:
                await self.balance(background=True)
        except ReelbookError:
            return  # the next change of money asks again
        finally:
            self._on_change()

    async def _kept(self, question: Awaitable[T]) -> T:
        asked_at = time.time()
        told = await question
        sample = sample_of(told, time.time(), asked_at)
        self._ledger.samples.add(sample)
        if sample.balance_usd is not None:
            self._on_balance(sample.balance_usd)
            self._on_change()
        return told
