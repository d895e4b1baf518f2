"""A session's agent tools, on the sandbox's own tool server and without a session."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.raw_server import Exchange
from support.tool_servers import USER, result, scripted
from support.waiting import until

import reelbook as rb
from reelbook.agent_tools.parsing import found_jobs
from reelbook.agent_tools.types import ToolResult
from reelbook.errors import ConfigurationError, InvalidInput, ToolCallUncertain
from reelbook.ledger import Spend
from reelbook.sandbox.handle import Sandbox
from reelbook.session.tools import ToolRun
from reelbook.settings import InsecureAddress


def awaited(run: ToolRun) -> ToolResult:
    """What awaiting it in a cell gives."""

    async def wait() -> ToolResult:
        return await run

    return asyncio.run(wait())


def bought(session: rb.Session) -> str:
    """The id of a clip of a second that is bought through a tool."""
    run = session.call_tool("generate_video_from_text", prompt="a fox", duration_seconds=1)
    (found,) = found_jobs(awaited(run))
    assert found.request_id is not None
    return found.request_id


def test_a_job_that_a_tool_made_is_taken_up(session: rb.Session) -> None:
    """Called without a word of keys or addresses; the ledger keeps the call, and the job's id and prompt."""
    assert "generate_video_from_text" in [tool.name for tool in session.tools()]
    request_id = bought(session)
    job = session.job(request_id)
    assert (job.request_id, job.prompt, job.request) == (request_id, "a fox", None)
    assert "“a fox”" in repr(job)
    (call,) = session.tool_calls()
    assert (call.tool, call.outcome, call.request_ids) == ("generate_video_from_text", "done", (request_id,))
    (done,) = found_jobs(session.call_tool("wait_for_video", {"request_id": request_id}).result(30))
    assert done.video_url is not None
    assert session._fetch_link(done.video_url).stat().st_size > 1000
    with pytest.raises(InvalidInput, match="wasn't fetched"):
        session._fetch_link("http://10.0.0.1/x.mp4")
    assert session.call_tool("get_video_status", {"request_id": "nobody's"}).result(30).is_error
    assert session.tool_calls(1)[0].outcome == "tool error"


def test_a_clip_bought_through_a_tool_is_this_sessions_spending(home: Path, sandbox: Sandbox) -> None:
    """Once it has ended: in the sums, the limit, the receipt and the days, shown as such and counted once."""
    with rb.connect("sandbox", max_spend=0.2) as session:
        request_id = bought(session)
        session.job(request_id).result(30)
        session.call_tool("get_video_status", {"request_id": request_id}).result(30)
        assert session.spending().of_key == Spend(0.05, 0.0, 0.0, tools_usd=0.05)
        assert "$0.05 of it through agent tools" in str(session.spending())
        (row,) = session.receipt().rows
        assert (row.mode, row.prompt, row.cost_usd, row.cost_is) == ("agent tool", "a fox", 0.05, "charged")
        assert session.receipt("another").rows == ()
        days = session.usage_history(7).wait(30)
        assert [(own.usd, own.here) for own in days.own()] == [(0.05, True)]
        with pytest.raises(rb.errors.SpendLimitReached):
            session.text_to_video("a hen", duration_seconds=4)
    with rb.connect("sandbox") as later:
        later.job(request_id).result(30)
        assert (later.spending().of_key.spent_usd, later.spending().spent_usd) == (0.05, 0.0)


def test_the_balance_isnt_reduced_again_by_a_clip_that_a_tool_waited_for(session: rb.Session) -> None:
    """What was heard of it after the tool's call holds the clip's cost already."""
    request_id = bought(session)
    session.call_tool("wait_for_video", {"request_id": request_id}).result(30)
    assert session.balance().balance_usd == 24.95
    session.job(request_id).result(30)
    assert session.facts.balance_usd == 24.95


def test_tools_need_no_key_and_no_session(home: Path, sandbox: Sandbox) -> None:
    """An address and a user id do; a wrong one is refused, and isn't quoted."""
    with rb.connect_tools(sandbox.mcp_url, sandbox.user_id) as tools:
        assert tools._tool_server().name == "reelbook-sandbox"
        assert tools.call_tool("get_balance").result(30).structured["balance_usd"] == 25.0
    with pytest.raises(rb.errors.SessionClosed):
        tools.tools()
    with rb.connect_tools(sandbox.mcp_url, USER) as tools:
        with pytest.raises(rb.errors.AuthenticationError) as refused:
            tools.tools()
        assert USER not in str(refused.value)


@pytest.mark.parametrize(
    ("configured", "missing"),
    [
        ({}, "set REELBOOK_MCP_URL and REELBOOK_USER_ID"),
        ({"REELBOOK_USER_ID": USER}, "REELBOOK_MCP_URL"),
        ({"REELBOOK_MCP_URL": "https://tools.example/mcp"}, "REELBOOK_USER_ID"),
        ({"REELBOOK_MCP_URL": "https://u:p@tools.example", "REELBOOK_USER_ID": USER}, "must not contain"),
    ],
)
def test_what_is_not_configured_is_said(
    configured: dict[str, str], missing: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which of the two is missing, and where to set it."""
    for name, value in configured.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match=missing):
        rb.connect_tools()


def test_tools_warn_at_the_line_that_uses_them(home: Path) -> None:
    """Of a damaged ledger, which only its first opener can tell, and of plain HTTP."""
    home.mkdir()
    (home / "ledger.db").write_bytes(b"rubbish " * 500)
    with pytest.warns(rb.errors.LedgerTrouble, match="The ledger was damaged"):
        tools = rb.connect_tools("http://tools.invalid", USER)
    with pytest.warns(InsecureAddress, match="The user id will travel unencrypted") as warned:
        tools.call_tool("x")
    assert [each.filename for each in warned] == [__file__]
    tools.close()


def test_arguments_come_by_name_or_as_a_mapping(session: rb.Session) -> None:
    """Both at once, too; a tool's own `name`, and one that a keyword of ours would hide, find their way."""
    told: list[Any] = []
    seen: list[Any] = []

    def answer(exchange: Exchange, message: Any) -> None:
        seen.append(message["params"]["arguments"])
        result(exchange, message, {"content": []})

    with scripted(answer) as server, rb.connect_tools(server.url, USER) as tools:
        run = tools.call_tool("buy", {"on_progress": 1, "b": 2}, name="fox", b=3, on_progress=told.append)
        run.result(30)
    assert seen == [{"on_progress": 1, "b": 3, "name": "fox"}]
    waiting = session.call_tool("wait_for_video", on_progress=told.append, request_id=bought(session))
    assert waiting.result(30).structured["status"] == "completed"
    assert (told[-1].fraction, waiting.progress) == (1.0, told[-1])


def test_a_call_that_is_cancelled_or_outlives_the_waiting(home: Path) -> None:
    """A timeout ends the waiting only; cancelling ends the call, and the ledger says so."""
    with (
        scripted(lambda exchange, _: exchange.keep_open()) as server,
        rb.connect_tools(server.url, USER) as tools,
    ):
        run = tools.call_tool("buy", {"prompt": "a fox"})
        with pytest.raises(rb.errors.WaitTimeout):
            run.result(0.3)
        assert not run.done
        assert tools.tool_calls()[0].outcome is None
        run.cancel()
        with pytest.raises(ToolCallUncertain, match="may have been carried out"):
            run.result(60)
        until(lambda: tools.tool_calls()[0].outcome)
        assert tools.tool_calls()[0].outcome == "cancelled"


def test_failed_calls_are_kept_without_the_user_id(home: Path) -> None:
    """A server may quote what it was sent; a call without an answer is uncertain."""

    def fail(exchange: Exchange, message: Any) -> None:
        if message["params"]["name"] == "lose":
            return exchange.reset()
        content = [{"type": "text", "text": f"{USER} may not do this"}]
        return result(exchange, message, {"content": content, "isError": True})

    with scripted(fail) as server, rb.connect_tools(server.url, USER) as tools:
        with pytest.raises(ToolCallUncertain):
            awaited(tools.call_tool("lose", prompt=USER))
        assert awaited(tools.call_tool("buy")).is_error
        failed, lost = tools.tool_calls()
    assert (lost.outcome, dict(lost.arguments)) == ("uncertain", {"prompt": "***"})
    assert "lost" in (lost.error or "")
    assert (failed.outcome, failed.error) == ("tool error", "*** may not do this")


WITHOUT = """
import sys
EXTRA = ("mcp", "mcp_types", "httpx2")
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in EXTRA:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
import reelbook as rb
from reelbook.cli import app
session = rb.connect("live")
for ask in (session.tools, rb.connect_tools().tools, session.call_tool("buy").result):
    try:
        ask()
    except rb.errors.ConfigurationError as error:
        print(error)
session.close()
print([name for name in sys.modules if name.partition(".")[0] in EXTRA])
"""


def test_without_the_extra_everything_else_works(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of it is imported, and who asks for tools is told what to install."""
    for name in ("BASE_URL", "MCP_URL"):
        monkeypatch.setenv(f"REELBOOK_{name}", "http://127.0.0.1:9")
    for name in ("API_KEY", "USER_ID"):
        monkeypatch.setenv(f"REELBOOK_{name}", USER)
    ended = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, timeout=60)
    lines = ended.stdout.splitlines()
    assert len(lines) == 4, ended.stderr
    assert all("pip install 'mcp>=2.3,<3'" in line for line in lines[:3])
    assert lines[3] == "[]"
