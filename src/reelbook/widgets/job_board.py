"""The board of many jobs. `reelbook.text` composes a row, `board_rows` knows what the page has of it."""

from __future__ import annotations

import asyncio
import queue
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import traitlets

from reelbook import wire
from reelbook.session import Batch, Job, Session

from .. import text as words
from .base import session_of
from .board_rows import BoardEntry, PageState, Rows
from .bundle import packed, pressed, style
from .clip_serving import ServesClips
from .job_actions import TWICE_SECONDS, ActsOnJobs, send_again
from .live import Live
from .static_html import board_html

RECENT = 50
LOOK_EVERY_SECONDS = 0.2
STILL_ROWS = 12
STILL_PICTURES = 5
THUMB_SIDE, THUMB_BYTES = 160, 2_500


class JobBoard(ActsOnJobs, ServesClips):  # type: ignore[misc] # as in Panel
    """The running and recent jobs of a session, newest first and grouped by experiment.

    `JobBoard(session)` shows the running jobs, the `limit` newest ones of earlier kernels, and every job that
    any cell or panel submits later. `JobBoard(jobs=batch)` shows only those of the batch. Without a session
    it takes `reelbook.connect()`. Jobs of earlier kernels are shown but not watched; "Watch again" resumes
    one.

    A row opens to its clip, its details and its actions. Observe, link or set `selected`, the request ids of
    the selected rows (open one and press Select, or hold Ctrl and click). `jobs` are the jobs shown, and
    `await board.done()` waits until none of them runs any more::

        board, player = rb.JobBoard(session), ipywidgets.VBox()

        def play(change):
            chosen = [job for job in board.jobs if job.request_id in change["new"] and job.clip]
            player.children = [rb.Player(job.clip) for job in chosen[:2]]

        board.observe(play, "selected")
        ipywidgets.VBox([board, player])
    """

    _esm = packed("job_board")
    _css = pressed(style("job_board"))

    selected = traitlets.List(traitlets.Unicode(), help="Request ids of the chosen rows.").tag(sync=True)
    opened = traitlets.Unicode(help="The open row, by the page's key; empty: none.").tag(sync=True)
    progress = traitlets.Float(None, allow_none=True, help="Of the open row, 0 to 1.").tag(sync=True)
    face = traitlets.Dict(help="What the page draws in the open row.").tag(sync=True)
    figures: traitlets.List[Any] = traitlets.List(help="The open row's counting lines.").tag(sync=True)

    def __init__(
        self,
        session: Session | None = None,
        *,
        jobs: Sequence[Job] | None = None,
        limit: int = RECENT,
        **traits: Any,
    ) -> None:
        if session is None and jobs:
            session = Session.of(jobs[0])
        self.session = session = session_of(self, session)
        self.limit = limit
        self._given = jobs
        self._rows = Rows()
        self._news: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._head, self._groups = PageState(), PageState()
        self._page = self._waited = False
        self._pressed: dict[Job, float] = {}
        self._on_creates: list[Callable[[], object]] = []
        self._spent = ""
        self._live = Live(self._refresh_from_thread)
        super().__init__(face=dict(words.empty_face()), **traits)
        sessions = {session, *(Session.of(job) for job in jobs or ())}
        self._endings = (self._live.close, *(each.subscribe(self._told) for each in sessions))
        with self._sending:
            self._look_up()
        self.refresh()

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The jobs shown, newest first."""
        return tuple(entry.job for entry in self._rows)

    def on_create(self, callback: Callable[[], object]) -> None:
        """`callback()` is called when "Make your first clip" is pressed, the button of an empty board.

        The button is there only if it has a callback.
        """
        self._on_creates.append(callback)
        self.refresh()

    async def done(self) -> None:
        """Waits until none of the jobs shown is running any more, including those that come meanwhile.

        The page is updated meanwhile, even where it can only be reached while a cell runs (Colab). Each job's
        `clip` and `error` tell how it ended. Stop ends the waiting, never a job.
        """
        while True:
            self.refresh()
            if not any(job.running for job in self.jobs):
                return
            await asyncio.sleep(LOOK_EVERY_SECONDS)

    def update(self) -> None:
        """Sends the page what changed since the last time, in one message."""
        now, facts = time.monotonic(), self.session.facts
        waits = facts.requests_back_in_seconds is not None
        changed = self._changed()
        if waits != self._waited:
            changed |= {entry for entry in self._rows if entry.unsent}
            self._waited = waits
        for entry in changed:
            entry.update()
        opened = self._opened()
        running = any(job.running for job in self.jobs)
        with self.hold_sync():
            if opened is None:
                self.face, self.figures, self.progress = dict(words.empty_face()), [], None
            elif opened in changed or not self.face.get("word"):
                self._open(opened.job)
            # The key's requests come back with time, which nothing announces: in Colab the page has to ask.
            scarce = facts.requests_left < facts.requests_limit
            self.live = running or self._busy or (self.asks and scarce)
        if scarce:
            self._live.changed_in(facts.requests_back_in_seconds or 3.0)
        if self._page:
            self._send_news(now, changed)
        if not running and opened is None:
            self.keep_still()

    def clip_path(self, key: str = "") -> Path | None:
        job = self._rows.by_key(key or self.opened)
        return job.clip.path if job is not None and job.clip is not None else None

    def clip_poster(self, key: str) -> bytes:
        job = self._rows.by_key(key)
        return b"" if job is None else _thumb(job)

    def still(self) -> tuple[str, str]:
        """The newest rows, a few of them with a small picture."""
        self.refresh()
        head = self._head_words()
        text = " · ".join(filter(None, [head["count"], head["states"], head["money"], head["mark"]]))
        if not len(self._rows):
            text = head["empty"]
        rows, pictures = [], 0
        for entry in list(self._rows)[:STILL_ROWS]:
            picture = _thumb(entry.job) if pictures < STILL_PICTURES and entry.job.clip is not None else b""
            pictures += bool(picture)
            rows.append((entry.row, picture))
        more = max(0, len(self._rows) - STILL_ROWS)
        return board_html(text, rows, f"and {more} more" if more else ""), text

    def still_of(self) -> object:
        return [(entry.row["word"], entry.job.clip) for entry in self._rows]

    def _look_up(self) -> None:
        """Looks up the jobs to be shown; those that are on the board already keep their place."""
        if self._given is not None:
            found: Iterable[Job] = self._given
        elif self.session.closed:
            return
        else:
            recent = self.session.jobs(limit=self.limit) if self.limit > 0 else ()
            found = dict.fromkeys([*reversed(recent), *self.session.running])
        for job in found:
            if job not in self._rows:
                self._rows.add(job)

    def _told(self, job: Job | None) -> None:
        self._news.put(job)
        self._live.changed()

    def _changed(self) -> set[BoardEntry]:
        """The entries with news."""
        changed = set()
        for _ in range(self._news.qsize()):
            job = self._news.get_nowait()
            if job is None:
                self._spent = ""
            elif job in self._rows or self._given is None:
                changed.add(self._rows.add(job))
                self._spent = ""
        return changed

    def _send_news(self, now: float, changed: set[BoardEntry]) -> None:
        chosen = set(self.selected)
        newest_first = sorted(changed, key=lambda entry: -entry.order)
        said = (entry.news(now, chosen=(entry.job.request_id or "") in chosen) for entry in newest_first)
        rows = [news for news in said if news]
        facts = self.session.facts
        lines = {"requests": words.requests_words(facts), "wait": words.wait_words(facts)}
        message = self._head.news(now, self._head_words(), lines)
        if rows:
            message["rows"] = rows
        headings = {name: words.heading_words(name, found) for name, found in self._rows.groups().items()}
        if headings.keys() - {""} and (groups := self._groups.news(now, headings, {})):
            message["groups"] = groups
        if message:
            self.send({"name": "rows", **message})

    def _head_words(self) -> dict[str, Any]:
        tallies = [entry.tally for entry in self._rows]
        whole = self._given is None
        create = whole and bool(self._on_creates)
        return {
            "count": words.count_words(tallies) if tallies else "",
            "states": words.kind_words(tallies),
            "money": self._money_words(),
            "note": (self._given.stopped if isinstance(self._given, Batch) else None) or "",
            "empty": "" if tallies else words.empty_words(whole_session=whole, can_create=create),
            "create": words.CREATE if create and not tallies else "",
            "mark": "sandbox" if self.session.service == "sandbox" else "",
        }

    def _money_words(self) -> str:
        if self._given is not None:
            return words.sum_words(entry.tally for entry in self._rows)
        if not self._spent and not self.session.closed:
            spend = self.session.spending().of_key
            limit = self.session.facts.max_spend_usd
            self._spent = words.spent_words(spend.spent_usd, spend.uncertain_usd, limit)
        return self._spent

    def _opened(self) -> BoardEntry | None:
        job = self._rows.by_key(self.opened)
        return None if job is None else self._rows.of(job)

    def _open(self, job: Job) -> None:
        view, clip = job.view(), job.clip
        face = self._face(job, view, clip)
        if job.request_id:
            label = "Deselect" if job.request_id in self.selected else "Select"
            face["actions"] = [*face["actions"], ["select", label]]
        self.face = dict(face)
        self.figures = words.job_lines(view, clip, requests_limit=Session.of(job).facts.requests_limit)
        fetching = view.state == wire.COMPLETED and clip is None
        self.progress = view.download if fetching else view.progress

    @traitlets.observe("selected", "opened")
    def _view_changed(self, change: Any) -> None:
        changed = set(change["new"]) ^ set(change["old"]) if change["name"] == "selected" else set()
        for entry in self._rows:
            if entry.key == self.opened or entry.job.request_id in changed:
                self._news.put(entry.job)
        self.refresh()

    def _on_hello(self, *args: object) -> None:
        with self._sending, self.updating("Looking for the jobs"):
            self._page = True
            self._look_up()
            for each in (self._head, self._groups, *(entry.page for entry in self._rows)):
                each.forget()
            for entry in self._rows:
                self._news.put(entry.job)
        super()._on_hello(*args)

    def _on_ask(self, *args: object) -> None:
        super()._on_ask(*args)
        if self.asks:  # it may have changed while the page couldn't be reached
            self.send_state("live")

    def _on_open(self, content: dict[str, Any], _: object) -> None:
        key = str(content.get("key", ""))
        with self._sending, self.hold_sync():  # with its face, which tells the page how large it is
            self.opened = "" if key == self.opened or self._rows.by_key(key) is None else key

    def _on_create(self, *_: object) -> None:
        for callback in self._on_creates:
            callback()

    def _on_select(self, content: dict[str, Any], _: object) -> None:
        job = self._job(content)
        if job is None or job.request_id is None:
            return
        chosen = [each for each in self.selected if each != job.request_id]
        self.selected = chosen if len(chosen) < len(self.selected) else [*chosen, job.request_id]

    def _on_again(self, content: dict[str, Any], _: object) -> None:
        job = self._job(content)
        if job is None or time.monotonic() - self._pressed.get(job, float("-inf")) < TWICE_SECONDS:
            return
        sent = send_again(job)
        if sent is not None:
            self._pressed[job] = time.monotonic()
            with self._sending, self.hold_sync():
                self.opened = self._rows.add(sent).key

    def _job(self, content: dict[str, Any]) -> Job | None:
        return self._rows.by_key(str(content.get("key", "")))

    def _news_of(self, job: Job) -> None:
        self._told(job)


def _thumb(job: Job) -> bytes:
    """A small JPEG of the job's clip, or of the image that it is made from; empty without either."""
    from reelbook.media.images import thumbnail

    if job.clip is not None:
        return thumbnail(job.clip.poster(), max_side=THUMB_SIDE, max_bytes=THUMB_BYTES)
    if job.request is not None and job.request.image is not None:
        return thumbnail(job.request.image.data, max_side=THUMB_SIDE, max_bytes=THUMB_BYTES)
    return b""
