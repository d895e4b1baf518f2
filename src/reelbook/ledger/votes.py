"""Votes on pairs of clips: which of two a person preferred. A study tells what they amount to."""

import json
import sqlite3
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from .records import insert, read
from .store import Part

QUESTION: Final = "Which is better?"  # asked where nobody says otherwise
_AMONG: Final = (
    "account = ? AND question = ? AND shown_left IN (SELECT value FROM json_each(?)) "
    "AND shown_right IN (SELECT value FROM json_each(?))"
)


@dataclass(frozen=True)
class KeptVote:
    """An answer to `question` about two clips, by their names: a request id, or the digest of a file.

    `better` is one of the two, None where the voter couldn't say. `at` is in epoch seconds.
    """

    at: float
    question: str
    shown_left: str
    shown_right: str
    better: str | None
    voter: str = ""


class Votes(Part):
    """The votes on an account's clips. A vote belongs to a pair: every study with both clips counts it."""

    def add(self, vote: KeptVote) -> None:
        self.store.keep(
            lambda db: insert(db, "votes", {"account": self._account_id, **vars(vote)}), flush=False
        )

    def among(self, clips: Collection[str], question: str) -> list[KeptVote]:
        """The votes on pairs of these clips, in the order in which they were given."""
        query = f"SELECT * FROM votes WHERE {_AMONG} ORDER BY id"  # noqa: S608 - our own words
        return [read(KeptVote, row) for row in self.store.rows(query, *self._values(clips, question))]

    def take_back(self, clips: Collection[str], question: str, voter: str) -> KeptVote | None:
        """Removes a voter's last vote on a pair of these clips, and returns it; None if there is none."""
        last = f"SELECT max(id) FROM votes WHERE {_AMONG} AND voter = ?"  # noqa: S608 - our own words
        values = (*self._values(clips, question), voter)

        def work(db: sqlite3.Connection) -> KeptVote | None:
            gone = db.execute(f"DELETE FROM votes WHERE id = ({last}) RETURNING *", values).fetchone()  # noqa: S608
            return None if gone is None else read(KeptVote, gone)

        return self.store.keep(work, flush=False)

    def won(self, clip: str) -> tuple[int, int]:
        """How many votes a clip has won and how many it took part in, whatever the question."""
        shown = "SELECT count(*) FILTER (WHERE better = ?), count(*) FROM votes"
        [(won, of)] = self.store.rows(
            f"{shown} WHERE account = ? AND ? IN (shown_left, shown_right)", clip, self._account_id, clip
        )
        return won, of

    def _values(self, clips: Collection[str], question: str) -> tuple[object, ...]:
        names = json.dumps(sorted(clips))
        return self._account_id, question, names, names
