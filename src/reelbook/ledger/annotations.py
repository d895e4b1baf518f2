"""What a person puts to the entries: stars, notes, tags, and which clip won a comparison."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable
from typing import Any

from .records import Account, Entry, Marks, Pick
from .store import Store


class Annotations:
    """The marks of an account's entries. They are a person's own: none is ever sent to the service."""

    def __init__(self, store: Store, account: Account, clock: Callable[[], float]) -> None:
        self._store = store
        self._account = account
        self._clock = clock

    def mark(self, entry_id: int, marks: Marks) -> Marks:
        """Keeps what a person put to an entry; returns it as it was kept.

        Tags are kept without blanks around them, each once, empty ones left out.
        """
        self.set(entry_id, starred=marks.starred, note=marks.note, tags=marks.tags)
        row = self._store.read(
            lambda connection: connection.execute(
                "SELECT * FROM entries WHERE id = ?", (entry_id,)
            ).fetchone()
        )
        return marks if row is None else Entry.of(row).marks

    def set(
        self,
        entry_id: int,
        *,
        starred: bool | None = None,
        note: str | None = None,
        tags: Iterable[str] | None = None,
    ) -> None:
        """Sets what is given of an entry; None leaves it as it is.

        `tags` are all that it has from now on: without blanks around them, each once, empty ones left out.
        """
        changes: dict[str, Any] = {}
        if starred is not None:
            changes["starred"] = int(starred)
        if note is not None:
            changes["note"] = note.strip()
        kept = None if tags is None else tidy(tags)
        if kept is not None:
            changes["tags"] = json.dumps(kept, ensure_ascii=False)
        if not changes:
            return

        def work(connection: sqlite3.Connection) -> None:
            values = ", ".join(f"{name} = ?" for name in changes)
            connection.execute(
                f"UPDATE entries SET {values} WHERE id = ?",  # noqa: S608 - our own column names
                (*changes.values(), entry_id),
            )
            if kept is not None:
                connection.execute("DELETE FROM tags WHERE entry = ?", (entry_id,))
                connection.executemany(
                    "INSERT INTO tags SELECT account, ?, id FROM entries WHERE id = ?",
                    [(tag, entry_id) for tag in kept],
                )

        self._store.keep(work, flush=False)

    def tags(self) -> dict[str, int]:
        """All tags of the account in alphabetical order, and how many entries have each."""
        rows = self._store.read(
            lambda connection: connection.execute(
                "SELECT tag, count(*) FROM tags WHERE account = ? GROUP BY tag", (self._account.id,)
            ).fetchall()
        )
        return dict(sorted(map(tuple, rows), key=lambda each: str(each[0]).casefold()))

    def experiments(self, *, limit: int = 100) -> list[str]:
        """The names of the account's experiments, the one used last first."""
        rows = self._store.read(
            lambda connection: connection.execute(
                "SELECT experiment FROM entries WHERE account = ? AND experiment IS NOT NULL "
                "GROUP BY experiment ORDER BY max(intended_at) DESC LIMIT ?",
                (self._account.id, limit),
            ).fetchall()
        )
        return [row["experiment"] for row in rows]

    def pick(self, winner: str, among: Iterable[str]) -> None:
        """Keeps which clip a person chose among which, by their ids; unknown ones are left out."""
        at = self._clock()

        def work(connection: sqlite3.Connection) -> None:
            known = {}
            for each in among:
                row = connection.execute(
                    "SELECT max(id) AS id FROM entries WHERE request_id = ? AND account = ?",
                    (each, self._account.id),
                ).fetchone()
                if row["id"] is not None:
                    known[each] = row["id"]
            if winner in known:
                connection.execute(
                    "INSERT INTO picks (account, at, winner, among) VALUES (?, ?, ?, ?)",
                    (self._account.id, at, known[winner], json.dumps(sorted({*known.values()}))),
                )

        self._store.keep(work, flush=False)

    def picks(self, *, limit: int = 100) -> list[Pick]:
        """The comparisons that were decided, the newest first."""
        rows = self._store.read(
            lambda connection: connection.execute(
                "SELECT * FROM picks WHERE account = ? ORDER BY id DESC LIMIT ?", (self._account.id, limit)
            ).fetchall()
        )
        return [Pick(row["at"], row["winner"], tuple(json.loads(row["among"]))) for row in rows]


def tidy(tags: Iterable[str]) -> list[str]:
    """Tags as they are kept: blanks folded, each once, in the order given."""
    return list(dict.fromkeys(filter(None, (" ".join(tag.split()) for tag in tags))))
