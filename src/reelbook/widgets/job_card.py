"""The live card of one job."""

import contextlib
from typing import Any

import traitlets

from reelbook.session import Job, Session

from ..states import state
from ..text.card import RUNNING_STAGE, CardFace, ShownJob, clip_actions, job_face
from .bundle import packed
from .clip_serving import ServesClips
from .job_actions import OpensOtherPanels, ShowsJob, picture_of
from .notices import follow
from .static_html import card_still, text_still


class JobCard(OpensOtherPanels, ShowsJob, ServesClips):
    """A job's state, progress, time left and cost, and its clip once it is there.

        card = rb.JobCard(session.text_to_video("a red fox in snow", duration_seconds=2))
        traitlets.dlink((card, "state"), (ipywidgets.Label(), "value"))

    `JobCard(job)`; `card.job = another` shows another job, and `JobCard()` is an empty card. Observe or link
    `state` (one word, as in `JobView`; empty without a job) and `progress` (0 to 1, None without a figure).
    "Stop watching" doesn't stop the job: it goes on and is billed.

    A finished clip can be picked. `on_vary(callback)` and `on_compare(callback)` offer Vary and Compare, and
    say what happens then: `callback(job)` and `callback(jobs)`, with the clip and the one made before it.
    """

    _esm = packed("job_card")

    job = traitlets.Instance(Job, allow_none=True, help="The job shown.")
    state = traitlets.Unicode(help="The job's state in one word.").tag(sync=True)
    poster = traitlets.Bytes(help="A small JPEG of the clip or of the person's image.").tag(sync=True)

    def __init__(self, job: Job | None = None, **traits: Any) -> None:
        self._subscriptions = contextlib.ExitStack()
        self._pictured: object = None
        super().__init__(**traits)
        self._endings += (self._subscriptions.close,)
        self.job = job

    @property
    def session(self) -> Session | None:
        return None if self.job is None else Session.of(self.job)

    @traitlets.observe("job")
    def _new_job(self, change: Any) -> None:
        self._subscriptions.close()
        self._work = {}  # what is found out about the former job isn't shown
        self._settled_if_alone.clear()
        if (job := change["new"]) is not None:
            self._subscriptions.callback(job.subscribe(self._live.changed))
            self._subscriptions.callback(Session.of(job).subscribe(self._session_changed))
            self._subscriptions.callback(follow(Session.of(job)))
        self.refresh()

    def update(self) -> None:
        with self.hold_sync():
            shown, job = self._draw(self.job), self.job
            if (pictured := (job, shown and shown.clip)) != self._pictured:
                self.poster, self._pictured = picture_of(job) if job else b"", pictured
            self.state = "" if shown is None else shown.view.state
            bar = shown is not None and bool(self.face["bar"])
            self.live = (shown is not None and bar and shown.view.watched) or self._busy
        if shown is not None and state(self.state).final and not bar:
            self.keep_still()

    def _face(self, job: ShownJob) -> CardFace:
        face = job_face(job)
        if job.clip is not None:
            face["actions"] += clip_actions(job, compares=bool(self.on_compare), varies=bool(self.on_vary))
        return face

    def still(self) -> tuple[str, str]:
        self.refresh()
        if self.job is None:
            return text_still(RUNNING_STAGE)
        face: Any = self.face
        return card_still(face, self.figures, self.poster)

    def still_of(self) -> object:
        job = self.job
        return job and (job, job.state, job.clip and job.clip.path, str(job.error))

    def _job_of(self, key: object) -> Job | None:
        return self.job

    def _on_compare(self) -> None:
        if (job := self.job) is None:
            return
        made = Session.of(job).jobs(state="completed", limit=9)
        before = next((other for other in made if other is not job and other.clip is not None), None)
        if before is None:
            self.say("There is no other clip to compare it with yet. Make a second one.")
        else:
            self.on_compare.tell((job, before))

    def _on_again(self, job: Job, *, another_seed: bool = False) -> None:
        if not self.live:  # only a finished job is repeated: a second press finds the new one, which isn't
            super()._on_again(job, another_seed=another_seed)

    def _sent_again(self, job: Job) -> None:
        self.job = job
