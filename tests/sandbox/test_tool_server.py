"""The sandbox's agent tools over a real socket: with the protocol's official client, and with bare HTTP."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path

import httpx
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import ResourceLink, TextContent
from sandbox.agents import EITHER, IMAGE, TEXT, called, post, tools_of
from sandbox.doubles import Client, Open

pytestmark = pytest.mark.anyio

GENERATIONS = ["2026-07-28", "legacy"]


@pytest.mark.parametrize("mode", GENERATIONS)
async def test_a_clip_is_made_and_waited_for_through_tools(client: Client, mode: str) -> None:
    """In both generations of the protocol: listed, submitted, progress told, the clip linked and charged."""
    client.sandbox.settings(pace=0.8)
    async with tools_of(client, mode) as tools:
        listed = {tool.name: tool for tool in (await tools.list_tools()).tools}
        looking = ["get_video_status", "wait_for_video", "get_balance", "get_usage"]
        assert list(listed) == [TEXT, IMAGE, *looking]
        accepted = (
            await tools.call_tool(TEXT, {"prompt": "a fox", "duration_seconds": 3})
        ).structured_content
        request_id = accepted.pop("request_id")
        assert accepted == {
            "status": "pending",
            "estimated_cost_usd": 0.15,
            "estimated_duration_seconds": 3,
            "service": "sandbox",
        }
        reports: list[tuple[float, float | None, str | None]] = []

        async def note(progress: float, total: float | None, message: str | None) -> None:
            reports.append((progress, total, message))
            client.sandbox.advance(0.2)  # time stands still but for this

        done = await tools.call_tool("wait_for_video", {"request_id": request_id}, progress_callback=note)
        percents = [report[0] for report in reports]
        assert percents == sorted(set(percents))
        assert (reports[0], reports[-1]) == ((0, 100, "pending"), (100, 100, "completed"))
        job = client.status(request_id)
        assert done.structured_content == job | {"service": "sandbox"}
        assert job["cost_usd"] == 0.15
        text, link = done.content
        assert isinstance(text, TextContent)
        assert isinstance(link, ResourceLink)
        assert (link.uri, link.mime_type, link.title) == (job["video_url"], "video/mp4", "The clip (sandbox)")
        balance = (await tools.call_tool("get_balance", {})).structured_content
        assert balance == client.get("/api/v1/billing/balance").json() | {"service": "sandbox"}
        used = (await tools.call_tool("get_usage", {"days": 7})).structured_content
        assert used == client.get("/api/v1/billing/usage?days=7").json() | {"service": "sandbox"}


async def test_an_unknown_tool_is_named_as_such(shared: Client) -> None:
    """With those that there are."""
    async with tools_of(shared) as tools:
        with pytest.raises(
            MCPError, match="There is no tool of that name; there are generate_video_from_text"
        ):
            await tools.call_tool("generate_everything", {})


def test_plain_json_will_do(shared: Client) -> None:
    """A client that takes no stream of events is answered in JSON; one that does, in events."""
    user = {"X-User-ID": shared.sandbox.user_id}
    plain = post(shared, {**user, "Accept": "application/json"})
    assert plain.headers["content-type"] == "application/json"
    assert len(plain.json()["result"]["tools"]) == 6
    assert post(shared, user).headers["content-type"].startswith("text/event-stream")


def test_only_posts_are_taken(shared: Client) -> None:
    """No session means no stream to open and none to end."""
    for method in ("GET", "DELETE"):
        answer = httpx.request(method, shared.sandbox.mcp_url, headers=EITHER, trust_env=False)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_the_line_to_a_tool_can_break_on_purpose(client: Client) -> None:
    """`fault(endpoint="tools")`: the call was handled, its answer lost, and the job is there."""
    client.sandbox.fault("answer_lost", endpoint="tools")
    with pytest.raises(httpx.ReadError):
        post(client, {"X-User-ID": client.sandbox.user_id}, called(TEXT, {"prompt": "a fox"}))
    assert client.sandbox.state()["jobs_under_way"] == 1


async def test_a_client_outlives_a_restart(open_sandbox: Open, tmp_path: Path) -> None:
    """There are no sessions to lose: the same client goes on with the sandbox that was started again."""
    user_ids = []
    for _ in range(2):
        with open_sandbox(tmp_path) as client:
            user_ids.append(client.sandbox.user_id)
            async with tools_of(client, "legacy") as tools:
                assert not (await tools.call_tool("get_balance", {})).is_error
    assert user_ids[0] == user_ids[1]


def test_it_ends_while_somebody_waits(open_sandbox: Open, tmp_path: Path) -> None:
    """The sandbox's end doesn't wait for a tool that does."""
    ended: list[object] = []

    def wait(client: Client, request_id: str) -> None:
        call = called("wait_for_video", {"request_id": request_id, "timeout_seconds": 600})
        with contextlib.suppress(httpx.HTTPError):
            ended.append(post(client, {"X-User-ID": client.sandbox.user_id}, call).status_code)
        ended.append("ended")

    with open_sandbox(tmp_path, pace=600) as client:
        request_id = client.submit()
        thread = threading.Thread(target=wait, args=(client, request_id))
        thread.start()
        while client.sandbox.state()["requests"].get("tools", 0) < 1:
            pass
    thread.join(timeout=20)
    assert ended[-1:] == ["ended"]
