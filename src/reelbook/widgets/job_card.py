"""The live card of one job."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import traitlets

from reelbook.session import Clip, Job, Session

from ..states import state
from ..text.card import RUNNING_STAGE, clip_actions
from .bundle import packed, pressed, style
from .clip_serving import ServesClip
from .job_actions import ShowsJob, send_again
from .static_html import card_still, small_poster


class JobCard(ShowsJob, ServesClip):  # type: ignore[misc] # as in Panel
    """A job's state, progress, time left and cost, and its clip once it is there.

        card = rb.JobCard(session.text_to_video("a red fox in snow", duration_seconds=2))
        traitlets.dlink((card, "state"), (ipywidgets.Label(), "value"))

    `JobCard(job)`; `card.job = another` shows another job, and `JobCard()` is an empty card. Observe or link
    `state` (one word, as in `JobView`; empty without a job) and `progress` (0 to 1, None without a figure).
    "Stop watching" doesn't stop the job: it goes on and is billed.

    A finished clip can be starred. `on_vary(callback)` and `on_compare(callback)` offer Vary and Compare, and
    say what happens then: `callback(job)` and `callback(jobs)`, with the clip and the one made before it.
    """

    _esm = packed("job_card")
    _css = pressed(style("job_card"))

    job = traitlets.Instance(Job, allow_none=True, help="The job shown.")
    state = traitlets.Unicode(help="The job's state in one word.").tag(sync=True)

    def __init__(self, job: Job | None = None, **traits: Any) -> None:
        self._unsubscribe: Callable[[], object] = lambda: None
        self._pictured: object = None
        self._vary_callbacks: list[Callable[[Job], object]] = []
        self._compare_callbacks: list[Callable[[tuple[Job, ...]], object]] = []
        super().__init__(**traits)
        self._endings += (lambda: self._unsubscribe(),)
        self.job = job

    @property
    def session(self) -> Session | None:
        """That of the job; None without one."""
        return None if self.job is None else Session.of(self.job)

    def on_vary(self, callback: Callable[[Job], object]) -> None:
        """`callback(job)` is called when Vary is pressed."""
        self._vary_callbacks.append(callback)
        self.refresh()

    def on_compare(self, callback: Callable[[tuple[Job, ...]], object]) -> None:
        """`callback(jobs)` is called when Compare is pressed, with this clip and the one made before it."""
        self._compare_callbacks.append(callback)
        self.refresh()

    @traitlets.observe("job")
    def _new_job(self, change: Any) -> None:
        self._unsubscribe()
        self._forget_what_was_asked()
        job = change["new"]
        self._unsubscribe = lambda: None
        if job is not None:
            subscriptions = contextlib.ExitStack()
            subscriptions.callback(job.subscribe(self._live.changed))
            subscriptions.callback(Session.of(job).subscribe(self._session_changed))
            self._unsubscribe = subscriptions.close
        self.refresh()

    def _session_changed(self, _: Job | None) -> None:
        if (session := self.session) is not None and session.facts.trouble != self._trouble:
            self._live.changed()

    def update(self) -> None:
        job = self.job
        if job is None:
            with self.hold_sync():
                self._draw_nothing()
                self.state, self.poster, self.live = "", b"", False
            return
        view, clip = job.view(), job.clip
        face = self._face(job, view, clip)
        if clip is not None:
            face["actions"] += clip_actions(
                job.request,
                starred=job.starred,
                compares=bool(self._compare_callbacks),
                varies=bool(self._vary_callbacks),
            )
        with self.hold_sync():
            self._picture(job, clip)
            self.state = view.state
            self._draw(job, face, view, clip)
            self.live = (bool(face["bar"]) and view.watched) or self._busy
        if state(view.state).final and not face["bar"]:
            self.keep_still()

    def clip_path(self, key: str = "") -> Path | None:
        clip = self.job.clip if self.job is not None else None
        return clip.path if clip is not None else None

    def still(self) -> tuple[str, str]:
        self.refresh()
        if self.job is None:
            return f"<div>{RUNNING_STAGE}</div>", RUNNING_STAGE
        face: Any = self.face
        return card_still(face, self.figures, self.poster)

    def still_of(self) -> object:
        return None if self.job is None else (self.job, self.job.state, self.job.clip, self.job.error)

    def _picture(self, job: Job, clip: Clip | None) -> None:
        image = job.request.image if job.request is not None else None
        if (wanted := clip or image) is not self._pictured:
            picture = clip.poster() if clip is not None else image and image.data
            self.poster = small_poster(picture) if picture else b""
            self._pictured = wanted

    def _job(self, _: dict[str, Any]) -> Job | None:
        return self.job

    def _news_of(self, _: Job) -> None:
        self._live.changed()

    def _on_star(self, *_: object) -> None:
        if (job := self.job) is not None:
            job.mark(starred=not job.starred)
            self.refresh()

    def _on_vary(self, *_: object) -> None:
        if (job := self.job) is not None:
            self._call_back("on_vary", self._vary_callbacks, job)

    def _on_compare(self, *_: object) -> None:
        if (job := self.job) is None:
            return
        made = Session.of(job).jobs(state="completed", limit=9)
        before = next((other for other in made if other is not job and other.clip is not None), None)
        if before is None:
            self.say("There is no other clip to compare it with yet. Make a second one.")
            return
        self._call_back("on_compare", self._compare_callbacks, (job, before))

    def _on_again(self, *_: object) -> None:
        job = self.job
        # Only a finished job is repeated. A second press finds the new job, which isn't finished.
        if job is None or job.request is None or not job.request.complete or self.live:
            return
        self.job = send_again(job)
