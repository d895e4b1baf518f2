"""The agent tools: who may use them, their schemas, and that they answer as the HTTP interface does."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp_types import TextContent
from sandbox.agents import EITHER, IMAGE, LIST, TEXT, post, tools_of
from sandbox.doubles import Client, InstantExecutor

from reelbook.lazy_module import LazyModule
from reelbook.sandbox.server import in_thread
from reelbook.sandbox.tool_server import CATALOGUE

jsonschema: Any = LazyModule("jsonschema")


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


def test_the_protocol_s_package_is_loaded_for_those_who_may_come_in(tmp_path: Path) -> None:
    """Neither the start nor a stranger's request imports it, and it leaves the root logger alone."""
    script = f"""
import logging, sys, urllib.request, urllib.error
from pathlib import Path
from concurrent.futures import ThreadPoolExecutor
from reelbook.sandbox.server import in_thread

def ask(**headers):
    headers = {{"Content-Type": "application/json", "Accept": "application/json"}} | headers
    request = urllib.request.Request(sandbox.mcp_url, {json.dumps(LIST).encode()!r}, headers)
    try:
        return urllib.request.urlopen(request).status
    except urllib.error.HTTPError as error:
        return error.code

with in_thread(Path({str(tmp_path)!r}), executor=ThreadPoolExecutor(1)) as sandbox:
    steps = [ask(), "mcp" in sys.modules]
    steps += [ask(**{{"X-User-ID": sandbox.user_id}}), "mcp" in sys.modules, logging.getLogger().handlers]
print(steps)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("[401, False, 200, True, []]\n", "")


@pytest.mark.anyio
async def test_schemas_are_valid_and_hold_for_the_answers(shared: Client) -> None:
    """Each is JSON Schema, each argument is described, and a default is a value that it allows."""
    async with tools_of(shared) as tools:
        listed = (await tools.list_tools()).tools
        assert [tool.name for tool in listed] == list(CATALOGUE)
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
        (TEXT, {}, "prompt is required and must be a text"),
        (TEXT, {"prompt": "x", "duration_seconds": 11}, "duration_seconds must be from 1 to 10"),
        (TEXT, {"prompt": "x", "duration": 1}, "'duration' is no argument of generate_video_from_text; it "),
        (IMAGE, {"prompt": "x"}, "image_base64 is required and must be a text"),
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
