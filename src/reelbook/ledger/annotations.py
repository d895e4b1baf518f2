"""A person's marks on the entries: picks, notes and tags."""

from __future__ import annotations

import json
from dataclasses import replace

from .records import Entry, Marks
from .search import matching
from .store import Part


class Annotations(Part):
    """The marks on an account's entries: the person's own, never sent to the service."""

    def mark(self, entry_id: int, marks: Marks) -> Marks:
        """Keeps a person's marks on an entry, trimmed and each tag once; returns what was kept."""
        tags = tuple(dict.fromkeys(filter(None, (" ".join(tag.split()) for tag in marks.tags))))
        kept = replace(marks, note=marks.note.strip(), tags=tags)
        marked = "UPDATE entries SET picked_at = ?, note = ?, tags = ? WHERE id = ?"
        values = (kept.picked_at, kept.note, json.dumps(tags, ensure_ascii=False), entry_id)
        self._store.keep(lambda db: db.execute(marked, values), flush=False)
        return kept

    def tags(self) -> dict[str, int]:
        """All tags of the account in alphabetical order, and how many entries have each."""
        rows = self._store.rows(
            "SELECT value, count(*) FROM entries, json_each(tags) "
            "WHERE account = ? AND tags <> '[]' GROUP BY value",
            self._account,
        )
        return dict(sorted(map(tuple, rows), key=lambda each: str(each[0]).casefold()))

    def experiments(self) -> list[str]:
        """The names of the account's last 100 experiments, the last used first."""
        rows = self._store.rows(
            "SELECT experiment FROM entries WHERE account = ? AND experiment IS NOT NULL "
            "GROUP BY experiment ORDER BY max(intended_at) DESC LIMIT 100",
            self._account,
        )
        return [row["experiment"] for row in rows]

    def picks(self, since: float | None = None) -> list[Entry]:
        """The entries picked from `since` on (epoch seconds), in the order of picking."""
        wanted = "account = ? AND picked_at >= ? ORDER BY picked_at, id"
        return self._store.read(lambda db: matching(db, wanted, self._account, since or 0.0))
