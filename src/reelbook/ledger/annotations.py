"""What a person puts to the entries: stars, notes, tags, and which clip won a comparison."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable
from typing import Any

from .records import Account, Pick
from .store import Store


class Annotations:
    """The marks of a home's entries. A mark is a person's own: nothing of it is ever sent to the service."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock

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

    def tags(self, account: Account) -> dict[str, int]:
        """All tags of an account in alphabetical order, and how many entries have each."""
        rows = self._store.read(
            lambda connection: connection.execute(
                "SELECT tag, count(*) FROM tags WHERE account = ? GROUP BY tag", (account.id,)
            ).fetchall()
        )
        return dict(sorted(map(tuple, rows), key=lambda each: str(each[0]).casefold()))

    def experiments(self, account: Account, *, limit: int = 100) -> list[str]:
        """The names of an account's experiments, the one used last first."""
        rows = self._store.read(
            lambda connection: connection.execute(
                "SELECT experiment FROM entries WHERE account = ? AND experiment IS NOT NULL "
                "GROUP BY experiment ORDER BY max(intended_at) DESC LIMIT ?",
                (account.id, limit),
            ).fetchall()
        )
        return [row["experiment"] for row in rows]

    def pick(self, account: Account, winner: int, among: Iterable[int]) -> None:
        """Keeps that the entry `winner` was chosen among these entries."""
        values = (account.id, self._clock(), winner, json.dumps(sorted({winner, *among})))
        self._store.keep(
            lambda connection: connection.execute(
                "INSERT INTO picks (account, at, winner, among) VALUES (?, ?, ?, ?)", values
            ),
            flush=False,
        )

    def picks(self, account: Account, *, winner: int | None = None, limit: int = 100) -> list[Pick]:
        """The comparisons that were decided, the newest first; those that `winner` won where it is given."""
        condition, values = ("", ()) if winner is None else ("AND winner = ? ", (winner,))
        rows = self._store.read(
            lambda connection: connection.execute(
                f"SELECT * FROM picks WHERE account = ? {condition}ORDER BY id DESC LIMIT ?",  # noqa: S608 - bound
                (account.id, *values, limit),
            ).fetchall()
        )
        return [Pick(row["at"], row["winner"], tuple(json.loads(row["among"]))) for row in rows]


def tidy(tags: Iterable[str]) -> list[str]:
    """Tags as they are kept: blanks folded, each once, in the order given."""
    return list(dict.fromkeys(filter(None, (" ".join(tag.split()) for tag in tags))))
