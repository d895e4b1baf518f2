"""Classrooms: which student has which key. The keys themselves are in the students' files only.

An intent is here before a key is asked for, its id right after, so that a killed `open` can go on.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from .records import insert, origin, read
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

    `label` is what the names of its keys begin with, and those of no other classroom in any home.
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
            "max_spend_usd": max_spend_usd,
            "before": json.dumps(sorted(before)),
            "opened_at": self._clock(),
        }
        return _classroom(self._store.write(lambda db: insert(db, "classrooms", values)), ())

    def seat(self, classroom: Classroom, student: str, key_name: str, file: str) -> None:
        """Gives a place to a student who has none yet. `file` is what `Seat.file` says."""
        self._write(
            "INSERT OR IGNORE INTO seats (classroom, student, key_name, file, state) VALUES (?, ?, ?, ?, ?)",
            *(classroom.id, student, key_name, file, WAITING),
        )

    def at(self, service: str) -> tuple[Classroom, ...]:
        """The classrooms at a service, the newest first."""

        def work(db: sqlite3.Connection) -> tuple[Classroom, ...]:
            rows = db.execute(
                "SELECT * FROM classrooms WHERE origin = ? ORDER BY id DESC", (origin(service),)
            ).fetchall()
            places = "SELECT * FROM seats WHERE classroom = ? ORDER BY id"
            return tuple(_classroom(row, db.execute(places, (row["id"],))) for row in rows)

        return self._store.read(work)

    def waiting(self, seat: Seat) -> None:
        """The place has no key: none was made, or it was revoked."""
        self._mark(seat, WAITING)

    def asking(self, seat: Seat) -> None:
        """The request for its key goes out next."""
        self._mark(seat, ASKED)

    def made(self, seat: Seat, key_id: str) -> None:
        """Its key is there, and the student's file holds it."""
        self._mark(seat, MADE, key_id)

    def revoked(self, seat: Seat) -> None:
        """Its key is useless now."""
        self._mark(seat, REVOKED, seat.key_id)

    def closed(self, classroom: Classroom) -> None:
        """All its keys are revoked, and the service's list says so."""
        self._write("UPDATE classrooms SET closed_at = ? WHERE id = ?", self._clock(), classroom.id)

    def _mark(self, seat: Seat, state: str, key_id: str | None = None) -> None:
        self._write("UPDATE seats SET state = ?, key_id = ? WHERE id = ?", state, key_id, seat.id)

    def _write(self, statement: str, *values: object) -> None:
        self._store.write(lambda db: db.execute(statement, values))


def _classroom(row: sqlite3.Row, seats: Iterable[sqlite3.Row]) -> Classroom:
    before = frozenset(json.loads(row["before"]))
    return read(Classroom, row, before=before, seats=tuple(read(Seat, seat) for seat in seats))
