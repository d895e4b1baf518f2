"""What the page has of many jobs, so that only what changed is sent to it. Knows no widget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from reelbook.session import Clip, Job, JobView

from .. import text
from ..text import Line, Row, Tally

# A line that counts on by itself is another one only if it would be off by more than this.
OFF_SECONDS = 1.5


def same_line(first: Line, second: Line, passed_seconds: float) -> bool:
    """Whether `second` is what the page makes of `first` after that time."""
    return len(first) == len(second) and all(
        a == b
        if isinstance(a, str) or isinstance(b, str)
        else a[1] == b[1] and abs(a[0] + a[1] * passed_seconds - b[0]) <= OFF_SECONDS
        for a, b in zip(first, second, strict=True)
    )


def row_of(job: Job, view: JobView, clip: Clip | None) -> Row:
    """A job's row, as of that view."""
    return text.board_row(view, job.request, request_id=job.request_id, clip=clip, prompt=job.prompt)


class OnPage:
    """Values that the page has, by name; `news` gives those that it hasn't."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        self._lines: dict[str, tuple[Line, float]] = {}

    def news(self, now: float, values: Mapping[str, Any], lines: Mapping[str, Line]) -> dict[str, Any]:
        """What differs from what the page has; it has it from now on. `lines` count on by themselves."""
        changed = {name: value for name, value in values.items() if self._values.get(name) != value}
        self._values.update(changed)
        for name, line in lines.items():
            had, at = self._lines.get(name, ([], now))
            if not same_line(had, line, now - at):
                self._lines[name] = (line, now)
                changed[name] = line
        return changed

    def forget(self) -> None:
        """The page has nothing any more."""
        self._values.clear()
        self._lines.clear()


@dataclass(eq=False)
class Kept:
    """A job with its place: `order` grows with each newer job."""

    job: Job
    key: str
    order: int
    row: Row
    tally: Tally
    page: OnPage = field(default_factory=OnPage)

    def look(self) -> None:
        """Takes what is known of the job now."""
        view, clip = self.job.view(), self.job.clip
        self.row = row_of(self.job, view, clip)
        self.tally = text.tally(view)

    @property
    def unsent(self) -> bool:
        """Whether it may wait for the rate limit."""
        return self.tally.kind == "waiting"

    def news(self, now: float, *, chosen: bool) -> dict[str, Any]:
        """What the page hasn't of it: nothing, or its key and what changed."""
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
        # What is empty needn't be said of a new row.
        if "order" in changed:
            changed = {name: value for name, value in changed.items() if value or name in {"order", "group"}}
        return {"key": self.key, **changed} if changed else {}

    def _picture(self) -> str:
        """The name under which the page asks for its picture; another picture, another name."""
        if self.job.clip is not None:
            return f"{self.key}c"
        return f"{self.key}i" if self.job.request is not None and self.job.request.image is not None else ""


class Rows:
    """The jobs of a board. The one that was added last is the newest. One thread at a time adds."""

    def __init__(self) -> None:
        self._kept: dict[Job, Kept] = {}
        self._by_key: dict[str, Kept] = {}

    def __iter__(self) -> Iterator[Kept]:
        """Newest first; one that comes meanwhile is left out."""
        return reversed(list(self._kept.values()))

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, job: Job) -> bool:
        return job in self._kept

    def add(self, job: Job) -> Kept:
        """The job's row, which is the newest where it is new."""
        if job not in self._kept:
            view = job.view()
            row = row_of(job, view, job.clip)
            number = len(self._kept)
            kept = Kept(job, str(number), number, row, text.tally(view))
            self._kept[job] = self._by_key[kept.key] = kept
        return self._kept[job]

    def by_key(self, key: str) -> Job | None:
        """The job that the page calls by that key, also by the name of its picture."""
        kept = self._by_key.get(key.rstrip("ci"))
        return None if kept is None else kept.job

    def of(self, job: Job) -> Kept | None:
        """The job's row, None where it has none."""
        return self._kept.get(job)

    def groups(self) -> dict[str, list[Tally]]:
        """The tallies by experiment; "" for those of none."""
        found: dict[str, list[Tally]] = {}
        for kept in self:
            found.setdefault(kept.job.experiment or "", []).append(kept.tally)
        return found
