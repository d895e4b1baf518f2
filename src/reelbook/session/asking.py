"""What a session asks the service about its account: balance, usage, and what became of a lost answer."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from ..client import checks
from .telling import tell_all
from .usage_history import UsageHistory

if TYPE_CHECKING:
    from ..client import AsyncClient
    from ..models import Balance, Usage
    from .books import Books
    from .connection import Connection
    from .engine import Engine
    from .job import Job
    from .money import Money
    from .reconcile import Reconciler, Reconciliation

T = TypeVar("T")


class Asking:
    """The part of a `Session` that asks the service about the account."""

    _engine: Engine
    _books: Books
    _connection: Connection
    _client: AsyncClient
    _money: Money
    _reconciler: Reconciler
    _listeners: list[Callable[[Job | None], None]]

    def balance(self) -> Balance:
        """Asks for the balance in USD and waits (GET billing/balance)."""
        return self._call(lambda _: self._money.balance())

    def usage(self, days: int = 30) -> Usage:
        """Asks what was used in the last `days` days and waits (GET billing/usage)."""
        return self._call(lambda _: self._money.usage(days))

    def usage_history(self, days: int = 30) -> UsageHistory:
        """What was used day by day in the last `days` days: see `UsageHistory`. Doesn't wait."""
        checks.days(days)
        return UsageHistory(self._money, self._books, self._engine, days, reach=self._connection.reach)

    def reconcile(self, *, alone: bool = False) -> Reconciliation:
        """Finds out what became of submissions whose answer was lost, and waits for it.

        Compares balance and usage, asked for now, with what was known before; what is sure is kept, the rest
        says what to do. Others may use the account: `alone=True` says that only this key, from this home, has
        used it since then. On a live service nothing is sure without that, and "not accepted" takes hours.
        """
        return self._engine.call(self._reconciler.find_out(alone=alone))

    def _find_out(self, *, alone: bool = False) -> concurrent.futures.Future[Reconciliation]:
        """As `reconcile`, without waiting."""
        return self._engine.submit(self._reconciler.find_out(alone=alone))

    def refresh_balance(self) -> concurrent.futures.Future[None]:
        """Asks for the balance without waiting; `facts` change when it is there."""
        return self._engine.submit(self._money.refresh())

    def _call(self, ask: Callable[[AsyncClient], Awaitable[T]]) -> T:
        async def call() -> T:
            await self._connection.reach()
            try:
                return await ask(self._client)
            finally:
                tell_all(self._listeners, None)

        return self._engine.call(call())
