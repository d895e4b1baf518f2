"""What the buttons of a panel do with a job, and how it draws one."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import traitlets

from reelbook.event_thread import Future
from reelbook.session import Clip, Job, JobView, Reconciliation, Session
from reelbook.session.request_code import request_code
from reelbook.session.session import without_waiting

from ..text.card import CardFace, empty_face, job_face, job_lines, share_done
from .background import WorksInBackground

TWICE_SECONDS = 1.5  # two presses within this time are one double press


class ActsOnJobs(WorksInBackground):
    """Answers the page's `stop`, `watch`, `cancel`, `find_out`, `only_me` and `code`, each about one job.

    `find_out` and `only_me` are about all that a panel's `_doubtful` gives. A panel implements `_job` and
    `_news_of`. They aren't abstract methods only because a widget's metaclass doesn't allow those.
    """

    def __init__(self, **traits: Any) -> None:
        self._word_would_tell: set[Job] = set()
        self._pressed: dict[object, float] = {}
        super().__init__(**traits)

    def _job(self, content: dict[str, Any]) -> Job | None:
        """The job that a message is about, None if the panel doesn't have it."""
        raise NotImplementedError

    def _news_of(self, job: Job) -> None:
        """Called on any thread when there may be news of the job."""
        raise NotImplementedError

    def _twice(self, button: object) -> bool:
        """Whether that button was pressed a moment ago, too: a double press buys once."""
        now = time.monotonic()
        before, self._pressed[button] = self._pressed.get(button, float("-inf")), now
        return now - before < TWICE_SECONDS

    def _forget_what_was_asked(self) -> None:
        """Other jobs are shown from now on; whatever is found out of the former ones isn't shown."""
        self._forget_work()
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
            self.say_problem("It was already sent. The job goes on and is billed.")

    def _on_find_out(self, content: dict[str, Any], _: object) -> None:
        self._find_out(self._doubtful(content), alone=False)

    def _on_only_me(self, content: dict[str, Any], _: object) -> None:
        self._find_out(self._doubtful(content), alone=True)

    def _on_code(self, content: dict[str, Any], _: object) -> None:
        job = self._job(content)
        if job is not None and job.request is not None:
            self._send_code(content, request_code(job.request, content["kind"]))

    def _doubtful(self, content: dict[str, Any]) -> Sequence[Job]:
        """The jobs that are to be found out about."""
        job = self._job(content)
        return () if job is None else (job,)

    def _find_out(self, jobs: Sequence[Job], *, alone: bool) -> None:
        """Asks once for all of them."""
        jobs = [job for job in jobs if not self._doing(job)]
        if not jobs:
            return
        asked = Session.of(jobs[0])._reconciling(alone=alone)
        for job in jobs:
            self._start_work("Finding out", functools.partial(self._take_verdict, job, asked), name=job)
            self._news_of(job)
        self.refresh()

    def _take_verdict(self, job: Job, asked: Future[Reconciliation]) -> None:
        mine = [verdict for verdict in asked.result().verdicts if verdict.job is job]
        if any(verdict.answer == "can't tell" != verdict.if_alone for verdict in mine):
            self._word_would_tell.add(job)
        else:
            self._word_would_tell.discard(job)

    def _work_ended(self, name: Hashable) -> None:
        if isinstance(name, Job):
            self._news_of(name)


class ShowsJob(ActsOnJobs):
    """Draws the card of a job: what stands on it, its lines that count, its bar."""

    progress = traitlets.Float(None, allow_none=True, help="From 0 to 1; None: no figure.").tag(sync=True)
    face = traitlets.Dict(help="What the page draws of the job.").tag(sync=True)
    figures: traitlets.List[Any] = traitlets.List(help="The lines that count on.").tag(sync=True)

    _empty_face: Callable[[], CardFace] = staticmethod(empty_face)

    def __init__(self, **traits: Any) -> None:
        super().__init__(face=dict(self._empty_face()), **traits)

    def _face(self, job: Job, view: JobView, clip: Clip | None) -> CardFace:
        """What the page draws of the job in that view."""
        session = Session.of(job)
        return job_face(
            view,
            job.request,
            request_id=job.request_id,
            clip=clip,
            service=session.service,
            prompt=job.prompt,
            finding_out=bool(self._doing(job)),
            word_would_tell=job in self._word_would_tell,
            kept=session.facts.kept,
        )

    def _draw(self, job: Job, face: CardFace, view: JobView, clip: Clip | None) -> None:
        self.face = dict(face)
        self.figures = job_lines(view, clip, requests_limit=Session.of(job).facts.requests_limit)
        self.progress = share_done(view, clip)

    def _draw_nothing(self) -> None:
        self.face, self.figures, self.progress = dict(self._empty_face()), [], None


def send_again(job: Job) -> Job | None:
    """Asks once more for the same clip, in the same experiment, and returns the new job.

    None where the request isn't known in full: the ledger keeps no image of an earlier kernel's request.
    Raises SpendLimitReached before anything is sent.
    """
    asked, session = job.request, Session.of(job)
    if asked is None or not asked.complete:
        return None
    experiment = session.experiment(job.experiment) if job.experiment else contextlib.nullcontext()
    with experiment, without_waiting():
        return session.submit(asked)
