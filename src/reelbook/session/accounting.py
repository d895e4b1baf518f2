"""A session's money by the ledger, without a request: what it spent, what its limit leaves, and receipts."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..ledger import Spend
from .receipt import Receipt, receipt_of
from .spending import Spending, nearing

if TYPE_CHECKING:
    from .books import Books
    from .connection import Connection
    from .engine import Engine


class Accounting:
    """The part of a `Session` that tells what its clips cost."""

    service: str
    _engine: Engine
    _books: Books
    _connection: Connection

    def spend(self) -> Spend:
        """What this key's clips cost so far by the ledger: spent, reserved and uncertain, in USD.

        A clip that an agent tool bought is among them once it was taken up and has ended.
        """
        self._engine.refuse_closed()
        return self._books.spend()

    def spending(self) -> Spending:
        """The running total: what this session's clips cost so far, and what `max_spend` leaves, in USD.

        `print(session.spending())` says it in a sentence. `spend()` counts the clips of earlier sessions too.
        """
        self._engine.refuse_closed()
        own, limit = self._books.spend_here(), self._books.max_spend_usd
        counted = self._books.spend().committed_usd
        return Spending(
            own.spent_usd, own.reserved_usd, own.uncertain_usd, limit, counted, tools_usd=own.tools_usd
        )

    def spending_notes(self, cost_usd: float) -> tuple[str, ...]:
        """What there is to say before a submission of that cost; empty while limit and balance are far off.

        By what was last heard of the balance: nothing is asked.
        """
        self._engine.refuse_closed()
        near = nearing(
            cost_usd,
            spend=self._books.spend(),
            limit_usd=self._books.max_spend_usd,
            balance_usd=self._books.likely_balance_usd(),
        )
        return tuple(each.text for each in near)

    def receipt(
        self,
        experiment: str | None = None,
        *,
        since: datetime | float | None = None,
        until: datetime | float | None = None,
    ) -> Receipt:
        """What the key's clips cost by the ledger, one by one and in all; one experiment's where it is named.

        `since` and `until` (not included) are times of the submission: datetimes, or epoch seconds.
        `receipt().to_csv("receipt.csv")` writes a file for a spreadsheet.
        """
        self._engine.refuse_closed()
        from_at, to_at = epoch(since), epoch(until)
        entries = self._books.bought(experiment=experiment, since=from_at, until=to_at)
        tools = [] if experiment is not None else self._books.bought_by_tools(since=from_at, until=to_at)
        name = "sandbox" if self.service == "sandbox" else urlsplit(self._connection.client.base_url).netloc
        accounts = {*(each.account_id for each in entries), *(each.account_id for each in tools)}
        return receipt_of(entries, dict.fromkeys(accounts, name), experiment, tools)


def epoch(moment: datetime | float | None) -> float | None:
    """A time as epoch seconds."""
    return moment.timestamp() if isinstance(moment, datetime) else moment
