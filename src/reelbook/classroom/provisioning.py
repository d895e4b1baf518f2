"""The steps of opening and closing a classroom: each is written down first, and can be done again.

The keys come and go through the session, within its request budget; what stands in files is `handouts`' part.
"""

from __future__ import annotations

import contextlib
import re
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from filelock import FileLock, Timeout

from ..errors import ClassroomError, InvalidInput, KeyUncertain, NotFound, ReelbookError
from ..formatting import file_name, plain_name
from ..ledger import LedgerFile
from ..ledger.classrooms import ASKED, MADE, Classroom, Seat
from ..models import ApiKey
from . import handouts
from .address import address_for_students
from .roster import tidy

if TYPE_CHECKING:
    from ..session.session import Session

LONGEST_CLASSROOM_NAME: Final = 26  # with label and student it is a key's name, of up to 100
ATTEMPTS: Final = 2
LOOK_SECONDS: Final = 0.2


@dataclass(frozen=True)
class Step:
    """How far it is: `done` of `all`, and in how many seconds the next request may go out."""

    done: int
    all: int
    wait_seconds: float


Report = Callable[[Step], None]


class Work:
    """One session's classrooms while nobody else of this home works on them."""

    def __init__(self, session: Session, ledger: LedgerFile, report: Report) -> None:
        self.session = session
        self.ledger = ledger
        # The home's own sandbox changes its address, and is the same service all the same.
        self.service = "sandbox" if session.sandbox else session.base_url
        self._report = report

    def rooms(self) -> tuple[Classroom, ...]:
        """All there are at this service, the newest first."""
        return self.ledger.classrooms.at(self.service)

    def room(self, number: int) -> Classroom:
        """One of them, as it is written down now."""
        return next(each for each in self.rooms() if each.id == number)

    def continued(self, name: str | None, students: Sequence[str]) -> Classroom | None:
        """The open classroom that is meant; None for a fresh one."""
        rooms = [each for each in self.rooms() if each.closed_at is None]
        if name is not None:
            return next((each for each in rooms if each.name == tidy(name)), None)
        for room in rooms:
            known = {seat.student for seat in room.seats}
            if (room.missing or not known) and (not known or known & set(students)):
                return room
        return next((each for each in rooms if each.name == today()), None)

    def begun(
        self, name: str, options: tuple[int, float], folder: Path | None, address: str | None
    ) -> Classroom:
        """A fresh classroom. Its folder is made, and the keys that are there already are noted."""
        name = self.free_name(name)
        reached_at = address_for_students(self.session, address)
        place = handouts.prepared(folder or self.folder(name), fresh=True)
        before = [key.key_id for key in self.session.keys.list()]
        rate_limit, max_spend_usd = options
        return self.ledger.classrooms.open(
            self.service,
            name,
            label=f"{name} #{secrets.token_hex(2)}",
            folder=str(place),
            address=reached_at,
            rate_limit=rate_limit,
            max_spend_usd=max_spend_usd,
            before=before,
        )

    def seat(self, number: int, student: str) -> None:
        """A place for a student who has none."""
        room = self.room(number)
        if all(seat.student != student for seat in room.seats):
            file = handouts.file_name(len(room.seats) + 1, student)
            self.ledger.classrooms.seat(room, student, f"{room.label} · {student}", file)

    def take_back(self, classroom: Classroom, students: Sequence[str]) -> None:
        """Revokes the keys of these students, who are to get others. Raises InvalidInput for a stranger."""
        seats = {seat.student: seat for seat in classroom.seats}
        if strangers := [student for student in students if student not in seats]:
            raise InvalidInput(f"Not in {classroom.name}: {', '.join(strangers)}. Nobody's key was renewed.")
        for seat in (seats[student] for student in students):
            if seat.key_id is not None:
                self._wait(classroom)
                self._revoke(seat.key_id)
                self.ledger.classrooms.waiting(seat)

    def make(self, classroom: Classroom) -> None:
        """Makes every key that is missing."""
        if any(seat.state == ASKED for seat in classroom.seats):
            keys = self.session.keys.list()
            for seat in classroom.seats:
                if seat.state == ASKED:
                    self._clear(classroom, seat, keys)
            classroom = self.room(classroom.id)
        for seat in classroom.missing:
            self._make(classroom, seat)

    def _make(self, classroom: Classroom, seat: Seat) -> None:
        rows = self.ledger.classrooms
        for attempt in range(1, ATTEMPTS + 1):
            self._wait(classroom)
            rows.asking(seat)
            try:
                created = self.session.keys.create(seat.key_name, rate_limit=classroom.rate_limit)
            except KeyUncertain as uncertain:
                self._clear(classroom, seat, self.session.keys.list())
                if attempt == ATTEMPTS:
                    uncertain.add_note("Run the same command again: it goes on where it stopped.")
                    raise
            except ReelbookError:
                rows.waiting(seat)  # nothing was made
                raise
            else:
                # The file first: it holds the id too, and the secret is never told again.
                handouts.write(classroom, seat, created.key_id, created.api_key)
                rows.made(seat, created.key_id)
                return

    def _clear(self, classroom: Classroom, seat: Seat, keys: Sequence[ApiKey]) -> None:
        """What became of a key whose answer is lost: kept if the file has it, else revoked."""
        named = [
            key
            for key in keys
            if key.name == seat.key_name and key.is_active and key.key_id not in classroom.before
        ]
        handout = handouts.read(classroom, seat)
        kept = handout.key_id if handout and any(key.key_id == handout.key_id for key in named) else None
        for key in named:
            if key.key_id != kept:
                self._wait(classroom)
                self._revoke(key.key_id)
        if kept is None:
            self.ledger.classrooms.waiting(seat)
        else:
            self.ledger.classrooms.made(seat, kept)

    def settled(self, classroom: Classroom) -> tuple[str, ...]:
        """Revokes keys of the class that a late answer left behind; whose key isn't active any more."""
        keys = self.session.keys.list()
        known = {seat.key_id for seat in classroom.seats}
        for key in keys:
            if key.is_active and key.key_id not in known and is_of(classroom, key):
                self._revoke(key.key_id)
        active = {key.key_id for key in keys if key.is_active}
        return tuple(seat.student for seat in classroom.seats if seat.key_id not in active)

    def to_close(self, name: str | None) -> Classroom:
        """The one that is meant. Raises InvalidInput where that isn't clear."""
        rooms = self.rooms()
        if name is not None:
            rooms = tuple(each for each in rooms if each.name == tidy(name))
        if not rooms:
            called = "" if name is None else f" called “{tidy(name)}”"
            raise InvalidInput(f"No classroom{called} was opened from this home at {_host(self.session)}.")
        running = [each for each in rooms if each.closed_at is None]
        if len(running) > 1:
            names = ", ".join(f"“{each.name}”" for each in running)
            raise InvalidInput(
                f"Several classrooms are open: {names}. Say which (`--name`). Nothing was done."
            )
        return (running or rooms)[0]

    def revoke_all(self, classroom: Classroom, keys: Sequence[ApiKey], also: Sequence[ApiKey] = ()) -> int:
        """Revokes what is active, or isn't listed: the list may have further pages. How many it were.

        `keys` is the list as it is now, `also` are keys of others.
        """
        seats = {seat.key_id: seat for seat in classroom.seats if seat.key_id and seat.state == MADE}
        active = [key.key_id for key in keys if key.is_active and is_of(classroom, key)]
        hidden = [each for each in seats if each not in {key.key_id for key in keys}]
        wanted, revoked = [*active, *filter(None, hidden), *(key.key_id for key in also)], 0
        for number, key_id in enumerate(wanted):
            self._wait(classroom, number, len(wanted))
            revoked += self._revoke(key_id)
        if seats and len(hidden) == len(seats) and not revoked:
            raise ClassroomError(
                f"The service knows none of the keys of {classroom.name}: the key in use may be of another "
                "account. Nothing was changed. Use the key that opened it, or another one of its account."
            )
        for seat in seats.values():
            self.ledger.classrooms.revoked(seat)
        return revoked

    def others(self, classroom: Classroom, keys: Sequence[ApiKey]) -> tuple[ApiKey, ...]:
        """Keys that neither were there before nor belong to a classroom of this home."""
        rooms = self.rooms()
        return tuple(
            key
            for key in keys
            if key.key_id not in classroom.before and not any(is_of(room, key) for room in rooms)
        )

    def _revoke(self, key_id: str) -> bool:
        """Whether the service knew the key."""
        try:
            self.session.keys.revoke(key_id)
        except NotFound:
            return False
        return True

    def _wait(self, classroom: Classroom, done: int | None = None, among: int | None = None) -> None:
        """Until a request fits the budget: here and not in the client, so that it can be seen and ended."""
        if done is None:
            room = self.room(classroom.id)
            done, among = len(room.seats) - len(room.missing), len(room.seats)
        while True:
            facts = self.session.facts
            wait = 0.0 if facts.requests_left else facts.requests_back_in_seconds or 0.0
            self._report(Step(done, among or 0, wait))
            if not wait:
                return
            time.sleep(min(wait, LOOK_SECONDS))

    def free_name(self, name: str) -> str:
        """`name`, numbered where a classroom has it already."""
        taken, number, free = {each.name for each in self.rooms()}, 1, name
        while free in taken:
            number += 1
            free = f"{name} ({number})"
        return free

    def folder(self, name: str) -> Path:
        """Where the files of a classroom go that was given no folder."""
        host = file_name(_host(self.session).lower())
        return self.session.home / "classrooms" / host / plain_name(_slug(name))


@contextlib.contextmanager
def working(session: Session, report: Report = lambda _: None) -> Iterator[Work]:
    """The session's classrooms, for this program alone. Raises ClassroomError where another works on them."""
    session.home.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(session.home / "classroom.lock", timeout=0), LedgerFile.open(session.home) as ledger:
            yield Work(session, ledger, report)
    except Timeout:
        raise ClassroomError(
            "Another program opens or closes a classroom of this home just now. Nothing was done here."
        ) from None


def is_of(classroom: Classroom, key: ApiKey) -> bool:
    """Whether a listed key is a student's: by its id, or by its name where the id was never heard."""
    if any(seat.key_id == key.key_id for seat in classroom.seats):
        return True
    named = any(seat.key_name == key.name for seat in classroom.seats)
    return named and key.key_id not in classroom.before


def checked_name(name: str | None) -> str:
    """A fresh classroom's name: the date where none is given. Raises InvalidInput."""
    if name is None:
        return today()
    if not 0 < len(tidy(name)) <= LONGEST_CLASSROOM_NAME:
        raise InvalidInput(f"A classroom's name has 1 to {LONGEST_CLASSROOM_NAME} characters.")
    return tidy(name)


def today() -> str:
    """What a classroom is called that was given no name."""
    return f"classroom {time.strftime('%Y-%m-%d')}"


def _host(session: Session) -> str:
    return "sandbox" if session.sandbox else urlsplit(session.base_url).netloc


def _slug(name: str) -> str:
    return re.sub(r"[^\w.()-]+", "-", name).strip("-.") or "classroom"
