"""The jobs that a search has found so far, in order and without gaps. Knows no widget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from reelbook.session import Job, Session

PAGE = 60


class SearchResults:
    """What a search finds in a session's ledger, looked up page by page."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._filters: Mapping[str, Any] = {}
        self._here: set[Job] = set()
        self._by_key: dict[str, Job] = {}
        self.jobs: list[Job] = []
        self.more = True
        self.turn = 0  # counts the searches, so that the page knows which one a message belongs to

    def __contains__(self, job: Job) -> bool:
        return job in self._here

    def search(self, filters: Mapping[str, Any]) -> None:
        """Starts a new search, with the arguments of `Session.jobs`, and looks up its first page."""
        self._filters = filters
        self.turn += 1
        self.jobs, self._here, self.more = [], set(), True
        self.load(PAGE)

    def load(self, upto: int) -> None:
        """Looks up more jobs, until there are `upto` of them or no more."""
        while self.more and len(self.jobs) < upto and not self._session.closed:
            after = self.jobs[-1] if self.jobs else None
            found = self._session.jobs(limit=PAGE, after=after, **self._filters)
            self.more = len(found) == PAGE
            self.jobs += [job for job in found if job not in self._here]
            for job in found:
                self._keep(job)

    def take_in(self) -> Iterator[tuple[int, Job]]:
        """Inserts jobs that have come to match the first page, and yields each with its place."""
        if self._session.closed:
            return
        for place, job in enumerate(self._session.jobs(limit=PAGE, **self._filters)):
            if job not in self._here:
                self.jobs.insert(place, job)
                self._keep(job)
                yield place, job
        # There new jobs come last, and are looked up as the rest is.
        self.more = self.more or self._filters.get("sort") == "oldest"

    def by_key(self, key: str) -> Job | None:
        """The job with that key on the page, of this search or an earlier one."""
        return self._by_key.get(key)

    def by_id(self, request_id: str) -> Job | None:
        """The job with that request id, if any search here found it."""
        return next((job for job in self._by_key.values() if job.request_id == request_id), None)

    def _keep(self, job: Job) -> None:
        self._here.add(job)
        self._by_key[str(job.number)] = job
