"""The tool explorer: its messages with a server that does what a test wants, then with the sandbox's own."""

import concurrent.futures
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import pytest
from support.waiting import until
from widgets.doubles import Page, clip_file, work_ends

import reelbook as rb
from reelbook.agent_tools.types import (
    BinaryContent,
    OnProgress,
    Resource,
    TextContent,
    Tool,
    ToolProgress,
    ToolResult,
    UnknownContent,
)
from reelbook.errors import ConfigurationError, ReelbookError, ServiceUnreachable, ToolCallUncertain
from reelbook.sandbox.handle import Sandbox
from reelbook.session import Job
from reelbook.widgets.clip_serving import PIECE_BYTES
from reelbook.widgets.job_card import JobCard
from reelbook.widgets.player import Player
from reelbook.widgets.tool_explorer import MAX_MEDIA, ToolExplorer, ToolPanel, encodable, shown_result

DRAW = Tool(
    "draw",
    "Draw",
    "Draws <b>things</b>.",
    {
        "type": "object",
        "properties": {
            "prompt": {"type": "string", "minLength": 2},
            "count": {"type": "integer", "maximum": 3},
        },
        "required": ["prompt"],
    },
    destructive=True,
)
LOOK = Tool("look", None, "Looks.\nAnd more.", {}, read_only=True)


class FakeRun:
    """A call that ends when a test says so."""

    def __init__(self) -> None:
        self.future: concurrent.futures.Future[ToolResult] = concurrent.futures.Future()
        self.progress: ToolProgress | None = None
        self.stopped = False

    @property
    def done(self) -> bool:
        return self.future.done()

    def result(self, timeout: float | None = None) -> ToolResult:
        return self.future.result(0)

    def cancel(self) -> None:
        self.stopped = True
        self.future.set_exception(ToolCallUncertain("It was ended."))

    def on_end(self, callback: Callable[[Any], object]) -> None:
        self.future.add_done_callback(callback)


class FakeSession:
    """Two tools; keeps what was called."""

    service, sandbox, closed = "live", None, False

    def __init__(self, *tools: Tool) -> None:
        self.offered = tools or (DRAW, LOOK)
        self.fails: ReelbookError | None = None
        self.called: list[tuple[str, Mapping[str, Any], OnProgress, FakeRun]] = []
        self.fetched: list[str] = []
        self.file = Path("/nowhere")

    def _list_tools(self) -> concurrent.futures.Future[tuple[Tool, ...]]:
        if self.fails is not None:
            raise self.fails
        listed: concurrent.futures.Future[tuple[Tool, ...]] = concurrent.futures.Future()
        listed.set_result(self.offered)
        return listed

    def call_tool(self, name: str, arguments: Mapping[str, Any], *, on_progress: OnProgress) -> FakeRun:
        self.called.append((name, arguments, on_progress, FakeRun()))
        return self.called[-1][-1]

    def job(self, request_id: str) -> Job:
        raise ServiceUnreachable(f"no {request_id} here")

    def _fetch_link(self, url: str) -> Path:
        self.fetched.append(url)
        return self.file


class ToolsPage(Page):
    """A view of the panel."""

    panel: ToolPanel

    def __init__(self, session: FakeSession) -> None:
        self.session = session
        self.shown: list[Job | Path] = []
        super().__init__(ToolPanel(cast("rb.Session", session), self.shown.append))
        self.says("hello")
        work_ends(self.panel)

    def call(self, drafts: Any, tool: str = "draw") -> dict[str, str]:
        """Presses Call; gives what is wrong with the form."""
        answer = self.asks("call", ask=uuid4().hex, tool=tool, drafts=drafts)
        wrong: dict[str, str] = answer.get("problems", {})
        return wrong

    def answers(self, result: ToolResult) -> None:
        self.session.called[-1][-1].future.set_result(result)
        self.panel.refresh()


@pytest.fixture
def page() -> Iterator[ToolsPage]:
    page = ToolsPage(FakeSession())
    yield page
    page.panel.close()


def typed(prompt: str, count: str = "") -> dict[str, Any]:
    return {"prompt": prompt, "count": count}


def test_the_tools_are_listed_and_the_first_is_shown(page: ToolsPage) -> None:
    """Its form comes with it, its description as text, and what the server says of it."""
    rows = page.last("rows")
    assert [row["tool"] for row in rows["rows"]] == ["draw", "look"]
    assert (rows["summary"], rows["rows"][1]["about"]) == ("2 tools", "Looks.")
    form = page.last("form")
    assert (form["tool"], form["about"]) == ("draw", "Draws <b>things</b>.")
    assert "change or delete" in form["hints"]
    assert [field["name"] for field in form["fields"]] == ["prompt", "count"]
    assert (page.panel.state, page.panel.selected) == ("ready", "draw")


def test_a_call_shows_its_progress_and_its_result(page: ToolsPage) -> None:
    """The state follows, the callback hears of it, and the message is for the page."""
    told: list[tuple[Tool, ToolResult]] = []
    page.panel.on_result(lambda tool, result: told.append((tool, result)))
    page.call(typed("ab"))
    page.session.called[-1][-1].progress = ToolProgress(1, 4, "a quarter")
    page.panel.refresh()
    assert (page.panel.state, page.panel.progress) == ("calling", 0.25)
    assert page.panel.words["progress"] == "25 % · a quarter"
    assert page.panel.live
    result = ToolResult((TextContent("done"), BinaryContent(bytes(PIECE_BYTES + 5), "image/png")))
    page.answers(result)
    assert (page.panel.state, page.panel.result, told) == ("ready", result, [(DRAW, result)])
    sent = page.last("result")
    assert "draw answered in" in sent["text"]
    assert [part["kind"] for part in sent["parts"]] == ["text", "image"]
    key = sent["parts"][1]["key"]
    pieces = [page.asks("chunk", key=key, index=index) for index in (0, 1)]
    assert [(each["total"], len(each["buffers"][0])) for each in pieces] == [(2, PIECE_BYTES), (2, 5)]
    assert page.asks("chunk", key="9", index=0) == {"problem": "This result is no longer here."}


def test_a_second_press_calls_once(page: ToolsPage) -> None:
    """While a call goes on, and with the same press told twice; before, the form has to be right."""
    wrong = {"prompt": "At least 2 characters.", "count": "Type a whole number."}
    assert page.call(typed("a", "x")) == wrong
    assert page.session.called == []
    page.says("call", ask="one", tool="draw", drafts=typed("ab"))
    page.says("call", ask="two", tool="draw", drafts=typed("ab"))
    page.answers(ToolResult())
    page.says("call", ask="one", tool="draw", drafts=typed("ab"))
    assert [(name, arguments) for name, arguments, *_ in page.session.called] == [("draw", {"prompt": "ab"})]


def test_stop_ends_the_call_and_says_what_may_go_on(page: ToolsPage) -> None:
    """A tool that only reads leaves nothing behind."""
    page.call(typed("ab"))
    page.says("stop")
    page.panel.refresh()
    assert page.session.called[-1][-1].stopped
    assert "may go on, and may be billed" in page.last("result")["text"]
    assert page.panel.state == "ready"
    page.says("pick", tool="look")
    page.call({}, "look")
    page.says("stop")
    page.panel.refresh()
    assert "billed" not in page.last("result")["text"]


def test_a_failure_is_told_and_a_tools_own_is_a_result(page: ToolsPage) -> None:
    """No result came, or one that says that it failed."""
    page.call(typed("ab"))
    page.session.called[-1][-1].future.set_exception(ServiceUnreachable("Nothing was sent."))
    page.panel.refresh()
    assert page.last("result")["text"].endswith("Nothing was sent.")
    assert page.last("result")["tone"] == "fail"
    page.call(typed("ab"))
    page.answers(ToolResult((TextContent("no balance"),), None, True))
    assert "reports a failure" in page.last("result")["text"]
    assert page.last("result")["parts"][0]["text"] == "no balance"


def test_what_was_typed_comes_back_with_its_tool(page: ToolsPage) -> None:
    """Looking at another tool loses nothing, nor does a page that is loaded anew."""
    page.says("typed", tool="draw", drafts=typed("an owl", "x"))
    page.says("pick", tool="look")
    assert page.last("form")["tool"] == "look"
    page.panel.selected = "draw"
    assert page.last("form")["drafts"] == typed("an owl", "x")
    page.says("hello")
    assert page.last("form")["drafts"] == typed("an owl", "x")
    assert "an owl" not in str(page.panel.get_state())


def test_what_a_result_speaks_of_is_taken_up(page: ToolsPage) -> None:
    """A job by its id, a clip by its address; what fails is said under the panel."""
    page.call(typed("ab"))
    found = {"jobs": [{"request_id": "req-1"}, {"video_url": "https://example.org/a.mp4"}]}
    page.answers(ToolResult((), found))
    assert [(job["text"], job["button"]) for job in page.last("result")["jobs"]] == [
        ("Job req-1", "Watch this job"),
        ("https://example.org/a.mp4", "Fetch and play"),
    ]
    page.says("take", place=0)
    assert page.panel.message["text"] == "no req-1 here"
    page.says("take", place=1)
    until(lambda: page.shown)
    assert (page.session.fetched, page.shown) == (["https://example.org/a.mp4"], [Path("/nowhere")])
    page.says("take", place=7)
    page.says("take", place="x")


def test_what_is_missing_is_said_with_what_to_do() -> None:
    """No extra, no server, a wrong id: the error's own words, and Try again."""
    session = FakeSession()
    session.fails = ConfigurationError("pip install 'mcp>=2.3,<3'")
    page = ToolsPage(session)
    assert (page.panel.state, page.panel.message["text"]) == ("trouble", "pip install 'mcp>=2.3,<3'")
    session.fails = None
    page.says("again")
    work_ends(page.panel)
    assert (page.panel.state, len(page.panel.tools)) == ("ready", 2)
    page.panel.close()


def test_hostile_tools_make_small_messages() -> None:
    """Thousands of tools, endless descriptions, names that no message carries: the page gets a part."""
    endless = "<img src=x onerror=alert(1)>" * 40_000
    many = [Tool(f"t{k}", endless, endless, {"title": endless, "properties": endless}) for k in range(3000)]
    page = ToolsPage(FakeSession(*many, Tool("\ud800")))
    assert page.last("rows")["summary"] == "the first 200 of 3,000 tools"
    assert encodable({"\ud800": ["a\udfff", 1, None]}) == {"?": ["a?", 1, None]}
    assert max(len(str(content)) for content, _ in page.messages) < 60_000
    assert len(str(page.panel.get_state())) < 40_000
    page.panel.close()


def test_a_clip_is_made_through_the_sandboxs_tools(session: rb.Session, sandbox: Sandbox, home: Path) -> None:
    """Listed, called, kept in the ledger, taken up as a job in place of a file that was fetched before."""
    tool = "generate_video_from_text"
    explorer = ToolExplorer(session)
    explorer._show(clip_file(home / "fetched.mp4"))
    assert isinstance(explorer.taken, Player)
    page = Page(explorer.panel)
    page.says("hello")
    until(lambda: explorer.state == "ready")
    explorer.selected = tool
    drafts = page.last("form")["drafts"] | {"prompt": "a red fox", "duration_seconds": "1"}
    page.says("call", ask="1", tool=tool, drafts=drafts)
    until(lambda: explorer.result is not None and page.last("result").get("jobs"))
    page.says("take", place=0)
    assert isinstance(explorer.taken, JobCard)
    assert explorer.taken.job is not None
    clip = explorer.taken.job.result(30)
    assert clip.duration_seconds == pytest.approx(1, abs=0.2)
    (call,) = session.tool_calls()
    assert (call.tool, call.outcome, call.arguments["prompt"]) == (tool, "done", "a red fox")
    assert "a red fox" not in str(explorer.panel.get_state())
    assert sandbox.user_id not in str(page.messages)
    assert tool in explorer._repr_mimebundle_()["text/html"]
    explorer.close()


SCRIPT = "<script>alert(1)</script>"


def kinds(*content: Any, structured: Any = None) -> list[str]:
    return [part["kind"] for part in shown_result(ToolResult(content, structured))[0]]


def test_each_part_is_shown_for_what_it_is() -> None:
    """Pictures, sound and film by their types; what a browser might run isn't given to it."""
    assert kinds(
        TextContent("a"),
        BinaryContent(b"x", "image/png"),
        BinaryContent(b"x", "image/svg+xml"),
        BinaryContent(b"x", "audio/wav; rate=8000"),
        BinaryContent(b"x", "video/mp4", "a"),
        TextContent(SCRIPT, "a"),
        BinaryContent(SCRIPT.encode(), "text/html", "a"),
        Resource("https://example.org"),
        UnknownContent("odd", {"a": 1}),
        structured={"a": 1},
    ) == ["text", "text", "image", "note", "audio", "video", "text", "note", "link", "text"]
    assert kinds() == ["note"]


def test_bytes_stay_here_until_the_page_asks() -> None:
    """The message holds no byte of them, and what no page could hold isn't offered to it."""
    pictures = BinaryContent(b"\xffpicture", "image/png"), BinaryContent(bytes(MAX_MEDIA + 1), "image/png")
    [picture, huge], media = shown_result(ToolResult(pictures))
    assert media == {"0": b"\xffpicture"}
    about = {"label": "Image", "about": "image/png, 8 bytes", "mime": "image/png"}
    assert picture == {"kind": "image", "key": "0", **about}
    assert (huge["kind"], huge["text"][:35]) == ("note", "Image: image/png, 67,108,865 bytes.")


def test_a_text_that_repeats_the_structured_content_is_left_out() -> None:
    """Servers send both, for clients that know only text."""
    assert kinds(TextContent('{"a": 1}'), structured={"a": 1}) == ["text"]
    assert kinds(TextContent("fox"), structured={"result": "fox"}) == ["text"]
    assert kinds(TextContent('{"a": 2}'), structured={"a": 1}) == ["text", "text"]
    assert kinds(TextContent("[" * 100_000), structured={"a": 1}) == ["text", "text"]


@pytest.mark.parametrize(
    ("uri", "opens"),
    [
        *((uri, True) for uri in ("https://example.org/a?b=c#d", "http://127.0.0.1:8000")),
        *((uri, False) for uri in ("javascript:alert(1)", "data:text/html,x", "file:///etc/passwd")),
        *((uri, False) for uri in ("https://user@example.org", "https://", "https://exam ple.org")),
        *((f"https://example.org/{end}", False) for end in ("\n", "x" * 5000)),
        *((uri, False) for uri in ("ht\ntps://example.org", "https://[")),
    ],
)
def test_only_a_plain_page_can_be_opened(uri: str, *, opens: bool) -> None:
    """Over http and https. Any address is shown as text."""
    [part], _ = shown_result(ToolResult((Resource(uri, name=SCRIPT),)))
    assert (len(part["text"]) <= 300, part["href"]) == (True, uri if opens else "")


def test_a_huge_result_makes_a_small_message() -> None:
    """Deep, wide, long and many: the page gets so much as it can show, and is told what is left out."""
    deep: Any = SCRIPT
    for _ in range(900):
        deep = [deep]
    wide = {"rows": [{"n": n, "text": "x" * 10_000} for n in range(20_000)], "deep": deep, "k" * 10_000: 1}
    parts, _ = shown_result(ToolResult(tuple(TextContent("y" * 100_000) for _ in range(1000)), wide))
    assert len(json.dumps(parts)) < 700_000
    assert parts[-1]["text"] == "981 more parts aren't shown here."
    assert parts[0]["label"] == "Structured content"
    assert parts[1]["text"] == "y" * 30_000
    assert parts[1]["cut"] == "These are the first 30,000 characters; the panel's .result has all of it."
    value = {"a": [1, {"b": None}], "ü": "\u2028"}
    [whole], _ = shown_result(ToolResult((), value))
    assert json.loads(whole["text"]) == value
    [endless], _ = shown_result(ToolResult((), {"n": 10**5000}))
    assert endless["text"].endswith("the rest can't be shown.")
