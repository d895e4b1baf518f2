"""The questions about the ledger's entries: one by its number or id, pages of them, how long clips took."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence

from . import accounts, finding, life
from .entries import Account, CellId, Entry, Wanted
from .store import Store


class Reading:
    """The part of a `Ledger` that reads entries and changes none."""

    _store: Store

    def get(self, entry_id: int) -> Entry | None:
        """The entry with that number."""
        row = self._store.read(lambda connection: life.row(connection, entry_id))
        return None if row is None else Entry.of(row)

    def by_request_id(self, account: Account | None, request_id: str) -> Entry | None:
        """The newest entry of the service's id, of any account where that is None."""
        return self._store.read(
            lambda connection: life.by_request_id(
                connection, None if account is None else account.id, request_id
            )
        )

    def twin(self, account: Account, wanted: Wanted, *, other_cells: Collection[CellId] = ()) -> Entry | None:
        """The entry that `intend` would give back instead of a new one."""
        return self._store.read(lambda connection: life.twin(connection, account.id, wanted, other_cells))

    def cell_ids(self, account: Account, wanted: Sequence[Wanted]) -> set[CellId]:
        """The cells that asked for the same before, as far as they have ids: each may be another cell."""

        def read(connection: sqlite3.Connection) -> set[CellId]:
            twins = (twin for each in wanted for twin in life.twins(connection, account.id, each))
            return {twin.place.cell_id for twin in twins if twin.place and twin.place.cell_id}

        return self._store.read(read)

    def thumbnail(self, image_digest: str) -> bytes | None:
        """The small picture of an image that was submitted."""
        row = self._store.read(
            lambda connection: connection.execute(
                "SELECT thumbnail FROM images WHERE digest = ?", (image_digest,)
            ).fetchone()
        )
        return None if row is None else row["thumbnail"]

    def find(
        self,
        *,
        account: Account | None = None,
        text: str | None = None,
        since: float | None = None,
        until: float | None = None,
        state: str | Collection[str] | None = None,
        min_cost_usd: float | None = None,
        max_cost_usd: float | None = None,
        experiment: str | None = None,
        mode: str | None = None,
        starred: bool | None = None,
        tag: str | None = None,
        sort: finding.Sort = "newest",
        limit: int = 50,
        after: int | None = None,
    ) -> list[Entry]:
        """A page of entries, sorted by time or by cost; `after` is the `id` of the last page's last entry.

        Every word of `text` must begin a word of the prompt or of the note. `since` and `until` (not
        included) are epoch seconds. The cost is the final one, the estimate until it is known.
        """
        wanted = finding.Filter(
            text=text,
            since=since,
            until=until,
            state=state,
            min_cost_usd=min_cost_usd,
            max_cost_usd=max_cost_usd,
            experiment=experiment,
            mode=mode,
            starred=starred,
            tag=tag,
        )
        return self.page(account, wanted, sort=sort, limit=limit, after=after)

    def page(
        self,
        account: Account | None,
        wanted: finding.Filter,
        *,
        sort: finding.Sort = "newest",
        limit: int = 50,
        after: int | None = None,
    ) -> list[Entry]:
        """As `find`, for what was put together before."""
        ready = bool(wanted.text and wanted.text.strip()) and finding.index_ready(self._store)
        return self._store.read(
            lambda connection: finding.find(
                connection,
                accounts.all_ids(connection) if account is None else [account.id],
                wanted,
                after=after,
                sort=sort,
                limit=limit,
                indexed=ready,
            )
        )

    def took_seconds(
        self,
        account: Account,
        *,
        mode: str,
        duration_seconds: int | None = None,
        aspect_ratio: str | None = None,
        limit: int = 50,
    ) -> list[float]:
        """How long the last clips of this kind took, newest first; None stands for any length or ratio."""
        return self._store.read(
            lambda connection: life.took_seconds(
                connection, account.id, mode, duration_seconds, aspect_ratio, limit
            )
        )
