"""All panels in one layout. Only the Studio connects them; they don't know each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import traitlets

from reelbook import settings
from reelbook.agent_tools.server import is_installed
from reelbook.formatting import count
from reelbook.session import Clip, Job, Session
from reelbook.session.session import job_of

from ..text.status_line import facts_words
from .base import Panel, only_known, session_of
from .bundle import added_style, packed
from .compare import Compare
from .connection_panel import ConnectionPanel
from .gallery import Gallery
from .hand_over_form import HandOverForm
from .host import Hint, Host
from .job_board import JobBoard
from .job_card import JobCard
from .key_manager import KeyManager
from .notices import follow
from .prompt_form import PromptForm
from .tray import Tray

if TYPE_CHECKING:
    from reelbook.explore import Study, SweepRun

    from .judge import Judge
    from .matrix import Matrix
    from .sweep_form import SweepForm

VIEWS = {
    "create": "Create",
    "explore": "Explore",
    "board": "Board",
    "gallery": "Gallery",
    "compare": "Compare",
    "judge": "Judge",
    "usage": "Usage",
    "keys": "API keys",
    "tools": "Tools",
    "connection": "Connection",
}
NOTHING_COMPARED = "Clips side by side with one clock. Select two to nine in the gallery and press Compare."
NOTHING_JUDGED = "Two clips at a time, and which is better. Open a sweep in Explore and press Judge."
MORE = ("keys", "tools", "connection")  # behind one button: they are needed now and then


class StatusLine(Panel):
    """Shows the service, what is left of balance and requests, and the views to choose `view` from."""

    _esm = packed("status_line")
    _css = added_style("studio")

    facts = traitlets.Dict(help="What the page draws.").tag(sync=True)
    views: traitlets.List[Any] = traitlets.List(help="Names and labels to choose from.").tag(sync=True)
    more: traitlets.List[Any] = traitlets.List(help="Names and labels behind one button.").tag(sync=True)
    view = traitlets.Unicode(help="The chosen one's name.").tag(sync=True)

    def __init__(self, session: Session, **traits: Any) -> None:
        self.session = session
        super().__init__(**traits)
        self._endings += (session.subscribe(self._live.changed), follow(session))
        self.refresh()

    def update(self) -> None:
        facts, running = self.session.facts, len(self.session.running)
        spend = None if self.session.closed else self.session.spending().of_key
        self.facts = facts_words(self.session.service, facts, running=running, spend=spend)
        self.live = facts.requests_left < facts.requests_limit
        if self.live:
            # The key's requests come back with time, which nothing announces.
            self._live.changed_in(facts.requests_back_in_seconds or 3.0)


class Studio(Host):
    """Everything in one cell: write a prompt, press Generate, then watch, play, find and compare clips.

    `Studio(session)`; without a session `reelbook.connect()`. Observe, link or set `view`: "create",
    "explore", "board", "gallery", "compare", "judge", "usage", "keys", "tools" (where a tool server is known)
    or "connection". `form` is the PromptForm and `card` the JobCard of the latest clip. `sweep_form` and
    `matrix` (of "explore"), `board`, `gallery`, `compare` and `judge` are the panels of those views, None
    until they are first shown. `tray` has the picks of the day. A key typed in under "connection" gives the
    Studio a new `session`.

        studio = rb.Studio()
        studio.view = "gallery"
    """

    view = traitlets.Enum(tuple(VIEWS), "create", help="What is shown.")

    says_trouble = False  # its line does

    def __init__(self, session: Session | None = None, **traits: Any) -> None:
        only_known(self, traits)
        view = traits.pop("view", "create")
        session = session_of(self, session)
        super().__init__(kind="reelbook-studio", **traits)
        self._open(session)
        self.view = view

    def still(self) -> tuple[str, str]:
        return self.card.still() if self.card.job is not None else super().still()

    def still_of(self) -> object:
        return self.card.still_of()

    def _open(self, session: Session) -> None:
        """Makes the panels for a session: those of “create” at once, the others when they are first shown."""
        self.sweep_form: SweepForm | None = None
        self.matrix: Matrix | None = None
        self.board: JobBoard | None = None
        self.gallery: Gallery | None = None
        self.compare: Compare | None = None
        self.judge: Judge | None = None
        self.session = session
        self.form = PromptForm(session)
        self.card = JobCard()
        tools = tools_offered(session)
        offered = [[name, label] for name, label in VIEWS.items() if tools or name != "tools"]
        self.line = StatusLine(
            self.session,
            views=[each for each in offered if each[0] not in MORE],
            more=[each for each in offered if each[0] in MORE],
            view=self.view,
        )
        self.form.on_job(self._take)
        self.form.on_plan(self._plan_sweep)
        self.form.on_replace_key(lambda: self.set_trait("view", "connection"))
        self.card.on_vary(self._plan_variations)
        self.card.on_compare(self._put_side_by_side)
        traitlets.link((self, "view"), (self.line, "view"))
        self.tray = Tray(self.session)
        self.tray.on_open(self._look_at)
        self.tray.on_compare(self._put_side_by_side)
        self.tray.on_judge(self._ask_which_is_better)
        self.tray.on_hand_over(self._hand_over)
        self.tray.on_longer(lambda _: self.set_trait("view", "board"))
        self.panes = {"": [self.line], "create": [self.form, self.card], "foot": [self.tray]}
        self._show()

    @traitlets.observe("panes")
    def _say_trouble_once(self, _: object) -> None:
        for panel in chain(self.children, *(getattr(each, "children", ()) for each in self.children)):
            panel.says_trouble = panel is self.line  # it is in every view
            if panel.says_trouble or not isinstance(panel, Panel):
                continue
            if panel.message["text"] == panel._trouble:
                panel.say("")

    @traitlets.observe("view")
    def _show(self, _: object = None) -> None:
        if not self.panes:
            return
        with self.showing_errors(f"Opening {VIEWS[self.view]}"):
            if self.view not in self.panes:
                self._put(self.view, self._new_panel(self.view))
            self.pane = self.view

    def _new_panel(self, view: str) -> Panel:
        match view:
            case "explore":
                from .sweep_form import SweepForm  # only exploring needs templates

                self.sweep_form = SweepForm(self.session)
                self.sweep_form.on_run(self._show_matrix)
                return self.sweep_form
            case "board":
                self.board = JobBoard(self.session)
                self.board.on_create(lambda: self.set_trait("view", "create"))
                return self.board
            case "gallery":
                self.gallery = Gallery(self.session)
                self.gallery.on_vary(self._vary)
                self.gallery.on_compare(self._put_side_by_side)
                self.gallery.on_create(lambda: self.set_trait("view", "create"))
                self.gallery.on_job(self._take)
                return self.gallery
            case "compare":
                hint = Hint(text=NOTHING_COMPARED, button="Open the gallery")
                hint.on_press(lambda: self.set_trait("view", "gallery"))
                return hint
            case "judge":
                hint = Hint(text=NOTHING_JUDGED, button="Open Explore")
                hint.on_press(lambda: self.set_trait("view", "explore"))
                return hint
            case "usage":
                from .usage_chart import UsageChart  # brings pandas and bqplot, which only the chart needs

                return UsageChart(self.session)
            case "keys":
                return KeyManager(self.session)
            case "tools":
                from .tool_explorer import ToolExplorer  # nothing else needs it

                return ToolExplorer(self.session)
            case _:
                panel = ConnectionPanel(self.session)
                panel.on_session(self._use)
                return panel

    def _plan_sweep(self, form: PromptForm) -> None:
        with self.hold_sync():  # the page shows it when it is filled: what is typed before would be lost
            self.view = "explore"
            assert self.sweep_form is not None
            with self.sweep_form.hold_trait_notifications():
                self.sweep_form.template = form.prompt
                self.sweep_form.axes = {**self.sweep_form.axes, **form.axes}

    def _plan_variations(self, job: Job) -> None:
        self.view = "explore"
        if self.sweep_form is not None:
            self.sweep_form.vary(job)

    def _show_matrix(self, run: SweepRun) -> None:
        from .matrix import Matrix

        assert self.sweep_form is not None
        self.matrix = Matrix(run)
        self.matrix.on_compare(self._put_side_by_side)
        self.matrix.on_judge(self._ask_which_is_better)
        self.matrix.on_vary(self._plan_variations)
        self._put("explore", self.sweep_form, self.matrix)

    def _take(self, job: Job) -> None:
        self.card.job = job

    def _vary(self, job: Job) -> None:
        if job.request is None or job.request.image is None:
            self._plan_variations(job)
        else:  # it has no seed or shape that a sweep could vary
            self.form.fill(job.request)
            self.view = "create"

    def _put_side_by_side(self, jobs: tuple[Job, ...]) -> None:
        self.compare = Compare(jobs, self.session)
        self._put("compare", self.compare)
        self.view = "compare"

    def _ask_which_is_better(self, study: Study | Sequence[Job]) -> None:
        from .judge import Judge

        self.judge = Judge(study, self.session)
        self.judge.on_hand_over(self._hand_over_judged)
        self._put("judge", self.judge)
        self.view = "judge"

    def _look_at(self, job: Job) -> None:
        self.view = "gallery"
        if self.gallery is not None:
            self.gallery.look_at(job)

    def _hand_over(self, picks: Sequence[Job]) -> None:
        offers = [(f"{count(len(picks), 'pick')} of today", picks)]
        if self.gallery is not None and (chosen := self.gallery.chosen):
            offers.insert(0, (f"{len(chosen)} selected in the gallery", chosen))
        if len(every := self.session.picks()) > len(picks):
            offers.append((f"all {len(every)} picks", every))
        if self.matrix is not None:
            jobs = [cell.job for cell in self.matrix.run.cells if cell.job is not None]
            offers.append((f"all {len(jobs)} of the sweep", jobs))
        self._offer(offers)

    def _hand_over_judged(self, clips: Sequence[Clip]) -> None:
        jobs = [job for job in map(job_of, clips) if job is not None]
        offers = [(f"the first {number}", jobs[:number]) for number in range(1, min(3, len(jobs) - 1) + 1)]
        self._offer([*reversed(offers), (f"all {len(jobs)} that were judged", jobs)])

    def _offer(self, offers: Sequence[tuple[str, Sequence[Job]]]) -> None:
        form = HandOverForm(self.session, offers)
        form.on_close(lambda: self._put("foot", self.tray))
        self._put("foot", self.tray, form)

    def _use(self, session: Session) -> None:
        self._close_children()
        self.view = "create"
        self._open(session)


def tools_offered(session: Session) -> bool:
    """Whether there is a tool server to explore: the extra is installed and a server is configured."""
    return is_installed() and (session.service == "sandbox" or settings.find(settings.MCP_URL) is not None)
