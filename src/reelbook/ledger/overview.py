"""All accounts of a home at once, for a person who looks into it without a key at hand."""

from __future__ import annotations

from .entries import Account, Entry
from .store import Store

_LAST_CHARACTER = "\U0010ffff"


class Overview:
    """What a home's ledger holds, whoever's key it was bought with."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def accounts(self) -> list[Account]:
        """Every account that ever submitted from this home, oldest first."""
        return self._store.read(
            lambda connection: [
                Account(row["id"], row["origin"], row["fingerprint"])
                for row in connection.execute("SELECT id, origin, fingerprint FROM accounts ORDER BY id")
            ]
        )

    def beginning_with(self, beginning: str, *, limit: int = 10) -> list[Entry]:
        """The entries whose id at the service begins so, newest first."""
        return self._store.read(
            lambda connection: [
                Entry.of(row)
                for row in connection.execute(
                    "SELECT * FROM entries WHERE request_id >= ? AND request_id < ? ORDER BY id DESC LIMIT ?",
                    (beginning, beginning + _LAST_CHARACTER, limit),
                )
            ]
        )
