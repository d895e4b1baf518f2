"""A session's jobs as a person looks for them and marks them. What is kept of them is the ledger's."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from .. import wire
from ..errors import InvalidInput
from ..ledger.finding import Filter
from ..ledger.states import named_states, refuse_strange
from ..meant import by_name
from .accounting import epoch
from .job import Job
from .known import Marks

if TYPE_CHECKING:
    from .books import Books
    from .clip import Clip
    from .engine import Engine
    from .jobs import Jobs


@dataclass(frozen=True)
class Picked:
    """That a person chose `winner` among `among`, which it is one of, at that moment."""

    winner: Job
    among: tuple[Job, ...]
    at: datetime


class Finding:
    """The part of a `Session` that finds jobs and keeps a person's marks on them."""

    _engine: Engine
    _books: Books
    _jobs: Jobs

    @by_name
    def jobs(
        self,
        *,
        text: str | None = None,
        since: datetime | float | None = None,
        until: datetime | float | None = None,
        state: str | Collection[str] | None = None,
        min_cost_usd: float | None = None,
        max_cost_usd: float | None = None,
        experiment: str | None = None,
        mode: wire.Mode | None = None,
        starred: bool | None = None,
        tag: str | None = None,
        sort: Literal["newest", "oldest", "costliest"] = "newest",
        limit: int = 50,
        after: Job | None = None,
    ) -> tuple[Job, ...]:
        """The account's jobs, newest first, those of earlier kernels included.

        Every word of `text` must begin a word of the prompt or of the note. `since` and `until` (not
        included) are times of the submission: datetimes, or epoch seconds. `state` is one word of `JobView`,
        or several; the cost is the final one in USD, the estimate until it is known. `after` is the last job
        of the page before. To find a job isn't to watch it: `job.watch()`, or waiting for it, takes it up.
        Raises InvalidInput for a state that there isn't.
        """
        self._engine.refuse_closed()
        if state is not None:
            state = named_states(state)
            refuse_strange(state, lambda each: bool(self._books.find(Filter(state=each), limit=1)))
        wanted = Filter(
            text=text,
            since=epoch(since),
            until=epoch(until),
            state=state,
            min_cost_usd=min_cost_usd,
            max_cost_usd=max_cost_usd,
            experiment=experiment,
            mode=mode,
            starred=starred,
            tag=tag,
        )
        return tuple(self._jobs.find(wanted, sort=sort, limit=limit, after=after))

    def tags(self) -> dict[str, int]:
        """The tags in use in alphabetical order, and how many jobs have each."""
        self._engine.refuse_closed()
        return self._books.tags()

    def experiments(self) -> list[str]:
        """The names of the experiments, the one used last first."""
        self._engine.refuse_closed()
        return self._books.experiments()

    def pick(self, winner: Job | Clip | str, among: Iterable[Job | Clip | str]) -> None:
        """Keeps that a person chose `winner` among the clips of `among`; each is a job, a clip or its id.

        Clips that the ledger doesn't know are left out. Raises InvalidInput where that is no choice:
        `winner` isn't among them, or is alone.
        """
        self._engine.refuse_closed()
        ids = list(dict.fromkeys(map(_request_id, among)))
        chosen = _request_id(winner)
        if not chosen or chosen not in ids or len(ids) < 2:
            raise InvalidInput("A winner is one of at least two clips. Nothing was kept.")
        self._books.pick(chosen, [each for each in ids if each])

    def picks(self, *, limit: int = 100) -> tuple[Picked, ...]:
        """The winners that were picked, in Compare or by `pick()`, the newest first.

        A table of them: `[(each.winner.request.prompt, len(each.among)) for each in session.picks()]`.
        """
        self._engine.refuse_closed()
        found = []
        for pick in self._books.picks(limit):
            entries = {number: self._books.by_id(number) for number in (pick.winner, *pick.among)}
            jobs = {number: self._jobs.of(entry, watch=False) for number, entry in entries.items() if entry}
            if pick.winner in jobs:
                among = tuple(jobs[number] for number in pick.among if number in jobs)
                at = datetime.fromtimestamp(pick.at).astimezone()
                found.append(Picked(jobs[pick.winner], among, at))
        return tuple(found)

    def mark(
        self,
        job: Job,
        *,
        starred: bool | None = None,
        note: str | None = None,
        tags: Iterable[str] | None = None,
    ) -> None:
        """See `Job.mark`."""
        self._engine.refuse_closed()
        all_tags = None if tags is None else tuple(tags)

        def mark() -> None:
            had = job._known.marks
            marks = Marks(
                starred=had.starred if starred is None else starred,
                note=had.note if note is None else note,
                tags=had.tags if all_tags is None else all_tags,
            )
            self._jobs.mark(job, marks)

        self._engine.run(mark)

    def delete_clip(self, job: Job) -> None:
        """See `Job.delete_clip`."""
        self._engine.refuse_closed()
        self._engine.run(lambda: self._jobs.delete_clip(job))


def _request_id(clip: Job | Clip | str) -> str | None:
    return clip if isinstance(clip, str) else clip.request_id
