"""The tool explorer: its messages with a server that does what a test wants, then with the sandbox's own."""

from __future__ import annotations

import concurrent.futures
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from support.waiting import until
from widgets.doubles import clip_file, heard, page_sends

import reelbook as rb
from reelbook.agent_tools.parsing import FoundJob
from reelbook.agent_tools.types import BinaryContent, OnProgress, TextContent, Tool, ToolProgress, ToolResult
from reelbook.errors import ConfigurationError, ReelbookError, ServiceUnreachable, ToolCallUncertain
from reelbook.sandbox.handle import Sandbox
from reelbook.session import Job
from reelbook.text import tools as words
from reelbook.widgets.clip_serving import PIECE_BYTES
from reelbook.widgets.job_card import JobCard
from reelbook.widgets.tool_explorer import ToolExplorer, ToolPanel

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
    None,
    None,
    True,
)
LOOK = Tool("look", None, "Looks.\nAnd more.", {}, None, True)


class FakeRun:
    """A call that ends when a test says so."""

    def __init__(self) -> None:
        self.future: concurrent.futures.Future[ToolResult] = concurrent.futures.Future()
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


class Page:
    """The panel and what it sent."""

    def __init__(self, session: FakeSession) -> None:
        self.session = session
        self.shown: list[Job | Path] = []
        self.panel = ToolPanel(cast("rb.Session", session), self.shown.append)
        self.sent = heard(self.panel)
        self.says("hello")
        self.panel.refresh()

    def says(self, name: str, **content: Any) -> None:
        page_sends(self.panel, {"name": name, **content})

    def last(self, name: str) -> dict[str, Any]:
        return [content for content, _ in self.sent if content["name"] == name][-1]

    def call(self, drafts: Any, tool: str = "draw") -> None:
        self.says("call", id=str(len(self.sent)), tool=tool, drafts=drafts)

    def answers(self, result: ToolResult) -> None:
        self.session.called[-1][-1].future.set_result(result)
        self.panel.refresh()


@pytest.fixture
def page() -> Iterator[Page]:
    page = Page(FakeSession())
    yield page
    page.panel.close()


def typed(prompt: str, count: str = "") -> dict[str, Any]:
    return {"prompt": prompt, "count": count}


def test_the_tools_are_listed_and_the_first_is_shown(page: Page) -> None:
    """Its form comes with it, its description as text, and what the server says of it."""
    rows = page.last("rows")
    assert [row["tool"] for row in rows["rows"]] == ["draw", "look"]
    assert (rows["summary"], rows["rows"][1]["about"]) == ("2 tools", "Looks.")
    form = page.last("form")
    assert (form["tool"], form["about"]) == ("draw", "Draws <b>things</b>.")
    assert "change or delete" in form["hints"]
    assert [field["name"] for field in form["fields"]] == ["prompt", "count"]
    assert (page.panel.state, page.panel.selected) == ("ready", "draw")


def test_nothing_is_sent_before_the_form_is_right(page: Page) -> None:
    """What is wrong is told by field."""
    page.call(typed("a", "x"))
    assert page.last("problems")["problems"] == {
        "prompt": "At least 2 characters.",
        "count": "Type a whole number.",
    }
    assert page.session.called == []
    page.call(typed("ab", "3"))
    assert page.last("problems")["problems"] == {}
    assert [(name, arguments) for name, arguments, *_ in page.session.called] == [
        ("draw", {"prompt": "ab", "count": 3})
    ]


def test_a_call_shows_its_progress_and_its_result(page: Page) -> None:
    """The state follows, the callback hears of it, and the message is for the page."""
    told: list[tuple[Tool, ToolResult]] = []
    page.panel.callbacks.append(lambda tool, result: told.append((tool, result)))
    page.call(typed("ab"))
    page.session.called[-1][2](ToolProgress(1, 4, "a quarter"))
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
    sizes = []
    for index in (0, 1):
        page.says("chunk", key=key, id="x", index=index)
        content, (piece,) = page.sent[-1]
        sizes.append((content["total"], len(piece)))
    assert sizes == [(2, PIECE_BYTES), (2, 5)]
    page.says("chunk", key="9", id="x", index=0)
    assert page.last("chunk")["problem"] == "This result is no longer here."


def test_where_the_page_has_to_ask_the_answer_carries_the_result(page: Page) -> None:
    """In Colab nothing that a thread sends arrives: the news waits for the page's next question."""
    page.panel.asks = True
    page.call(typed("ab"))
    before = len(page.sent)
    run = page.session.called[-1][-1]
    thread = threading.Thread(target=run.future.set_result, args=(ToolResult((TextContent("late"),)),))
    thread.start()
    thread.join()
    until(lambda: page.panel.result is not None)
    assert len(page.sent) == before
    page.says("ask")
    assert page.last("result")["parts"][0]["text"] == "late"


def test_a_second_press_calls_once(page: Page) -> None:
    """While a call goes on, and with the same press told twice."""
    page.says("call", id="one", tool="draw", drafts=typed("ab"))
    page.says("call", id="two", tool="draw", drafts=typed("ab"))
    page.answers(ToolResult())
    page.says("call", id="one", tool="draw", drafts=typed("ab"))
    assert len(page.session.called) == 1


def test_stop_ends_the_call_and_says_what_may_go_on(page: Page) -> None:
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


def test_a_failure_is_told_and_a_tools_own_is_a_result(page: Page) -> None:
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


def test_what_was_typed_comes_back_with_its_tool(page: Page) -> None:
    """Looking at another tool loses nothing, nor does a page that is loaded anew."""
    page.says("typed", tool="draw", drafts=typed("an owl", "x"))
    page.says("pick", tool="look", from_="draw")
    assert page.last("form")["tool"] == "look"
    page.panel.selected = "draw"
    assert page.last("form")["drafts"] == typed("an owl", "x")
    page.says("hello")
    assert page.last("form")["drafts"] == typed("an owl", "x")
    assert "an owl" not in str(page.panel.get_state())


def test_what_a_result_speaks_of_is_taken_up(page: Page) -> None:
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
    assert words.jobs([FoundJob("req-1", "https://example.org/a")])[0]["button"] == "Watch this job"


def test_what_is_missing_is_said_with_what_to_do() -> None:
    """No extra, no server, a wrong id: the error's own words, and Try again."""
    session = FakeSession()
    session.fails = ConfigurationError("pip install 'mcp>=2.3,<3'")
    page = Page(session)
    assert (page.panel.state, page.panel.message["text"]) == ("trouble", "pip install 'mcp>=2.3,<3'")
    session.fails = None
    page.says("again")
    page.panel.refresh()
    assert (page.panel.state, len(page.panel.tools)) == ("ready", 2)
    page.panel.close()


def test_hostile_tools_make_small_messages() -> None:
    """Thousands of tools, endless descriptions, names that no message carries: the page gets a part."""
    endless = "<img src=x onerror=alert(1)>" * 40_000
    many = [Tool(f"t{k}", endless, endless, {"title": endless, "properties": endless}) for k in range(3000)]
    page = Page(FakeSession(*many, Tool("\ud800")))
    assert len(page.panel.tools) == 3000
    assert page.last("rows")["summary"] == "the first 200 of 3,000 tools"
    assert max(len(str(content)) for content, _ in page.sent) < 60_000
    assert len(str(page.panel.get_state())) < 40_000
    page.panel.close()


def test_a_file_that_was_fetched_is_played(tmp_path: Path) -> None:
    """Beneath the panel, as a job's card would be."""
    with rb.connect_tools("http://127.0.0.1:9/mcp", "user-1", home=tmp_path) as tools:
        explorer = ToolExplorer(tools)
        explorer._show(clip_file(tmp_path / "a.mp4"))
        assert [type(child).__name__ for child in explorer.children] == ["ToolPanel", "Player"]
        explorer.close()


def test_the_code_and_state_of_the_explorer_are_small(page: Page) -> None:
    """They are saved with every notebook that shows it."""
    page.call(typed("ab"))
    page.answers(ToolResult((TextContent("x" * 100_000),)))
    state = {name: value for name, value in page.panel.get_state().items() if name not in ("_esm", "_css")}
    assert len(ToolPanel._esm) + len(ToolPanel._css) + len(str(state)) < 25_000


def test_a_clip_is_made_through_the_sandboxs_tools(sandbox: Sandbox) -> None:
    """Listed, called, kept in the ledger, taken up as a job; the arguments are the form's."""
    with rb.connect("sandbox") as session:
        explorer = ToolExplorer(session)
        sent = heard(explorer.panel)

        def says(name: str, **content: Any) -> None:
            page_sends(explorer.panel, {"name": name, **content})

        def last(name: str) -> dict[str, Any]:
            return [content for content, _ in sent if content["name"] == name][-1]

        says("hello")
        until(lambda: explorer.state == "ready")
        explorer.selected = "generate_video_from_text"
        drafts = last("form")["drafts"] | {"prompt": "a red fox", "duration_seconds": "1"}
        says("call", id="1", tool="generate_video_from_text", drafts=drafts)
        until(lambda: explorer.result is not None and last("result").get("jobs"))
        says("take", place=0)
        assert isinstance(explorer.taken, JobCard)
        assert explorer.taken.job is not None
        clip = explorer.taken.job.result(30)
        assert clip.duration_seconds == pytest.approx(1, abs=0.2)
        (call,) = session.tool_calls()
        assert (call.tool, call.outcome, call.arguments["prompt"]) == (
            "generate_video_from_text",
            "done",
            "a red fox",
        )
        assert "a red fox" not in str(explorer.panel.get_state())
        assert sandbox.user_id not in str(sent)
        assert "generate_video_from_text" in explorer._repr_mimebundle_()["text/html"]
        explorer.close()
