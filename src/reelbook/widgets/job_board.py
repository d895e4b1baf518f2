"""The board of many jobs, of which only changes are sent. `reelbook.text.board` composes a row."""

import asyncio
import html
import time
from collections.abc import Iterable, Sequence
from typing import Any

import traitlets

from reelbook.session import Batch, Job, JobView, Session

from ..formatting import count, plain
from ..text import board as words
from ..text.card import CardFace, ShownJob, job_face
from .base import Callbacks, session_of
from .bundle import packed
from .clip_serving import ServesClips
from .job_actions import ShowsJob, picture_of
from .live import PageState
from .notices import follow
from .static_html import picture_html, table_html, text_html

RECENT = 50
LOOK_EVERY_SECONDS = 0.2
STILL_ROWS = 12
STILL_PICTURES = 5
THUMB = {"max_side": 160, "max_bytes": 2_500}


class BoardEntry:
    """A job on the board. `number` grows with each newer job."""

    def __init__(self, job: Job, number: int) -> None:
        self.job = job
        self.number = number
        self.key = str(number)  # how the page calls the job
        self.update()

    def update(self) -> None:
        shown = ShownJob.of(self.job).on_disk()
        self.row, self.view, self.clip = words.board_row(shown), shown.view, shown.clip

    def news(self, page: PageState, now: float, *, chosen: bool) -> dict[str, Any]:
        """What the page doesn't have yet: its key and what changed, or nothing."""
        image = self.job.request is not None and self.job.request.image
        values: dict[str, Any] = {
            "order": self.number,
            "group": self.job.experiment or "",
            **self.row,
            "picture": f"{self.key}c" if self.clip else f"{self.key}i" if image else "",
            "chosen": chosen,
        }
        changed = page.news(now, values, {"time": values.pop("time")}, of=self.key)
        return {"key": self.key, **changed} if changed else {}


class JobBoard(ShowsJob, ServesClips):
    """The running and recent jobs of a session, newest first and grouped by experiment.

    `JobBoard(session)` shows the running jobs, the `limit` newest ones of earlier kernels, and every job that
    any cell or panel submits later. `JobBoard(jobs=batch)` shows only those of the batch. Without a session
    it takes `reelbook.connect()`. Jobs of earlier kernels aren't watched; "Watch again" resumes one.

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

    selected = traitlets.List(traitlets.Unicode(), help="Request ids of the chosen rows.").tag(sync=True)
    opened = traitlets.Unicode(help="The open row, by the page's key; empty: none.").tag(sync=True)

    on_create = Callbacks[[]]('`callback()` is called when "Make your first clip" is pressed.')

    _sends_news = True

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
        self._entries: dict[Job, BoardEntry] = {}  # the last one added is the newest
        self._by_key: dict[str, BoardEntry] = {}
        self._waited = False
        self._spent = ""
        super().__init__(**traits)
        sessions = {session, *(Session.of(job) for job in jobs or ())}
        self._endings += tuple(each.subscribe(self._news_of) for each in sessions)
        with self._sending:
            self._look_up()
        self.refresh()
        self._endings += (follow(session),)

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The jobs shown, newest first."""
        return tuple(entry.job for entry in self._rows())

    async def done(self) -> None:
        """Waits until none of the jobs shown is running any more, including those added meanwhile.

        The page is updated meanwhile, even if it can only be reached while a cell runs (Colab). Each job's
        `clip` and `error` tell how it ended. Stop ends the waiting, never a job.
        """
        while True:
            self.refresh()
            if not any(job.running for job in self.jobs):
                return
            await asyncio.sleep(LOOK_EVERY_SECONDS)

    def update(self) -> None:
        now, facts = time.monotonic(), self.session.facts
        waits = facts.requests_back_in_seconds is not None
        changed = self._changed()
        if waits != self._waited:
            changed |= {entry for entry in self._rows() if words.kind(entry.view) == "waiting"}
            self._waited = waits
        for entry in changed:
            entry.update()
        opened = self._by_key.get(self.opened)
        running = any(job.running for job in self.jobs)
        with self.hold_sync():
            if opened is None or opened in changed or not self.face.get("word"):
                self._draw(None if opened is None else opened.job)
            # The key's requests come back with time, which nothing announces: in Colab the page has to ask.
            scarce = facts.requests_left < facts.requests_limit
            self.live = running or self._busy or (self.asks and scarce)
        if scarce:
            self._live.changed_in(facts.requests_back_in_seconds or 3.0)
        if self._page.open:
            self._send_news(now, changed)
        if not running and opened is None:
            self.keep_still()

    def clip_poster(self, key: str) -> bytes:
        job = self._job_of(key)
        return b"" if job is None else picture_of(job, **THUMB)

    def still(self) -> tuple[str, str]:
        self.refresh()
        head = self._head_words()
        text = " · ".join(filter(None, [head["count"], head["states"], head["money"], self.mark]))
        if not self._entries:
            text = head["empty"]
        rows, pictures = [], 0
        for entry in self._rows()[:STILL_ROWS]:
            drawn = pictures < STILL_PICTURES and entry.job.clip is not None
            picture = picture_of(entry.job, **THUMB) if drawn else b""
            pictures += drawn
            row = entry.row
            what = f"{html.escape(row['prompt'])}<br><small>{html.escape(row['about'])}</small>"
            texts = (row["word"], plain(row["time"]), row["money"])
            rows.append([picture_html(picture, 'width="72"'), what, *map(html.escape, texts)])
        more = len(self._entries) - STILL_ROWS
        table = table_html(rows) if rows else ""
        return f"{text_html(text)}{table}{text_html(f'and {more} more' if more > 0 else '')}", text

    def still_of(self) -> object:
        # Not the clip itself: it is another object once the job is looked up in the ledger again.
        return [(entry.row["word"], entry.job.clip and entry.job.clip.path) for entry in self._rows()]

    def _rows(self) -> list[BoardEntry]:
        """Newest first; an entry added meanwhile is left out."""
        return list(self._entries.values())[::-1]

    def _add(self, job: Job) -> BoardEntry:
        """The job's entry, made if need be. On one thread at a time."""
        if job not in self._entries:
            entry = BoardEntry(job, len(self._entries))
            self._entries[job] = self._by_key[entry.key] = entry
        return self._entries[job]

    def _job_of(self, key: object) -> Job | None:
        entry = self._by_key.get(str(key or self.opened).rstrip("ci"))  # a picture's name is a key, too
        return None if entry is None else entry.job

    def _look_up(self) -> None:
        if self._given is not None:
            found: Iterable[Job] = self._given
        elif self.session.closed:
            return
        else:
            recent = self.session.jobs(limit=self.limit) if self.limit > 0 else ()
            found = dict.fromkeys([*reversed(recent), *self.session.running])
        for job in found:
            self._add(job)

    def _news_of(self, job: Job | None) -> None:
        self._live.add_news(job)

    def _changed(self) -> set[BoardEntry]:
        jobs = [job for job in self._live.take_news() if job is not None]
        return {self._add(job) for job in jobs if job in self._entries or self._given is None}

    def _send_news(self, now: float, changed: set[BoardEntry]) -> None:
        chosen = set(self.selected)
        newest_first = sorted(changed, key=lambda entry: -entry.number)
        said = (
            entry.news(self._page, now, chosen=(entry.job.request_id or "") in chosen)
            for entry in newest_first
        )
        rows = [news for news in said if news]
        facts = self.session.facts
        lines = {"requests": words.requests_words(facts), "wait": words.wait_words(facts)}
        message = self._page.news(now, self._head_words(), lines)
        if rows:
            message["rows"] = rows
        groups: dict[str, list[JobView]] = {}  # by experiment
        for entry in self._rows():
            groups.setdefault(entry.job.experiment or "", []).append(entry.view)
        headings = {name: words.heading_words(name, found) for name, found in groups.items()}
        if headings.keys() - {""} and (new := self._page.news(now, headings, {}, of="groups")):
            message["groups"] = new
        if message:
            self.send({"name": "rows", **message})

    def _head_words(self) -> dict[str, Any]:
        views = [entry.view for entry in self._rows()]
        whole = self._given is None
        create = whole and bool(self.on_create)
        if not whole:
            self._spent = words.sum_words(views)
        elif not self.session.closed:
            limit = self.session.facts.max_spend_usd
            self._spent = words.spent_words(self.session.spending().of_key, limit)
        return {
            "count": count(len(views), "clip") if views else "",
            "states": words.kind_words(views),
            "money": self._spent,
            "note": (self._given.stopped if isinstance(self._given, Batch) else None) or "",
            "empty": "" if views else words.empty_words(whole_session=whole, can_create=create),
            "create": words.CREATE if create and not views else "",
        }

    def _face(self, job: ShownJob) -> CardFace:
        face = job_face(job)
        if job.request_id:
            label = "Deselect" if job.request_id in self.selected else "Select"
            face["actions"] = [*face["actions"], ["select", label]]
        return face

    @traitlets.observe("selected", "opened")
    def _view_changed(self, _: object) -> None:
        for job in self.jobs:
            self._live.add_news(job)
        self.refresh()

    def _on_hello(self) -> None:
        with self._sending, self.updating("Looking for the jobs"):
            super()._on_hello()
            self._look_up()
            for job in self.jobs:
                self._live.add_news(job)

    def _on_open(self, key: Any) -> None:
        with self._sending, self.hold_sync():  # with its face, which tells the page how large it is
            self.opened = key if key != self.opened and key in self._by_key else ""

    def _on_create(self) -> None:
        self.on_create.tell()

    def _on_select(self, job: Job) -> None:
        if job.request_id is not None:
            chosen = [each for each in self.selected if each != job.request_id]
            self.selected = chosen if len(chosen) < len(self.selected) else [*chosen, job.request_id]

    def _sent_again(self, job: Job) -> None:
        with self._sending, self.hold_sync():
            self.opened = self._add(job).key
