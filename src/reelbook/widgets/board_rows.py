"""Keeps track of what the page has of many jobs, so that only changes are sent. Knows no widget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from reelbook.session import Clip, Job, JobView

from .. import text
from ..text import Line, Row, Tally

# A line whose seconds run by themselves is sent again only if it would be off by more than this.
OFF_SECONDS = 1.5


def same_line(first: Line, second: Line, passed_seconds: float) -> bool:
    """Whether the page shows `second` after it had `first` for that time."""
    return len(first) == len(second) and all(
        a == b
        if isinstance(a, str) or isinstance(b, str)
        else a[1] == b[1] and abs(a[0] + a[1] * passed_seconds - b[0]) <= OFF_SECONDS
        for a, b in zip(first, second, strict=True)
    )


def row_of(job: Job, view: JobView, clip: Clip | None) -> Row:
    """A job's row, as of that view."""
    return text.board_row(view, job.request, request_id=job.request_id, clip=clip, prompt=job.prompt)


class PageState:
    """The values that the page has, by name; `news` gives those that it doesn't have yet."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        self._lines: dict[str, tuple[Line, float]] = {}

    def news(self, now: float, values: Mapping[str, Any], lines: Mapping[str, Line]) -> dict[str, Any]:
        """What differs from what the page has, to be sent now. The seconds in `lines` run by themselves."""
        changed = {name: value for name, value in values.items() if self._values.get(name) != value}
        self._values.update(changed)
        for name, line in lines.items():
            had, at = self._lines.get(name, ([], now))
            if not same_line(had, line, now - at):
                self._lines[name] = (line, now)
                changed[name] = line
        return changed

    def forget(self) -> None:
        """A new page has nothing yet."""
        self._values.clear()
        self._lines.clear()


@dataclass(eq=False)
class BoardEntry:
    """A job on the board; `order` grows with each newer job."""

    job: Job
    key: str
    order: int
    row: Row
    tally: Tally
    page: PageState = field(default_factory=PageState)

    def update(self) -> None:
        """Takes over what is known of the job now."""
        view, clip = self.job.view(), self.job.clip
        self.row = row_of(self.job, view, clip)
        self.tally = text.tally(view)

    @property
    def unsent(self) -> bool:
        """Whether it may wait for the rate limit."""
        return self.tally.kind == "waiting"

    def news(self, now: float, *, chosen: bool) -> dict[str, Any]:
        """What the page doesn't have yet: its key and what changed, or nothing."""
        row = self.row
        values = {
            "order": self.order,
            "group": self.job.experiment or "",
            "prompt": row["prompt"],
            "about": row["about"],
            "word": row["word"],
            "tone": row["tone"],
            "bar": row["bar"],
            "wait": row["wait"],
            "money": row["money"],
            "picture": self._picture(),
            "chosen": chosen,
        }
        changed = self.page.news(now, values, {"time": row["time"]})
        # A new row starts with empty values: those needn't be sent.
        if "order" in changed:
            changed = {name: value for name, value in changed.items() if value or name in {"order", "group"}}
        return {"key": self.key, **changed} if changed else {}

    def _picture(self) -> str:
        """The name by which the page asks for the picture; it changes with the picture."""
        if self.job.clip is not None:
            return f"{self.key}c"
        return f"{self.key}i" if self.job.request is not None and self.job.request.image is not None else ""


class Rows:
    """The jobs of a board, the last one added being the newest. Only one thread at a time may add."""

    def __init__(self) -> None:
        self._entries: dict[Job, BoardEntry] = {}
        self._by_key: dict[str, BoardEntry] = {}

    def __iter__(self) -> Iterator[BoardEntry]:
        """Newest first; an entry added meanwhile is left out."""
        return reversed(list(self._entries.values()))

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, job: Job) -> bool:
        return job in self._entries

    def add(self, job: Job) -> BoardEntry:
        """The job's entry; a new one if the board doesn't have the job yet."""
        if job not in self._entries:
            view = job.view()
            row = row_of(job, view, job.clip)
            number = len(self._entries)
            entry = BoardEntry(job, str(number), number, row, text.tally(view))
            self._entries[job] = self._by_key[entry.key] = entry
        return self._entries[job]

    def by_key(self, key: str) -> Job | None:
        """The job of that key, or of the picture of that name."""
        entry = self._by_key.get(key.rstrip("ci"))
        return None if entry is None else entry.job

    def of(self, job: Job) -> BoardEntry | None:
        """The job's entry, None if the board doesn't have it."""
        return self._entries.get(job)

    def groups(self) -> dict[str, list[Tally]]:
        """The tallies by experiment; "" stands for jobs without one."""
        found: dict[str, list[Tally]] = {}
        for entry in self:
            found.setdefault(entry.job.experiment or "", []).append(entry.tally)
        return found
