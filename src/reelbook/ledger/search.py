"""Finds entries: by number and id, and in pages with filters, text, sorting and keyset paging.

A word of the text must begin a word of the prompt or of the note, so that a search narrows as it is typed.
Rows are checked one by one in their order, which needs no index of words.
"""

import json
import re
import sqlite3
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from .. import states, wire
from ..errors import InvalidInput
from ..secret import NOT_SHOWN, holds_key, quotable
from .records import PRICE, Entry, micro
from .store import Part

Sort = Literal["newest", "oldest", "costliest"]

ALL_ENTRIES: Final = 2**31
LATE_SECONDS: Final = 600.0  # by then the figures include a job's end
_LAST_CHARACTER: Final = "\U0010ffff"

_WORD = re.compile(r"\w")
# Thai to Khmer, CJK, Hangul: written without spaces, so a word may begin anywhere.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)


@dataclass(frozen=True)
class Filter:
    """What `Ledger.find` looks for; None restricts nothing. `state` is one word or several.

    `since` and `until` (not included) are epoch seconds. The cost is the final one, or the estimate until
    that is known. `cells` are numbers of the `sweep`'s cells. Raises InvalidInput for unusable values.
    """

    text: str | None = None
    since: float | None = None
    until: float | None = None
    state: str | Collection[str] | None = None
    min_cost_usd: float | None = None
    max_cost_usd: float | None = None
    experiment: str | None = None
    mode: str | None = None
    picked: bool | None = None
    tag: str | None = None
    sweep: int | None = None
    cells: Collection[int] | None = None

    def __post_init__(self) -> None:
        for name in ("text", "experiment", "tag"):
            if not isinstance(value := getattr(self, name), str | None):
                raise InvalidInput(f"{name} must be one text, not {quotable(value)}.")
        if self.mode not in (None, *get_args(wire.Mode)):
            modes = " and ".join(get_args(wire.Mode))
            raise InvalidInput(f"No job has the mode {quotable(self.mode)}. The modes are {modes}.")


EVERYTHING: Final = Filter()


class Entries(Part):
    """Questions about the entries of an account, or of all accounts."""

    def get(self, entry_id: int) -> Entry | None:
        """The entry with that number, in any account."""
        return next(iter(self._entries("id = ?", entry_id)), None)

    def by_request_id(self, request_id: str) -> Entry | None:
        """The newest entry with the service's id."""
        wanted = "request_id = ? AND account = coalesce(?, account) ORDER BY id DESC LIMIT 1"
        return next(iter(self._entries(wanted, request_id, self._account_id)), None)

    def beginning_with(self, beginning: str, *, limit: int = 10) -> list[Entry]:
        """The entries in any account whose id at the service begins with that, newest first."""
        wanted = "request_id >= ? AND request_id < ? ORDER BY id DESC LIMIT ?"
        return self._entries(wanted, beginning, beginning + _LAST_CHARACTER, limit)

    def find(
        self,
        wanted: Filter = EVERYTHING,
        *,
        sort: Sort = "newest",
        limit: int = 50,
        after: int | None = None,
    ) -> list[Entry]:
        """A page of entries, sorted by time or by cost; `after` is the `id` of the last page's last entry.

        Raises InvalidInput for an unknown order, and for a limit that isn't a whole number from 0 on.
        """
        if sort not in get_args(Sort):
            raise InvalidInput(f"Jobs can't be sorted {quotable(sort)}, only {', '.join(get_args(Sort))}.")
        most = checked_limit(limit)
        terms, values = _conditions(self._account_id, wanted)
        column = PRICE if sort == "costliest" else "intended_at"
        way, beyond = ("ASC", ">") if sort == "oldest" else ("DESC", "<")
        if after is not None:
            terms.append(f"({column}, id) {beyond} (SELECT {column}, id FROM entries WHERE id = ?)")  # noqa: S608 - bound
            values.append(after)

        def read(db: sqlite3.Connection) -> list[Entry]:
            where = " AND ".join([*terms, _with_words(db, wanted.text)])
            return matching(db, f"{where} ORDER BY {column} {way}, id {way} LIMIT ?", *values, most)

        return self.store.read(read)

    def count(self, wanted: Filter = EVERYTHING) -> int:
        """How many entries match; the text is ignored."""
        terms, values = _conditions(self._account_id, wanted)
        counted = f"SELECT count(*) FROM entries WHERE {' AND '.join(terms)}"  # noqa: S608 - bound
        return int(self.store.rows(counted, *values)[0][0])

    def prompts(self, text: str, limit: int) -> list[str]:
        """The prompts with these words, each once and the last used first. `limit` is as in `find`."""
        most, text = checked_limit(limit), Filter(text=text).text or ""

        def read(db: sqlite3.Connection) -> list[str]:
            query = (
                f"SELECT prompt FROM entries WHERE account = ? AND {_with_words(db, text)} "  # noqa: S608 - our own words
                "GROUP BY prompt ORDER BY max(id) DESC LIMIT ?"
            )
            return [row["prompt"] for row in db.execute(query, (self._account_id, most))]

        return self.store.read(read)

    def uncertain_entries(self) -> list[Entry]:
        """What was sent and never answered, oldest first."""
        return self.find(Filter(state=states.UNCERTAIN), sort="oldest", limit=ALL_ENTRIES)

    def others_since(self, at: float) -> list[Entry]:
        """The entries that may have moved money or counts since then, without the uncertain ones."""
        wanted = "account = ? AND state <> ? AND (ended_at IS NULL OR ended_at > ?)"
        return self._entries(wanted, self._account_id, states.UNCERTAIN, at - LATE_SECONDS)

    def picks(self, since: float | None = None) -> list[Entry]:
        """The entries picked from `since` on (epoch seconds), in the order of picking."""
        wanted = "account = ? AND picked_at >= ? ORDER BY picked_at, id"
        return self._entries(wanted, self._account_id, since or 0.0)

    def tags(self) -> dict[str, int]:
        """All tags of the account in alphabetical order, and how many entries have each."""
        rows = self.store.rows(
            "SELECT value, count(*) FROM entries, json_each(tags) "
            "WHERE account = ? AND tags <> '[]' GROUP BY value",
            self._account_id,
        )
        return dict(sorted(map(tuple, rows), key=lambda each: str(each[0]).casefold()))

    def experiments(self) -> list[str]:
        """The names of the account's last 100 experiments, the last used first."""
        rows = self.store.rows(
            "SELECT experiment FROM entries WHERE account = ? AND experiment IS NOT NULL "
            "GROUP BY experiment ORDER BY max(intended_at) DESC LIMIT 100",
            self._account_id,
        )
        return [row["experiment"] for row in rows]

    def _entries(self, wanted: str, *values: object) -> list[Entry]:
        return self.store.read(lambda db: matching(db, wanted, *values))


def matching(db: sqlite3.Connection, wanted: str, *values: object) -> list[Entry]:
    rows = db.execute(f"SELECT * FROM entries WHERE {wanted}", values)  # noqa: S608 - our own words
    return [Entry.of(row) for row in rows]


def checked_limit(limit: int) -> int:
    """How many rows are read at most. Raises InvalidInput for anything but a whole number from 0 on."""
    if not isinstance(limit, int) or limit < 0:
        raise InvalidInput(f"limit must be a whole number, 0 or more, not {quotable(limit)}.")
    return min(limit, ALL_ENTRIES)


def marks(values: Collection[object]) -> str:
    """A placeholder for each of the values."""
    return ", ".join("?" * len(values))


def named_states(given: str | Collection[str], entries: Entries) -> tuple[str, ...]:
    """The ledger's words for the states that a person named.

    A service may have states of its own. Raises InvalidInput for a word that isn't the state of any entry.
    """
    words = [given] if isinstance(given, str) else given
    if not isinstance(words, Collection) or not all(isinstance(word, str) for word in words):
        raise InvalidInput(f"A state is a word, or several: {states.listed()}.")
    if any(map(holds_key, words)):
        raise InvalidInput(f"No job has the state {NOT_SHOWN}. The states are {states.listed()}.")
    named = [word.strip().lower().replace("-", " ") for word in words]
    for state in named:
        if state not in states.STATES and not entries.find(Filter(state=state), limit=1):
            raise InvalidInput(f"No job has the state {quotable(state)}. The states are {states.listed()}.")
    return (*named, states.INTENDED) if states.SENDING in named else tuple(named)


def _conditions(account: int | None, wanted: Filter) -> tuple[list[str], list[Any]]:
    terms, values = ["1"], list[Any]()

    def add(term: str, *given: Any) -> None:
        if None not in given:
            terms.append(term)
            values.extend(given)

    add("account = ?", account)
    add(f"{PRICE} >= ?", None if wanted.min_cost_usd is None else micro(wanted.min_cost_usd))
    add(f"{PRICE} <= ?", None if wanted.max_cost_usd is None else micro(wanted.max_cost_usd))
    add("intended_at >= ?", wanted.since)
    add("intended_at < ?", wanted.until)
    add("experiment = ?", wanted.experiment)
    add("mode = ?", wanted.mode)
    if wanted.picked is not None:
        add(f"picked_at IS {'NOT NULL' if wanted.picked else 'NULL'}")
    if wanted.state is not None:
        named = (wanted.state,) if isinstance(wanted.state, str) else wanted.state
        add(f"state IN ({marks(named)})", *named)
    add("EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?)", wanted.tag)
    if wanted.sweep is not None:
        cells = "" if wanted.cells is None else " AND number IN (SELECT value FROM json_each(?))"
        given = () if wanted.cells is None else (json.dumps([*wanted.cells]),)
        add(f"id IN (SELECT entry FROM sweep_cells WHERE sweep = ?{cells})", wanted.sweep, *given)  # noqa: S608 - bound
    return terms, values


def _with_words(db: sqlite3.Connection, text: str | None) -> str:
    """The term for rows in whose prompt and note each word of the text begins a word."""
    beginnings = [_beginning(word) for word in _folded(text or "").split()]
    if not beginnings:
        return "1"

    def has_words(prompt: str, note: str) -> bool:
        written = _folded(f"{prompt}\n{note}")
        return all(each.search(written) for each in beginnings)

    db.create_function("has_words", 2, has_words)
    return "has_words(prompt, note)"


def _beginning(word: str) -> re.Pattern[str]:
    whole_words = _WORD.match(word) and not _UNSPACED.search(word)
    return re.compile((r"\b" if whole_words else "") + re.escape(word))


def _folded(text: str) -> str:
    """Without case and accents."""
    if text.isascii():
        return text.casefold()
    apart = unicodedata.normalize("NFD", text.casefold())
    return "".join(letter for letter in apart if not unicodedata.combining(letter))
