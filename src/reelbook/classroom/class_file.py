"""The file of a class by cards: who has which key. The keys themselves are in the students' files only."""

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from ..atomic_files import write_whole
from ..errors import ClassroomError

_SLUG_CHARACTERS: Final = 40


@dataclass
class Classroom:
    """A class at one service.

    `label` begins the names of its keys, and of no other class's. `students` has each student's key id, None
    if there is no key or its answer was lost. `before` are the ids of the keys that were there when it was
    opened. `opened_at` and `closed_at` are epoch seconds; `rate_limit` is requests a minute, each. `install`
    is what the cards tell pip to install, "" for nothing.
    """

    service: str
    name: str
    label: str
    folder: str
    address: str
    rate_limit: int
    max_spend_usd: float
    opened_at: float
    closed_at: float | None = None
    install: str = ""
    before: list[str] = field(default_factory=list)
    students: dict[str, str | None] = field(default_factory=dict)

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(student for student, key_id in self.students.items() if key_id is None)

    def key_name(self, student: str) -> str:
        return f"{self.label} · {student}"

    def handout(self, student: str) -> Path:
        """The path of a student's file, such as "07-björn-ångström.txt"."""
        words = "".join(each if each.isalnum() else "-" for each in student.casefold())
        slug = re.sub("-+", "-", words).strip("-")[:_SLUG_CHARACTERS].strip("-")
        number = f"{list(self.students).index(student) + 1:02}"
        return Path(self.folder) / (f"{number}-{slug}.txt" if slug else f"{number}.txt")


def read(path: Path) -> Classroom:
    """The class of a file. Raises ClassroomError."""
    try:
        return Classroom(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise ClassroomError(
            f"{path} can't be read as a class's file ({error}). Nothing was done. Its keys are in the "
            "service's list: `reelbook keys list`."
        ) from None


def write(path: Path, classroom: Classroom) -> None:
    """Writes the file, all of it or nothing. Raises ClassroomError."""
    keep(path, lambda: json.dumps(asdict(classroom), ensure_ascii=False, indent=2))


def keep(path: Path, content: Callable[[], str]) -> None:
    """Writes a file that a class needs, all of it or nothing. Raises ClassroomError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(path, content().encode())
        return
    except OSError as error:
        reason = error.strerror or type(error).__name__
    # Raised where no variable holds a key: verbose tracebacks print those.
    raise ClassroomError(
        f"{path} couldn't be written ({reason}). Fix that and run the same command again: no key is created "
        "that isn't written down, and one that is in no student's file is revoked and created again."
    )
