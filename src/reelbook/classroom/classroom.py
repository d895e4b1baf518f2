"""A key for each student of a class, given out on cards and revoked at the end.

For a class that no room serves, such as one on Colab. What is asked for is in the class's file before it is
sent, so each step can be done again after a crash. The keys come and go through the session, within its
request budget.
"""

from __future__ import annotations

import contextlib
import re
import secrets
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from filelock import FileLock, Timeout

from .. import errors, settings
from ..formatting import epoch_seconds, file_name, plain_name
from ..models import ApiKey
from ..requests import checked_rate_limit
from ..secret import shown
from . import class_file, handouts
from .class_file import Classroom
from .roster import tidy, unique

if TYPE_CHECKING:
    from ..session.session import Session

RECENT_SECONDS: Final = 3600.0
RATE_LIMIT: Final = 20
MAX_SPEND_USD: Final = 2.0
LONGEST_CLASSROOM_NAME: Final = 26  # with label and student it is a key's name, of up to 100
LOOK_SECONDS: Final = 0.2


@dataclass(frozen=True)
class Step:
    """Progress: `done` of `all`, and the seconds until the next request may go out."""

    done: int
    all: int
    wait_seconds: float


Report = Callable[[Step], None]


@dataclass(frozen=True)
class OpenedClassroom:
    """A class with a key for each student. `made` counts the keys made by this call.

    `without_file` are students whose file isn't in the folder any more, `inactive` those whose key the
    service's list doesn't show as active. `untold` says why the cards don't tell how to install Reelbook, if
    they don't.
    """

    classroom: Classroom
    made: int
    sheet: Path
    without_file: tuple[str, ...]
    inactive: tuple[str, ...]
    untold: str | None = None


@dataclass(frozen=True)
class ClassroomStatus:
    """A class as it is now: each student's key as the service lists it, None if it doesn't.

    `others` are keys that somebody else made since the class was opened.
    """

    classroom: Classroom
    keys: Mapping[str, ApiKey | None]
    others: tuple[ApiKey, ...]


@dataclass(frozen=True)
class ClosedClassroom:
    """A class whose keys are all revoked, by the service's own list.

    `revoked` counts the keys revoked by this call, `listed` those that the list still shows, as revoked.
    `others` are keys that somebody else made since the class was opened; they stay unless asked for. `lately`
    are students who used their key within the last hour, so clips of theirs may be under way.
    """

    classroom: Classroom
    revoked: int
    listed: int
    others: tuple[ApiKey, ...]
    lately: tuple[str, ...] = ()


def plan_classroom(
    session: Session,
    students: Sequence[str],
    *,
    name: str | None = None,
    rate_limit: int | None = None,
    max_spend_usd: float | None = None,
    folder: Path | None = None,
    address: str | None = None,
) -> Classroom:
    """The class that `open_classroom` opens, or goes on with. Sends and writes nothing.

    `rate_limit` is requests a minute (20), `max_spend_usd` the limit in the students' files (2.00), `folder`
    where the files go (in the home), `address` where students reach the service, if not where the session
    does. None takes the default, or what a class that goes on has. Raises InvalidInput where the arguments
    can't be used.
    """
    names = unique(students)
    if not names:
        raise errors.InvalidInput("There are no students. Nothing was done.")
    classes = _Classes(session)
    classroom = classes.continued(name, names)
    if classroom is not None:
        for what, asked, fixed in (
            ("rate limit", rate_limit, classroom.rate_limit),
            ("limit in USD", max_spend_usd and round(max_spend_usd, 6), classroom.max_spend_usd),
            ("folder", folder and str(folder.expanduser().resolve()), classroom.folder),
            ("address", address and address.rstrip("/"), classroom.address),
        ):
            if asked is not None and asked != fixed:
                raise errors.InvalidInput(
                    f"{classroom.name} is open already, and its {what} is {fixed}, not {shown(str(asked))}. "
                    "Nothing was done. Leave that out to go on with it, or open one by another name "
                    "(`--name`)."
                )
        handouts.checked(Path(classroom.folder))
        return classroom.joined_by(names)
    spend = settings.max_spend_usd(MAX_SPEND_USD if max_spend_usd is None else max_spend_usd)
    assert spend is not None
    called = classes.free_name(checked_name(name))
    return Classroom(
        service=classes.service,
        name=called,
        label=f"{called} #{secrets.token_hex(2)}",
        folder=str(handouts.checked(folder or classes.folder / _slug(called), fresh=True)),
        address=address_for_students(session, address),
        rate_limit=checked_rate_limit(RATE_LIMIT if rate_limit is None else rate_limit),
        max_spend_usd=round(spend, 6),
        opened_at=time.time(),
    ).joined_by(names)


def open_classroom(
    session: Session,
    planned: Classroom,
    *,
    install: str | None = None,
    renew: Sequence[str] = (),
    report: Report = lambda _: None,
) -> OpenedClassroom:
    """Creates a key for each student, a file each and a sheet of cards (POST keys).

    Waits when the request budget is spent. Goes on with a class that an earlier call left half done: nobody
    gets two keys. A key whose answer was lost is looked up in the service's list and revoked, as nobody saw
    its secret, and made anew. Those in `renew` lose the key that they have and get another, with a new file.
    `install` is what the cards tell pip to install, such as a wheel's address; it is tried first, in a fresh
    environment. Without it the package's name is tried, and if that can't be installed no card tells how.

    Raises InvalidInput before anything is sent, ClassroomError, and what `session.keys.create` raises.
    """
    if install is not None:
        handouts.check_install(install)
    with _alone(session):
        classes = _Classes(session, report)
        room, fresh = classes.as_it_is(planned)
        renewed = [tidy(student) for student in renew]
        if strangers := [student for student in renewed if student not in room.students]:
            raise errors.InvalidInput(
                f"Not in {room.name}: {', '.join(strangers)}. Nobody's key was renewed."
            )
        place, untold = handouts.prepare(Path(room.folder)), None
        if fresh:
            room = replace(room, before=[key.key_id for key in session.keys.list()])
        classes.keep(room)
        if install is None and not handouts.install_named(place):
            untold = handouts.default_trouble()
            install = "" if untold else handouts.PACKAGE
        if install is not None:
            handouts.keep_install(place, install)
        room = classes.take_back(room, renewed)
        missing = len(room.missing)
        if missing and not fresh:
            room, _ = classes.settled(room)
        for student in room.missing:
            room = classes.make(room, student)
        room, inactive = classes.settled(room)
        return OpenedClassroom(
            room,
            made=missing,
            sheet=handouts.write_sheet(room),
            without_file=tuple(each for each in room.students if handouts.read(room, each) is None),
            inactive=inactive,
            untold=untold,
        )


def classroom_status(session: Session) -> tuple[ClassroomStatus, ...]:
    """The classes that are open at this service, newest first. One request (GET keys), if there are any."""
    classes = _Classes(session)
    if not (rooms := [each for each in classes.rooms() if each.closed_at is None]):
        return ()
    keys = session.keys.list()
    return tuple(ClassroomStatus(room, _keys(room, keys), classes.others(room, keys)) for room in rooms)


def close_classroom(
    session: Session,
    name: str | None = None,
    *,
    all_made_since: bool = False,
    report: Report = lambda _: None,
) -> ClosedClassroom:
    """Revokes all keys of a class, and lists the keys to prove it (DELETE keys/{key_id}, GET keys).

    Without a `name` it is the class that is open, or else the last one, which is then checked once more.
    `all_made_since` also revokes the keys that others made since it was opened, but not the one that this
    session uses. Safe to do again.

    Raises InvalidInput if it isn't clear which class is meant, and ClassroomError if a key is still active,
    or if the service knows none of them.
    """
    with _alone(session):
        classes = _Classes(session, report)
        room = classes.to_close(name)
        keys = session.keys.list()
        recently = time.time() - RECENT_SECONDS
        lately = tuple(
            student
            for student, key in _keys(room, keys).items()
            if key and key.is_active and (epoch_seconds(key.last_used) or 0.0) > recently
        )
        also = classes.others(room, keys) if all_made_since else ()
        own = session.keys.in_use(keys)
        revoked = classes.revoke_all(room, keys, [key for key in also if key.is_active and key != own])
        keys = session.keys.list()
        ours = [key for key in keys if _is_of(room, key)]
        if active := [key for key in ours if key.is_active]:
            raise errors.ClassroomError(
                f"{len(active)} of the keys of {room.name} are still active by the service's list: "
                f"{', '.join(key.key_id for key in active)}. Close it again."
            )
        room = classes.keep(replace(room, closed_at=time.time()))
        return ClosedClassroom(room, revoked, len(ours), classes.others(room, keys), lately)


def checked_name(name: str | None) -> str:
    """A new class's name, by default with the date. Raises InvalidInput."""
    if name is None:
        return today()
    if not 0 < len(tidy(name)) <= LONGEST_CLASSROOM_NAME:
        raise errors.InvalidInput(f"A classroom's name has 1 to {LONGEST_CLASSROOM_NAME} characters.")
    return tidy(name)


def today() -> str:
    """The default name of a class."""
    return f"classroom {time.strftime('%Y-%m-%d')}"


def address_for_students(session: Session, given: str | None) -> str:
    """The address for the students' files: `given`, or the session's own.

    Raises InvalidInput if none is given and only this machine reaches the session's.
    """
    if given is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", settings.InsecureAddress)
            return settings.checked_base_url(given)
    if session.service != "sandbox" or not settings.is_loopback(session.base_url):
        return session.base_url
    raise errors.InvalidInput(
        "No student could reach this sandbox by the address that this machine uses. Nothing was done. "
        "Serve it to the room with `reelbook sandbox serve --host 0.0.0.0`, and give the address that it "
        "prints (`--address`)."
    )


class _Classes:
    """The classes by cards that one home has at the session's service."""

    def __init__(self, session: Session, report: Report = lambda _: None) -> None:
        self._session = session
        self._report = report
        host = "sandbox" if session.sandbox else urlsplit(session.base_url).netloc
        # The home's own sandbox changes its address, and is the same service all the same.
        self.service = "sandbox" if session.sandbox else session.base_url
        self.folder = session.home / "classrooms" / file_name(host.lower())

    def rooms(self) -> tuple[Classroom, ...]:
        found = (class_file.read(path) for path in self.folder.glob("*.json"))
        rooms = [room for room in found if room.service == self.service]
        return tuple(sorted(rooms, key=lambda room: room.opened_at, reverse=True))

    def path(self, room: Classroom) -> Path:
        return self.folder / f"{_slug(room.name)}.json"

    def keep(self, room: Classroom) -> Classroom:
        class_file.write(self.path(room), room)
        return room

    def as_it_is(self, planned: Classroom) -> tuple[Classroom, bool]:
        """The planned class as it is by now, and whether it is a fresh one.

        Raises ClassroomError where another program opened or closed it since it was planned.
        """
        if not (path := self.path(planned)).exists():
            return planned, True
        room = class_file.read(path)
        if (room.label, room.closed_at) != (planned.label, None):
            raise errors.ClassroomError(
                f"Another program opened or closed {planned.name} meanwhile. Nothing was done. Run the same "
                "command again."
            )
        return room.joined_by(tuple(planned.students)), False

    def continued(self, name: str | None, students: Sequence[str]) -> Classroom | None:
        """The open class that is meant; None for a fresh one."""
        rooms = [each for each in self.rooms() if each.closed_at is None]
        if name is not None:
            return next((each for each in rooms if each.name == tidy(name)), None)
        interrupted = (each for each in rooms if each.missing and set(each.students) & set(students))
        return next(interrupted, None) or next((each for each in rooms if each.name == today()), None)

    def free_name(self, name: str) -> str:
        taken, number, free = {_slug(each.name) for each in self.rooms()}, 1, name
        while _slug(free) in taken:
            number += 1
            free = f"{name} ({number})"
        return free

    def take_back(self, room: Classroom, students: Sequence[str]) -> Classroom:
        for student in students:
            if (key_id := room.students[student]) is not None:
                self._revoke(room, key_id)
                room = self.keep(room.with_key(student, None))
        return room

    def make(self, room: Classroom, student: str, *, again: bool = True) -> Classroom:
        """Makes a student's key, once more if its answer is lost. Raises as `session.keys.create` does."""
        self._wait(room)
        try:
            created = self._session.keys.create(room.key_name(student), rate_limit=room.rate_limit)
        except errors.KeyUncertain as uncertain:
            room, _ = self.settled(room)
            if again:
                return self.make(room, student, again=False)
            uncertain.add_note("Run the same command again: it goes on where it stopped.")
            raise
        # The file first: it holds the id too, and the secret is never told again.
        handouts.write(room, student, created.key_id, created.api_key)
        return self.keep(room.with_key(student, created.key_id))

    def settled(self, room: Classroom) -> tuple[Classroom, tuple[str, ...]]:
        """Settles keys whose answer was lost or came late: kept if the student's file has it, else revoked.

        Also returns whose key the service's list doesn't show as active.
        """
        active = [key for key in self._session.keys.list() if key.is_active]
        for key in active:
            if key.key_id in room.students.values() or not _is_of(room, key):
                continue
            student = next(each for each in room.students if room.key_name(each) == key.name)
            handout = handouts.read(room, student)
            if room.students[student] is None and handout and handout.key_id == key.key_id:
                room = self.keep(room.with_key(student, key.key_id))
            else:
                self._revoke(room, key.key_id)
        ids = {key.key_id for key in active}
        return room, tuple(student for student, key_id in room.students.items() if key_id not in ids)

    def to_close(self, name: str | None) -> Classroom:
        """The class that is meant. Raises InvalidInput if that isn't clear."""
        rooms = [each for each in self.rooms() if name is None or each.name == tidy(name)]
        if not rooms:
            called = "" if name is None else f" called “{tidy(name)}”"
            raise errors.InvalidInput(
                f"No classroom{called} was opened from this home at {self.folder.name}."
            )
        running = [each for each in rooms if each.closed_at is None]
        if len(running) > 1:
            names = ", ".join(f"“{each.name}”" for each in running)
            raise errors.InvalidInput(
                f"Several classrooms are open: {names}. Say which (`--name`). Nothing was done."
            )
        return (running or rooms)[0]

    def revoke_all(self, room: Classroom, keys: Sequence[ApiKey], also: Sequence[ApiKey]) -> int:
        """Revokes what is active, or isn't listed, as the list may have further pages. Returns how many were.

        `keys` is the current list, `also` are keys of others.
        """
        known = [key_id for key_id in room.students.values() if key_id and room.closed_at is None]
        active = [key.key_id for key in keys if key.is_active and _is_of(room, key)]
        hidden = [key_id for key_id in known if key_id not in {key.key_id for key in keys}]
        wanted, revoked = [*active, *hidden, *(key.key_id for key in also)], 0
        for number, key_id in enumerate(wanted):
            revoked += self._revoke(room, key_id, number, len(wanted))
        if known and len(hidden) == len(known) and not revoked:
            raise errors.ClassroomError(
                f"The service knows none of the keys of {room.name}: the key in use may be of another "
                "account. Nothing was changed. Use the key that opened it, or another one of its account."
            )
        return revoked

    def others(self, room: Classroom, keys: Sequence[ApiKey]) -> tuple[ApiKey, ...]:
        rooms = self.rooms()
        return tuple(
            key
            for key in keys
            if key.key_id not in room.before and not any(_is_of(each, key) for each in rooms)
        )

    def _revoke(self, room: Classroom, key_id: str, *progress: int) -> bool:
        """Revokes a key; False if the service doesn't know it."""
        self._wait(room, *progress)
        try:
            self._session.keys.revoke(key_id)
        except errors.NotFound:
            return False
        return True

    def _wait(self, room: Classroom, done: int | None = None, among: int | None = None) -> None:
        """Waits until a request fits the budget: here, not in the client, so it can be seen and stopped."""
        if done is None:
            done, among = len(room.students) - len(room.missing), len(room.students)
        while True:
            facts = self._session.facts
            wait = 0.0 if facts.requests_left else facts.requests_back_in_seconds or 0.0
            self._report(Step(done, among or 0, wait))
            if not wait:
                return
            time.sleep(min(wait, LOOK_SECONDS))


@contextlib.contextmanager
def _alone(session: Session) -> Iterator[None]:
    """Keeps other programs from this home's classes. Raises ClassroomError if another works on them."""
    session.home.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(session.home / "classroom.lock", timeout=0):
            yield
    except Timeout:
        raise errors.ClassroomError(
            "Another program opens or closes a classroom of this home just now. Nothing was done here."
        ) from None


def _slug(name: str) -> str:
    return plain_name(re.sub(r"[^\w.()-]+", "-", name).strip("-.") or "classroom")


def _keys(room: Classroom, keys: Sequence[ApiKey]) -> dict[str, ApiKey | None]:
    by_id = {key.key_id: key for key in keys}
    return {student: by_id.get(key_id or "") for student, key_id in room.students.items()}


def _is_of(room: Classroom, key: ApiKey) -> bool:
    """Whether a listed key is a student's: by its id, or by its name if the id never arrived."""
    if key.key_id in room.students.values():
        return True
    return key.key_id not in room.before and any(key.name == room.key_name(each) for each in room.students)
