"""What a person puts to the entries: stars, notes, tags, and which clip won a comparison."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable

from .records import Marks, Pick, insert, read
from .store import Part


class Annotations(Part):
    """The marks of an account's entries. They are a person's own: none is ever sent to the service."""

    def mark(self, entry_id: int, marks: Marks) -> Marks:
        """Keeps what a person put to an entry; returns it as it is kept.

        That is without blanks around a note or a tag, each tag once, empty ones left out.
        """
        tags = tuple(dict.fromkeys(filter(None, (" ".join(tag.split()) for tag in marks.tags))))
        kept = Marks(marks.starred, marks.note.strip(), tags)

        def work(db: sqlite3.Connection) -> None:
            db.execute(
                "UPDATE entries SET starred = ?, note = ?, tags = ? WHERE id = ?",
                (kept.starred, kept.note, json.dumps(tags, ensure_ascii=False), entry_id),
            )
            # The table is there to find entries by their tags.
            db.execute("DELETE FROM tags WHERE entry = ?", (entry_id,))
            db.executemany(
                "INSERT INTO tags SELECT account, ?, id FROM entries WHERE id = ?",
                [(tag, entry_id) for tag in tags],
            )

        self._store.keep(work, flush=False)
        return kept

    def tags(self) -> dict[str, int]:
        """All tags of the account in alphabetical order, and how many entries have each."""
        counted = "SELECT tag, count(*) FROM tags WHERE account = ? GROUP BY tag"
        rows = self._store.rows(counted, self._account)
        return dict(sorted(map(tuple, rows), key=lambda each: str(each[0]).casefold()))

    def experiments(self) -> list[str]:
        """The names of the account's last 100 experiments, the one used last first."""
        rows = self._store.rows(
            "SELECT experiment FROM entries WHERE account = ? AND experiment IS NOT NULL "
            "GROUP BY experiment ORDER BY max(intended_at) DESC LIMIT 100",
            self._account,
        )
        return [row["experiment"] for row in rows]

    def pick(self, winner: str, among: Iterable[str]) -> None:
        """Keeps which clip a person chose among which, by their ids; unknown ones are left out."""
        at, wanted = self._clock(), {winner, *among}

        def work(db: sqlite3.Connection) -> None:
            rows = db.execute(
                "SELECT request_id, max(id) FROM entries WHERE account = ? AND request_id IN "  # noqa: S608 - bound
                f"({', '.join('?' * len(wanted))}) GROUP BY request_id",
                (self._account, *wanted),
            )
            known = dict(tuple(row) for row in rows)
            if winner in known:
                values = {"account": self._account, "at": at, "winner": known[winner]}
                insert(db, "picks", {**values, "among": json.dumps(sorted(known.values()))})

        self._store.keep(work, flush=False)

    def picks(self, *, limit: int = 100) -> list[Pick]:
        """The comparisons that were decided, the newest first."""
        newest = "SELECT * FROM picks WHERE account = ? ORDER BY id DESC LIMIT ?"
        rows = self._store.rows(newest, self._account, limit)
        return [read(Pick, row, among=tuple(json.loads(row["among"]))) for row in rows]
