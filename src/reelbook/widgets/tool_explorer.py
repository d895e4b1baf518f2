"""The agent tools of a server in a panel: their list, the chosen one's form, a call and its result; beneath
it, what was taken up from a result.

What a server says of itself is text here and nothing else.
"""

from __future__ import annotations

import concurrent.futures
import functools
import html
import io
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import traitlets

from reelbook import settings
from reelbook.agent_tools.parsing import FoundJob, found_jobs
from reelbook.agent_tools.types import Tool, ToolProgress, ToolResult
from reelbook.errors import InvalidInput, ReelbookError
from reelbook.event_thread import Future
from reelbook.session import Job, Session
from reelbook.session.tools import ToolRun, Tools

from ..text import tools as words
from .background import WorksInBackground
from .base import only_known, problem_text, session_of
from .bundle import added_style, packed, pressed, style
from .clip_serving import send_piece
from .host import Host
from .job_card import JobCard
from .player import Player
from .schema_form import form_of
from .tool_result_view import ShownResult, encodable, shown_result

STILL_LETTERS: Final = 2_000
NEWS: Final = frozenset(("rows", "form", "result"))

ResultCallback = Callable[[Tool, ToolResult], object]


class ToolPanel(WorksInBackground):
    """The list, the form and the result; `ToolExplorer` adds the card of a job that was taken up."""

    _esm = packed("tool_explorer")
    _css = pressed(style("tool_explorer") + added_style("tool_explorer_page"))

    selected = traitlets.Unicode(help="The name of the tool whose form is shown.").tag(sync=True)
    state = traitlets.Enum(
        ("", "listing", "ready", "calling", "trouble"), "", help="What it does at the moment."
    ).tag(sync=True)
    progress = traitlets.Float(None, allow_none=True, help="From 0 to 1; None: no figure.").tag(sync=True)
    words = traitlets.Dict(help="What the page draws.").tag(sync=True)
    figures: traitlets.List[Any] = traitlets.List(help="The line that counts on.").tag(sync=True)

    def __init__(self, session: Session | Tools, show: Callable[[Job | Path], object], **traits: Any) -> None:
        self.session = session
        self._show = show
        self.when_left: Callable[[], object] = self.keep_still
        self.tools: tuple[Tool, ...] = ()
        self.result: ToolResult | None = None
        self.callbacks: list[ResultCallback] = []
        self._unsent = set(NEWS)  # messages: prompts and results aren't saved with the notebook
        self._listing: Future[tuple[Tool, ...]] | None = None
        self._listed = False
        self._why_not = ""
        self._drafts: dict[str, Any] = {}  # what was typed, by tool
        self._turn = 0  # a view takes each new form once, so that nothing typed is overwritten
        self._run: ToolRun | None = None
        self._called: Tool | None = None
        self._stopped = False
        self._began = 0.0
        self._told: ToolProgress | None = None
        self._tokens: set[str] = set()
        self._outcome: dict[str, Any] = {}
        self._shown = ShownResult()
        self._jobs: tuple[FoundJob, ...] = ()
        self._fetched: Path | None = None
        super().__init__(**traits)
        self._endings += (self._stop,)
        self.observe(self._renew_form, "selected")
        self.refresh()

    def send(self, content: Any, buffers: Any = None) -> None:
        """As ipywidgets' own, with what a server said made fit for a message."""
        super().send(encodable(content), buffers)

    @property
    def tool(self) -> Tool | None:
        """The tool whose form is shown."""
        return self._named(self.selected)

    def update(self) -> None:
        self._take_listing()
        self._take_result()
        calling = self._run is not None
        sandbox = not isinstance(self.session, Tools) and self.session.service == "sandbox"
        with self.hold_sync():
            self.state = self._state()
            self.words = encodable(
                {
                    "where": self._where(),
                    "sandbox": sandbox,
                    "stopping": self._stopped,
                    "progress": words.progress(self._told) if calling else "",
                    "cost": "" if sandbox else "The server doesn't say what a call costs.",
                }
            )
            self.progress = self._told.fraction if calling and self._told else None
            passed = round(time.monotonic() - self._began, 1)
            self.figures = [["Calling for ", [passed, 1]]] if calling else []
            self.live = calling or self._listing is not None or self._busy
        if self.reaches_page:
            self._send_news()
            fetched, self._fetched = self._fetched, None
            if fetched is not None:
                self._show(fetched)

    def still(self) -> tuple[str, str]:
        """The last result's text, or how many tools there are."""
        if self.result is not None and self._called is not None:
            text = f"{self._called.name}: {str(self.result)[:STILL_LETTERS] or 'answered.'}"
        elif self._listed:
            text = f"Agent tools: {words.summary(len(self.tools))}"
        else:
            return super().still()
        return f'<pre style="white-space:pre-wrap">{html.escape(text)}</pre>', text

    def _state(self) -> str:
        if self._run is not None:
            return "calling"
        if self._listing is not None:
            return "listing"
        if self._why_not:
            return "trouble"
        return "ready" if self._listed else ""

    def _where(self) -> str:
        """The server, as a person knows it; empty where none is known."""
        if isinstance(self.session, Tools):
            address = self.session.mcp_url
        elif self.session.sandbox is not None:
            address = self.session.sandbox.mcp_url
        else:
            found = settings.find(settings.MCP_URL)
            address = found.value.reveal() if found is not None else ""
        return urlsplit(address).netloc.rpartition("@")[2]

    def _with_key(self) -> Session:
        if isinstance(self.session, Tools):
            raise InvalidInput(
                "A job is watched with a key of the service: ToolExplorer(reelbook.connect())."
            )
        return self.session

    def _named(self, name: object) -> Tool | None:
        return next((tool for tool in self.tools if tool.name == name), None)

    def _send_news(self) -> None:
        news, self._unsent = self._unsent, set()
        if "rows" in news:
            summary = words.summary(len(self.tools)) if self._listed else ""
            self.send({"name": "rows", "rows": words.rows(self.tools), "summary": summary})
        if "form" in news:
            told: dict[str, Any] = {"name": "form", "turn": self._turn, "tool": ""}
            if (tool := self.tool) is not None:
                form = form_of(tool.input_schema)
                told |= {"tool": tool.name, "fields": form.described(), **words.heading(tool)}
                told["drafts"] = self._drafts.get(tool.name) or form.start()
            self.send(told)
        if "result" in news:
            self.send({"name": "result", **self._outcome})

    def _on_hello(self, *arguments: object) -> None:
        self._unsent |= NEWS
        if not (self._listed or self._why_not or self.session.closed):
            self._on_again()
        super()._on_hello(*arguments)

    def _on_left(self, *_: object) -> None:
        self.when_left()

    # The list and the form.

    def _on_again(self, *_: object) -> None:
        """Asks the server for its tools; the answer is taken later."""
        if self._listing is not None:
            return
        self._why_not = ""
        self.say("")
        try:
            # On this thread, because Colab tells its secrets to no other.
            self._listing = self.session._list_tools()
        except ReelbookError as error:
            self._refused(str(error))
        else:
            self._listing.add_done_callback(self._live.changed)
        self.refresh()

    def _take_listing(self) -> None:
        if (listing := self._listing) is None or not listing.done():
            return
        self._listing = None
        try:
            listed = listing.result()
        except concurrent.futures.CancelledError:
            self._refused("The question was cut off: the session was closed.")
        except Exception as error:
            self._refused(problem_text(error, "Listing the tools"))
        else:
            self.tools = tuple(tool for tool in listed if encodable(tool.name) == tool.name)
            self._listed = True
            self._unsent |= {"rows", "form"}
            self._turn += 1
            if self.tool is None:
                self.set_trait("selected", self.tools[0].name if self.tools else "")

    def _refused(self, why: str) -> None:
        self._why_not = why
        self.say_problem(encodable(words.clip(why, words.MAX_WHY)))

    def _on_pick(self, content: dict[str, Any], _: object) -> None:
        if (tool := self._named(content.get("tool"))) is not None:
            self.selected = tool.name

    def _renew_form(self, _: object) -> None:
        self._turn += 1
        self._unsent.add("form")
        self.refresh()

    def _on_typed(self, content: dict[str, Any], _: object) -> None:
        """What stands in the form is kept while the panel lives."""
        if (tool := self._named(content.get("tool"))) is not None:
            self._drafts[tool.name] = content.get("drafts")

    # The call and its result.

    def _on_call(self, content: dict[str, Any], _: object) -> None:
        token, tool = str(content.get("id")), self._named(content.get("tool"))
        if token in self._tokens or self._run is not None or tool is None:
            return
        self._tokens.add(token)
        drafts = self._drafts[tool.name] = content.get("drafts")
        arguments, problems = form_of(tool.input_schema).arguments(drafts)
        self.send({"name": "problems", "view": content.get("view"), "tool": tool.name, "problems": problems})
        if not problems:
            self._call(tool, arguments)

    def _call(self, tool: Tool, arguments: Mapping[str, Any]) -> None:
        run = self.session.call_tool(tool.name, arguments, on_progress=self._hear_progress)
        self._called, self._stopped, self._told = tool, False, None
        self._began = time.monotonic()
        self.result, self._shown, self._jobs, self._outcome = None, ShownResult(), (), {}
        self._unsent.add("result")
        self._run = run
        self.refresh()
        run.on_end(self._live.changed)

    def _hear_progress(self, progress: ToolProgress) -> None:
        self._told = progress
        self._live.changed()

    def _on_stop(self, *_: object) -> None:
        self._stop()
        self.refresh()

    def _stop(self) -> None:
        if (run := self._run) is not None:
            self._stopped = True
            run.cancel()

    def _take_result(self) -> None:
        if (run := self._run) is None or not run.done or (tool := self._called) is None:
            return
        self._run = None
        self._unsent.add("result")
        took = words.took(time.monotonic() - self._began)
        try:
            self.result = result = run.result()
        except ReelbookError as error:
            self._outcome = (
                words.stopped(tool, took) if self._stopped else words.no_result(tool, took, str(error))
            )
            return
        self._shown, self._jobs = shown_result(result), found_jobs(result)
        self._outcome = words.answered(tool, took, failed=result.is_error)
        self._outcome |= {"parts": self._shown.parts, "jobs": words.jobs(self._jobs)}
        self._call_back("on_result", self.callbacks, tool, result)

    def _on_chunk(self, content: dict[str, Any], _: object) -> None:
        """A piece of a picture, of sound or of film, as the page asks for a clip's."""
        data = self._shown.media.get(str(content.get("key")))
        read = None if data is None else functools.partial(io.BytesIO, data)
        send_piece(self, content, read, "This result is no longer here.")

    def _on_take(self, content: dict[str, Any], _: object) -> None:
        """Takes up a job, or fetches a clip on a thread, because that may take a while."""
        place = content.get("place")
        if not isinstance(place, int) or not 0 <= place < len(self._jobs):
            return
        found = self._jobs[place]
        if found.request_id is not None:
            self._show(self._with_key().job(found.request_id))
        elif found.video_url is not None:
            self._start_work("Fetching the clip", functools.partial(self._fetch, found.video_url))

    def _fetch(self, url: str) -> None:
        self._fetched = self._with_key()._fetch_link(url)


class ToolExplorer(Host):
    """The agent tools of a server: a form for each, and results shown for what they are.

    `ToolExplorer(session)`; without a session `reelbook.connect()`; `ToolExplorer(reelbook.connect_tools())`
    does without a key of the service. Needs `pip install 'mcp>=2.3,<3'`. Listing and calling go to the
    tool server, with the user id, and each call is kept in the ledger; a call may be billed. A job or a clip
    that a result speaks of is taken up by a button: `taken` is the JobCard or the Player beneath.

    Observe or link `selected` (the tool whose form is shown; set it to show another) and `state`: "" before
    anything is known, "listing", "ready", "calling" or "trouble". `on_result(callback)` calls
    `callback(tool, result)` for every ToolResult; `result` is the last one, `tools` what was listed.

        explorer = rb.ToolExplorer(session)
        told = ipywidgets.HTML()
        explorer.on_result(lambda tool, result: setattr(told, "value", f"{tool.name} answered"))
        ipywidgets.VBox([explorer, told])
    """

    selected = traitlets.Unicode("", help="The name of the tool whose form is shown.")
    state = traitlets.Unicode("", read_only=True, help="What it does at the moment.")

    def __init__(self, session: Session | Tools | None = None, **traits: Any) -> None:
        only_known(self, traits)
        self.session = session if isinstance(session, Tools) else session_of(self, session)
        self.panel = ToolPanel(self.session, self._show)
        self.taken: JobCard | Player | None = None
        super().__init__(kind="reelbook-tools", panes={"": [self.panel]}, **traits)
        self._endings += (lambda: [panel.close() for panel in self.children],)
        self.panel.when_left = self.keep_still
        traitlets.link((self, "selected"), (self.panel, "selected"))
        self.panel.observe(lambda change: self.set_trait("state", change["new"]), "state")

    @property
    def result(self) -> ToolResult | None:
        """What the last call gave, None before and while one goes on."""
        return self.panel.result

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools as last listed."""
        return self.panel.tools

    def on_result(self, callback: ResultCallback) -> None:
        """`callback(tool, result)` is called for every result."""
        self.panel.callbacks.append(callback)

    def still(self) -> tuple[str, str]:
        """The last result, and what was taken up."""
        stills = [panel.still() for panel in (self.panel, self.taken) if panel is not None]
        return f"<div>{''.join(page for page, _ in stills)}</div>", " · ".join(text for _, text in stills)

    def _show(self, taken: Job | Path) -> None:
        if isinstance(taken, Job) and isinstance(self.taken, JobCard):
            self.taken.job = taken
            return
        former = self.taken
        self.taken = JobCard(taken) if isinstance(taken, Job) else Player(taken)
        self.panes = {"": [self.panel, self.taken]}
        if former is not None:
            former.close()
