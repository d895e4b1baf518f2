"""The gallery of the ledger: pages of tiles, one opened clip, picks, notes and tags."""

from __future__ import annotations

import html
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import traitlets

from reelbook import wire
from reelbook.ledger.search import ALL_ENTRIES, Filter
from reelbook.session import Job, Session
from reelbook.session.export import export

from ..text import gallery as words
from ..text.board import CREATE, empty_words
from ..text.card import ShownJob
from ..text.compare import differing
from .base import Callbacks, session_of
from .bundle import packed
from .clip_serving import ServesClips
from .compare import MOST as MOST_COMPARED
from .job_actions import OpensOtherPanels, ShowsJob
from .static_html import figure_html, picture_html, small_poster, text_html

PAGE = 60
FILTERS = ("text", "state", "picked", "sweep", "where", "tag", "experiment", "mode", "days")
SWEEPS = 50  # to choose from
STILL_TILES, STILL_BYTES = 4, 3_000


@dataclass(frozen=True)
class Groups:
    """A sweep's clips by the values of one axis: their headings, and what each entry's tile says besides."""

    heads: Sequence[tuple[str, str]] = ()
    tiles: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def by(cls, session: Session, sweep: str, axis: str) -> Groups:
        """The groups of the axis, each counted over all its finished clips."""
        cells = session._ledger.sweeps.cells(int(sweep))
        entries = {cell.number: cell.entry for cell in cells if cell.entry is not None}
        heads, tiles = list[tuple[str, str]](), dict[int, Mapping[str, Any]]()
        for at, (label, numbers) in enumerate(session._ledger.sweeps.axes(sweep).get(axis, {}).items()):
            mine = [entries[number] for number in sorted(numbers) if number in entries]
            done = [entry for entry in mine if entry.state == wire.COMPLETED]
            picked = sum(each.marks.picked for each in done)
            heads.append((label, f"{picked or 'none'} picked of {len(done)}"))
            prompts = differing([entry.prompt for entry in mine])
            for entry, runs in zip(mine, prompts, strict=True):
                tiles[entry.id] = {"group": at, "runs": runs}
        return cls(heads, tiles)


class SearchResults:
    """What a search finds in a session's ledger, looked up page by page."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._filters: Mapping[str, Any] = {}
        self.jobs: list[Job] = []
        self.here: set[Job] = set()  # the same jobs, for look-ups
        self.known: dict[str, Job] = {}  # by the page's keys, those of earlier searches too
        self.more = True

    def search(self, filters: Mapping[str, Any], upto: int) -> None:
        """Starts a new search, with the arguments of `Session.jobs`, and looks up its first jobs."""
        self._filters = filters
        self.jobs, self.here, self.more = [], set(), True
        self.load(upto)

    def load(self, upto: int) -> None:
        """Looks up more jobs, until there are `upto` of them or no more."""
        while self.more and len(self.jobs) < upto and not self._session.closed:
            after = self.jobs[-1] if self.jobs else None
            found = self._session.jobs(limit=PAGE, after=after, **self._filters)
            self.more = len(found) == PAGE
            self.jobs += [job for job in found if job not in self.here]
            self._keep(*found)

    def take_in(self) -> None:
        """Inserts the jobs of the first page that weren't found before."""
        if self._session.closed:
            return
        for place, job in enumerate(self._session.jobs(limit=PAGE, **self._filters)):
            if job not in self.here:
                self.jobs.insert(place, job)
                self._keep(job)
        # There new jobs come last, and are looked up as the rest is.
        self.more = self.more or self._filters.get("sort") == "oldest"

    def by_id(self, request_id: str) -> Job | None:
        """The job with that request id, if any search here found it."""
        return next((job for job in self.known.values() if job.request_id == request_id), None)

    def _keep(self, *jobs: Job) -> None:
        self.here.update(jobs)
        self.known |= {str(job.number): job for job in jobs}


class Gallery(OpensOtherPanels, ShowsJob, ServesClips):
    """All clips of the account, including those of earlier kernels: search, filter, mark, compare, export.

    `Gallery(session)`; without a session it takes `reelbook.connect()`. Observe, link or set the filters
    `text` (every word begins a word of the prompt or of the note), `state` ("completed", "under way",
    "failed", "uncertain", "any"), `picked`, `sweep` (its id) with `where` ({"place": "snow"}) and, for
    groups, `group_by` ("place"), `tag`, `experiment`, `mode`, `days` (the last so many; 0: any time) and
    `sort` ("newest", "oldest", "costliest"); `selected`, the request ids of the selected clips; `opened`, the
    one of the opened clip. `jobs` are the jobs found so far, `chosen` the selected ones.

    In the grid the arrow keys move, Enter opens, Space selects (Shift with an arrow selects the next tile,
    too; Ctrl+A selects all that are loaded), "p" picks, Escape closes. A click opens; Ctrl or Shift with a
    click selects, as does the box in a tile's corner.

    `on_vary(callback)`, `on_compare(callback)`, `on_create(callback)` and `on_job(callback)` say what happens
    at "Vary…", at "Compare", at "Make your first clip" and after "Again". The first three buttons are there
    only if they have a callback::

        gallery, place = rb.Gallery(session), ipywidgets.VBox()
        gallery.on_compare(lambda jobs: setattr(place, "children", [rb.Compare(jobs)]))
        ipywidgets.VBox([gallery, place])
    """

    _esm = packed("gallery")

    text = traitlets.Unicode(help="Words looked for.").tag(sync=True)
    state = traitlets.Enum(tuple(words.STATES), "completed", help="What became of it.").tag(sync=True)
    picked = traitlets.Bool(help="Only what is picked.").tag(sync=True)
    sweep = traitlets.Unicode(help="Only of this sweep, by its id; empty: any.").tag(sync=True)
    where = traitlets.Dict(help="Only with these values of the sweep's axes.").tag(sync=True)
    group_by = traitlets.Unicode(help="The axis that the groups are by; empty: none.").tag(sync=True)
    tag = traitlets.Unicode(help="Only with this tag; empty: any.").tag(sync=True)
    experiment = traitlets.Unicode(help="Only of this experiment; empty: any.").tag(sync=True)
    mode = traitlets.Enum(tuple(words.MODES), "", help="Only of this mode; empty: any.").tag(sync=True)
    days = traitlets.Int(0, min=0, help="Only of this many last days; 0: any time.").tag(sync=True)
    sort = traitlets.Enum(tuple(words.SORTS), "newest").tag(sync=True)
    selected = traitlets.List(traitlets.Unicode(), help="Request ids of the selected clips.").tag(sync=True)
    opened = traitlets.Unicode(help="Request id of the opened clip; empty: none.").tag(sync=True)
    choices = traitlets.Dict(words.CHOICES, help="What can be chosen, and what is offered.").tag(sync=True)

    on_create = Callbacks[[]]('`callback()` is called when "Make your first clip" is pressed.')
    on_job = Callbacks[[Job]]('`callback(job)` is called for every job that "Again" sends.')

    _sends_news = True

    def __init__(self, session: Session | None = None, **traits: Any) -> None:
        self.session = session = session_of(self, session)
        self._found = SearchResults(session)
        self._turn = 0  # counts the searches that a person made
        self._tiles: dict[Job, dict[str, Any]] = {}  # those that the page has
        self._still_setting = False
        self._open_job: Job | None = None
        self._groups = Groups()
        opened = traits.pop("opened", "")
        super().__init__(**traits)
        self._endings += (session.subscribe(self._live.add_news),)
        self._look_up()
        self.opened = opened  # only now, because it has to be among those found
        self._offer()

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The jobs found so far, in order; more are looked up as somebody scrolls."""
        return tuple(self._found.jobs)

    @property
    def chosen(self) -> tuple[Job, ...]:
        found = map(self._found.by_id, self.selected)
        return tuple(job for job in found if job is not None)

    def export(self, path: str | os.PathLike[str] | None = None) -> Path:
        """Writes the selected clips and their settings (CSV and JSON) into a zip and returns where it is.

        `path` is a file or a folder, by default the working folder. Raises InvalidInput if nothing is
        selected, the folder doesn't exist or the file does, and ReelbookError if it can't be written.
        """
        return export(self.chosen, path).path

    def look_at(self, job: Job) -> None:
        """Opens a clip, even one that the filters exclude."""
        self._found.known[str(job.number)] = job
        self._open(job)

    def update(self) -> None:
        changed = [job for job in self._live.take_news() if job is not None]
        if changed:
            self._group()
        states = words.STATES[self.state][1]
        if any(job not in self._found.here and (states is None or job.state in states) for job in changed):
            if self.group_by:
                self._look_up()
            else:
                self._found.take_in()
        self._send_news(changed)
        if bool(self.on_compare) != bool(self.choices.get("compare")):
            self._offer()
        with self.hold_sync():
            self._draw(self._open_job)
            self.live = not self.session.closed and bool(self.session.running)

    def still(self) -> tuple[str, str]:
        said = self._said()
        text = said["count"] or said["nothing"]
        page, look = text_html(text), "display:inline-block;vertical-align:top;width:200px;margin:8px 8px 0 0"
        for job in [job for job in self._found.jobs if job.clip is not None][:STILL_TILES]:
            tile, poster = self._tile(job), self.clip_poster(str(job.number))
            picture = picture_html(small_poster(poster, max_side=200, max_bytes=STILL_BYTES), "")
            caption = " · ".join((tile["prompt"], tile["about"], tile["money"]))
            page += figure_html(picture, html.escape(caption), look)
        return page, f"Gallery: {text}"

    def _filters(self) -> dict[str, Any]:
        plain = ("picked", "sweep", "tag", "experiment", "mode", "sort")
        return {name: getattr(self, name) or None for name in plain} | {
            "text": self.text.strip() or None,
            "state": words.STATES[self.state][1],
            "where": {axis: value for axis, value in self.where.items() if value},
            "since": time.time() - self.days * wire.DAY_SECONDS if self.days else None,
        }

    def _look_up(self) -> None:
        self._group()
        groups = self._groups
        self._tiles.clear()
        self._found.search(self._filters(), ALL_ENTRIES if groups.heads else PAGE)
        if groups.heads:
            self._found.jobs.sort(key=lambda job: groups.tiles.get(job.entry_id or 0, {}).get("group", 0))

    def _group(self) -> None:
        if not self.session.closed:
            wanted = self.sweep and self.group_by
            self._groups = Groups.by(self.session, self.sweep, self.group_by) if wanted else Groups()

    @traitlets.observe("sweep")
    def _another_sweep(self, _: object) -> None:
        """Drops choices that aren't axes of the new sweep."""
        with self.showing_errors("The search"):
            known = self._axes()
            self.where = {axis: value for axis, value in self.where.items() if axis in known}
            self.group_by = self.group_by if self.group_by in known else ""

    @traitlets.observe(*FILTERS, "group_by", "sort")
    def _search(self, _: object = None) -> None:
        if self._still_setting:
            return
        with self._sending, self.showing_errors("The search"):
            self._turn += 1
            self._look_up()
            self._send_news()
            self._offer()

    def _face(self, job: ShownJob) -> dict[str, Any]:
        assert self._open_job is not None
        return words.opened_face(job, str(self._open_job.number), can_vary=bool(self.on_vary))

    def _tile(self, job: Job) -> dict[str, Any]:
        tile = words.tile(ShownJob.of(job), str(job.number))
        return {**tile, **self._groups.tiles.get(job.entry_id or 0, {})}

    def _said(self) -> dict[str, Any]:
        count, more = len(self._found.jobs), self._found.more
        filtered = any(getattr(self, name) != self.trait_defaults(name) for name in FILTERS)
        create, groups = bool(self.on_create), self._groups
        nothing = words.NO_MATCH if filtered else empty_words(whole_session=True, can_create=create)
        of: int | None = None  # without the filters; of the sweep, if one is chosen
        if filtered and not self.session.closed:
            sweep = int(self.sweep) if self.sweep.isdecimal() else None
            of = self.session._ledger.count(Filter(state=words.STATES[self.state][1], sweep=sweep))
        return {
            "more": more,
            "count": words.found_words(count, more=more, of=of) if count else "",
            "nothing": "" if count or groups.heads else nothing,
            "groups": [list(head) for head in groups.heads],
            "filtered": filtered,
            "create": CREATE if create and not filtered else "",
        }

    def _send_news(self, told: Sequence[Job] = ()) -> None:
        """Sends the page the tiles that are new or were `told` to have changed, and what else is new."""
        if not self._page.open:
            return
        found = self._found.jobs
        drawn = {job: self._tile(job) for job in found if job in told or job not in self._tiles}
        tiles = {job: tile for job, tile in drawn.items() if tile != self._tiles.get(job)}
        self._tiles |= tiles
        order = [str(job.number) for job in found]
        message = self._page.news(0.0, {"turn": self._turn, "order": order, **self._said()}, {})
        if tiles:
            message["tiles"] = list(tiles.values())
        if message:
            self.send({"name": "tiles", **message})

    def _open(self, job: Job | None) -> None:
        self._open_job = job
        self.opened = "" if job is None else job.request_id or ""
        self.refresh()

    @traitlets.observe("opened")
    def _opened_set(self, change: Any) -> None:
        shown = "" if self._open_job is None else self._open_job.request_id or ""
        if change["new"] != shown:
            self._open(self._found.by_id(change["new"]) if change["new"] else None)

    def _offer(self) -> None:
        if self.session.closed:
            return
        sweeps = self.session._ledger.sweeps.names(limit=SWEEPS)
        many = {name: labels for name, labels in self._axes().items() if len(labels) > 1}
        self.choices = words.CHOICES | {
            "tag": words.name_choices("Any tag", self.session.tags(), self.tag),
            "experiment": words.name_choices("Any experiment", self.session.experiments(), self.experiment),
            "sweep": [["", "Any sweep"], *([str(number), template] for number, template in sweeps)],
            "group_by": [["", "No groups"], *([name, f"By {name}"] for name in many)] if many else [],
            "where": [[name, [["", f"Any {name}"], *([each, each] for each in many[name])]] for name in many],
            "compare": MOST_COMPARED if self.on_compare else 0,  # how many at most
        }

    def _axes(self) -> dict[str, list[str]]:
        axes = self.session._ledger.sweeps.axes(self.sweep) if self.sweep else {}
        return {name: list(values) for name, values in axes.items()}

    def _on_hello(self) -> None:
        with self._sending, self.updating("Looking for the clips"):
            super()._on_hello()
            self._tiles.clear()
            self._offer()

    def _on_page(self, first: int) -> None:
        with self._sending:
            self._found.load(first + PAGE)

    def _on_filter(self, trait: Any, value: Any) -> None:
        if trait in (*FILTERS, "group_by", "sort"):
            self.set_trait(trait, value)

    def _on_select(self, ids: list[str]) -> None:
        self.selected = ids

    def _on_clear(self) -> None:
        self._still_setting = True
        try:
            with self.hold_sync():
                for name in FILTERS:
                    self.set_trait(name, self.trait_defaults(name))
        finally:
            self._still_setting = False
        self._search()

    def _on_open(self, key: str) -> None:
        self._open(self._found.known.get(key))

    def _on_mark(self, job: Job, request_id: Any, note: Any, tags: Any) -> None:
        super()._on_mark(job, request_id, note, tags)
        if tags is not None:
            self._offer()

    def _sent_again(self, job: Job) -> None:
        self.say("Sent. The clip appears here when it is done.")
        self.on_job.tell(job)

    def _on_create(self) -> None:
        self.on_create.tell()

    def _on_export(self) -> None:
        done = export(self.chosen)
        self.saved = done.path
        self.say(words.exported_words(*done))

    def _on_delete(self, job: Job) -> None:
        job.delete_clip()
        self.say(words.DELETED)

    def _job_of(self, key: object) -> Job | None:
        return self._found.known.get(str(key)) if key else self._open_job
