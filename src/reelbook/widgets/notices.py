"""Tells the page when clips that ran together have ended, so that it tells a person who looks elsewhere."""

from collections.abc import Callable
from typing import Final

import traitlets

from reelbook.session import Job, Session

from ..text.notices import notice
from .base import Panel, open_panels
from .bundle import module

# A sweep buys its next clip within this time: until then it hasn't ended.
QUIET_SECONDS: Final = 2.0


class Notices(Panel):
    """One notice for all clips of a session that ran together. It works once the page has loaded it."""

    _esm = module("_away")

    notice = traitlets.Dict(help="The last one, with a number of its own.").tag(sync=True)

    says_trouble = False

    def __init__(self, session: Session) -> None:
        self.session = session
        self._running = set(session.running)
        self._ended: dict[Job, None] = {}
        self._number = 0
        self.wanted = 0
        super().__init__()
        self._endings += (session.subscribe(self._job_changed),)

    def update(self) -> None:
        if self._ended and not self.session.running:
            jobs, self._ended = sorted(self._ended, key=lambda job: job.number), {}
            self._number += 1
            self.notice = {**notice(jobs, service=self.session.service), "number": self._number}

    def _job_changed(self, job: Job | None) -> None:
        if job is None:
            return
        if job.running:
            self._running.add(job)
            self._ended.pop(job, None)
        elif job in self._running:
            self._running.discard(job)
            self._ended[job] = None
        if self._ended and not self._running:
            self._live.changed_in(QUIET_SECONDS)


def follow(session: Session) -> Callable[[], None]:
    """Has the page announce the session's clips, once for all panels that ask. Returns what ends that."""
    found = (each for each in open_panels() if isinstance(each, Notices) and each.session is session)
    notices = next(found, None) or Notices(session)
    notices.wanted += 1

    def end() -> None:
        notices.wanted -= 1
        if not notices.wanted:
            notices.close()

    return end
