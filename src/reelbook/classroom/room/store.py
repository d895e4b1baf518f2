"""The room's SQLite file: settings, students and their keys, jobs and the money reserved for them.

Amounts are USD, in the file whole micro-USD; times are epoch seconds. Methods that change something wait for
the disk: call them from a thread. Keys are kept as SHA-256 digests. The session's ledger is another file.
"""

import contextlib
import json
import math
import secrets
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from ... import wire
from ...account.reconcile import COST_SPREAD
from ...atomic_files import write_whole
from ...errors import ClassroomError
from ...formatting import hour
from ...ledger.records import insert, read, stored
from ...media.images import PreparedImage
from ...requests import JobRequest
from ...secret import Secret
from ...web.database import SqliteFile, key_digest
from ...web.refusals import NoMoney, Refused
from ...wire import MICRO
from ..roster import name_key
from .codes import new_code, plain_code
from .turns import Line, clips_ahead, next_student

DEVICE_SECONDS: Final = 1800.0  # how long a code for another device is valid
NEWEST: Final = 9
USUAL_NAME: Final = "Class"
USUAL_CAP_USD: Final = 2.0

State = Literal["queued", "handed", "completed", "failed", "refused", "uncertain", "taken back"]
"""What became of a job. `handed`: it is the session's, so it may have been sent."""
QUEUED: Final = "queued"
HANDED: Final = "handed"
TAKEN_BACK: Final = "taken back"
UNCERTAIN: Final = "uncertain"
KEY_PREFIX: Final = "rk-"  # of students' keys, and of nothing else that is kept as a digest

# Appended to, never edited: a room made by an older version is migrated when it is opened.
MIGRATIONS: Final = (
    """
    CREATE TABLE room (
        only_one INTEGER PRIMARY KEY CHECK (only_one = 1),
        code TEXT NOT NULL,
        name TEXT NOT NULL,
        service TEXT NOT NULL,
        made_at REAL NOT NULL,
        ended_at REAL,
        expires_at REAL,
        places INTEGER,
        listed_only INTEGER NOT NULL DEFAULT 0,
        cap_micro INTEGER NOT NULL,
        class_cap_micro INTEGER,
        max_seconds INTEGER NOT NULL,
        paused INTEGER NOT NULL DEFAULT 0,
        names_hidden INTEGER NOT NULL DEFAULT 0,
        clips_hidden INTEGER NOT NULL DEFAULT 0,
        turn INTEGER NOT NULL DEFAULT 0,
        balance_micro INTEGER,
        balance_at REAL
    ) STRICT;
    CREATE TABLE students (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        name_key TEXT NOT NULL UNIQUE,
        joined_at REAL,
        served INTEGER NOT NULL DEFAULT 0,
        spent_micro INTEGER NOT NULL DEFAULT 0,
        reserved_micro INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE TABLE keys (
        digest TEXT PRIMARY KEY,
        student INTEGER NOT NULL REFERENCES students,
        kind TEXT NOT NULL,
        made_at REAL NOT NULL
    ) STRICT;
    CREATE TABLE jobs (
        number INTEGER PRIMARY KEY,
        request_id TEXT NOT NULL UNIQUE,
        student INTEGER NOT NULL REFERENCES students,
        state TEXT NOT NULL,
        request TEXT NOT NULL,
        image TEXT,
        repeat_key TEXT,
        estimate_micro INTEGER NOT NULL,
        reserved_micro INTEGER NOT NULL,
        cost_micro INTEGER NOT NULL DEFAULT 0,
        accepted_at REAL NOT NULL,
        ended_at REAL,
        error TEXT,
        clip TEXT UNIQUE,
        clip_path TEXT,
        seconds REAL,
        hidden INTEGER NOT NULL DEFAULT 0,
        UNIQUE (student, repeat_key)
    ) STRICT;
    CREATE INDEX jobs_by_student ON jobs (student, number);
    CREATE INDEX jobs_open ON jobs (student, number) WHERE state IN ('queued', 'handed');
    CREATE INDEX jobs_by_end ON jobs (ended_at) WHERE ended_at IS NOT NULL;
    """,
    """
    ALTER TABLE room ADD COLUMN question TEXT;
    ALTER TABLE room ADD COLUMN asked_at REAL;
    ALTER TABLE room ADD COLUMN voting INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE jobs ADD COLUMN service_id TEXT;
    """,
    # What a student spent and has reserved is counted from the jobs, and kept in no second place.
    """
    ALTER TABLE students DROP COLUMN spent_micro;
    ALTER TABLE students DROP COLUMN reserved_micro;
    CREATE VIEW accounts AS SELECT *,
        (SELECT coalesce(sum(cost_micro), 0) FROM jobs WHERE student = students.id) AS spent_micro,
        (SELECT coalesce(sum(reserved_micro), 0) FROM jobs WHERE student = students.id) AS reserved_micro
        FROM students;
    """,
)


def most_usd(estimate_usd: float, service: str) -> float:
    """The most that a clip is charged for, rounded up to whole cents.

    A service bills its real length, a sandbox what was asked for (interface, Limits).
    """
    spread = 1.0 if service == "sandbox" else 1.0 + COST_SPREAD
    return math.ceil(round(100 * estimate_usd * spread, 4)) / 100


@dataclass(frozen=True)
class RoomSettings:
    """The teacher's choices, and the state of the room. `places` None: any number.

    `expires_at` None: it lasts until it is ended. `cap_usd` is each student's, `class_cap_usd` for all
    together, None without one. `question` is that of the last vote, None if none is shown; the vote began at
    `asked_at` and goes on while `voting`. `balance_usd` is what the service said at `balance_at`.
    """

    code: str
    name: str
    service: str
    made_at: float
    ended_at: float | None
    expires_at: float | None
    places: int | None
    listed_only: bool
    cap_usd: float
    class_cap_usd: float | None
    max_seconds: int
    paused: bool
    names_hidden: bool
    clips_hidden: bool
    question: str | None
    asked_at: float | None
    voting: bool
    balance_usd: float | None
    balance_at: float | None

    def open(self, now: float) -> bool:
        """Whether clips can be ordered."""
        return self.ended_at is None and (self.expires_at is None or now < self.expires_at)

    @property
    def whole_cap_usd(self) -> float | None:
        """What all together may spend, if that is limited."""
        if self.class_cap_usd is not None:
            return self.class_cap_usd
        return None if self.places is None else round(self.cap_usd * self.places, 6)


@dataclass(frozen=True)
class Student:
    """A student of the class. `joined_at` None: the name is free."""

    id: int
    name: str
    joined_at: float | None
    spent_usd: float
    reserved_usd: float


@dataclass(frozen=True)
class RoomJob:
    """A student's order, and what became of it. `ahead` is known only in the queue.

    `clip` is the secret part of its clip's address, `service_id` its id at the service.
    """

    number: int
    request_id: str
    student: int
    state: str
    request: Mapping[str, Any]
    image: str | None
    estimate_usd: float
    reserved_usd: float
    cost_usd: float
    accepted_at: float
    ended_at: float | None
    error: str | None
    clip: str | None
    clip_path: str | None
    seconds: float | None
    hidden: bool
    repeat_key: str | None
    service_id: str | None
    ahead: int | None = None

    @property
    def prompt(self) -> str:
        return str(self.request["prompt"])

    @property
    def without_file(self) -> bool:
        """Whether the service made it and didn't give its file: it failed, and may still be completed."""
        return self.state == "failed" and self.service_id is not None


class RoomStore(SqliteFile):
    """One class's file. `clock` gives epoch seconds. Raises ClassroomError if it can't be opened."""

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        try:
            super().__init__(path, MIGRATIONS)
        except (sqlite3.Error, OSError) as error:
            raise ClassroomError(f"The class's file {path} can't be used: {error}.") from error
        self.clock = clock
        self.folder = path.parent
        self.images = path.parent / "images"

    def begin(self, code: str, service: str, names: Sequence[str] = (), **chosen: Any) -> None:
        """Makes the class if there is none, and sets what was chosen, as `change` does.

        Puts `names` on the list; those already on it stay as they are.
        """
        with self.transaction() as db:
            if db.execute("SELECT 1 FROM room").fetchone() is None:
                new = {
                    "only_one": 1,
                    "code": code,
                    "name": USUAL_NAME,
                    "service": service,
                    "made_at": self.clock(),
                    "cap_usd": USUAL_CAP_USD,
                    "max_seconds": wire.MAX_SECONDS,
                }
                insert(db, "room", new)
            db.executemany(
                "INSERT OR IGNORE INTO students (name, name_key) VALUES (?, ?)",
                [(name, name_key(name)) for name in names],
            )
            if chosen:
                _set(db, "room", chosen)

    @property
    def begun(self) -> bool:
        """Whether there is a class: its process may have been killed before it made one."""
        return bool(self.read("SELECT 1 FROM room"))

    def change(self, **chosen: Any) -> None:
        """Changes what the teacher chose, or what is known: columns of the room, with amounts in USD."""
        with self.transaction() as db:
            _set(db, "room", chosen)

    def settings(self) -> RoomSettings:
        with self.reading() as db:
            return _settings(db)

    def end(self) -> None:
        """Ends the class: nobody can order any more, and what wasn't sent is taken back."""
        with self.transaction() as db:
            db.execute("UPDATE room SET ended_at = coalesce(ended_at, ?)", (self.clock(),))
        self.expire()

    def expire(self) -> None:
        """Takes back what wasn't sent, once the class's time is over."""
        with self.transaction() as db:
            now = self.clock()
            if not _settings(db).open(now):
                _take_back(db, now, "The class ended before it was sent. Nothing was paid.")

    def join(self, name: str, token: str | None = None) -> tuple[Student, Secret]:
        """Gives the name to whoever asks for it first, with a key. Raises Refused.

        The same `token` is let in again, as the answer may have been lost. The caller has checked the code.
        """
        own = None if token is None else f"join {name_key(name)} {token}"
        with self.transaction() as db:
            now, room = self.clock(), _settings(db)
            if not room.open(now):
                raise Refused(403, "This class has ended.")
            if own is not None and (again := _holder(db, own)) is not None:
                return again, _new_key(db, again.id, now)
            found = db.execute("SELECT * FROM students WHERE name_key = ?", (name_key(name),)).fetchone()
            if found is None and room.listed_only:
                raise Refused(400, f"{name} isn't in the list. Ask your teacher.")
            if found is not None and found["joined_at"] is not None:
                taken, at = found["name"], hour(found["joined_at"], now)
                raise Refused(
                    409,
                    f"{taken} joined at {at}. If that was you on another device, your teacher can let you in "
                    f"again. Otherwise add a letter, as in “{taken} L”.",
                )
            joined = db.execute("SELECT count(joined_at) FROM students").fetchone()[0]
            if room.places is not None and joined >= room.places:
                raise Refused(409, f"All {room.places} places are taken. Ask your teacher.")
            student = db.execute(
                "INSERT INTO students (name, name_key, joined_at) VALUES (?, ?, ?) "
                "ON CONFLICT (name_key) DO UPDATE SET joined_at = excluded.joined_at RETURNING id",
                (name, name_key(name), now),
            ).fetchone()["id"]
            if own is not None:
                _keep_key(db, own, student, "join", now)
            return _student(db, student), _new_key(db, student, now)

    def device_code(self, student: int) -> str:
        """A code with which the student joins on another device, valid for half an hour and once."""
        with self.transaction() as db:
            code, now = new_code(), self.clock()
            db.execute("DELETE FROM keys WHERE kind = 'device' AND made_at <= ?", (now - DEVICE_SECONDS,))
            _keep_key(db, _device(_student(db, student).name, code), student, "device", now)
            return f"{_settings(db).code}-{code}"

    def join_device(self, name: str, code: str) -> tuple[Student, Secret] | None:
        """Lets the student in on another device; None if `code` isn't valid for that."""
        with self.transaction() as db:
            now, room = self.clock(), _settings(db)
            given, first = plain_code(code), plain_code(room.code)
            if not given.startswith(first) or len(given) == len(first) or not room.open(now):
                return None
            digest = key_digest(_device(name, given.removeprefix(first)))
            row = db.execute(
                "DELETE FROM keys WHERE digest = ? AND kind = 'device' AND made_at > ? RETURNING student",
                (digest, now - DEVICE_SECONDS),
            ).fetchone()
            if row is None:
                return None
            return _student(db, row["student"]), _new_key(db, row["student"], now)

    def release(self, student: int) -> None:
        """Frees a name: its keys end, and whoever joins by it goes on with its clips and its money."""
        with self.transaction() as db:
            db.execute("DELETE FROM keys WHERE student = ?", (student,))
            db.execute("UPDATE students SET joined_at = NULL WHERE id = ?", (student,))

    def student_of(self, key: str) -> Student | None:
        """Whose key it is; None if nobody's."""
        with self.reading() as db:
            return _holder(db, key) if key.startswith(KEY_PREFIX) else None

    def students(self) -> list[Student]:
        """Everybody on the list and everybody who joined, by name."""
        return [read(Student, row) for row in self.read("SELECT * FROM accounts ORDER BY name_key")]

    def order(self, student: int, request: JobRequest, *, repeat_key: str | None = None) -> RoomJob:
        """Reserves the most that the clip can cost and puts it into the queue, in one transaction.

        The same `repeat_key` returns the same job again. Raises Refused.
        """
        record = json.dumps(request.record(), ensure_ascii=False, sort_keys=True)
        with self.transaction() as db:
            now, room = self.clock(), _settings(db)
            # NULL equals nothing in SQL, so an order without a key is always a new one.
            repeated = db.execute(
                "SELECT * FROM jobs WHERE student = ? AND repeat_key = ?", (student, repeat_key)
            ).fetchone()
            if repeated is not None:
                if repeated["request"] != record:
                    said = "This Idempotency-Key was used for another clip. Nothing was ordered."
                    raise Refused(400, said)
                return _job(repeated, _ahead(db, student).get(repeated["number"]))
            if not room.open(now):
                raise Refused(403, "This class has ended. Nothing was ordered.")
            if request.duration_seconds > room.max_seconds:
                raise Refused(400, f"duration_seconds must be from 1 to {room.max_seconds} in this class")
            needed = most_usd(request.estimated_cost_usd, room.service)
            left = _left_usd(db, student)
            if needed > left:
                raise NoMoney(max(0.0, left), needed)
            new = {
                "request_id": f"clip_{secrets.token_hex(12)}",
                "student": student,
                "state": QUEUED,
                "request": record,
                "image": None if request.image is None else self._keep(request.image),
                "repeat_key": repeat_key,
                "estimate_usd": request.estimated_cost_usd,
                "reserved_usd": needed,
                "accepted_at": now,
            }
            row = insert(db, "jobs", new)
            return _job(row, _ahead(db, student)[row["number"]])

    def _keep(self, image: PreparedImage) -> str:
        """The name of a file with this image."""
        name = f"{image.digest}.{image.format.lower()}"
        self.images.mkdir(mode=0o700, exist_ok=True)
        if not (self.images / name).exists():
            write_whole(self.images / name, image.data)
        return name

    def remove_images(self) -> None:
        """Removes all images but those of clips that may still be sent, or were sent and never answered."""
        with self.transaction() as db, contextlib.suppress(OSError):  # what stays is removed the next time
            rows = db.execute("SELECT image FROM jobs WHERE state IN ('queued', 'handed', 'uncertain')")
            needed = {row["image"] for row in rows}
            for file in self.images.iterdir():
                if file.name not in needed:
                    file.unlink()

    def left_usd(self, student: int, *, own_reserved: bool = True) -> float:
        """What the student may still order for. Without `own_reserved`, as if none of theirs waited."""
        with self.reading() as db:
            left = _left_usd(db, student)
            return max(0.0, left if own_reserved else round(left + _student(db, student).reserved_usd, 6))

    def hand_over(self) -> RoomJob | None:
        """Hands the next clip in turn over to the session; None if it is nobody's turn."""
        with self.transaction() as db:
            student = next_student(_lines(db))
            if student is None or _settings(db).paused:
                return None
            row = db.execute(
                "UPDATE jobs SET state = 'handed' WHERE number = (SELECT min(number) FROM jobs "
                "WHERE student = ? AND state = 'queued') RETURNING *",
                (student,),
            ).fetchone()
            turn = db.execute("UPDATE room SET turn = turn + 1 RETURNING turn").fetchone()["turn"]
            db.execute("UPDATE students SET served = ? WHERE id = ?", (turn, student))
            return _job(row)

    def hand_back(self, number: int) -> None:
        """The service didn't take it: it goes back into the queue, first among its student's clips."""
        with self.transaction() as db:
            row = db.execute(
                "UPDATE jobs SET state = 'queued' WHERE number = ? AND state = 'handed' RETURNING student",
                (number,),
            ).fetchone()
            if row is not None:
                db.execute("UPDATE students SET served = 0 WHERE id = ?", (row["student"],))

    def settle(self, number: int, state: State, *, clip_path: Path | None = None, **known: Any) -> None:
        """Records what became of a clip, and what it really cost. An uncertain one stays reserved.

        `known` are columns of `RoomJob`, with amounts in USD. A second outcome for the same clip changes
        nothing, unless it was uncertain or only lacked its file.
        """
        outcome = {"state": state, "ended_at": self.clock(), "error": None, **known}
        if state != UNCERTAIN:
            outcome["reserved_usd"] = 0.0
        if clip_path is not None:
            outcome |= {"clip": secrets.token_urlsafe(18), "clip_path": str(clip_path)}
        changeable = "state IN ('handed', 'uncertain') OR state = 'failed' AND service_id NOTNULL"
        with self.transaction() as db:
            _set(db, "jobs", outcome, f"number = {number:d} AND ({changeable})")

    def take_back(self, student: int, request_id: str) -> RoomJob | None:
        """Takes back a job that wasn't sent, and frees its money. None if the student has no such job.

        Raises Refused (409) for one that is on its way or over; not for one that was taken back, as the
        answer to that may have been lost.
        """
        with self.transaction() as db:
            row = _own_job(db, student, request_id)
            if row is None:
                return None
            if row["state"] not in (QUEUED, TAKEN_BACK):
                raise Refused(409, "It was sent already, so it can't be taken back.")
            _take_back(db, self.clock(), "Taken back before it was sent. Nothing was paid.", row["number"])
            return _job(db.execute("SELECT * FROM jobs WHERE number = ?", (row["number"],)).fetchone())

    def job(self, student: int, request_id: str) -> RoomJob | None:
        """The student's own job; None for an unknown one and for anybody else's."""
        with self.reading() as db:
            row = _own_job(db, student, request_id)
            return None if row is None else _job(row, _ahead(db, student).get(row["number"]))

    def jobs(self, student: int) -> list[RoomJob]:
        """The student's own jobs, newest first."""
        with self.reading() as db:
            rows = db.execute("SELECT * FROM jobs WHERE student = ? ORDER BY number DESC", (student,))
            ahead = _ahead(db, student)
            return [_job(row, ahead.get(row["number"])) for row in rows]

    def all_jobs(self) -> list[RoomJob]:
        """The jobs of all students, oldest first."""
        return [_job(row) for row in self.read("SELECT * FROM jobs ORDER BY number")]

    def newest_clips(self, limit: int = NEWEST, *, until: float = math.inf) -> list[RoomJob]:
        """Finished clips that nobody hid, newest first, of those finished by `until`."""
        rows = self.read(
            "SELECT * FROM jobs WHERE clip IS NOT NULL AND NOT hidden AND ended_at <= ? "
            "ORDER BY ended_at DESC LIMIT ?",
            (until, limit),
        )
        return [_job(row) for row in rows]

    def clip_path(self, clip: str) -> Path | None:
        """The path of the clip with that address."""
        rows = self.read("SELECT clip_path FROM jobs WHERE clip = ?", (clip,))
        return Path(rows[0]["clip_path"]) if rows else None

    def hide(self, request_id: str) -> None:
        """Takes a clip off the wall. The student keeps it."""
        with self.transaction() as db:
            db.execute("UPDATE jobs SET hidden = 1 WHERE request_id = ?", (request_id,))

    def counts(self) -> dict[str, int]:
        """How many jobs there are in each state."""
        return {row[0]: row[1] for row in self.read("SELECT state, count(*) FROM jobs GROUP BY state")}

    def seconds_between_clips(self) -> float | None:
        """The mean time between the last ten clips' ends; None with fewer than three in ten minutes."""
        rows = self.read(
            "SELECT ended_at FROM jobs WHERE state = 'completed' AND ended_at > ? "
            "ORDER BY ended_at DESC LIMIT 10",
            (self.clock() - 600,),
        )
        return None if len(rows) < 3 else (rows[0][0] - rows[-1][0]) / (len(rows) - 1)

    def money(self) -> tuple[float, float]:
        """What all students together spent, and what is reserved."""
        with self.reading() as db:
            return _money(db)


def _set(db: sqlite3.Connection, table: str, values: Mapping[str, Any], which: str = "TRUE") -> None:
    """Sets columns of the rows that fulfil a condition. Amounts are given in USD."""
    columns = stored(values)
    marks = ", ".join(f"{name} = ?" for name in columns)
    db.execute(f"UPDATE {table} SET {marks} WHERE {which}", [*columns.values()])  # noqa: S608 - our own names


def _settings(db: sqlite3.Connection) -> RoomSettings:
    row = db.execute("SELECT * FROM room").fetchone()
    names = ("listed_only", "paused", "names_hidden", "clips_hidden", "voting")
    switches = {name: bool(row[name]) for name in names}
    return read(RoomSettings, row, **switches)


def _student(db: sqlite3.Connection, number: int) -> Student:
    return read(Student, db.execute("SELECT * FROM accounts WHERE id = ?", (number,)).fetchone())


def _lines(db: sqlite3.Connection) -> list[Line]:
    rows = db.execute(
        "SELECT s.id, s.served, sum(j.state = 'queued') AS waiting, sum(j.state = 'handed') AS in_flight "
        "FROM jobs j JOIN students s ON s.id = j.student WHERE j.state IN ('queued', 'handed') GROUP BY s.id"
    )
    return [Line(*row) for row in rows]


def _ahead(db: sqlite3.Connection, student: int) -> dict[int, int]:
    """How many clips are sent before each of the student's that wait, by its number."""
    lines = _lines(db)
    waiting = db.execute(
        "SELECT number FROM jobs WHERE student = ? AND state = 'queued' ORDER BY number", (student,)
    )
    return {row["number"]: clips_ahead(lines, student, place) for place, row in enumerate(waiting)}


def _job(row: sqlite3.Row, ahead: int | None = None) -> RoomJob:
    return read(RoomJob, row, request=json.loads(row["request"]), hidden=bool(row["hidden"]), ahead=ahead)


def _own_job(db: sqlite3.Connection, student: int, request_id: str) -> sqlite3.Row | None:
    found: sqlite3.Row | None = db.execute(
        "SELECT * FROM jobs WHERE request_id = ? AND student = ?", (request_id, student)
    ).fetchone()
    return found


def _money(db: sqlite3.Connection) -> tuple[float, float]:
    spent, reserved = db.execute("SELECT total(cost_micro), total(reserved_micro) FROM jobs").fetchone()
    return spent / MICRO, reserved / MICRO


def _left_usd(db: sqlite3.Connection, student: int) -> float:
    """What the student may order for: the least of their own cap, the class's, and the balance.

    It is exact to the micro-USD, as all that it is made of.
    """
    own, room = _student(db, student), _settings(db)
    left = [room.cap_usd - own.spent_usd - own.reserved_usd]
    spent, reserved = _money(db)
    if room.class_cap_usd is not None:
        left.append(room.class_cap_usd - spent - reserved)
    if room.balance_usd is not None:
        # Nobody knows whether the balance already excludes these.
        since = db.execute("SELECT total(cost_micro) FROM jobs WHERE ended_at >= ?", (room.balance_at,))
        left.append(room.balance_usd - reserved - since.fetchone()[0] / MICRO)
    return round(min(left), 6)


def _take_back(db: sqlite3.Connection, now: float, said: str, number: int | None = None) -> None:
    db.execute(
        "UPDATE jobs SET state = 'taken back', reserved_micro = 0, ended_at = ?, error = ? "
        "WHERE state = 'queued' AND number = coalesce(?, number)",
        (now, said, number),
    )


def _new_key(db: sqlite3.Connection, student: int, now: float) -> Secret:
    key = Secret(f"{KEY_PREFIX}{secrets.token_urlsafe(24)}")
    _keep_key(db, key.reveal(), student, "api", now)
    return key


def _keep_key(
    db: sqlite3.Connection, key: str, student: int, kind: Literal["api", "device", "join"], now: float
) -> None:
    db.execute("INSERT INTO keys VALUES (?, ?, ?, ?)", (key_digest(key), student, kind, now))


def _holder(db: sqlite3.Connection, key: str) -> Student | None:
    row = db.execute(
        "SELECT a.* FROM keys k JOIN accounts a ON a.id = k.student WHERE digest = ?", (key_digest(key),)
    ).fetchone()
    return None if row is None else read(Student, row)


def _device(name: str, code: str) -> str:
    return f"device {name_key(name)} {plain_code(code)}"
