"""A submission's rows: written, changed and taken up. Each function runs in a transaction of its caller's."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from typing import Any

from .. import wire
from ..executions import CellId
from ..states import CANCELLED, INTENDED, SENDING, UNCERTAIN
from . import sweeps
from .records import UNPAID, Entry, Submission, micro

# What bought nothing may be asked for again. A failed one may have been billed, but gave no clip.
_NOT_MADE = (*UNPAID, wire.FAILED)
_ENDED = (wire.COMPLETED, wire.FAILED)


def insert(connection: sqlite3.Connection, account: int, new: Submission, kernel: str, now: float) -> Entry:
    """A new entry, intended. It takes the place of an equal one that was left unsent."""
    connection.execute(
        "UPDATE entries SET left_unsent = 0 WHERE id = (SELECT min(id) FROM entries "
        "WHERE account = ? AND sameness = ? AND left_unsent = 1)",
        (account, new.sameness),
    )
    asked, name = new.request, None if new.place is None else new.place.cell_id
    values = {
        "account": account,
        "state": INTENDED,
        "mode": asked.mode,
        "prompt": asked.prompt,
        "duration_seconds": asked.duration_seconds,
        "aspect_ratio": asked.aspect_ratio,
        "seed": None if asked.seed is None else str(asked.seed),
        "image_digest": asked.image_digest,
        "sameness": new.sameness,
        "experiment": new.experiment,
        "repeats": new.repeats,
        "cell": None if new.place is None else new.place.cell,
        "nth": None if new.place is None else new.place.nth,
        "cell_id": None if name is None else name.id,
        "opening": None if name is None else name.opening,
        "notebook": None if name is None else name.notebook,
        "kernel": kernel,
        "intended_at": now,
        "estimated_cost_micro": micro(new.estimated_cost_usd),
    }
    names, marks = ", ".join(values), ", ".join("?" * len(values))
    inserted = connection.execute(
        f"INSERT INTO entries ({names}) VALUES ({marks}) RETURNING *",  # noqa: S608 - our own column names
        tuple(values.values()),
    )
    entry = Entry.of(inserted.fetchone())
    if new.cell is not None:
        sweeps.assign(connection, new.cell, entry.id)
    return entry


def twin(
    connection: sqlite3.Connection, account: int, new: Submission, others: Collection[CellId] = ()
) -> Entry | None:
    """The newest equal submission at the same place that bought something, or may have.

    One of a cell with the same id comes first, then those whose text is the same. `others` are other cells.
    """
    if new.place is None:
        return None
    name = new.place.cell_id
    found = [each for each in twins(connection, account, new) if _name(each) not in others]
    same = [each for each in found if name is not None and (known := _name(each)) and known.id == name.id]
    return next(iter(same or found), None)


def twins(connection: sqlite3.Connection, account: int, new: Submission) -> list[Entry]:
    """The equal submissions, newest first, of all cells that have this one's text or its id."""
    place = new.place
    if place is None:
        return []
    cell_id = None if place.cell_id is None else place.cell_id.id
    # A union, as SQLite wouldn't take the two indexes for an OR.
    rows = connection.execute(
        "SELECT * FROM entries WHERE id IN ("
        "SELECT id FROM entries WHERE account = ? AND cell = ? AND nth = ? AND sameness = ? UNION ALL "
        "SELECT id FROM entries WHERE account = ? AND cell_id = ? AND nth = ? AND sameness = ?) "
        "AND state NOT IN (?, ?, ?, ?) ORDER BY id DESC",
        (
            *(account, place.cell, place.nth, new.sameness),
            *(account, cell_id, place.nth, new.sameness),
            *_NOT_MADE,
        ),
    )
    return [Entry.of(each) for each in rows]


def _name(entry: Entry) -> CellId | None:
    return None if entry.place is None else entry.place.cell_id


def row(connection: sqlite3.Connection, entry_id: int) -> sqlite3.Row | None:
    """The row with that number."""
    found: sqlite3.Row | None = connection.execute(
        "SELECT * FROM entries WHERE id = ?", (entry_id,)
    ).fetchone()
    return found


def by_request_id(connection: sqlite3.Connection, account: int | None, request_id: str) -> Entry | None:
    """The newest entry of a service's id."""
    return _first(
        connection,
        "SELECT * FROM entries WHERE request_id = ? AND coalesce(account = ?, 1) ORDER BY id DESC LIMIT 1",
        (request_id, account),
    )


def change(
    connection: sqlite3.Connection, entry_id: int, only_from: tuple[str, ...], changes: dict[str, Any]
) -> bool:
    """Changes an entry, only from certain states where any are given. Whether it did."""
    condition = f" AND state IN ({_marks(only_from)})" if only_from else ""
    cursor = connection.execute(
        f"UPDATE entries SET {_setting(changes)} WHERE id = ?{condition}",  # noqa: S608 - our own column names
        (*changes.values(), entry_id, *only_from),
    )
    return cursor.rowcount == 1


def hear(
    connection: sqlite3.Connection,
    entry_id: int,
    changes: dict[str, Any],
    now: float,
    watcher: str | None,
    took: tuple[float, float] | None = None,
) -> None:
    """What the service says of a job. Once it has ended, only another word on its end changes it.

    `took` are the seconds that it took at least and at most, where that is known better than by `now`.
    """
    known = row(connection, entry_id)
    ends = changes["state"] in _ENDED
    if known is None or (known["state"] in _ENDED and not ends):
        return
    if known["abandoned_at"] is not None:
        changes = {"error": None, **changes, "abandoned_at": None}
    if ends and known["ended_at"] is None:
        changes["ended_at"] = now
        # A job that was taken up by another kernel may have ended long before anybody asked.
        seen_through = (
            known["kernel"] == watcher and not known["resumed"] and known["accepted_at"] is not None
        )
        if changes["state"] == wire.COMPLETED and seen_through:
            changes["took_seconds"] = max(0.0, now - known["accepted_at"])
            if took is not None:
                changes["took_at_least"], changes["took_at_most"] = took
    change(connection, entry_id, (), changes)


def unfinished(connection: sqlite3.Connection, account: int, given_up_since: float) -> list[Entry]:
    """Accepted, and neither failed, downloaded nor given up before that time; oldest first."""
    rows = connection.execute(
        "SELECT * FROM entries WHERE account = ? AND request_id IS NOT NULL AND clip_path IS NULL "
        "AND state <> 'failed' AND coalesce(abandoned_at >= ?, 1) ORDER BY id",
        (account, given_up_since),
    )
    return [Entry.of(each) for each in rows]


def take_up(connection: sqlite3.Connection, entry: Entry, kernel: str) -> bool:
    """Gives the job to `kernel`, unless another has it by now."""
    cursor = connection.execute(
        "UPDATE entries SET kernel = ?, resumed = 1 WHERE id = ? AND kernel = ?",
        (kernel, entry.id, entry.kernel),
    )
    return cursor.rowcount == 1


def unsent_kernels(connection: sqlite3.Connection, account: int) -> list[str]:
    """The kernels that have written down something, and not its answer."""
    rows = connection.execute(
        "SELECT DISTINCT kernel FROM entries WHERE account = ? AND state IN ('intended', 'sending')",
        (account,),
    )
    return [each["kernel"] for each in rows]


def left_unsent(connection: sqlite3.Connection, account: int) -> list[Entry]:
    """What was never sent because its kernel ended, oldest first."""
    rows = connection.execute(
        "SELECT * FROM entries WHERE account = ? AND left_unsent = 1 ORDER BY id", (account,)
    )
    return [Entry.of(each) for each in rows]


def intend_again(connection: sqlite3.Connection, entry_id: int, kernel: str, now: float) -> Entry:
    """What was left unsent is intended by `kernel` now."""
    return Entry.of(
        connection.execute(
            "UPDATE entries SET state = ?, left_unsent = 0, kernel = ?, intended_at = ?, ended_at = NULL, "
            "error = NULL WHERE id = ? RETURNING *",
            (INTENDED, kernel, now, entry_id),
        ).fetchone()
    )


def has_unsent(connection: sqlite3.Connection, kernel: str) -> bool:
    """Whether that kernel has left anything to settle, in any account."""
    rows = connection.execute(
        "SELECT 1 FROM entries WHERE state IN ('intended', 'sending') AND kernel = ? LIMIT 1", (kernel,)
    )
    return rows.fetchone() is not None


def settle_kernel(
    connection: sqlite3.Connection, kernel: str, now: float, account: int | None = None, *, sure: bool = True
) -> list[Entry]:
    """Settles what a kernel leaves behind. Not `sure`: its rows may not be its last word."""
    words = {
        SENDING: (
            UNCERTAIN,
            "The kernel ended while this was being sent. It may be running, and may be billed.",
        ),
        INTENDED: (
            CANCELLED,
            "The kernel ended before this was sent. Nothing was paid. session.resume(unsent=True) sends it.",
        )
        if sure
        else (UNCERTAIN, "The kernel that was to send this lost its disk and ended. It may have been sent."),
    }
    settled: list[Entry] = []
    for before, (after, error) in words.items():
        rows = connection.execute(
            # Both states by name, or the index of the unsent ones wouldn't be used.
            "UPDATE entries SET state = ?, error = ?, ended_at = ?, left_unsent = (? AND repeats IS NULL) "
            "WHERE state IN ('intended', 'sending') "
            "AND state = ? AND kernel = ? AND coalesce(account = ?, 1) RETURNING *",
            (after, error, now, after == CANCELLED, before, kernel, account),
        )
        settled += [Entry.of(each) for each in rows]
    return sorted(settled, key=lambda entry: entry.id)


def took_seconds(
    connection: sqlite3.Connection,
    account: int,
    mode: str,
    duration_seconds: int | None,
    aspect_ratio: str | None,
    limit: int,
) -> list[tuple[float, float, float | None]]:
    """How long the last clips took that one kernel watched from beginning to end, the last submitted first.

    In seconds: at least, at most, and what the service had estimated. Not in the order of their ends: the
    long ones of a batch end last, and would look as if the service had become slower.
    """
    rows = connection.execute(
        "SELECT coalesce(took_at_least, 0.0), coalesce(took_at_most, took_seconds), "
        "estimated_duration_seconds FROM entries WHERE account = ? AND mode = ? AND took_seconds IS NOT NULL "
        "AND coalesce(duration_seconds = ?, 1) AND (? IS NULL OR aspect_ratio = ?) "
        "ORDER BY id DESC LIMIT ?",
        (account, mode, duration_seconds, aspect_ratio, aspect_ratio, limit),
    )
    return [(at_least, at_most, estimated) for at_least, at_most, estimated in rows]


def _first(connection: sqlite3.Connection, sql: str, values: tuple[Any, ...]) -> Entry | None:
    found = connection.execute(sql, values).fetchone()
    return None if found is None else Entry.of(found)


def _setting(changes: dict[str, Any]) -> str:
    return ", ".join(f"{name} = ?" for name in changes)


def _marks(values: tuple[str, ...]) -> str:
    return ", ".join("?" * len(values))
