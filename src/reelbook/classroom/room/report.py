"""A class's report: a table of spending, and a page of its clips that needs no network."""

import base64
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ...atomic_files import atomic_write
from ...errors import InvalidInput
from ...formatting import count, csv_table, file_name, hour, local
from ...web.html import Html, joined
from ...web.pages import Site, video
from .store import RoomJob, RoomSettings, RoomStore

SITE: Final = Site("room", Path(__file__).parent, "/room/static")  # this page and all others of the room
MOST_INSIDE_BYTES: Final = 200_000_000  # browsers open no larger page


@dataclass(frozen=True)
class StudentSum:
    """The sum of one student's clips, or of all. `last_at`: when the last one was done, in epoch seconds."""

    name: str
    clips: int
    seconds: float
    spent_usd: float
    refused: int
    last_at: float | None


@dataclass(frozen=True)
class Written:
    """Where a report is. `beside`: the clips are files beside the page, as they are too large for it."""

    table: Path
    page: Path
    clips: int
    beside: bool


def sums(store: RoomStore) -> tuple[list[StudentSum], StudentSum]:
    """A line for each student who joined or ordered, by name, and one for all together."""
    jobs = store.all_jobs()
    own = [(student, [job for job in jobs if job.student == student.id]) for student in store.students()]
    lines = [_sum(student.name, theirs) for student, theirs in own if theirs or student.joined_at is not None]
    return lines, _sum(f"All {len(lines)}", jobs)


def _sum(name: str, jobs: Sequence[RoomJob]) -> StudentSum:
    done = [job for job in jobs if job.state == "completed"]
    return StudentSum(
        name,
        clips=len(done),
        seconds=sum(job.seconds or 0.0 for job in done),
        spent_usd=round(sum(job.cost_usd for job in jobs), 6),
        refused=sum(job.state in ("failed", "refused") for job in jobs),
        last_at=max((job.ended_at or 0.0 for job in done), default=None),
    )


def table(store: RoomStore) -> str:
    """All orders as CSV, oldest first, amounts in USD."""
    names = {student.id: student.name for student in store.students()}
    columns: dict[str, Callable[[RoomJob], object]] = {
        "student": lambda job: names[job.student],
        "prompt": lambda job: job.prompt,
        "duration_seconds": lambda job: job.request["duration_seconds"],
        "state": lambda job: job.state,
        "cost_usd": lambda job: job.cost_usd,
        "ordered_at": lambda job: local(job.accepted_at),
        "ended_at": lambda job: None if job.ended_at is None else local(job.ended_at),
        "clip_seconds": lambda job: job.seconds,
        "error": lambda job: job.error,
    }
    return csv_table(list(columns), [[value(job) for value in columns.values()] for job in store.all_jobs()])


def page(store: RoomStore, address: Callable[[RoomJob], str], *, whole: bool = False) -> str:
    """The class's clips as a page, without hidden ones; `address` gives the address of a clip's file.

    With `whole` its style is inside, so that it needs no server.
    """
    settings = store.settings()
    names = {student.id: student.name for student in store.students()}
    shown = [job for job in store.all_jobs() if job.clip is not None and not job.hidden]
    clips = joined(
        Html(
            '<article class="clip">{}<div class="in"><p>{}</p><span class="quiet">{}</span></div></article>'
        ).format(video(address(job)), job.prompt, "" if settings.names_hidden else names[job.student])
        for job in shown
    )
    body = SITE.filled(
        "report.html",
        name=settings.name,
        when=period(settings),
        counts=count(len(shown), "clip"),
        clips=clips,
    )
    if not whole:
        return SITE.whole(settings.name, body)
    return Html(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>{}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><style>{}</style>{}</html>'
    ).format(settings.name, Html(SITE.style()), body)


def period(settings: RoomSettings) -> str:
    """When the class was: "25 Nov 2026, 15:05 to 17:00"."""
    end, began = settings.ended_at or settings.expires_at, local(settings.made_at)
    until = f" to {hour(end, settings.made_at)}" if end else ""
    return f"{began.day} {began:%b %Y, %H:%M}{until}"


def file_stem(settings: RoomSettings) -> str:
    """What the names of a class's files begin with, whatever characters its code has."""
    return file_name(f"class-{settings.code.lower()}")


def write(store: RoomStore, folder: Path) -> Written:
    """Writes table and page into `folder`. Raises InvalidInput if one of them exists already, and OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = file_stem(store.settings())
    csv_file, html_file = folder / f"{stem}.csv", folder / f"{stem}.html"
    for file in (csv_file, html_file):
        if file.exists():
            raise InvalidInput(f"{file} already exists. Choose another folder. Nothing was written.")
    kept = [(job.number, Path(job.clip_path)) for job in store.all_jobs() if job.clip_path is not None]
    files = {number: path for number, path in kept if path.is_file()}
    beside = sum(path.stat().st_size for path in files.values()) > MOST_INSIDE_BYTES

    def address(job: RoomJob) -> str:
        if job.number not in files:
            return ""
        if not beside:
            return f"data:video/mp4;base64,{base64.b64encode(files[job.number].read_bytes()).decode()}"
        target = folder / f"{stem}-clips" / f"{job.number}.mp4"
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(files[job.number], target)
        return f"{target.parent.name}/{target.name}"

    with atomic_write(csv_file) as part:
        part.write_text(table(store), "utf-8-sig")
    with atomic_write(html_file) as part:
        part.write_text(page(store, address, whole=True), "utf-8")
    return Written(csv_file, html_file, len(files), beside)
