"""Classrooms: which student has which key. The keys themselves are in the students' files only.

An intent is here before a key is asked for, its id right after, so that a killed `open` can go on.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from .records import insert, micro, origin, usd
from .store import Store

WAITING: Final = "waiting"  # no key was asked for
ASKED: Final = "asked"  # a key was asked for, and nothing is known of the answer
MADE: Final = "made"  # the key is there and the student's file holds it
REVOKED: Final = "revoked"


@dataclass(frozen=True)
class Seat:
    """A student's place. `key_name` is the key's label at the service, `key_id` None until it is known.

    `file` is the name of the student's file in the classroom's folder.
    """

    id: int
    student: str
    key_name: str
    file: str
    state: str
    key_id: str | None


@dataclass(frozen=True)
class Classroom:
    """A classroom at one service. `before` are the ids of the keys that were there when it was opened.

    `label` is what its keys' names begin with: no other classroom's do, of whatever home.

    `opened_at` and `closed_at` are epoch seconds; `rate_limit` is requests a minute, for each student.
    """

    id: int
    origin: str
    name: str
    label: str
    folder: str
    address: str
    rate_limit: int
    max_spend_usd: float
    before: frozenset[str]
    opened_at: float
    closed_at: float | None
    seats: tuple[Seat, ...]

    @property
    def missing(self) -> tuple[Seat, ...]:
        """The places without a key."""
        return tuple(seat for seat in self.seats if seat.state in (WAITING, ASKED))


class Classrooms:
    """The classrooms of a home."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock

    def open(
        self,
        service: str,
        name: str,
        *,
        label: str,
        folder: str,
        address: str,
        rate_limit: int,
        max_spend_usd: float,
        before: Iterable[str],
    ) -> Classroom:
        """Writes a classroom down, without places. `service` is as in `LedgerFile.ledger`."""
        values = {
            "origin": origin(service),
            "name": name,
            "label": label,
            "folder": folder,
            "address": address,
            "rate_limit": rate_limit,
            "max_spend_micro": micro(max_spend_usd),
            "before": json.dumps(sorted(before)),
            "opened_at": self._clock(),
        }
        number = self._store.write(lambda connection: insert(connection, "classrooms", values)["id"])
        return next(each for each in self.at(service) if each.id == number)

    def seat(self, classroom: Classroom, student: str, key_name: str, file: str) -> None:
        """Gives a student a place, who has none yet. `file` is what `Seat.file` says."""
        self._store.write(
            lambda connection: connection.execute(
                "INSERT OR IGNORE INTO seats (classroom, student, key_name, file, state) "
                "VALUES (?, ?, ?, ?, ?)",
                (classroom.id, student, key_name, file, WAITING),
            )
        )

    def at(self, service: str) -> tuple[Classroom, ...]:
        """The classrooms at a service, the newest first."""

        def work(connection: sqlite3.Connection) -> tuple[Classroom, ...]:
            rows = connection.execute(
                "SELECT * FROM classrooms WHERE origin = ? ORDER BY id DESC", (origin(service),)
            ).fetchall()
            return tuple(_classroom(connection, row) for row in rows)

        return self._store.read(work)

    def waiting(self, seat: Seat) -> None:
        """No key of the place is there: none was made, or it is revoked."""
        self._change("seats", seat.id, state=WAITING, key_id=None)

    def asking(self, seat: Seat) -> None:
        """The request for its key goes out next."""
        self._change("seats", seat.id, state=ASKED, key_id=None)

    def made(self, seat: Seat, key_id: str) -> None:
        """Its key is there, and the student's file holds it."""
        self._change("seats", seat.id, state=MADE, key_id=key_id)

    def revoked(self, seat: Seat) -> None:
        """Its key is useless now."""
        self._change("seats", seat.id, state=REVOKED)

    def closed(self, classroom: Classroom) -> None:
        """All its keys are revoked, and the service's list says so."""
        self._change("classrooms", classroom.id, closed_at=self._clock())

    def _change(self, table: str, number: int, **changes: Any) -> None:
        values = ", ".join(f"{name} = ?" for name in changes)
        self._store.write(
            lambda connection: connection.execute(
                f"UPDATE {table} SET {values} WHERE id = ?",  # noqa: S608 - our own names
                (*changes.values(), number),
            )
        )


def _classroom(connection: sqlite3.Connection, row: sqlite3.Row) -> Classroom:
    seats = connection.execute(
        "SELECT id, student, key_name, file, state, key_id FROM seats WHERE classroom = ? ORDER BY id",
        (row["id"],),
    )
    kept = {name: row[name] for name in ("id", "origin", "name", "label", "folder", "address", "rate_limit")}
    return Classroom(
        **kept,
        max_spend_usd=usd(row["max_spend_micro"]) or 0.0,
        before=frozenset(json.loads(row["before"])),
        opened_at=row["opened_at"],
        closed_at=row["closed_at"],
        seats=tuple(Seat(*seat) for seat in seats),
    )
