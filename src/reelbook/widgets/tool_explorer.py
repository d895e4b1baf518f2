"""The agent tools of a server in a panel. What a server says about itself is only ever shown as text."""

from __future__ import annotations

import contextlib
import html
import json
import re
import time
from collections.abc import Callable
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

import traitlets

from reelbook import settings
from reelbook.agent_tools.parsing import FoundJob, found_jobs
from reelbook.agent_tools.types import (
    BinaryContent,
    Content,
    Resource,
    TextContent,
    Tool,
    ToolResult,
)
from reelbook.errors import InvalidInput, ReelbookError
from reelbook.session import Job, Session
from reelbook.session.tools import ToolRun, Tools

from ..formatting import shortened
from ..text import tools as words
from .base import Callbacks, Panel, Tone, only_known, session_of
from .bundle import added_style, packed
from .clip_serving import piece
from .host import Host
from .job_card import JobCard
from .player import Player
from .schema_form import form_of

STILL_LETTERS: Final = 2_000
MAX_LETTERS: Final = 30_000
MAX_PARTS: Final = 20
MAX_LABEL: Final = 300
MAX_MEDIA: Final = 64 * 1024 * 1024
# What a browser shows without running anything; an SVG could hold a script.
PICTURES: Final = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp")
_PAGE: Final = re.compile(r"https?://[\w.-]+(:\d+)?([/?#][!-~]*)?", re.ASCII)

Part: TypeAlias = dict[str, str]


class ToolPanel(Panel):
    """The list, the form and the result; `ToolExplorer` adds the card of a job that was taken up."""

    _esm = packed("tool_explorer")

    selected = traitlets.Unicode(help="The name of the tool whose form is shown.").tag(sync=True)
    state = traitlets.Unicode(help="What it does at the moment, as in ToolExplorer.").tag(sync=True)
    progress = traitlets.Float(None, allow_none=True, help="From 0 to 1; None: no figure.").tag(sync=True)
    words = traitlets.Dict(help="What the page draws.").tag(sync=True)
    figures: Any = traitlets.List(help="The line that counts on.").tag(sync=True)

    on_result = Callbacks[[Tool, ToolResult]]("`callback(tool, result)` is called for every result.")

    def __init__(self, session: Session | Tools, show: Callable[[Job | Path], object], **traits: Any) -> None:
        self.session = session
        self._show = show
        self.tools: tuple[Tool, ...] = ()
        self.result: ToolResult | None = None
        self._listed = self._asked = False
        self._drafts: dict[str, Any] = {}  # what was typed, by tool
        self._turn = 0  # a view takes each new form once, so that nothing typed is overwritten
        self._form: dict[str, Any] = {}
        self._run: ToolRun | None = None
        self._called: Tool | None = None
        self._stopped = False
        self._began = 0.0
        self._presses: set[str] = set()  # by the ids that the page gave them
        self._outcome: dict[str, Any] = {}
        self._media: dict[str, bytes] = {}
        self._jobs: tuple[FoundJob, ...] = ()
        self._fetched: Path | None = None
        super().__init__(**traits)
        self._endings += (self._on_stop,)
        self.observe(self._renew_form, "selected")
        self._form = self._form_words()
        self.refresh()

    def send(self, content: Any, buffers: Any = None) -> None:
        """As in ipywidgets, with unencodable characters of the server's replaced."""
        super().send(encodable(content), buffers)

    def say(self, text: str, tone: Tone = "info") -> None:
        """As in any panel; a server's words may be endless."""
        super().say(encodable(shortened(text, words.MAX_WHY)), tone)

    def update(self) -> None:
        self._take_result()
        run, listing = self._run, bool(self._doing("list"))
        with self.hold_sync():
            known = "ready" if self._listed else "trouble" if self._asked else ""
            self.state = "calling" if run else "listing" if listing else known
            self.words = encodable(
                {
                    "where": self._where(),
                    "stopping": self._stopped,
                    "progress": words.progress(run.progress) if run else "",
                    "cost": "" if self._in_sandbox else "The server doesn't say what a call costs.",
                }
            )
            self.progress = run.progress.fraction if run and run.progress else None
            passed = round(time.monotonic() - self._began, 1)
            self.figures = [["Calling for ", [passed, 1]]] if run else []
            self.live = run is not None or self._busy
        # By messages: prompts and results aren't saved with the notebook.
        summary = words.summary(len(self.tools)) if self._listed else ""
        self._post("rows", {"rows": words.rows(self.tools), "summary": summary})
        self._post("form", self._form)
        self._post("result", self._outcome)
        if self.reaches_page and (fetched := self._fetched) is not None:
            self._fetched = None
            self._show(fetched)

    def still(self) -> tuple[str, str]:
        if self.result is not None and self._called is not None:
            text = f"{self._called.name}: {str(self.result)[:STILL_LETTERS] or 'answered.'}"
        elif self._listed:
            text = f"Agent tools: {words.summary(len(self.tools))}"
        else:
            return super().still()
        return f'<pre style="white-space:pre-wrap">{html.escape(text)}</pre>', text

    def _where(self) -> str:
        """The server's host, as a person knows it; empty if none is known."""
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

    def _form_words(self) -> dict[str, Any]:
        if (tool := self._named(self.selected)) is None:
            return {"turn": self._turn, "tool": ""}
        form = form_of(tool.input_schema)
        drafts = self._drafts.get(tool.name) or form.start()
        about = {"turn": self._turn, "tool": tool.name, "drafts": drafts, **words.heading(tool)}
        return {"fields": form.described(), **about}

    def _on_hello(self) -> None:
        super()._on_hello()
        self._form = self._form_words()  # with what was typed since
        if not (self._asked or self.session.closed):
            self._on_again()

    def _on_again(self) -> None:
        self._listed, self._asked = False, True
        # On this thread, because Colab gives its secrets to no other.
        listing = self.session._list_tools()

        def take() -> None:
            self.tools = tuple(tool for tool in listing.result() if encodable(tool.name) == tool.name)
            self._listed = True
            if self._named(self.selected) is not None:
                self._renew_form()
            else:  # the form follows
                self.set_trait("selected", self.tools[0].name if self.tools else "")

        self._start_work("Listing the tools", take, name="list")

    def _on_pick(self, tool: object) -> None:
        if (named := self._named(tool)) is not None:
            self.selected = named.name

    def _renew_form(self, _: object = None) -> None:
        self._turn += 1
        self._form = self._form_words()
        self.refresh()

    def _on_typed(self, tool: object, drafts: Any) -> None:
        if (named := self._named(tool)) is not None:
            self._drafts[named.name] = drafts

    def _on_call(self, ask: str, tool: object, drafts: Any) -> dict[str, Any] | None:
        named = self._named(tool)
        if ask in self._presses or self._run is not None or named is None:
            return None
        self._presses.add(ask)
        self._drafts[named.name] = drafts
        arguments, problems = form_of(named.input_schema).arguments(drafts)
        if problems:
            return {"problems": problems}
        run = self.session.call_tool(named.name, arguments, on_progress=self._live.changed)
        self._called, self._stopped, self._began = named, False, time.monotonic()
        self.result, self._media, self._jobs, self._outcome = None, {}, (), {}
        self._run = run
        run.on_end(self._live.changed)
        return None

    def _on_stop(self) -> None:
        if (run := self._run) is not None:
            self._stopped = True
            run.cancel()

    def _take_result(self) -> None:
        if (run := self._run) is None or not run.done or (tool := self._called) is None:
            return
        self._run = None
        took = words.took(time.monotonic() - self._began)
        try:
            self.result = result = run.result()
        except ReelbookError as error:
            self._outcome = words.outcome(tool, took, "stopped" if self._stopped else "broken", str(error))
            return
        (parts, self._media), self._jobs = shown_result(result), found_jobs(result)
        self._outcome = words.outcome(tool, took, "failed" if result.is_error else "answered")
        self._outcome |= {"parts": parts, "jobs": words.jobs(self._jobs)}
        self.on_result.tell(tool, result)

    def _on_chunk(self, key: object, index: object) -> dict[str, Any]:
        """A piece of a picture, sound or film, which the page asks for like a clip's."""
        data = self._media.get(str(key))
        read = None if data is None else partial(BytesIO, data)
        return piece(read, index, "This result is no longer here.")

    def _on_take(self, place: object) -> None:
        if not isinstance(place, int) or not 0 <= place < len(self._jobs):
            return
        found = self._jobs[place]
        if found.request_id is not None:
            self._show(self._with_key().job(found.request_id))
        elif (url := found.video_url) is not None:

            def fetch() -> None:
                self._fetched = self._with_key()._fetch_link(url)

            self._start_work("Fetching the clip", fetch)


class ToolExplorer(Host):
    """The agent tools of a server: a form for each, and results shown for what they are.

    `ToolExplorer(session)`; without a session `reelbook.connect()`; `ToolExplorer(reelbook.connect_tools())`
    does without a key of the service. Needs `pip install 'mcp>=2.3,<3'`. Listing and calling go to the tool
    server, with the user id, and each call is kept in the ledger; a call may be billed. A job or a clip in a
    result is taken up by a button: `taken` is the JobCard or the Player beneath.

    Observe or link `selected` (the tool whose form is shown; set it to show another) and `state`: "" before
    anything is known, "listing", "ready", "calling" or "trouble". `on_result(callback)` calls `callback(tool,
    result)` for every ToolResult; `result` is the last one, `tools` what was listed.

        explorer = rb.ToolExplorer(session)
        told = ipywidgets.HTML()
        explorer.on_result(lambda tool, result: setattr(told, "value", f"{tool.name} answered"))
        ipywidgets.VBox([explorer, told])
    """

    _css = added_style("host") + added_style("tool_explorer_page")

    selected = traitlets.Unicode("", help="The name of the tool whose form is shown.")
    state = traitlets.Unicode("", read_only=True, help="What it does at the moment.")

    says_trouble = False  # its panel does

    def __init__(self, session: Session | Tools | None = None, **traits: Any) -> None:
        only_known(self, traits)
        self.session = session if isinstance(session, Tools) else session_of(self, session)
        self.panel = ToolPanel(self.session, self._show)
        self.on_result = self.panel.on_result
        self.taken: JobCard | Player | None = None
        super().__init__(kind="reelbook-tools", panes={"": [self.panel]}, **traits)
        traitlets.link((self, "selected"), (self.panel, "selected"))
        self.panel.observe(lambda change: self.set_trait("state", change["new"]), "state")

    @property
    def result(self) -> ToolResult | None:
        """The last call's result, None before any and while one goes on."""
        return self.panel.result

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools as last listed."""
        return self.panel.tools

    def still(self) -> tuple[str, str]:
        stills = [panel.still() for panel in (self.panel, self.taken) if panel is not None]
        return f"<div>{''.join(page for page, _ in stills)}</div>", " · ".join(text for _, text in stills)

    def _show(self, taken: Job | Path) -> None:
        self.taken = JobCard(taken) if isinstance(taken, Job) else Player(taken)
        self._put("", self.panel, self.taken)


def shown_result(result: ToolResult) -> tuple[list[Part], dict[str, bytes]]:
    """The parts of the result for the page, and the bytes that it asks for by their keys."""
    parts: list[Part] = []
    media: dict[str, bytes] = {}
    if result.structured is not None:
        parts.append(_text_part(_json(result.structured), "Structured content"))
    for place, content in enumerate(result.content):
        if len(parts) >= MAX_PARTS:
            left = len(result.content) - place
            parts.append({"kind": "note", "text": f"{left:,} more parts aren't shown here."})
            break
        if not _repeats(content, result.structured):
            part = _part(content, str(place))
            if "key" in part and isinstance(content, BinaryContent):
                media[part["key"]] = content.data
            parts.append(part)
    return parts or [{"kind": "note", "text": "The tool answered without content."}], media


def _part(content: Content, key: str) -> Part:
    match content:
        case TextContent():
            return _text_part(content.text, shortened(content.uri, MAX_LABEL))
        case BinaryContent():
            return _binary_part(content, key)
        case Resource():
            label = shortened(content.title or content.name or "Link", 120)
            text = shortened(content.uri, MAX_LABEL)
            href = content.uri if len(content.uri) < 2_000 and _PAGE.fullmatch(content.uri) else ""
            about = shortened(content.mime_type or "", 60)
            return {"kind": "link", "label": label, "about": about, "text": text, "href": href}
        case _:
            return _text_part(_json(content.raw), f"Content of the kind “{shortened(content.kind, 40)}”")


def _text_part(text: str, label: str) -> Part:
    part = {"kind": "text", "label": label, "text": text[:MAX_LETTERS]}
    if len(text) > MAX_LETTERS:
        part["cut"] = f"These are the first {MAX_LETTERS:,} characters; the panel's .result has all of it."
    return part


def _binary_part(content: BinaryContent, key: str) -> Part:
    mime = content.mime_type.split(";")[0].strip().lower()
    family = mime.split("/")[0]
    label = shortened(content.uri, MAX_LABEL) or family.capitalize() or "File"
    about = ", ".join(filter(None, [shortened(mime, 60), f"{len(content.data):,} bytes"]))
    shown = mime in PICTURES or family in ("audio", "video")
    if shown and 0 < len(content.data) <= MAX_MEDIA:
        return {"kind": family, "label": label, "about": about, "key": key, "mime": mime}
    text = f"{label}: {about}. The page doesn't show it; the panel's .result has it."
    return {"kind": "note", "text": text}


def _json(value: Any) -> str:
    """A value as JSON to be read, cut to a bit more than a page is shown: a result may be endless."""
    text, length = [], 0
    try:
        for written in json.JSONEncoder(indent=2, ensure_ascii=False).iterencode(value):
            text.append(written)
            length += len(written)
            if length > MAX_LETTERS:
                break
    except (RecursionError, ValueError):  # nested too deep, or a number of more digits than Python writes
        text.append(" … the rest can't be shown.")
    return "".join(text)


def encodable(value: Any) -> Any:
    """The value with characters that no message can carry (lone surrogates) replaced."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {encodable(name): encodable(inner) for name, inner in value.items()}
    return [encodable(inner) for inner in value] if isinstance(value, list | tuple) else value


def _repeats(content: Content, structured: Any) -> bool:
    """Whether a text only repeats the structured content, as servers do for clients that read text alone."""
    if structured is None or not isinstance(content, TextContent) or len(content.text) > 1_000_000:
        return False
    said: Any = content.text
    with contextlib.suppress(ValueError, RecursionError):
        said = json.loads(content.text)
    with contextlib.suppress(RecursionError):
        return bool(said == structured or structured == {"result": said})
    return False
