"""The sandbox's agent tools, over MCP's streamable HTTP transport: names, schemas, words, and what they do.

The interface names none of its tools, so these are the sandbox's own. They answer as the HTTP interface does:
same jobs, same balance, same refusals. Only this module of the sandbox imports `mcp`, at the first request.
"""

import asyncio
import base64
import binascii
import contextlib
import json
import logging
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from .. import wire
from ..version import VERSION
from ..web.payloads import (
    DAYS,
    IMAGE,
    TEXT,
    Parameter,
    fields_of,
    object_schema,
    reached_at,
    too_large,
    wanted_from_image,
    wanted_from_text,
)
from ..web.refusals import Refused
from .jobs import UNDER_WAY
from .openapi import ACCEPTED_FIELDS, BALANCE_FIELDS, USAGE_FIELDS
from .protocol import SERVICE_NAME, Settings
from .service import Answered, SandboxService

logger = logging.getLogger(__name__)

INSTRUCTIONS: Final = (
    "This is Reelbook's sandbox: a local stand-in for the video generation service. Nothing here costs real "
    "money, and its clips are marked 'sandbox'. Generating returns a request_id at once; wait_for_video or "
    "get_video_status tell when the clip is there, and where."
)
# An image in base64 with line ends, and the call around it.
MAX_BODY_BYTES: Final = 2 * Settings.max_image_bytes
# Clients of earlier revisions don't know links as content.
LINKS_SINCE: Final = "2025-06-18"
LOOK_SECONDS: Final = 0.1

REQUEST_ID: Final = Parameter(
    "request_id", "string", "The job's request_id, as the generating tools return it.", None, 1, 100
)
# Many clients give a call up after 60 seconds.
TIMEOUT: Final = Parameter("timeout_seconds", "number", "How long to wait at most.", 45, 0, 600)


async def answer(service: SandboxService, scope: Scope, receive: Receive, send: Send) -> None:
    async def listed(context: ServerRequestContext[Any], params: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[tool.described for tool in CATALOGUE.values()])

    async def called(
        context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        return await _call(service, context, params)

    # Stateless: a client's session survives a restart of the sandbox. Progress needs a stream of events;
    # a client that takes plain JSON only is served too, without progress.
    accepted = ",".join(Headers(scope=scope).getlist("accept")).lower()
    manager = StreamableHTTPSessionManager(
        Server(
            SERVICE_NAME,
            version=VERSION,
            title="Reelbook sandbox",
            instructions=INSTRUCTIONS,
            on_list_tools=listed,
            on_call_tool=called,
        ),
        stateless=True,
        json_response="text/event-stream" not in accepted,
        max_request_body_size=MAX_BODY_BYTES,
    )
    async with manager.run():
        await manager.handle_request(scope, receive, send)


async def _call(
    service: SandboxService, context: ServerRequestContext[Any], params: types.CallToolRequestParams
) -> types.CallToolResult:
    tool = CATALOGUE.get(params.name)
    if tool is None:
        known = ", ".join(CATALOGUE)
        raise MCPError(types.INVALID_PARAMS, f"There is no tool of that name; the tools are {known}")
    try:
        told = await tool(ToolRequest(service, params.arguments or {}, context))
    except Refused as exc:
        return _failed(exc.detail)
    except Exception:
        logger.exception("tool %s failed", tool.name)
        return _failed("Internal server error")
    # The text is the same as the structured answer, for clients that know only text.
    text = types.TextContent(type="text", text=json.dumps(told, ensure_ascii=False))
    content: list[types.ContentBlock] = [text]
    if "video_url" in told and context.protocol_version >= LINKS_SINCE:
        name, title = f"{told['request_id']}.mp4", "The clip (sandbox)"
        link = types.ResourceLink(uri=told["video_url"], name=name, title=title, mime_type="video/mp4")
        content.append(link)
    return types.CallToolResult(content=content, structured_content=told)


def _failed(reason: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=reason)], is_error=True)


@dataclass(frozen=True)
class ToolRequest:
    service: SandboxService
    arguments: Mapping[str, Any]
    context: ServerRequestContext[Any]

    async def status(self) -> Answered:
        """The status of the job that it names. Raises Refused."""
        request = self.context.request
        assert isinstance(request, Request)
        return await self.service.status(REQUEST_ID.read(self.arguments), reached_at(request))

    async def report(self, percent: int, state: str) -> None:
        # A client that went away needs no report, and the job goes on without it.
        with contextlib.suppress(Exception):
            await self.context.session.report_progress(percent, 100, state)


@dataclass(frozen=True)
class SandboxTool:
    """One tool. `arguments` is the schema of what it takes.

    `output` has the fields of its answer with their types; `optional` ones may be missing.
    """

    name: str
    title: str
    description: str
    act: Callable[[ToolRequest], Awaitable[Answered]]
    arguments: Mapping[str, Any]
    output: Mapping[str, str]
    optional: Mapping[str, str] = field(default_factory=dict)
    read_only: bool = True

    @property
    def described(self) -> types.Tool:
        """The tool as the protocol lists it."""
        output = {**self.output, "service": "string"}
        told = {name: {"type": kind} for name, kind in {**output, **self.optional}.items()}
        answer = {"type": "object", "properties": told, "required": list(output)}
        return types.Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema={**self.arguments, "additionalProperties": False},
            output_schema={**answer, "additionalProperties": False},
            annotations=types.ToolAnnotations(
                read_only_hint=self.read_only,
                destructive_hint=False,
                idempotent_hint=self.read_only,
                open_world_hint=False,
            ),
        )

    async def __call__(self, call: ToolRequest) -> dict[str, Any]:
        taken = self.arguments["properties"]
        if unknown := sorted(set(call.arguments) - set(taken)):
            # The HTTP interface ignores such fields; an agent that misspells one would pay for its mistake.
            known = ", ".join(taken) or "none"
            raise Refused(400, f"{unknown[0][:50]!r} isn't an argument of {self.name}; it has {known}")
        return {**await self.act(call), "service": "sandbox"}


async def _from_image(call: ToolRequest) -> Answered:
    most = call.service.settings.max_image_bytes
    content = await asyncio.to_thread(_decoded, call.arguments.get("image_base64"), most)
    return await call.service.accept(await wanted_from_image(content, call.arguments, most))


async def _wait(call: ToolRequest) -> Answered:
    """The job once it is neither pending nor processing, or when the time is up."""
    give_up = time.monotonic() + TIMEOUT.read(call.arguments)
    told = -1
    while True:
        job = await call.status()
        state = job["status"]
        done = 100 if state == wire.COMPLETED else job.get("progress", 0)
        if done > told and state != wire.FAILED:  # the protocol wants each report above the one before
            await call.report(done, state)
            told = done
        left = give_up - time.monotonic()
        if state not in UNDER_WAY or left <= 0:
            return job
        await asyncio.sleep(min(LOOK_SECONDS, left))


def _decoded(image: object, most: int) -> bytes:
    if not isinstance(image, str):
        raise Refused(400, "image_base64 is required and must be text")
    text = re.sub(r"^data:[^,]{0,100};base64,", "", image, count=1)
    if len(text) > 2 * most + 1000:  # more than any way to write such an image down, line ends included
        raise too_large(most)
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        raise Refused(400, "image_base64 must be a JPEG or PNG file in base64") from None


_PRICE = f"{wire.PRICE_USD_PER_SECOND:.2f} USD per second of the sandbox's balance"
_IMAGE_BASE64: Final = {
    "type": "string",
    "minLength": 1,
    "contentEncoding": "base64",
    "description": "A JPEG or PNG file in base64, also as a data: URL; at most 10 MiB.",
}
_STATUS: Final = {"request_id": "string", "status": "string"}
_OF_SOME_STATES: Final = {
    name: kind for fields in wire.STATUS_FIELDS.values() for name, kind in fields.items()
}

CATALOGUE: Final[Mapping[str, SandboxTool]] = {
    tool.name: tool
    for tool in (
        SandboxTool(
            "generate_video_from_text",
            "Generate a video from text",
            f"Submit a job that makes a clip from a prompt. Costs {_PRICE}. Returns a request_id at once.",
            lambda call: call.service.accept(wanted_from_text(call.arguments)),
            object_schema(*fields_of(TEXT)),
            ACCEPTED_FIELDS,
            read_only=False,
        ),
        SandboxTool(
            "generate_video_from_image",
            "Generate a video from an image",
            f"Submit a job that sets a still image in motion. Costs {_PRICE}. Returns a request_id at once.",
            _from_image,
            object_schema(*fields_of(IMAGE), image_base64=_IMAGE_BASE64),
            ACCEPTED_FIELDS,
            read_only=False,
        ),
        SandboxTool(
            "get_video_status",
            "Look at a job",
            "How a job stands now; once it is completed, where its clip is and what it cost.",
            ToolRequest.status,
            object_schema(REQUEST_ID),
            _STATUS,
            optional=_OF_SOME_STATES,
        ),
        SandboxTool(
            "wait_for_video",
            "Wait for a job",
            "Wait until a job is completed or failed, with reports of its progress. After timeout_seconds it "
            "answers how the job stands then; the job goes on, and waiting again costs nothing.",
            _wait,
            object_schema(REQUEST_ID, TIMEOUT),
            _STATUS,
            optional=_OF_SOME_STATES,
        ),
        SandboxTool(
            "get_balance",
            "See the balance",
            "What is left of the prepaid balance, and what was spent in all, in USD.",
            lambda call: call.service.balance(),
            object_schema(),
            BALANCE_FIELDS,
        ),
        SandboxTool(
            "get_usage",
            "See what was used",
            "Requests, seconds of video and costs of the last days.",
            lambda call: call.service.usage(DAYS.read(call.arguments)),
            object_schema(DAYS),
            USAGE_FIELDS,
        ),
    )
}
