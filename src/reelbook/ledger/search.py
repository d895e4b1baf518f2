"""Pages of entries: filters, text, sorting and keyset paging.

A word of the text must begin a word of the prompt or of the note, so that a search narrows as it is typed.
Rows are met in order and looked through one by one, which needs no index of words: SQLite passes over most of
those without the letters, Python looks at the rest.
"""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final, Literal

from .records import PRICE, Entry, micro
from .store import Store

Sort = Literal["newest", "oldest", "costliest"]

_WORD = re.compile(r"\w")
# Thai to Khmer, CJK, Hangul: written without spaces, so that a word may begin anywhere.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)


# SQLite folds the case of plain letters only, so it leaves every other text to Python.
_TEXT: Final = "(prompt || char(10) || note)"
_NOT_ASCII: Final = f"length({_TEXT}) <> length(CAST({_TEXT} AS BLOB))"


@dataclass(frozen=True)
class Filter:
    """What `Ledger.find` is asked for; None asks for nothing. `state` is one word or several.

    `since` and `until` (not included) are epoch seconds. The cost is the final one, the estimate until it is
    known.
    """

    text: str | None = None
    since: float | None = None
    until: float | None = None
    state: str | Collection[str] | None = None
    min_cost_usd: float | None = None
    max_cost_usd: float | None = None
    experiment: str | None = None
    mode: str | None = None
    starred: bool | None = None
    tag: str | None = None

    @property
    def asks_nothing(self) -> bool:
        """Whether every entry meets it."""
        return all(value is None for value in vars(self).values())


EVERYTHING: Final = Filter()


def page(
    store: Store, account: int | None, wanted: Filter, *, sort: Sort, limit: int, after: int | None
) -> list[Entry]:
    """The account's entries, or everybody's, behind `after` (an entry's id) in the order of `sort`."""
    terms, values = _conditions(account, wanted)
    column = PRICE if sort == "costliest" else "intended_at"
    way, beyond = ("ASC", ">") if sort == "oldest" else ("DESC", "<")
    if after is not None:
        terms.append(f"({column}, id) {beyond} (SELECT {column}, id FROM entries WHERE id = ?)")  # noqa: S608 - bound
        values.append(after)
    beginnings = [_beginning(word) for word in map(_folded, (wanted.text or "").split())]
    sql = (
        f"SELECT * FROM entries WHERE {' AND '.join(terms)} "  # noqa: S608 - values are bound
        f"ORDER BY {column} {way}, id {way} LIMIT ?"
    )

    def read(db: sqlite3.Connection) -> list[Entry]:
        found: list[Entry] = []
        for row in db.execute(sql, (*values, -1 if beginnings else limit)):
            text = _folded(f"{row['prompt']}\n{row['note']}") if beginnings else ""
            if all(each.search(text) for each in beginnings):
                found.append(Entry.of(row))
            if len(found) >= limit:
                break
        return found

    return store.read(read)


def _conditions(account: int | None, wanted: Filter) -> tuple[list[str], list[Any]]:
    """The WHERE, term by term, with its values. Of the text it has what SQLite can tell."""
    terms, values = ["1"], list[Any]()

    def add(term: str, *given: Any) -> None:
        if None not in given:
            terms.append(term)
            values.extend(given)

    def amount(usd: float | None) -> int | None:
        return None if usd is None else micro(usd)

    add("account = ?", account)
    add(f"{PRICE} >= ?", amount(wanted.min_cost_usd))
    add(f"{PRICE} <= ?", amount(wanted.max_cost_usd))
    add("intended_at >= ?", wanted.since)
    add("intended_at < ?", wanted.until)
    add("experiment = ?", wanted.experiment)
    add("mode = ?", wanted.mode)
    if wanted.starred is not None:
        add("starred = 1" if wanted.starred else "starred = 0")
    if wanted.state is not None:
        states = (wanted.state,) if isinstance(wanted.state, str) else wanted.state
        add(f"state IN ({', '.join('?' * len(states))})", *states)
    if wanted.tag is not None:
        whose = "" if account is None else "account = ? AND "
        given = (wanted.tag,) if account is None else (account, wanted.tag)
        add(f"id IN (SELECT entry FROM tags WHERE {whose}tag = ?)", *given)  # noqa: S608 - values are bound
    for word in filter(str.isascii, (wanted.text or "").split()):
        add(f"({_TEXT} LIKE ? ESCAPE '\\' OR {_NOT_ASCII})", f"%{_escaped(word)}%")
    return terms, values


def _beginning(word: str) -> re.Pattern[str]:
    whole_words = _WORD.match(word) and not _UNSPACED.search(word)
    return re.compile((r"\b" if whole_words else "") + re.escape(word))


def _folded(text: str) -> str:
    """Without case and accents."""
    if text.isascii():
        return text.casefold()
    apart = unicodedata.normalize("NFD", text.casefold())
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def _escaped(word: str) -> str:
    return re.sub(r"([\\%_])", r"\\\1", word)
