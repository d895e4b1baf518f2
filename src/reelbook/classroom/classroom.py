"""A class on one account: a key for each student by nine o'clock, and none by five.

What is asked for is in the ledger before it is sent, so that each step can be done again after a crash. The
steps are in `seating`, the files in `handouts`, the names in `students`, the address in `room`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .. import settings, validation
from ..errors import ClassroomError, InvalidInput
from ..formatting import epoch_seconds
from ..ledger.classrooms import Classroom, Seat
from ..models import ApiKey
from ..secret import shown
from . import handouts, installation
from .provisioning import Report, checked_name, is_of, working
from .roster import tidy, unique

if TYPE_CHECKING:
    from ..session.session import Session

RECENT_SECONDS: Final = 3600.0
RATE_LIMIT: Final = 20
MAX_SPEND_USD: Final = 2.0


@dataclass(frozen=True)
class Opened:
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
class Status:
    """A classroom as it is now. `others` are keys that somebody else made since it was opened."""

    classroom: Classroom
    students: tuple[Presence, ...]
    others: tuple[ApiKey, ...]


@dataclass(frozen=True)
class Closed:
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
) -> Opened:
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
        raise InvalidInput("There are no students. Nothing was done.")
    if install is not None:
        installation.check(install)
    with working(session, report) as work:
        classroom = work.continued(name, names)
        if classroom is None:
            classroom = work.begun(
                checked_name(name), checked_options(rate_limit, max_spend_usd), folder, address
            )
        else:
            _refuse_changes(classroom, rate_limit, max_spend_usd, folder, address)
            handouts.prepared(Path(classroom.folder), fresh=False)
        place, untold = Path(classroom.folder), None
        if install is None and not installation.named(place):
            untold = installation.default_trouble()
            install = "" if untold else installation.DEFAULT
        if install is not None:
            installation.keep(place, install)
        for student in names:
            work.seat(classroom.id, student)
        work.take_back(work.room(classroom.id), [tidy(student) for student in renew])
        classroom = work.room(classroom.id)
        missing = len(classroom.missing)
        work.make(classroom)
        inactive = work.settled(work.room(classroom.id))
        classroom = work.room(classroom.id)
        return Opened(
            classroom,
            made=missing,
            sheet=handouts.write_sheet(classroom),
            without_file=tuple(
                seat.student for seat in classroom.seats if handouts.read(classroom, seat) is None
            ),
            inactive=inactive,
            not_in_list=tuple(seat.student for seat in classroom.seats if seat.student not in names),
            untold=untold,
        )


def classroom_status(session: Session) -> tuple[Status, ...]:
    """The classrooms that are open at this service, newest first. Asks once (GET keys), if there are any."""
    with working(session) as work:
        if not (rooms := [each for each in work.rooms() if each.closed_at is None]):
            return ()
        keys = session.keys.list()
        by_id = {key.key_id: key for key in keys}
        return tuple(
            Status(
                room,
                tuple(Presence(seat, by_id.get(seat.key_id or "")) for seat in room.seats),
                work.others(room, keys),
            )
            for room in rooms
        )


def close_classroom(
    session: Session,
    name: str | None = None,
    *,
    all_made_since: bool = False,
    report: Report = lambda _: None,
) -> Closed:
    """Revokes all keys of a classroom, and lists the keys to prove it (DELETE keys/{key_id}, GET keys).

    Without a `name` it is the one that is open, or the last one, which is then looked at once more.
    `all_made_since` revokes also the keys that others made since it was opened, such as a student's own, but
    for the one that this session uses. Safe to do again.

    Raises InvalidInput where it isn't clear which one, and ClassroomError where a key is still active, or
    where the service knows none of them.
    """
    with working(session, report) as work:
        classroom = work.to_close(name)
        keys = session.keys.list()
        by_id = {key.key_id: key for key in keys}
        lately = used_lately(
            [Presence(seat, by_id.get(seat.key_id or "")) for seat in classroom.seats], time.time()
        )
        also = work.others(classroom, keys) if all_made_since else ()
        own = session.keys.in_use(keys)
        revoked = work.revoke_all(classroom, keys, [key for key in also if key.is_active and key != own])
        keys = session.keys.list()
        ours = [key for key in keys if is_of(classroom, key)]
        if active := [key for key in ours if key.is_active]:
            raise ClassroomError(
                f"{len(active)} of the keys of {classroom.name} are still active by the service's list: "
                f"{', '.join(key.key_id for key in active)}. Close it again."
            )
        work.ledger.classrooms.closed(classroom)
        return Closed(work.room(classroom.id), revoked, len(ours), work.others(classroom, keys), lately)


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
    limit = settings.max_spend_usd(MAX_SPEND_USD if max_spend_usd is None else max_spend_usd)
    assert limit is not None
    return validation.rate_limit(RATE_LIMIT if rate_limit is None else rate_limit), limit


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
            raise InvalidInput(
                f"{classroom.name} is open already, and its {what} is {fixed}, not {shown(str(asked))}. "
                "Nothing was done. Leave that out to go on with it, or open one by another name (`--name`)."
            )
