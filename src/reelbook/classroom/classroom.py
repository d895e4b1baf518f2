"""A class on one account: a key for each student by nine o'clock, and none by five.

What is asked for is in the ledger before it is sent, so that each step can be done again after a crash. The
keys come and go through the session, within its request budget. The files are in `handouts`, the names in
`roster`.
"""

from __future__ import annotations

import contextlib
import math
import re
import secrets
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import urlsplit

from filelock import FileLock, Timeout

from .. import errors, settings
from ..account.balance import Facts
from ..formatting import epoch_seconds, file_name, plain_name
from ..ledger import LedgerFile
from ..ledger.classrooms import ASKED, MADE, Classroom, Seat
from ..models import ApiKey
from ..requests import checked_rate_limit
from ..sandbox import protocol
from ..sandbox.handle import ask
from ..secret import shown
from . import handouts
from .roster import tidy, unique

if TYPE_CHECKING:
    from ..session.session import Session

RECENT_SECONDS: Final = 3600.0
RATE_LIMIT: Final = 20
MAX_SPEND_USD: Final = 2.0
LONGEST_CLASSROOM_NAME: Final = 26  # with label and student it is a key's name, of up to 100
ATTEMPTS: Final = 2
LISTS: Final = 2  # the keys are listed before the first one is made, and after the last
WINDOW_SECONDS: Final = 60.0
LOOK_SECONDS: Final = 0.2
ANSWER_SECONDS: Final = 3.0

T = TypeVar("T")


@dataclass(frozen=True)
class Step:
    """How far it is: `done` of `all`, and in how many seconds the next request may go out."""

    done: int
    all: int
    wait_seconds: float


Report = Callable[[Step], None]


@dataclass(frozen=True)
class ClassPlan:
    """What `open_classroom` would do with the same arguments.

    `problems` says what is wrong, by the argument that it is about: students, name, rate_limit,
    max_spend_usd, folder, address. `continued` is the classroom that it goes on with; that one's name, limits
    and folder hold then. `keys` are to be made, in about `seconds`; all students together may spend
    `max_cost_usd`. `folder` is None where it can't be used.
    """

    students: tuple[str, ...]
    continued: Classroom | None
    name: str
    rate_limit: int
    max_spend_usd: float
    folder: Path | None
    keys: int
    seconds: float
    max_cost_usd: float
    problems: Mapping[str, str]


@dataclass(frozen=True)
class OpenedClassroom:
    """A class with a key each. `made` are those of this very run.

    `without_file` are students whose file isn't in the folder any more, `inactive` those whose key the
    service's list doesn't show as active, `not_in_list` those of the classroom who weren't named this time;
    they keep their keys. `untold` says why the cards don't tell how Reelbook is installed, if they don't.
    """

    classroom: Classroom
    made: int
    sheet: Path
    without_file: tuple[str, ...]
    inactive: tuple[str, ...]
    not_in_list: tuple[str, ...]
    untold: str | None = None


@dataclass(frozen=True)
class Presence:
    """A student and what the service's list says of the key; `key` is None where it isn't listed."""

    seat: Seat
    key: ApiKey | None


@dataclass(frozen=True)
class ClassroomStatus:
    """A classroom as it is now. `others` are keys that somebody else made since it was opened."""

    classroom: Classroom
    students: tuple[Presence, ...]
    others: tuple[ApiKey, ...]


@dataclass(frozen=True)
class ClosedClassroom:
    """A classroom whose keys are all useless, by the service's own list.

    `revoked` are those of this very run, `listed` how many the list still shows, as revoked. `others` are
    keys that somebody else made since it was opened: nobody revoked them here unless asked to. `lately` are
    students who used theirs within the last hour, so that clips of theirs may be under way.
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
    rate_limit: Any = None,
    max_spend_usd: Any = None,
    folder: Path | None = None,
    address: str | None = None,
) -> ClassPlan:
    """What `open_classroom` would do with these arguments. Sends nothing; never raises for what they are.

    An `address` is looked at where it is given: finding one may take seconds.
    """
    problems: dict[str, str] = {}

    def tried(about: str, check: Callable[..., T], *arguments: Any, otherwise: T) -> T:
        try:
            return check(*arguments)
        except (errors.InvalidInput, errors.ConfigurationError) as error:
            problems[about] = str(error)
            return otherwise

    names = unique(students)
    if not names:
        problems["students"] = "There are no names yet."
    with LedgerFile.open(session.home) as ledger:
        work = _Work(session, ledger)
        continued = work.continued(name, names)
        if continued is not None:
            called, limit, spend = continued.name, continued.rate_limit, continued.max_spend_usd
            place = tried("folder", handouts.checked, Path(continued.folder), otherwise=None)
        else:
            wanted = tried("name", checked_name, name, otherwise=None)
            called = work.free_name(wanted) if wanted else ""
            limit = tried("rate_limit", _rate_limit, rate_limit, otherwise=RATE_LIMIT)
            spend = tried("max_spend_usd", _max_spend_usd, max_spend_usd, otherwise=MAX_SPEND_USD)
            place = tried("folder", handouts.checked, folder or work.folder(called), True, otherwise=None)
            if address is not None:
                tried("address", address_for_students, session, address, otherwise=None)
    seated = {seat.student for seat in continued.seats} if continued else set()
    keys = (len(continued.missing) if continued else 0) + len(set(names) - seated)
    return ClassPlan(
        students=names,
        continued=continued,
        name=called,
        rate_limit=limit,
        max_spend_usd=spend,
        folder=place,
        keys=keys,
        seconds=seconds_for(keys + LISTS, session.facts),
        max_cost_usd=len(seated | set(names)) * spend,
        problems=problems,
    )


def open_classroom(
    session: Session,
    students: Sequence[str],
    *,
    name: str | None = None,
    rate_limit: int | None = None,
    max_spend_usd: float | None = None,
    folder: Path | None = None,
    address: str | None = None,
    install: str | None = None,
    renew: Sequence[str] = (),
    report: Report = lambda _: None,
) -> OpenedClassroom:
    """Makes a key for each student, writes a file each and a sheet, and waits for it (POST keys).

    Goes on with a classroom that an earlier call left half done: nobody gets two keys. A key whose answer was
    lost is looked for in the list, revoked, as nobody saw its secret, and made anew. `rate_limit` is requests
    a minute (20), `max_spend_usd` what stands in the students' files (2.00), `folder` where they go (in the
    home). `address` is for the students, where they reach the service by another one than `session`. Those in
    `renew` get another key and file, and lose the one that they have. `install` is what the cards tell pip to
    install, such as a wheel's address; it is tried first, in a fresh environment. Without it the package's
    name is tried, and where that can't be installed no card tells how.

    Raises InvalidInput before anything is sent, ClassroomError, and what `session.keys.create` raises.
    """
    names = unique(students)
    if not names:
        raise errors.InvalidInput("There are no students. Nothing was done.")
    if install is not None:
        handouts.check_install(install)
    with _working(session, report) as work:
        classroom = work.continued(name, names)
        if classroom is None:
            limits = checked_options(rate_limit, max_spend_usd)
            classroom = work.begun(checked_name(name), limits, folder, address)
        else:
            _refuse_changes(classroom, rate_limit, max_spend_usd, folder, address)
            handouts.prepared(Path(classroom.folder), fresh=False)
        place, untold = Path(classroom.folder), None
        if install is None and not handouts.install_named(place):
            untold = handouts.default_trouble()
            install = "" if untold else handouts.PACKAGE
        if install is not None:
            handouts.keep_install(place, install)
        for student in names:
            work.seat(classroom.id, student)
        work.take_back(work.room(classroom.id), [tidy(student) for student in renew])
        classroom = work.room(classroom.id)
        missing = len(classroom.missing)
        work.make(classroom)
        inactive = work.settled(work.room(classroom.id))
        classroom = work.room(classroom.id)
        seats = classroom.seats
        return OpenedClassroom(
            classroom,
            made=missing,
            sheet=handouts.write_sheet(classroom),
            without_file=tuple(seat.student for seat in seats if handouts.read(classroom, seat) is None),
            inactive=inactive,
            not_in_list=tuple(seat.student for seat in seats if seat.student not in names),
            untold=untold,
        )


def classroom_status(session: Session) -> tuple[ClassroomStatus, ...]:
    """The classrooms that are open at this service, newest first. Asks once (GET keys), if there are any."""
    with _working(session) as work:
        if not (rooms := work.running()):
            return ()
        keys = session.keys.list()
        return tuple(ClassroomStatus(room, _present(room, keys), work.others(room, keys)) for room in rooms)


def close_classroom(
    session: Session,
    name: str | None = None,
    *,
    all_made_since: bool = False,
    report: Report = lambda _: None,
) -> ClosedClassroom:
    """Revokes all keys of a classroom, and lists the keys to prove it (DELETE keys/{key_id}, GET keys).

    Without a `name` it is the one that is open, or the last one, which is then looked at once more.
    `all_made_since` revokes also the keys that others made since it was opened, such as a student's own, but
    for the one that this session uses. Safe to do again.

    Raises InvalidInput where it isn't clear which one, and ClassroomError where a key is still active, or
    where the service knows none of them.
    """
    with _working(session, report) as work:
        classroom = work.to_close(name)
        keys = session.keys.list()
        lately = used_lately(_present(classroom, keys), time.time())
        also = work.others(classroom, keys) if all_made_since else ()
        own = session.keys.in_use(keys)
        revoked = work.revoke_all(classroom, keys, [key for key in also if key.is_active and key != own])
        keys = session.keys.list()
        ours = [key for key in keys if _is_of(classroom, key)]
        if active := [key for key in ours if key.is_active]:
            raise errors.ClassroomError(
                f"{len(active)} of the keys of {classroom.name} are still active by the service's list: "
                f"{', '.join(key.key_id for key in active)}. Close it again."
            )
        work.rows.closed(classroom)
        others = work.others(classroom, keys)
        return ClosedClassroom(work.room(classroom.id), revoked, len(ours), others, lately)


def used_lately(students: Sequence[Presence], now: float) -> tuple[str, ...]:
    """Whose key is active and was used within the hour before `now` (epoch seconds)."""
    return tuple(
        each.seat.student
        for each in students
        if each.key
        and each.key.is_active
        and now - (epoch_seconds(each.key.last_used) or 0.0) < RECENT_SECONDS
    )


def checked_options(rate_limit: int | None, max_spend_usd: float | None) -> tuple[int, float]:
    """The rate limit (requests a minute) and the limit in USD of each student. Raises InvalidInput."""
    return _rate_limit(rate_limit), _max_spend_usd(max_spend_usd)


def checked_name(name: str | None) -> str:
    """A fresh classroom's name: the date where none is given. Raises InvalidInput."""
    if name is None:
        return today()
    if not 0 < len(tidy(name)) <= LONGEST_CLASSROOM_NAME:
        raise errors.InvalidInput(f"A classroom's name has 1 to {LONGEST_CLASSROOM_NAME} characters.")
    return tidy(name)


def today() -> str:
    """What a classroom is called that was given no name."""
    return f"classroom {time.strftime('%Y-%m-%d')}"


def seconds_for(requests: int, facts: Facts) -> float:
    """About how long so many requests take under the key's limit, if nothing else uses it."""
    over = requests - facts.requests_left
    if over <= 0:
        return 0.0
    back = WINDOW_SECONDS if facts.requests_left else facts.requests_back_in_seconds or WINDOW_SECONDS
    return back + (math.ceil(over / max(1, facts.requests_limit)) - 1) * WINDOW_SECONDS


def address_for_students(session: Session, given: str | None) -> str:
    """The address for the students' files: `given`, or what this service is reached by from other machines.

    Raises InvalidInput where the sandbox listens on this machine only.
    """
    if given is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", settings.InsecureAddress)
            return settings.checked_base_url(given)
    if session.service != "sandbox" or not settings.is_loopback(session.base_url):
        return session.base_url
    from ..web.listening import own_address  # brings the server, which a live class doesn't need

    address = f"http://{(host := own_address())}:{urlsplit(session.base_url).port}"
    if host is not None and (found := _instance(address)) and found == _instance(session.base_url):
        return address
    raise errors.InvalidInput(
        "This sandbox listens on this machine only, so no student could reach it. Nothing was done. Stop it "
        "with `reelbook sandbox stop`, serve it to the room with `reelbook sandbox serve --host 0.0.0.0`, "
        "and try again. An address that you know better can be given (`--address`)."
    )


class _Work:
    """One session's classrooms while nobody else of this home works on them."""

    def __init__(self, session: Session, ledger: LedgerFile, report: Report = lambda _: None) -> None:
        self.rows = ledger.classrooms
        self._session = session
        # The home's own sandbox changes its address, and is the same service all the same.
        self._service = "sandbox" if session.sandbox else session.base_url
        self._report = report

    def rooms(self) -> tuple[Classroom, ...]:
        """All there are at this service, the newest first."""
        return self.rows.at(self._service)

    def running(self) -> list[Classroom]:
        """Those that are open."""
        return [each for each in self.rooms() if each.closed_at is None]

    def room(self, number: int) -> Classroom:
        """One of them, as it is written down now."""
        return next(each for each in self.rooms() if each.id == number)

    def continued(self, name: str | None, students: Sequence[str]) -> Classroom | None:
        """The open classroom that is meant; None for a fresh one."""
        rooms = self.running()
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
        reached_at = address_for_students(self._session, address)
        place = handouts.prepared(folder or self.folder(name), fresh=True)
        before = [key.key_id for key in self._session.keys.list()]
        rate_limit, max_spend_usd = options
        return self.rows.open(
            self._service,
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
            self.rows.seat(room, student, f"{room.label} · {student}", file)

    def take_back(self, classroom: Classroom, students: Sequence[str]) -> None:
        """Revokes the keys of these students, who are to get others. Raises InvalidInput for a stranger."""
        seats = {seat.student: seat for seat in classroom.seats}
        if strangers := [student for student in students if student not in seats]:
            raise errors.InvalidInput(
                f"Not in {classroom.name}: {', '.join(strangers)}. Nobody's key was renewed."
            )
        for seat in (seats[student] for student in students):
            if seat.key_id is not None:
                self._wait(classroom)
                self._revoke(seat.key_id)
                self.rows.waiting(seat)

    def make(self, classroom: Classroom) -> None:
        """Makes every key that is missing."""
        if any(seat.state == ASKED for seat in classroom.seats):
            keys = self._session.keys.list()
            for seat in classroom.seats:
                if seat.state == ASKED:
                    self._clear(classroom, seat, keys)
            classroom = self.room(classroom.id)
        for seat in classroom.missing:
            self._make(classroom, seat)

    def settled(self, classroom: Classroom) -> tuple[str, ...]:
        """Revokes keys of the class that a late answer left behind; whose key isn't active any more."""
        keys = self._session.keys.list()
        known = {seat.key_id for seat in classroom.seats}
        for key in keys:
            if key.is_active and key.key_id not in known and _is_of(classroom, key):
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
            raise errors.InvalidInput(f"No classroom{called} was opened from this home at {self._host}.")
        running = [each for each in rooms if each.closed_at is None]
        if len(running) > 1:
            names = ", ".join(f"“{each.name}”" for each in running)
            raise errors.InvalidInput(
                f"Several classrooms are open: {names}. Say which (`--name`). Nothing was done."
            )
        return (running or rooms)[0]

    def revoke_all(self, classroom: Classroom, keys: Sequence[ApiKey], also: Sequence[ApiKey]) -> int:
        """Revokes what is active, or isn't listed, as the list may have further pages. Gives their number.

        `keys` is the list as it is now, `also` are keys of others.
        """
        seats = {seat.key_id: seat for seat in classroom.seats if seat.key_id and seat.state == MADE}
        active = [key.key_id for key in keys if key.is_active and _is_of(classroom, key)]
        hidden = [each for each in seats if each not in {key.key_id for key in keys}]
        wanted, revoked = [*active, *filter(None, hidden), *(key.key_id for key in also)], 0
        for number, key_id in enumerate(wanted):
            self._wait(classroom, number, len(wanted))
            revoked += self._revoke(key_id)
        if seats and len(hidden) == len(seats) and not revoked:
            raise errors.ClassroomError(
                f"The service knows none of the keys of {classroom.name}: the key in use may be of another "
                "account. Nothing was changed. Use the key that opened it, or another one of its account."
            )
        for seat in seats.values():
            self.rows.revoked(seat)
        return revoked

    def others(self, classroom: Classroom, keys: Sequence[ApiKey]) -> tuple[ApiKey, ...]:
        """Keys that neither were there before nor belong to a classroom of this home."""
        rooms = self.rooms()
        return tuple(
            key
            for key in keys
            if key.key_id not in classroom.before and not any(_is_of(room, key) for room in rooms)
        )

    def free_name(self, name: str) -> str:
        """`name`, numbered where a classroom has it already."""
        taken, number, free = {each.name for each in self.rooms()}, 1, name
        while free in taken:
            number += 1
            free = f"{name} ({number})"
        return free

    def folder(self, name: str) -> Path:
        """Where the files of a classroom go that was given no folder."""
        slug = re.sub(r"[^\w.()-]+", "-", name).strip("-.") or "classroom"
        return self._session.home / "classrooms" / file_name(self._host.lower()) / plain_name(slug)

    def _make(self, classroom: Classroom, seat: Seat) -> None:
        for attempt in range(1, ATTEMPTS + 1):
            self._wait(classroom)
            self.rows.asking(seat)
            try:
                created = self._session.keys.create(seat.key_name, rate_limit=classroom.rate_limit)
            except errors.KeyUncertain as uncertain:
                self._clear(classroom, seat, self._session.keys.list())
                if attempt == ATTEMPTS:
                    uncertain.add_note("Run the same command again: it goes on where it stopped.")
                    raise
            except errors.ReelbookError:
                self.rows.waiting(seat)  # nothing was made
                raise
            else:
                # The file first: it holds the id too, and the secret is never told again.
                handouts.write(classroom, seat, created.key_id, created.api_key)
                self.rows.made(seat, created.key_id)
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
            self.rows.waiting(seat)
        else:
            self.rows.made(seat, kept)

    def _revoke(self, key_id: str) -> bool:
        """Whether the service knew the key."""
        try:
            self._session.keys.revoke(key_id)
        except errors.NotFound:
            return False
        return True

    def _wait(self, classroom: Classroom, done: int | None = None, among: int | None = None) -> None:
        """Until a request fits the budget: here and not in the client, so that it can be seen and ended."""
        if done is None:
            room = self.room(classroom.id)
            done, among = len(room.seats) - len(room.missing), len(room.seats)
        while True:
            facts = self._session.facts
            wait = 0.0 if facts.requests_left else facts.requests_back_in_seconds or 0.0
            self._report(Step(done, among or 0, wait))
            if not wait:
                return
            time.sleep(min(wait, LOOK_SECONDS))

    @property
    def _host(self) -> str:
        return "sandbox" if self._session.sandbox else urlsplit(self._session.base_url).netloc


@contextlib.contextmanager
def _working(session: Session, report: Report = lambda _: None) -> Iterator[_Work]:
    """The session's classrooms, for this program alone. Raises ClassroomError where another works on them."""
    session.home.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(session.home / "classroom.lock", timeout=0), LedgerFile.open(session.home) as ledger:
            yield _Work(session, ledger, report)
    except Timeout:
        raise errors.ClassroomError(
            "Another program opens or closes a classroom of this home just now. Nothing was done here."
        ) from None


def _present(classroom: Classroom, keys: Sequence[ApiKey]) -> tuple[Presence, ...]:
    by_id = {key.key_id: key for key in keys}
    return tuple(Presence(seat, by_id.get(seat.key_id or "")) for seat in classroom.seats)


def _is_of(classroom: Classroom, key: ApiKey) -> bool:
    """Whether a listed key is a student's: by its id, or by its name where the id was never heard."""
    if any(seat.key_id == key.key_id for seat in classroom.seats):
        return True
    named = any(seat.key_name == key.name for seat in classroom.seats)
    return named and key.key_id not in classroom.before


def _rate_limit(given: Any) -> int:
    return checked_rate_limit(RATE_LIMIT if given is None else given)


def _max_spend_usd(given: Any) -> float:
    limit = settings.max_spend_usd(MAX_SPEND_USD if given is None else given)
    assert limit is not None
    return limit


def _refuse_changes(
    classroom: Classroom,
    rate_limit: int | None,
    max_spend_usd: float | None,
    folder: Path | None,
    address: str | None,
) -> None:
    place = None if folder is None else str(folder.expanduser().resolve())
    for what, asked, fixed in (
        ("rate limit", rate_limit, classroom.rate_limit),
        ("limit in USD", max_spend_usd and round(max_spend_usd, 6), classroom.max_spend_usd),
        ("folder", place, classroom.folder),
        ("address", address and address.rstrip("/"), classroom.address),
    ):
        if asked is not None and asked != fixed:
            raise errors.InvalidInput(
                f"{classroom.name} is open already, and its {what} is {fixed}, not {shown(str(asked))}. "
                "Nothing was done. Leave that out to go on with it, or open one by another name (`--name`)."
            )


def _instance(url: str) -> str | None:
    """Which sandbox answers there; None if none does."""
    try:
        instance = ask(url + protocol.ABOUT, None, {}, ANSWER_SECONDS).get("instance")
    except errors.SandboxError:
        return None
    return instance if isinstance(instance, str) else None
