"""The tools of a server in one panel: their list, the chosen one's form, a call and its result.

Forms are kept by `tool_forms`, results cut into parts by `results`, words are from `words.tools`; what a
server says of itself is text here and nothing else.
"""

from __future__ import annotations

import concurrent.futures
import html
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import traitlets

from reelbook.client.tool_reading import FoundJob, found_jobs
from reelbook.client.tool_values import Tool, ToolProgress, ToolResult
from reelbook.errors import ReelbookError
from reelbook.session import Job

from .assets import added_style, module, style
from .base import Panel
from .live import Live
from .media import PIECE_BYTES
from .packing import packed, pressed
from .results import ShownResult, encodable, shown_result
from .tool_forms import Forms
from .tool_source import Run, ToolSource
from .words import tools as words

RECENT: Final = 5
STILL_LETTERS: Final = 2_000

ResultCallback = Callable[[Tool, ToolResult], object]


class ToolPanel(Panel):
    """The list, the form and the result; `ToolExplorer` adds the card of a job that was taken up."""

    _esm = packed(module("tools"), "tools")
    _css = pressed(style("tools") + added_style("tools_page"))

    selected = traitlets.Unicode(help="The name of the tool whose form is shown.").tag(sync=True)
    state = traitlets.Enum(
        ("", "listing", "ready", "calling", "trouble"), "", help="What it does at the moment."
    ).tag(sync=True)
    progress = traitlets.Float(None, allow_none=True, help="From 0 to 1; None: no figure.").tag(sync=True)
    words = traitlets.Dict(help="What the page draws.").tag(sync=True)
    figures: traitlets.List[Any] = traitlets.List(help="The line that counts on.").tag(sync=True)

    def __init__(self, source: ToolSource, show: Callable[[Job | Path], object], **traits: Any) -> None:
        self.source = source
        self._show = show
        self.when_left: Callable[[], object] = self.keep_still
        self._open = False
        self._fetching = False
        self._fetched: Path | None = None
        self.tools: tuple[Tool, ...] = ()
        self.result: ToolResult | None = None
        self.callbacks: list[ResultCallback] = []
        self._heard_of = False
        self._trouble = ""
        self._search = ""
        self._forms = Forms()
        self._turn = 0
        self._calling: Run | None = None
        self._asked: concurrent.futures.Future[tuple[Tool, ...]] | None = None
        self._called: Tool | None = None
        self._stopped = False
        self._began = 0.0
        self._heard_progress: ToolProgress | None = None
        self._shown: ShownResult | None = None
        self._outcome: dict[str, Any] = {}
        self._jobs: tuple[FoundJob, ...] = ()
        self._recent: list[dict[str, Any]] = []
        self._past: dict[str, Mapping[str, Any]] = {}
        self._tokens: set[str] = set()
        self._unsent = {"rows", "form", "result", "recent"}
        super().__init__(**traits)
        self._live = Live(self.refresh)
        self._endings = (self._live.close, self._stop)
        self._open = True
        self.refresh()

    def send(self, content: Any, buffers: Any = None) -> None:
        """As ipywidgets' own, with what a server said made fit for a message."""
        super().send(encodable(content), buffers)

    @property
    def tool(self) -> Tool | None:
        """The tool whose form is shown."""
        return next((tool for tool in self.tools if tool.name == self.selected), None)

    def update(self) -> None:
        self._take_listing()
        self._take_result()
        calling = self._calling is not None
        with self.hold_sync():
            self.state = (
                "calling"
                if calling
                else "listing"
                if self._asked is not None
                else "trouble"
                if self._trouble
                else "ready"
                if self._heard_of
                else ""
            )
            self.words = {
                "where": self.source.where,
                "sandbox": self.source.sandbox,
                "trouble": words.clip(self._trouble, 2_000),
                "stopping": self._stopped,
                "progress": words.progress_words(self._heard_progress) if calling else "",
                "cost": "" if self.source.sandbox else "The server doesn't say what a call costs.",
            }
            self.progress = self._heard_progress.fraction if calling and self._heard_progress else None
            passed = round(time.monotonic() - self._began, 1)
            self.figures = [["Calling for ", [passed, 1]]] if calling else []
            self.live = calling or self._asked is not None or self._fetching
        if self.reaches_page:
            self._send_news()
            fetched, self._fetched = self._fetched, None
            if fetched is not None:
                self._show(fetched)

    def still(self) -> tuple[str, str]:
        """The last result's text, or how many tools there are."""
        if self.result is not None and self._called is not None:
            text = f"{self._called.name}: {str(self.result)[:STILL_LETTERS] or 'answered.'}"
        elif self._heard_of:
            text = f"Agent tools: {words.summary(len(self.tools), len(self.tools), '')}"
        else:
            return super().still()
        return f'<pre style="white-space:pre-wrap">{html.escape(text)}</pre>', text

    def list_tools(self) -> None:
        """Asks the server for its tools; the answer is told later."""
        if self._asked is not None:
            return
        self._trouble = ""
        try:
            # On this thread, because Colab tells its secrets to no other.
            self._asked = asked = self.source.list_tools()
        except ReelbookError as error:
            self._trouble = str(error)
        else:
            asked.add_done_callback(self._live.changed)
        self.refresh()

    def _take_listing(self) -> None:
        if (asked := self._asked) is None or not asked.done():
            return
        self._asked = None
        try:
            listed = asked.result()
        except concurrent.futures.CancelledError:
            self._trouble = "The question was cut off: the session was closed."
        except ReelbookError as error:
            self._trouble = str(error)
        except Exception as error:
            self._trouble = f"The tools couldn't be listed. {type(error).__name__}: {error}"
        else:
            self.tools = tuple(tool for tool in listed if encodable(tool.name) == tool.name)
            self._heard_of = True
            self._forms.renew()
            self._unsent |= {"rows", "recent"}
            self._new_form()
            if self.tool is None:
                self.set_trait("selected", self.tools[0].name if self.tools else "")

    @traitlets.observe("selected")
    def _chosen(self, _: object) -> None:
        if self._open:
            self._new_form()
            self.refresh()

    def _new_form(self) -> None:
        self._turn += 1
        self._forms.problems, self._forms.unchecked = {}, ""
        self._unsent.add("form")

    def _send_news(self) -> None:
        news, self._unsent = self._unsent, set()
        if "rows" in news:
            rows = words.rows(self.tools, self._search)
            said = words.summary(len(self.tools), len(rows), self._search) if self._heard_of else ""
            self.send({"name": "rows", "rows": rows, "summary": said, "many": len(self.tools) > 8})
        if "form" in news:
            self.send(self._form())
        if "result" in news:
            self.send({"name": "result", **self._outcome})
        if "recent" in news:
            self._read_recent()
            self.send({"name": "recent", "rows": self._recent})

    def _form(self) -> dict[str, Any]:
        told: dict[str, Any] = {"name": "form", "turn": self._turn, "tool": ""}
        if (tool := self.tool) is None:
            return told
        field, draft = self._forms.described(tool)
        return told | words.heading(tool) | {"tool": tool.name, "field": field, "draft": draft}

    def _read_recent(self) -> None:
        with self.showing_errors("Reading the ledger"):
            past = self.source.recent(RECENT)
            self._past = {str(call.id): call.arguments for call in past if call.whole}
            self._recent = [words.past_row(call) for call in past]

    def _on_hello(self, *arguments: object) -> None:
        self._unsent |= {"rows", "form", "result", "recent"}
        if not self._heard_of and not self._trouble:
            self.list_tools()
        super()._on_hello(*arguments)

    def _on_left(self, *_: object) -> None:
        self.when_left()

    def _on_again(self, *_: object) -> None:
        self.list_tools()

    def _on_search(self, content: dict[str, Any], _: object) -> None:
        self._search = str(content.get("text", ""))[:200]
        self._unsent.add("rows")
        self.refresh()

    def _on_pick(self, content: dict[str, Any], _: object) -> None:
        if (tool := self._its_tool(content)) is not None:
            self.selected = tool.name

    def _on_typed(self, content: dict[str, Any], _: object) -> None:
        """What stands in the form is kept, and checked anew once it was found wrong."""
        if (tool := self._its_tool(content)) is None:
            return
        self._forms.keep(tool, content.get("draft"))
        if self._forms.problems:
            self._forms.arguments(tool, content.get("draft"))
            self._send_problems(content)

    def _on_turn(self, content: dict[str, Any], _: object) -> None:
        """From the form to JSON, or back."""
        if (tool := self._its_tool(content)) is None:
            return
        draft = self._forms.turned(tool, content.get("draft"))
        if draft is None:
            self._send_problems(content)
        else:
            self.send({"name": "draft", "view": content.get("view"), "tool": tool.name, "draft": draft})

    def _on_code(self, content: dict[str, Any], _: object) -> None:
        if (tool := self._its_tool(content)) is None:
            return
        code = self._forms.code(tool, content.get("draft"))
        self.send({"name": "code", "view": content.get("view"), "code": code})

    def _on_call(self, content: dict[str, Any], _: object) -> None:
        token = str(content.get("id"))
        if token in self._tokens or self._calling is not None:
            return
        self._tokens.add(token)
        if (tool := self._its_tool(content)) is None:
            return
        self._forms.keep(tool, content.get("draft"))
        arguments = self._forms.arguments(tool, content.get("draft"))
        self._send_problems(content)
        if not self._forms.problems:
            self.call(tool, arguments)

    def call(self, tool: Tool, arguments: Mapping[str, Any]) -> None:
        """Calls it; what comes of it is told later."""
        self._called, self._stopped, self._heard_progress = tool, False, None
        self._began = time.monotonic()
        self.result, self._shown, self._jobs, self._outcome = None, None, (), {}
        self._unsent.add("result")
        self._calling = run = self.source.call(tool.name, arguments, self._hear_progress)
        self.refresh()
        run.on_end(self._live.changed)

    def _on_stop(self, *_: object) -> None:
        self._stop()
        self.refresh()

    def _stop(self) -> None:
        if (run := self._calling) is not None:
            self._stopped = True
            run.cancel()

    def _hear_progress(self, progress: ToolProgress) -> None:
        self._heard_progress = progress
        self._live.changed()

    def _take_result(self) -> None:
        if (run := self._calling) is None or not run.done or (tool := self._called) is None:
            return
        self._calling = None
        self._unsent |= {"result", "recent"}
        took = words.took(time.monotonic() - self._began)
        try:
            self.result = result = run.result()
        except ReelbookError as error:
            why = str(error)
            self._outcome = words.stopped(tool, took) if self._stopped else words.failed(tool.name, took, why)
            return
        self._shown, self._jobs = shown_result(result), found_jobs(result)
        self._outcome = words.outcome(tool.name, took, failed=result.is_error)
        self._outcome |= {"parts": self._shown.parts, "jobs": words.jobs(self._jobs)}
        for callback in self.callbacks:
            with self.showing_errors("What was to happen with the result"):
                callback(tool, result)

    def _on_more(self, content: dict[str, Any], _: object) -> None:
        """The next piece of a long text."""
        if (shown := self._shown) is None:
            return
        key, begin = str(content.get("key")), content.get("begin")
        text, left = shown.more(key, begin if isinstance(begin, int) else 0)
        self.send({"name": "more", "key": key, "begin": begin, "text": text, "left": left})

    def _on_chunk(self, content: dict[str, Any], _: object) -> None:
        """A piece of a picture, of sound or of a file, as the page asks for a clip's."""
        key, index = str(content.get("key")), content.get("index")
        answer = {"name": "chunk", "id": content.get("id"), "index": index}
        data = self._shown.media.get(key) if self._shown is not None else None
        if data is None:
            self.send({**answer, "problem": "This result is no longer here."})
            return
        total = max(1, -(-len(data) // PIECE_BYTES))
        place = min(max(0, index if isinstance(index, int) else 0), total - 1)
        self.send({**answer, "total": total}, [data[place * PIECE_BYTES : (place + 1) * PIECE_BYTES]])

    def _on_take(self, content: dict[str, Any], _: object) -> None:
        place = content.get("place")
        if not isinstance(place, int) or not 0 <= place < len(self._jobs):
            return
        found = self._jobs[place]
        if found.request_id is not None:
            self._show(self.source.job(found.request_id))
        elif found.video_url is not None and not self._fetching:
            self._fetch(found.video_url)

    def _fetch(self, url: str) -> None:
        """Fetches a clip on a thread, because it may take a while; it is shown when it is there."""
        self._fetching = True

        def fetch() -> None:
            with self.showing_errors("Fetching the clip"):
                self._fetched = self.source.fetch(url)
            self._fetching = False
            self._live.changed()

        threading.Thread(target=fetch, name="reelbook-fetch", daemon=True).start()
        self.refresh()

    def _on_past(self, content: dict[str, Any], _: object) -> None:
        """A call of before is put into the form."""
        row = next((row for row in self._recent if row["number"] == content.get("number")), None)
        if row is None or (tool := self._its_tool(row)) is None:
            return
        self._forms.fill(tool, self._past.get(row["number"], {}))
        self.selected = tool.name
        self._new_form()
        self.refresh()

    def _its_tool(self, content: Mapping[str, Any]) -> Tool | None:
        return next((tool for tool in self.tools if tool.name == content.get("tool")), None)

    def _send_problems(self, content: Mapping[str, Any]) -> None:
        problems, unchecked = self._forms.problems, self._forms.unchecked
        told = {"name": "problems", "view": content.get("view"), "tool": content.get("tool")}
        self.send({**told, "problems": problems, "unchecked": unchecked, "asked": content["name"] != "typed"})
