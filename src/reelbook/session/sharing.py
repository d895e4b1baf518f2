"""One key's requests in the ledger, where all kernels of the machine see them, on the session's clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..ledger import Account, Ledger
from ..ledger.request_log import Instant


class LedgerRequests:
    """The `client.SharedRequests` of one account."""

    def __init__(self, ledger: Ledger, account: Account) -> None:
        self._requests = ledger.requests
        self._account = account

    def change_key(self, account: Account) -> None:
        """The account has another key from now on, whose requests are counted apart."""
        self._account = account

    def enter(self, now: float, fits: Callable[[Sequence[float], int | None], bool]) -> int | None:
        """Notes a request if it fits beside the other kernels'."""
        return self._requests.enter(
            self._account,
            Instant.now(),
            lambda ages, limit: fits([now - age for age in ages], limit),
        )

    def answered(self, place: int, now: float, limit: int | None) -> None:
        """The request was answered, or lost, just now; the service said that the key has this limit."""
        self._requests.answered(place, Instant.now(), limit)

    def give_back(self, place: int) -> None:
        """The request was never sent."""
        self._requests.give_back(place)
