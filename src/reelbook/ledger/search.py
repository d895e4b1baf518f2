"""Pages of entries: filters, text, sorting and keyset paging.

A word of the text must begin a word of the prompt, so that a search narrows as it is typed. The index for it
is made at the first search and brought up to date at each: submissions never wait for it. A kernel whose
SQLite has no FTS5 shares the file unharmed, and looks through the prompts instead. Notes are few and change,
so they are always looked through.
"""

from __future__ import annotations

import heapq
import itertools
import re
import sqlite3
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from .records import Entry, micro
from .store import Store, is_damage

# So many rows are sorted sooner than they are met by going through all of an account's in order.
FEW: Final = 2000

Sort = Literal["newest", "oldest", "costliest"]

_BY_PRICE: Final = "entries e INDEXED BY entries_by_price"

_WORD = re.compile(r"\w")
# Thai to Khmer, CJK, Hangul: written without spaces, a whole sentence is one word to the index.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)


@dataclass(frozen=True)
class Filter:
    """What `Ledger.find` is asked for; None asks for nothing. `state` is one word or several."""

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


def page(
    store: Store,
    accounts: Collection[int],
    wanted: Filter,
    *,
    sort: Sort,
    limit: int,
    after: int | None,
) -> list[Entry]:
    """The accounts' entries behind `after` (an entry's id) in the order of `sort`."""
    ready = bool(wanted.text and wanted.text.strip()) and index_ready(store)
    return store.read(
        lambda connection: find(
            connection, accounts, wanted, after=after, sort=sort, limit=limit, indexed=ready
        )
    )


EVERYTHING: Final = Filter()


def find(
    connection: sqlite3.Connection,
    accounts: Collection[int],
    wanted: Filter,
    *,
    after: int | None,
    sort: Sort,
    limit: int,
    indexed: bool,
) -> list[Entry]:
    """The entries behind `after` (an entry's id) in the order of `sort`.

    `indexed`: whether the text can be looked up in the index.
    """

    def pages(indexed: bool) -> list[Entry]:
        # Every index begins with the account, so that a page is read in order and no further than its end.
        each: list[Iterator[Entry]] = []
        for account in accounts:
            each.append(_page(connection, account, wanted, after, sort, limit, indexed))
            if wanted.text and wanted.text.strip():
                each.append(_noted(connection, account, wanted, after, sort))
        merged = heapq.merge(*each, key=_price if sort == "costliest" else _moment, reverse=sort != "oldest")
        # One that has the words in its prompt and in its note is met twice, one after the other.
        once = (next(same) for _, same in itertools.groupby(merged, key=lambda entry: entry.id))
        return list(itertools.islice(once, limit))

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
        store.keep(_update_index, flush=False, lasting=False)
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


class _Order(NamedTuple):
    """How rows are put in order: `by_number` where their numbers give it, `sorts` where few are sorted."""

    sort: Sort
    by_number: bool = False
    sorts: bool = False


def _page(
    connection: sqlite3.Connection,
    account: int,
    wanted: Filter,
    after: int | None,
    sort: Sort,
    limit: int,
    indexed: bool,
) -> Iterator[Entry]:
    table, where = _filtered(connection, account, wanted)
    words = (wanted.text or "").split()
    listed = [word for word in words if indexed and _WORD.search(word) and not _UNSPACED.search(word)]
    for word in words:
        if word not in listed:
            where.add("e.prompt LIKE ? ESCAPE '\\'", f"%{_escaped(word)}%")
    match = " ".join(f'"{word.replace(chr(34), " ")}"*' for word in listed)
    narrow = (
        len(where.terms) > 1 and (bool(listed) or sort == "costliest") and _are_few(connection, table, where)
    )
    by_number = False
    if listed and (narrow or (sort == "costliest" and not _match_few(connection, match))):
        where.add("+e.id IN (SELECT rowid FROM prompts WHERE prompts MATCH ?)", match)
    elif listed:
        # The index gives its rows in the order of their numbers, in which they were written.
        table = "prompts p CROSS JOIN entries e ON e.id = p.rowid"
        where.add("p.prompts MATCH ?", match)
        by_number = sort != "costliest"
        narrow = True
    if sort == "costliest" and not narrow:
        table = _BY_PRICE
    order = _Order(sort, by_number=by_number, sorts=narrow)
    yield from map(Entry.of, _rows(connection, table, where, after, order, limit))


def _noted(
    connection: sqlite3.Connection, account: int, wanted: Filter, after: int | None, sort: Sort
) -> Iterator[Entry]:
    """Those with a note, where every word begins a word of the prompt or of the note."""
    table, where = _filtered(connection, account, wanted)
    where.add("e.note <> ''")
    table = "entries e INDEXED BY entries_noted" if table == "entries e" else table
    begins = [_beginning(word) for word in map(_folded, (wanted.text or "").split())]
    for row in _rows(connection, table, where, after, _Order(sort, sorts=True), -1):
        text = _folded(f"{row['prompt']}\n{row['note']}")
        if all(begin.search(text) for begin in begins):
            yield Entry.of(row)


def _rows(
    connection: sqlite3.Connection,
    table: str,
    where: _Conditions,
    after: int | None,
    order: _Order,
    limit: int,
) -> Iterator[sqlite3.Row]:
    """The rows that meet `where`, behind `after`, in order."""
    way, beyond = ("ASC", ">") if order.sort == "oldest" else ("DESC", "<")
    if order.by_number:
        sequence = f"p.rowid {way}"
        if after is not None:
            where.add(f"p.rowid {beyond} ?", after)
    else:
        column = "price_micro" if order.sort == "costliest" else "intended_at"
        # The sign + keeps the index by price from being gone through for the few that are to be sorted.
        sign = "+" if order.sorts and order.sort == "costliest" else ""
        sequence = f"{sign}e.{column} {way}, e.id {way}"
        if after is not None:
            where.add(
                f"({sign}e.{column}, e.id) {beyond} (SELECT {column}, id FROM entries WHERE id = ?)",  # noqa: S608 - values are bound
                after,
            )
    rows = connection.execute(
        f"SELECT e.* FROM {table} WHERE {where} ORDER BY {sequence} LIMIT ?",  # noqa: S608 - values are bound
        (*where.values, limit),
    )
    yield from rows


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
        if _are_few(connection, _BY_PRICE, price):
            table, where = _BY_PRICE, price
        else:
            for sign, bound in prices:
                where.add(f"+e.price_micro {sign} ?", bound)  # the sign + keeps its index from being used
    if wanted.since is not None:
        where.add("e.intended_at >= ?", wanted.since)
    if wanted.until is not None:
        where.add("e.intended_at < ?", wanted.until)
    if wanted.state is not None:
        states = (wanted.state,) if isinstance(wanted.state, str) else wanted.state
        where.add(f"e.state IN ({', '.join('?' * len(states))})", *states)
    if wanted.experiment is not None:
        where.add("e.experiment = ?", wanted.experiment)
    if wanted.mode is not None:
        where.add("e.mode = ?", wanted.mode)
    if wanted.starred is not None:
        where.add("e.starred = 1" if wanted.starred else "e.starred = 0")
    if wanted.tag is not None:
        tagged = "SELECT entry FROM tags WHERE account = ? AND tag = ?"
        few = _count(connection, f"{tagged} LIMIT ?", account, wanted.tag, FEW + 1) <= FEW
        if few and table == "entries e":
            table = "tags t CROSS JOIN entries e ON e.id = t.entry"
            where.add("t.account = ? AND t.tag = ?", account, wanted.tag)
        else:
            where.add(f"+e.id IN ({tagged})", account, wanted.tag)
    return table, where


def _are_few(connection: sqlite3.Connection, table: str, where: _Conditions) -> bool:
    rows = f"SELECT 1 FROM {table} WHERE {where} LIMIT ?"  # noqa: S608 - values are bound
    return _count(connection, rows, *where.values, FEW + 1) <= FEW


def _match_few(connection: sqlite3.Connection, match: str) -> bool:
    rows = "SELECT 1 FROM prompts WHERE prompts MATCH ? LIMIT ?"
    return _count(connection, rows, match, FEW + 1) <= FEW


def _count(connection: sqlite3.Connection, rows: str, *values: Any) -> int:
    counted = connection.execute(f"SELECT count(*) FROM ({rows})", values)  # noqa: S608 - values are bound
    return int(counted.fetchone()[0])


def _moment(entry: Entry) -> tuple[float, int]:
    return entry.intended_at, entry.id


def _price(entry: Entry) -> tuple[float, int]:
    return entry.estimated_cost_usd if entry.cost_usd is None else entry.cost_usd, entry.id


def _beginning(word: str) -> re.Pattern[str]:
    whole_words = _WORD.match(word) and not _UNSPACED.search(word)
    return re.compile((r"\b" if whole_words else "") + re.escape(word))


def _folded(text: str) -> str:
    """Without case and accents, as the index reads words."""
    if text.isascii():
        return text.casefold()
    apart = unicodedata.normalize("NFD", text.casefold())
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def _escaped(word: str) -> str:
    return re.sub(r"([\\%_])", r"\\\1", word)
