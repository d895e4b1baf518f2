"""A key for each student of a class, given out on cards and revoked at the end.

For a class that no room serves, such as one on Colab. Each step is in the class's file before it is taken,
so it can be repeated after a crash. Keys are made and revoked through the session, within its request budget.
"""

import contextlib
import re
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self
from urllib.parse import urlsplit

from filelock import FileLock, Timeout

from .. import errors, settings
from ..formatting import epoch_seconds, file_name, plain_name
from ..models import ApiKey
from ..requests import checked_rate_limit
from ..secret import shown
from ..session.session import Session
from . import class_file, handouts
from .class_file import Classroom
from .handouts import check_install
from .roster import tidy, unique

RECENT_SECONDS: Final = 3600.0
RATE_LIMIT: Final = 20
MAX_SPEND_USD: Final = 2.0
LONGEST_CLASSROOM_NAME: Final = 26  # with label and student it is a key's name, of up to 100
LOOK_SECONDS: Final = 0.2


# How many are done, of how many, and the seconds until the next request may go out.
Report = Callable[[int, int, float], None]


@dataclass(frozen=True)
class ClassroomStatus:
    """A class and the keys that the service lists: its own, and what others made since it was opened."""

    classroom: Classroom
    own: tuple[ApiKey, ...]
    others: tuple[ApiKey, ...]

    @property
    def keys(self) -> dict[str, ApiKey | None]:
        """Each student's key, None if the service doesn't list it."""
        by_id = {key.key_id: key for key in self.own}
        return {student: by_id.get(key_id or "") for student, key_id in self.classroom.students.items()}

    @property
    def inactive(self) -> list[str]:
        return [student for student, key in self.keys.items() if key is None or not key.is_active]

    @property
    def lately(self) -> list[str]:
        """The students who used their key within the last hour, so that clips of theirs may be under way."""
        recently = time.time() - RECENT_SECONDS
        used = {student: key.last_used for student, key in self.keys.items() if key and key.is_active}
        return [student for student, at in used.items() if (epoch_seconds(at) or 0.0) > recently]


@dataclass(frozen=True)
class OpenedClassroom:
    """A class with a key for each student. `made` counts the keys made by this call.

    `untold` says why the cards don't tell how to install Reelbook, if they don't.
    """

    status: ClassroomStatus
    made: int
    untold: str | None


@dataclass(frozen=True)
class ClosedClassroom:
    """A class as it was, and as it is with all its keys revoked. `revoked` counts those of this call."""

    before: ClassroomStatus
    after: ClassroomStatus
    revoked: int


class Classrooms:
    """The classes by cards that one home has at the session's service.

    Call `plan`, `open` and `close` within `locked`.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._report: Report = lambda *_: None
        host = "sandbox" if session.sandbox else urlsplit(session.base_url).netloc
        # The home's own sandbox changes its address, and is the same service all the same.
        self._service = "sandbox" if session.sandbox else session.base_url
        self._folder = session.home / "classrooms" / file_name(host.lower())

    @contextlib.contextmanager
    def locked(self) -> Iterator[Self]:
        """Keeps other programs from this home's classes. Raises ClassroomError if another works on them."""
        home = self._session.home
        home.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(home / "classroom.lock", timeout=0):
                yield self
        except Timeout:
            raise errors.ClassroomError(
                "Another program opens or closes a classroom of this home just now. Nothing was done here."
            ) from None

    def plan(
        self,
        students: Sequence[str],
        *,
        name: str | None = None,
        rate_limit: int | None = None,
        max_spend_usd: float | None = None,
        folder: Path | None = None,
        address: str | None = None,
    ) -> Classroom:
        """The class that `open` opens, or goes on with. Sends and writes nothing.

        `rate_limit` is requests a minute (20), `max_spend_usd` the limit in the students' files (2.00),
        `folder` where the files go (in the home), `address` where students reach the service, if not where
        the session does. None takes the default, or what a class that goes on has. Raises InvalidInput where
        the arguments can't be used.
        """
        if not (names := unique(students)):
            raise errors.InvalidInput("There are no students. Nothing was done.")
        classroom = self._continued(name, names)
        if classroom is None:
            spend = settings.max_spend_usd(MAX_SPEND_USD if max_spend_usd is None else max_spend_usd)
            assert spend is not None
            called = self._free_name(checked_name(name))
            return Classroom(
                service=self._service,
                name=called,
                label=f"{called} #{secrets.token_hex(2)}",
                folder=str(handouts.checked(folder or self._folder / _slug(called), fresh=True)),
                address=address_for_students(self._session, address),
                rate_limit=checked_rate_limit(RATE_LIMIT if rate_limit is None else rate_limit),
                max_spend_usd=round(spend, 6),
                opened_at=time.time(),
                students=dict.fromkeys(names),
            )
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
        for student in names:
            classroom.students.setdefault(student, None)
        return classroom

    def open(
        self,
        classroom: Classroom,
        *,
        install: str | None = None,
        renew: Sequence[str] = (),
        report: Report = lambda *_: None,
    ) -> OpenedClassroom:
        """Creates a key for each student, a file each and a sheet of cards (POST keys).

        Waits when the request budget is spent. Goes on with a class that an earlier call left half done:
        nobody gets two keys. A key whose answer was lost is looked up in the service's list and revoked, as
        nobody saw its secret, and created again. Those in `renew` lose the key that they have and get a new
        one in a new file. `install` is what the cards tell pip to install, such as a wheel's address; it is
        tried first, in a fresh environment. Without it the package's name is tried, and if that can't be
        installed no card tells how.

        Raises InvalidInput before anything is sent, ClassroomError, and what `session.keys.create` raises.
        """
        self._report = report
        renewed = [tidy(student) for student in renew]
        if strangers := [student for student in renewed if student not in classroom.students]:
            raise errors.InvalidInput(
                f"Not in {classroom.name}: {', '.join(strangers)}. Nobody's key was renewed."
            )
        untold = _choose_install(classroom, install)
        handouts.prepare(Path(classroom.folder))
        fresh = not self._path(classroom).exists()
        if fresh:
            classroom.before = [key.key_id for key in self._session.keys.list()]
        self._keep(classroom)
        self._take_back(classroom, renewed)
        missing = classroom.missing
        if missing and not fresh:
            self._settled(classroom)
        for student in classroom.missing:
            self._make(classroom, student)
        status = self._settled(classroom)
        handouts.write_sheet(classroom)
        return OpenedClassroom(status, len(missing), untold)

    def status(self) -> list[ClassroomStatus]:
        """The classes that are open, newest first. One request (GET keys), if there are any."""
        classes = self._open_classes()
        keys = self._session.keys.list() if classes else []
        return [self._status(classroom, keys) for classroom in classes]

    def close(
        self,
        name: str | None = None,
        *,
        all_made_since: bool = False,
        report: Report = lambda *_: None,
    ) -> ClosedClassroom:
        """Revokes all keys of a class, and lists the keys to prove it (DELETE keys/{key_id}, GET keys).

        Without a `name` it is the class that is open, or else the last one, which is then checked once more.
        `all_made_since` also revokes the keys that others made since it was opened, but not the one that this
        session uses. Safe to do again.

        Raises InvalidInput if it isn't clear which class is meant, and ClassroomError if a key is still
        active, or if the service knows none of them.
        """
        self._report = report
        classroom = self._to_close(name)
        keys = self._session.keys.list()
        before, in_use = self._status(classroom, keys), self._session.keys.in_use(keys)
        also = [key for key in before.others if key != in_use] if all_made_since else []
        revoked = self._revoke_all(before, also)
        after = self._status(classroom, self._session.keys.list())
        if active := [key for key in after.own if key.is_active]:
            raise errors.ClassroomError(
                f"{len(active)} of the keys of {classroom.name} are still active by the service's list: "
                f"{', '.join(key.key_id for key in active)}. Close it again."
            )
        classroom.closed_at = time.time()
        self._keep(classroom)
        return ClosedClassroom(before, after, revoked)

    def _classes(self) -> list[Classroom]:
        """All of them, newest first."""
        found = (class_file.read(path) for path in self._folder.glob("*.json"))
        classes = [classroom for classroom in found if classroom.service == self._service]
        return sorted(classes, key=lambda classroom: classroom.opened_at, reverse=True)

    def _open_classes(self) -> list[Classroom]:
        return [each for each in self._classes() if each.closed_at is None]

    def _path(self, classroom: Classroom) -> Path:
        return self._folder / f"{_slug(classroom.name)}.json"

    def _keep(self, classroom: Classroom) -> None:
        class_file.write(self._path(classroom), classroom)

    def _continued(self, name: str | None, students: Sequence[str]) -> Classroom | None:
        """The open class that is meant; None for a fresh one."""
        classes = self._open_classes()
        if name is not None:
            return next((each for each in classes if each.name == tidy(name)), None)
        interrupted = (each for each in classes if each.missing and set(each.students) & set(students))
        return next(interrupted, None) or next((each for each in classes if each.name == today()), None)

    def _free_name(self, name: str) -> str:
        taken, number, free = {_slug(each.name) for each in self._classes()}, 1, name
        while _slug(free) in taken:
            number += 1
            free = f"{name} ({number})"
        return free

    def _status(self, classroom: Classroom, keys: Sequence[ApiKey]) -> ClassroomStatus:
        classes = self._classes()
        own = tuple(key for key in keys if _is_of(classroom, key))
        others = tuple(
            key
            for key in keys
            if key.key_id not in classroom.before and not any(_is_of(each, key) for each in classes)
        )
        return ClassroomStatus(classroom, own, others)

    def _take_back(self, classroom: Classroom, students: Sequence[str]) -> None:
        for student in students:
            if (key_id := classroom.students[student]) is not None:
                self._revoke(key_id, *_progress(classroom))
                classroom.students[student] = None
                self._keep(classroom)

    def _make(self, classroom: Classroom, student: str, *, again: bool = True) -> None:
        """Makes a student's key, once more if its answer is lost. Raises as `session.keys.create` does."""
        self._wait(*_progress(classroom))
        try:
            created = self._session.keys.create(classroom.key_name(student), rate_limit=classroom.rate_limit)
        except errors.KeyUncertain as uncertain:
            self._settled(classroom)
            if not again:
                uncertain.add_note("Run the same command again: it goes on where it stopped.")
                raise
            self._make(classroom, student, again=False)
            return
        # The file first: it holds the id too, and the secret is never told again.
        handouts.write(classroom, student, created.key_id, created.api_key)
        classroom.students[student] = created.key_id
        self._keep(classroom)

    def _settled(self, classroom: Classroom) -> ClassroomStatus:
        """Settles keys whose answer was lost or came late: kept if they are in their files, else revoked."""
        keys = self._session.keys.list()
        for key in keys:
            if not key.is_active or key.key_id in classroom.students.values() or not _is_of(classroom, key):
                continue
            student = next(each for each in classroom.students if classroom.key_name(each) == key.name)
            handout = handouts.read(classroom, student)
            if classroom.students[student] is None and handout and handout.key_id == key.key_id:
                classroom.students[student] = key.key_id
                self._keep(classroom)
            else:
                self._revoke(key.key_id, *_progress(classroom))
        return self._status(classroom, keys)

    def _to_close(self, name: str | None) -> Classroom:
        """The class that is meant. Raises InvalidInput if that isn't clear."""
        classes = [each for each in self._classes() if name is None or each.name == tidy(name)]
        if not classes:
            called = "" if name is None else f" called “{tidy(name)}”"
            raise errors.InvalidInput(
                f"No classroom{called} was opened from this home at {self._folder.name}."
            )
        running = [each for each in classes if each.closed_at is None]
        if len(running) > 1:
            names = ", ".join(f"“{each.name}”" for each in running)
            raise errors.InvalidInput(
                f"Several classrooms are open: {names}. Say which (`--name`). Nothing was done."
            )
        return (running or classes)[0]

    def _revoke_all(self, status: ClassroomStatus, also: Sequence[ApiKey]) -> int:
        """Revokes what is active, or isn't listed, as the list may have further pages. Returns how many were.

        `also` are keys of others.
        """
        classroom = status.classroom
        known = [key_id for key_id in classroom.students.values() if key_id and classroom.closed_at is None]
        listed = {key.key_id for key in status.own}
        hidden = [key_id for key_id in known if key_id not in listed]
        active = [key.key_id for key in (*status.own, *also) if key.is_active]
        wanted = [*active, *hidden]
        revoked = sum(self._revoke(key_id, done, len(wanted)) for done, key_id in enumerate(wanted))
        if known and len(hidden) == len(known) and not revoked:
            raise errors.ClassroomError(
                f"The service knows none of the keys of {classroom.name}: the key in use may be of another "
                "account. Nothing was changed. Use the key that opened it, or another one of its account."
            )
        return revoked

    def _revoke(self, key_id: str, done: int, among: int) -> bool:
        """Revokes a key; False if the service doesn't know it."""
        self._wait(done, among)
        try:
            self._session.keys.revoke(key_id)
        except errors.NotFound:
            return False
        return True

    def _wait(self, done: int, among: int) -> None:
        """Waits until a request fits the budget: here, not in the client, so it can be seen and stopped."""
        while True:
            facts = self._session.facts
            wait = 0.0 if facts.requests_left else facts.requests_back_in_seconds or 0.0
            self._report(done, among, wait)
            if not wait:
                return
            time.sleep(min(wait, LOOK_SECONDS))


def _choose_install(classroom: Classroom, install: str | None) -> str | None:
    """Chooses what the class's cards tell pip to install; returns why that is nothing, if so."""
    if install is None and classroom.install:
        return None
    try:
        check_install(install or handouts.PACKAGE)
    except errors.InvalidInput as error:
        if install is not None:
            raise
        return str(error)
    classroom.install = install or handouts.PACKAGE
    return None


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
        return settings.checked_base_url(given)
    if session.service != "sandbox" or not settings.is_loopback(session.base_url):
        return session.base_url
    raise errors.InvalidInput(
        "No student could reach this sandbox by the address that this machine uses. Nothing was done. "
        "Serve it to the room with `reelbook sandbox serve --host 0.0.0.0`, and give the address that it "
        "prints (`--address`)."
    )


def _slug(name: str) -> str:
    return plain_name(re.sub(r"[^\w.()-]+", "-", name).strip("-.") or "classroom")


def _progress(classroom: Classroom) -> tuple[int, int]:
    """How many students have their key, and how many there are."""
    return len(classroom.students) - len(classroom.missing), len(classroom.students)


def _is_of(classroom: Classroom, key: ApiKey) -> bool:
    """Whether a listed key is a student's: by its id, or by its name if the id never arrived."""
    if key.key_id in classroom.students.values():
        return True
    return key.key_id not in classroom.before and any(
        key.name == classroom.key_name(each) for each in classroom.students
    )
