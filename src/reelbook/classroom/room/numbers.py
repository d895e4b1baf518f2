"""The state of a home's class, read from its file: for a notebook on the teacher's computer."""

import contextlib
import socket
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from .codes import plain_code
from .store import QUEUED, RoomSettings, RoomStore

ADDRESS: Final = "address"  # the file with the address where the room was last served
CONNECT_SECONDS: Final = 0.5
CLIPS: Final = 4
ENDED_SECONDS: Final = 3600.0  # a class that has ended is shown for so long


@dataclass(frozen=True)
class RoomNumbers:
    """The state of a class. `address` is empty while nobody serves it.

    `joined` are the students who have, `clips` the newest: each with its student's name and prompt.
    """

    settings: RoomSettings
    address: str
    ended: bool
    joined: tuple[str, ...]
    waiting: int
    spent_usd: float
    clips: tuple[tuple[str, str], ...]


def classes(home: Path, code: str | None = None) -> Generator[RoomStore]:
    """The home's classes, the last served first, or the one with that code: each is open until the next."""
    for path in sorted((home / "rooms").glob("*/room.db"), key=_last_served, reverse=True):
        if code is None or path.parent.name == plain_code(code):
            with contextlib.closing(RoomStore(path)) as store:
                if store.begun:
                    yield store


def room_numbers(home: Path) -> RoomNumbers | None:
    """The state of the home's newest class; None without one, or if it ended long ago.

    Raises ClassroomError and sqlite3.Error.
    """
    with contextlib.closing(classes(home)) as found:
        if (store := next(found, None)) is None:
            return None
        settings, now = store.settings(), store.clock()
        if not settings.open(now) and now - (settings.ended_at or settings.expires_at or 0) > ENDED_SECONDS:
            return None
        students, (spent, _) = store.students(), store.money()
        names = {student.id: student.name for student in students}
        return RoomNumbers(
            settings,
            _served_at(store.folder),
            not settings.open(now),
            tuple(student.name for student in students if student.joined_at is not None),
            store.counts().get(QUEUED, 0),
            spent,
            tuple((names[job.student], job.prompt) for job in store.newest_clips(CLIPS)),
        )


def _last_served(file: Path) -> tuple[bool, float]:
    """Sorts classes by when they were served last; one that never was comes before, by its last change."""
    address = file.with_name(ADDRESS)
    served = address.exists()
    return served, (address if served else file).stat().st_mtime


def _served_at(folder: Path) -> str:
    """The room's address if somebody listens there; a room that was killed leaves its address behind."""
    with contextlib.suppress(OSError, ValueError):
        address = (folder / ADDRESS).read_text()
        parts = urlsplit(address)
        with socket.create_connection((parts.hostname, parts.port or 0), CONNECT_SECONDS):
            return address
    return ""
