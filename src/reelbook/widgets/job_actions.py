"""What a panel's buttons do with a job, and how a panel draws one."""

from __future__ import annotations

import contextlib
import inspect
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import traitlets

from reelbook.event_thread import Future
from reelbook.session import Clip, Job, Reconciliation, Session
from reelbook.session.request_code import request_code
from reelbook.wire import RANDOM_SEED

from ..text.card import ShownJob, clip_lines, empty_face, job_face, job_lines, share_done
from .base import Callbacks, Panel
from .static_html import small_poster

TWICE_SECONDS = 1.5  # two presses within this time are one double press


class ActsOnJobs(Panel):
    """Answers the page's `pick`, `mark`, `code`, `stop`, `watch`, `cancel`, `find_out` and `only_me`.

    Each is about one job, which the page calls `key`, except `find_out` and `only_me`, which are about all in
    the panel's `_doubtful`. A handler may take a parameter `job`, the one that the message is about; without
    one it isn't called. A panel implements `_job_of`: a widget's metaclass allows no abstract methods.
    """

    def __init__(self, **traits: Any) -> None:
        self._settled_if_alone: set[Job] = set()
        self._pressed: dict[object, float] = {}
        super().__init__(**traits)

    def _job_of(self, key: object) -> Job | None:
        """The job that the page calls `key`; without a key the opened one, if there is one."""
        raise NotImplementedError  # each panel's own: traitlets' metaclass rules out ABC

    def clip_of(self, key: str) -> Clip | None:
        job = self._job_of(key)
        return None if job is None else job.clip

    def _news_of(self, job: Job) -> None:
        """Called on any thread when the panel, rather than the session, has news of the job."""
        self._live.changed()

    def _call(
        self, handler: Callable[..., Any], content: dict[str, Any], buffers: Sequence[Any]
    ) -> dict[str, Any] | None:
        if "job" not in inspect.signature(handler).parameters:
            return super()._call(handler, content, buffers)
        job = self._job_of(content.get("key"))
        return None if job is None else super()._call(handler, {**content, "job": job}, buffers)

    def _pressed_twice(self, button: object) -> bool:
        """Whether that button was also pressed a moment ago: a double press buys once."""
        now = time.monotonic()
        before, self._pressed[button] = self._pressed.get(button, float("-inf")), now
        return now - before < TWICE_SECONDS

    def _shown(self, job: Job) -> ShownJob:
        """The job as it is now, and what is being found out about it."""
        session = Session.of(job)
        return replace(
            ShownJob.of(job, session.service).on_disk(),
            finding_out=bool(self._doing(job)),
            settled_if_alone=job in self._settled_if_alone,
            kept=session.facts.kept,
        )

    def _on_pick(self, job: Job, picked: Any) -> None:
        job.mark(picked=bool(picked))

    def _on_mark(self, job: Job, request_id: Any, note: Any, tags: Any) -> None:
        known: Job | None = job
        if request_id and job.request_id != request_id:  # the panel shows another clip by now
            known = Session.of(job)._known(request_id)
        if known is not None:
            known.mark(note=note, tags=None if tags is None else tags.split(","))

    def _on_stop(self, job: Job) -> None:
        job.stop_watching()

    def _on_watch(self, job: Job) -> None:
        job.watch()

    def _on_cancel(self, job: Job) -> None:
        if not job.cancel():
            self.say_problem("It was already sent. The job goes on and is billed.")

    def _on_find_out(self, key: Any, *, alone: bool | None = None) -> None:
        jobs = [job for job in self._doubtful(key) if not self._doing(job)]
        if not jobs:
            return
        asked = Session.of(jobs[0])._reconciling(alone=bool(alone))
        for job in jobs:
            self._start_work("Finding out", partial(self._take_verdict, job, asked), name=job)
            self._news_of(job)

    def _on_only_me(self, key: Any) -> None:
        self._on_find_out(key, alone=True)

    def _on_code(self, key: Any, kind: Any) -> dict[str, Any]:
        job = self._job_of(key)
        return {} if job is None or job.request is None else {"text": request_code(job.request, kind)}

    def _doubtful(self, key: Any) -> Sequence[Job]:
        job = self._job_of(key)
        return () if job is None else (job,)

    def _take_verdict(self, job: Job, asked: Future[Reconciliation]) -> None:
        mine = [verdict for verdict in asked.result().verdicts if verdict.job is job]
        if any(verdict.answer == "can't tell" != verdict.if_alone for verdict in mine):
            self._settled_if_alone.add(job)
        else:
            self._settled_if_alone.discard(job)

    def _work_ended(self, name: Hashable) -> None:
        if isinstance(name, Job):
            self._news_of(name)


class OpensOtherPanels(ActsOnJobs):
    """For panels whose Vary and Compare buttons open another panel."""

    on_vary = Callbacks[[Job]]("`callback(job)` is called when Vary is pressed.")
    on_compare = Callbacks[[tuple[Job, ...]]]("`callback(jobs)` is called when Compare is pressed.")

    @property
    def chosen(self) -> tuple[Job, ...]:
        """The selected jobs, in the order of their selection; none where one job is shown."""
        return ()

    def _on_vary(self, job: Job) -> None:
        self.on_vary.tell(job)

    def _on_compare(self) -> None:
        if self.chosen:
            self.on_compare.tell(self.chosen)


class ShowsJob(ActsOnJobs):
    """Draws a job's card: its words, its counting lines, its bar."""

    progress = traitlets.Float(None, allow_none=True, help="From 0 to 1; None: no figure.").tag(sync=True)
    face = traitlets.Dict(help="What the page draws of the job.").tag(sync=True)
    figures: Any = traitlets.List(help="The lines that count on.").tag(sync=True)

    def __init__(self, **traits: Any) -> None:
        super().__init__(face=dict(empty_face()), **traits)

    def _face(self, job: ShownJob) -> Mapping[str, object]:
        return job_face(job)

    def _on_again(self, job: Job, *, another_seed: bool = False) -> None:
        if not self._pressed_twice(job) and (sent := send_again(job, another_seed=another_seed)) is not None:
            self._sent_again(sent)

    def _sent_again(self, job: Job) -> None:
        """Shows the job that "Again" sent, in a panel that offers it."""

    def _on_another(self, job: Job) -> None:
        self._on_again(job, another_seed=True)

    def _draw(self, job: Job | None) -> ShownJob | None:
        """Draws the job, or an empty card, and returns what was drawn."""
        if job is None:
            self.face, self.figures, self.progress = dict(empty_face()), [], None
            return None
        shown, limit = self._shown(job), Session.of(job).facts.requests_limit
        self.face = dict(self._face(shown))
        self.figures = clip_lines(shown.clip) if shown.clip else job_lines(shown.view, requests_limit=limit)
        self.progress = share_done(shown.view, shown.clip)
        return shown


def send_again(job: Job, *, another_seed: bool = False) -> Job | None:
    """Asks once more for the same clip, in the same experiment, and returns the new job.

    `another_seed`: with another seed. Returns None if the request isn't fully known, such as one whose image
    is no longer kept. Raises SpendLimitReached before anything is sent.
    """
    asked, session = job.request, Session.of(job)
    if asked is None or not asked.complete:
        return None
    if another_seed:
        asked = replace(asked, seed=RANDOM_SEED)
    experiment = session.experiment(job.experiment) if job.experiment else contextlib.nullcontext()
    with experiment:
        return session.submit(asked)


def picture_of(job: Job, **size: int) -> bytes:
    """A small JPEG of the job's clip, or else of the image that it is made from; empty without either."""
    if job.clip is not None and job.clip._can_be_read:
        return small_poster(job.clip.poster(), **size)
    image = None if job.request is None else job.request.image
    return small_poster(image.data if image else b"", **size)
