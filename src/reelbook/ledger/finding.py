"""Pages of entries: filters, text and keyset paging.

A word of the text must begin a word of the prompt, so that a search narrows as it is typed. The index for it
is made at the first search and brought up to date at each: submissions never wait for it. A kernel whose
SQLite has no FTS5 shares the file unharmed, and looks through the prompts instead.
"""

from __future__ import annotations

import heapq
import itertools
import re
import sqlite3
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from .entries import Entry, micro
from .opening import is_damage
from .store import Store

# So many rows are sorted sooner than they are met by going through all of an account's in order.
FEW: Final = 2000

_PLACE: Final = "(SELECT intended_at, id FROM entries WHERE id = ?)"

_WORD = re.compile(r"\w")
# Thai to Khmer, CJK, Hangul: written without spaces, a whole sentence is one word to the index.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)


@dataclass(frozen=True)
class Filter:
    """What `Ledger.find` was asked for; None asks for nothing."""

    text: str | None = None
    since: float | None = None
    until: float | None = None
    states: Collection[str] | None = None
    min_cost_usd: float | None = None
    max_cost_usd: float | None = None
    experiment: str | None = None
    starred: bool | None = None


def find(
    connection: sqlite3.Connection,
    accounts: Collection[int],
    wanted: Filter,
    *,
    after: int | None,
    newest_first: bool,
    limit: int,
    indexed: bool,
) -> list[Entry]:
    """The entries behind `after` (an entry's id), in the order of their intents.

    `indexed`: whether the text can be looked up in the index.
    """

    def pages(indexed: bool) -> list[Entry]:
        # Every index begins with the account, so that a page is read in order and no further than its end.
        each = (
            _page(connection, account, wanted, after, newest_first, limit, indexed) for account in accounts
        )
        merged = heapq.merge(*each, key=lambda entry: (entry.intended_at, entry.id), reverse=newest_first)
        return list(itertools.islice(merged, limit))

    try:
        return pages(indexed)
    except sqlite3.DatabaseError as error:
        # A broken index is no broken ledger: the prompts themselves can still be looked through.
        if not indexed or not is_damage(error):
            raise
        return pages(False)


def index_ready(store: Store) -> bool:
    """Brings the index up to date. False where this SQLite has no FTS5."""
    if not store.read(_can_index):
        return False
    if store.read(_is_behind):
        store.write(_update_index, flush=False)
    return True


def _can_index(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'").fetchone())


def _is_behind(connection: sqlite3.Connection) -> bool:
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'prompts_reach'").fetchone():
        return True  # no search has been made yet
    reach = connection.execute("SELECT upto FROM prompts_reach").fetchone()["upto"]
    return bool(reach < connection.execute("SELECT coalesce(max(id), 0) FROM entries").fetchone()[0])


def _update_index(connection: sqlite3.Connection) -> None:
    # The text stays in `entries`: prompts never change, so the index can't go stale.
    connection.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS prompts USING fts5(prompt, "
        "content='entries', content_rowid='id', tokenize='unicode61 remove_diacritics 2', prefix='1 2 3')"
    )
    connection.execute(
        "CREATE TABLE IF NOT EXISTS prompts_reach (only_one INTEGER PRIMARY KEY, upto INTEGER NOT NULL)"
    )
    connection.execute("INSERT OR IGNORE INTO prompts_reach VALUES (1, 0)")
    connection.execute(
        "INSERT INTO prompts (rowid, prompt) "
        "SELECT id, prompt FROM entries WHERE id > (SELECT upto FROM prompts_reach)"
    )
    connection.execute("UPDATE prompts_reach SET upto = (SELECT coalesce(max(id), 0) FROM entries)")


class _Conditions:
    """The WHERE of a query, term by term with its values."""

    def __init__(self, term: str, *values: Any) -> None:
        self.terms = [term]
        self.values = list(values)

    def add(self, term: str, *values: Any) -> None:
        self.terms.append(term)
        self.values.extend(values)

    def __str__(self) -> str:
        return " AND ".join(self.terms)


def _page(
    connection: sqlite3.Connection,
    account: int,
    wanted: Filter,
    after: int | None,
    newest_first: bool,
    limit: int,
    indexed: bool,
) -> list[Entry]:
    table, where = _filtered(connection, account, wanted)
    words = (wanted.text or "").split()
    listed = [word for word in words if indexed and _WORD.search(word) and not _UNSPACED.search(word)]
    for word in words:
        if word not in listed:
            where.add("e.prompt LIKE ? ESCAPE '\\'", f"%{_escaped(word)}%")
    match = " ".join(f'"{word.replace(chr(34), " ")}"*' for word in listed)
    narrow = bool(listed) and len(where.terms) > 1 and _are_few(connection, table, where)
    by_time = narrow or not listed
    if listed and narrow:
        where.add("+e.id IN (SELECT rowid FROM prompts WHERE prompts MATCH ?)", match)
    elif listed:
        # The index gives its rows in the order of their numbers, in which they were written.
        table = "prompts p CROSS JOIN entries e ON e.id = p.rowid"
        where.add("p.prompts MATCH ?", match)

    order, beyond = ("DESC", "<") if newest_first else ("ASC", ">")
    if after is not None and by_time:
        where.add(f"(e.intended_at, e.id) {beyond} {_PLACE}", after)
    elif after is not None:
        where.add(f"p.rowid {beyond} ?", after)
    sequence = f"e.intended_at {order}, e.id {order}" if by_time else f"p.rowid {order}"
    rows = connection.execute(
        f"SELECT e.* FROM {table} WHERE {where} ORDER BY {sequence} LIMIT ?",  # noqa: S608 - values are bound
        (*where.values, limit),
    )
    return [Entry.of(row) for row in rows]


def _filtered(connection: sqlite3.Connection, account: int, wanted: Filter) -> tuple[str, _Conditions]:
    """The table to read and all conditions but the text's."""
    table, where = "entries e", _Conditions("e.account = ?", account)
    prices = [
        (sign, micro(bound))
        for sign, bound in ((">=", wanted.min_cost_usd), ("<=", wanted.max_cost_usd))
        if bound is not None
    ]
    if prices:
        price = _Conditions("e.account = ?", account)
        for sign, bound in prices:
            price.add(f"e.price_micro {sign} ?", bound)
        if _are_few(connection, "entries e INDEXED BY entries_by_price", price):
            table, where = "entries e INDEXED BY entries_by_price", price
        else:
            for sign, bound in prices:
                where.add(f"+e.price_micro {sign} ?", bound)  # the sign + keeps its index from being used
    if wanted.since is not None:
        where.add("e.intended_at >= ?", wanted.since)
    if wanted.until is not None:
        where.add("e.intended_at < ?", wanted.until)
    if wanted.states is not None:
        where.add(f"e.state IN ({', '.join('?' * len(wanted.states))})", *wanted.states)
    if wanted.experiment is not None:
        where.add("e.experiment = ?", wanted.experiment)
    if wanted.starred is not None:
        where.add("e.starred = 1" if wanted.starred else "e.starred = 0")
    return table, where


def _are_few(connection: sqlite3.Connection, table: str, where: _Conditions) -> bool:
    counted = connection.execute(
        f"SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {where} LIMIT ?)",  # noqa: S608 - values are bound
        (*where.values, FEW + 1),
    )
    return bool(counted.fetchone()[0] <= FEW)


def _escaped(word: str) -> str:
    return re.sub(r"([\\%_])", r"\\\1", word)
