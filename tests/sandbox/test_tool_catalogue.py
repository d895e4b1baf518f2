"""What the sandbox's agent tools offer and answer: the same as by HTTP."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from mcp_types import TextContent
from sandbox.agents import IMAGE, TEXT, tools_of
from sandbox.doubles import Client

from reelbook.lazy_module import LazyModule
from reelbook.sandbox.tool_catalogue import CATALOGUE

jsonschema: Any = LazyModule("jsonschema")

pytestmark = pytest.mark.anyio


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
        (TEXT, {"prompt": "x" * 2001}, "prompt must have at most 2000 characters"),
        (TEXT, {"prompt": "x", "aspect_ratio": "21:9"}, "aspect_ratio must be one of 16:9, 9:16, 1:1"),
        (TEXT, {"prompt": "x", "duration_seconds": 11}, "duration_seconds must be from 1 to 10"),
        (TEXT, {"prompt": "x", "seed": True}, "seed must be an integer"),
        (
            TEXT,
            {"prompt": "x", "duration": 1},
            "'duration' is no argument of generate_video_from_text; it has ",
        ),
        (IMAGE, {"prompt": "x"}, "image_base64 is required and must be a text"),
        (IMAGE, {"prompt": "x", "image_base64": "?"}, "image_base64 must be a JPEG or PNG file in base64"),
        (
            IMAGE,
            {"prompt": "x", "image_base64": "QUJD"},
            "image must be a JPEG or PNG file that can be opened",
        ),
        (IMAGE, {"prompt": "x", "image_base64": "Q" * 15_000_000}, "The image is larger than 10485760 bytes"),
        ("get_video_status", {"request_id": "req_nobody"}, "No such request_id"),
        ("get_video_status", {"request_id": "../keys"}, "No such request_id"),
        ("get_video_status", {}, "request_id is required and must be a text"),
        (
            "wait_for_video",
            {"request_id": "x", "timeout_seconds": 601},
            "timeout_seconds must be a number from 0",
        ),
        ("get_usage", {"days": 0}, "days must be from 1 to 365"),
    ],
)
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


async def test_money_and_planned_failures_are_the_same_as_by_http(client: Client) -> None:
    """One balance for both ways in, and the next job fails as it was told to, whoever submits it."""
    client.sandbox.settings(balance_usd=0.30)
    client.submit()
    async with tools_of(client) as tools:
        result = await tools.call_tool(TEXT, {"prompt": "a fox"})
        text = result.content[0]
        assert isinstance(text, TextContent)
        assert text.text == "Insufficient balance. Current balance: $0.05, required: $0.25"
        client.sandbox.settings(balance_usd=5)
        client.sandbox.settings(fail_next="content policy")
        request_id = (await tools.call_tool(TEXT, {"prompt": "a fox"})).structured_content["request_id"]
        client.sandbox.advance(10)
        failed = (await tools.call_tool("wait_for_video", {"request_id": request_id})).structured_content
    assert (failed["status"], failed["error"]) == ("failed", "content policy")


async def test_waiting_ends_when_the_time_is_up(client: Client) -> None:
    """With the job as it stands, and no error; the job goes on."""
    request_id = client.submit()
    async with tools_of(client) as tools:
        result = await tools.call_tool("wait_for_video", {"request_id": request_id, "timeout_seconds": 0.1})
    assert (result.is_error, result.structured_content["status"]) == (False, "pending")
