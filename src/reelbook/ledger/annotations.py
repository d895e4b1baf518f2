"""A person's marks on the entries: picks, notes and tags."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace

from .records import Entry, Marks
from .search import matching
from .store import Part


class Annotations(Part):
    """The marks on an account's entries. They are the person's own: none is ever sent to the service."""

    def mark(self, entry_id: int, marks: Marks) -> Marks:
        """Keeps a person's marks on an entry, blanks trimmed and each tag once; returns what was kept."""
        tags = tuple(dict.fromkeys(filter(None, (" ".join(tag.split()) for tag in marks.tags))))
        kept = replace(marks, note=marks.note.strip(), tags=tags)

        def work(db: sqlite3.Connection) -> None:
            db.execute(
                "UPDATE entries SET picked_at = ?, note = ?, tags = ? WHERE id = ?",
                (kept.picked_at, kept.note, json.dumps(tags, ensure_ascii=False), entry_id),
            )
            # The table exists to find entries by their tags.
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

    def picks(self, since: float | None = None) -> list[Entry]:
        """The picked entries in the order of picking; only those picked from `since` on (epoch seconds)."""
        wanted = "account = ? AND picked_at >= ? ORDER BY picked_at, id"
        return self._store.read(lambda db: matching(db, wanted, self._account, since or 0.0))
