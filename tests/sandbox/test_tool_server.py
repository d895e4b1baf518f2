"""The agent tools: who may use them, their schemas, and that they answer as the HTTP interface does.

Over a real socket, with the protocol's official client and with bare HTTP.
"""

import base64
import contextlib
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client as Tools
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import ResourceLink, TextContent
from sandbox.doubles import Client, InstantExecutor, Open
from support.waiting import until

from reelbook.lazy_module import LazyModule
from reelbook.sandbox.server import in_thread

jsonschema: Any = LazyModule("jsonschema")

TEXT, IMAGE = "generate_video_from_text", "generate_video_from_image"
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
EITHER = {"Accept": "application/json, text/event-stream"}


@contextlib.asynccontextmanager
async def tools_of(client: Client, mode: str = "auto") -> AsyncIterator[Tools]:
    """The official client, as the sandbox's user."""
    headers = {"X-User-ID": client.sandbox.user_id}
    async with (
        httpx2.AsyncClient(headers=headers, trust_env=False, timeout=30) as http,
        Tools(streamable_http_client(client.sandbox.mcp_url, http_client=http), mode=mode) as tools,
    ):
        yield tools


def post(client: Client, headers: dict[str, str], body: Any = LIST) -> httpx.Response:
    """A bare POST to the tool server, as nobody unless `headers` say who."""
    return httpx.post(client.sandbox.mcp_url, headers={**EITHER, **headers}, json=body, trust_env=False)


def called(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The body that calls a tool."""
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
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


@pytest.mark.anyio
async def test_an_unknown_tool_is_named_as_such(shared: Client) -> None:
    """With those that there are."""
    async with tools_of(shared) as tools:
        with pytest.raises(
            MCPError, match="There is no tool of that name; the tools are generate_video_from_text"
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
    """The call was handled, its answer lost, and the job is there."""
    client.sandbox.fault("answer_lost", endpoint="tools")
    with pytest.raises(httpx.ReadError):
        post(client, {"X-User-ID": client.sandbox.user_id}, called(TEXT, {"prompt": "a fox"}))
    assert client.sandbox.state()["jobs_under_way"] == 1


@pytest.mark.anyio
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
        until(lambda: "tools" in client.sandbox.state()["requests"])
    thread.join(timeout=20)
    assert ended[-1:] == ["ended"]


@pytest.mark.parametrize("user_id", [None, "", "user-0000000000000000", "ünknown"])
def test_without_the_user_id_nobody_comes_in(shared: Client, user_id: str | None) -> None:
    """An unknown or absent one is a 401 in JSON; the API key doesn't help."""
    headers: dict[Any, Any] = {"Authorization": f"Bearer {shared.sandbox.api_key.reveal()}"}
    if user_id is not None:
        headers[b"X-User-ID"] = user_id.encode()
    answer = httpx.post(shared.sandbox.mcp_url, headers=headers, json=LIST, trust_env=False)
    assert (answer.status_code, answer.json()) == (
        401,
        {"detail": "X-User-ID is missing or names nobody here"},
    )


def test_pages_of_other_origins_and_names_are_refused(shared: Client) -> None:
    """A web page that learnt the user id can't use it, nor can a name that was made to point here."""
    user = {"X-User-ID": shared.sandbox.user_id}
    assert post(shared, {**user, "Origin": "https://example.com"}).status_code == 403
    assert post(shared, {**user, "Origin": shared.sandbox.url}).status_code == 200
    assert post(shared, {**user, "Host": "example.com"}).status_code == 421


def test_without_the_extra_the_rest_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A 501 that names the extra, as often as it is asked for, and tools once it is there."""
    with in_thread(tmp_path, executor=InstantExecutor()) as sandbox:
        headers = {**EITHER, "X-User-ID": sandbox.user_id}
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, "reelbook.sandbox.tool_server", None)
            for _ in range(2):
                answer = httpx.post(sandbox.mcp_url, headers=headers, json=LIST, trust_env=False)
                assert answer.status_code == 501
                assert "pip install 'mcp>=2.3,<3'" in answer.json()["detail"]
        assert httpx.post(sandbox.mcp_url, headers=headers, json=LIST, trust_env=False).status_code == 200
    assert not caplog.records


@pytest.mark.anyio
async def test_schemas_are_valid_and_hold_for_the_answers(shared: Client) -> None:
    """Each is JSON Schema, each argument is described, and a default is a value that it allows."""
    async with tools_of(shared) as tools:
        listed = (await tools.list_tools()).tools
        for tool in listed:
            assert tool.title
            assert tool.description
            assert tool.output_schema is not None
            for schema in (tool.input_schema, tool.output_schema):
                jsonschema.Draft202012Validator.check_schema(schema)
            for name, schema in tool.input_schema["properties"].items():
                assert schema["description"], name
                if "default" in schema:
                    jsonschema.validate(schema["default"], schema)
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint == (tool.name not in (TEXT, IMAGE))


@pytest.mark.anyio
async def test_an_image_arrives_whole(shared: Client, still: Any) -> None:
    """Plain base64, with line ends, and as a data: URL; the clip takes the image's shape."""
    photo = still((360, 640), "JPEG")
    plain = base64.b64encode(photo).decode()
    async with tools_of(shared) as tools:
        for image in (plain, base64.encodebytes(photo).decode(), f"data:image/jpeg;base64,{plain}"):
            shared.executor.specs.clear()
            arguments = {"image_base64": image, "prompt": "it sways", "duration_seconds": 2}
            answer = await tools.call_tool(IMAGE, arguments)
            assert shared.wait(answer.structured_content["request_id"])["status"] == "completed"
            spec = shared.executor.specs[0]
            assert (spec.image, spec.prompt, spec.seconds, spec.aspect_ratio) == (
                photo,
                "it sways",
                2,
                "9:16",
            )


@pytest.mark.parametrize(
    ("tool", "arguments", "reason"),
    [
        (TEXT, {}, "prompt is required and must be text"),
        (TEXT, {"prompt": "x", "duration_seconds": 11}, "duration_seconds must be from 1 to 10"),
        (TEXT, {"prompt": "x", "duration": 1}, "'duration' isn't an argument of generate_video_from_text"),
        (IMAGE, {"prompt": "x"}, "image_base64 is required and must be text"),
        (IMAGE, {"prompt": "x", "image_base64": "?"}, "image_base64 must be a JPEG or PNG file in base64"),
        (IMAGE, {"prompt": "x", "image_base64": "QUJD"}, "image must be a JPEG or PNG file that can be "),
        (IMAGE, {"prompt": "x", "image_base64": "Q" * 15_000_000}, "The image is larger than 10485760 bytes"),
        ("get_video_status", {"request_id": "../keys"}, "No such request_id"),
        ("wait_for_video", {"request_id": "x", "timeout_seconds": 601}, "timeout_seconds must be from 0 to "),
        ("get_usage", {"days": 0}, "days must be from 1 to 365"),
    ],
)
@pytest.mark.anyio
async def test_what_is_wrong_is_said_as_by_http(
    shared: Client, tool: str, arguments: dict[str, Any], reason: str
) -> None:
    """A plain reason in the result, marked as an error; nothing is submitted."""
    before = shared.get("/api/v1/billing/usage").json()["total_requests"]
    async with tools_of(shared) as tools:
        result = await tools.call_tool(tool, arguments)
    text = result.content[0]
    assert isinstance(text, TextContent)
    assert (result.is_error, result.structured_content, text.text[: len(reason)]) == (True, None, reason)
    assert shared.get("/api/v1/billing/usage").json()["total_requests"] == before


@pytest.mark.anyio
async def test_waiting_ends_when_the_time_is_up(client: Client) -> None:
    """With the job as it stands, and no error; the job goes on."""
    request_id = client.submit()
    async with tools_of(client) as tools:
        result = await tools.call_tool("wait_for_video", {"request_id": request_id, "timeout_seconds": 0.1})
    assert (result.is_error, result.structured_content["status"]) == (False, "pending")
