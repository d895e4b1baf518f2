"""What the panels' buttons do with a job."""

from __future__ import annotations

import concurrent.futures
import contextlib
import functools
from typing import Any

from reelbook.session import (
    Clip,
    Job,
    JobView,
    Reconciliation,
    Session,
)

from .. import text
from .base import Panel

TWICE_SECONDS = 1.5  # a second press within so short a time is a double press


class ActsOnJobs(Panel):
    """Answers the page's `stop`, `watch`, `cancel`, `find_out` and `only_me`, each about one job.

    A panel says which job a message is about, and what follows news of it: a widget's metaclass leaves no
    room for abstract methods.
    """

    def __init__(self, **traits: Any) -> None:
        self._finding: set[Job] = set()
        self._word_would_tell: set[Job] = set()
        super().__init__(**traits)

    def _job(self, content: dict[str, Any]) -> Job | None:
        """The job that a message is about; None where the panel has none such."""
        raise NotImplementedError

    def _news_of(self, job: Job) -> None:
        """There may be something new of the job; called on any thread."""
        raise NotImplementedError

    def _face(self, job: Job, view: JobView, clip: Clip | None) -> text.Face:
        """What the page draws of the job as it is in that view."""
        return text.job_face(
            view,
            job.request,
            request_id=job.request_id,
            clip=clip,
            service=Session.of(job).service,
            prompt=job.prompt,
            finding_out=job in self._finding,
            word_would_tell=job in self._word_would_tell,
        )

    def _forget_what_was_asked(self) -> None:
        """Other jobs are shown from now on; what is still found out of the former ones isn't told."""
        self._finding.clear()
        self._word_would_tell.clear()

    def _on_stop(self, content: dict[str, Any], _: object) -> None:
        if (job := self._job(content)) is not None:
            job.stop_watching()
            self._news_of(job)

    def _on_watch(self, content: dict[str, Any], _: object) -> None:
        if (job := self._job(content)) is not None:
            job.watch()
            self._news_of(job)

    def _on_cancel(self, content: dict[str, Any], _: object) -> None:
        job = self._job(content)
        if job is not None and not job.cancel():
            self.trouble = "It was sent already. The job goes on and is billed."

    def _on_find_out(self, content: dict[str, Any], _: object) -> None:
        self._find_out(self._job(content), alone=False)

    def _on_only_me(self, content: dict[str, Any], _: object) -> None:
        self._find_out(self._job(content), alone=True)

    def _find_out(self, job: Job | None, *, alone: bool) -> None:
        if job is None or job in self._finding:
            return
        # The answer comes on the session's thread: a button that waited for it would hold up the kernel.
        asked = Session.of(job)._reconciling(alone=alone)
        self._finding.add(job)
        self._news_of(job)
        self.refresh()
        asked.add_done_callback(functools.partial(self._found_out, job))

    def _found_out(self, job: Job, asked: concurrent.futures.Future[Reconciliation]) -> None:
        if job not in self._finding:
            return
        self._finding.discard(job)
        if asked.cancelled():
            return
        with self.showing_errors("Finding out"):
            mine = [verdict for verdict in asked.result().verdicts if verdict.job is job]
            if any(verdict.answer == "can't tell" != verdict.if_alone for verdict in mine):
                self._word_would_tell.add(job)
            else:
                self._word_would_tell.discard(job)
        self._news_of(job)


def send_again(job: Job) -> Job | None:
    """Asks once more for the same clip, within the same experiment, and returns the job of that.

    None where the request isn't known whole: the ledger of an earlier kernel keeps no picture. Raises
    SpendLimitReached before anything is sent.
    """
    asked, session = job.request, Session.of(job)
    if asked is None or not asked.complete:
        return None
    with session.experiment(job.experiment) if job.experiment else contextlib.nullcontext():
        return session.submit(asked)
