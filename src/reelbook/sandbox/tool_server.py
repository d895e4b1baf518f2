"""The agent tool server itself: the tools of tools.py over MCP's streamable HTTP transport.

The only module of the sandbox that imports `mcp`; app.py imports it for the first request that may come in.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from ..web.payloads import reached_at
from ..web.refusals import Refused
from .protocol import SERVICE_NAME, Settings, version
from .service import SandboxService
from .tools import CATALOGUE, INSTRUCTIONS, SandboxTool, ToolRequest

logger = logging.getLogger(__name__)

# An image in base64 with line ends, and the call around it.
MAX_BODY_BYTES = 2 * Settings.max_image_bytes
EVENT_STREAM = "text/event-stream"
# Clients of earlier revisions don't know this kind of content.
LINKS_SINCE = "2025-06-18"


class McpServer:
    """Serves `service`'s tools from `open` to `close`, both on the sandbox's loop."""

    def __init__(self, service: SandboxService) -> None:
        self._service = service
        server: Server[Any] = Server(
            SERVICE_NAME,
            version=version(),
            title="Reelbook sandbox",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list,
            on_call_tool=self._call,
        )
        # Stateless: a client's session survives a restart of the sandbox. Progress needs a stream of events;
        # a client that takes plain JSON only is served too, without progress.
        self._streaming, self._plain = (
            StreamableHTTPSessionManager(
                server, stateless=True, json_response=plain, max_request_body_size=MAX_BODY_BYTES
            )
            for plain in (False, True)
        )
        self._ended = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Be ready for `handle`."""
        opened = asyncio.Event()
        # The managers must be left by the task that entered them.
        self._task = asyncio.create_task(self._run(opened))
        await opened.wait()

    async def close(self) -> None:
        """End all calls that still wait."""
        self._ended.set()
        if self._task is not None:
            await self._task

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        accepted = ",".join(Headers(scope=scope).getlist("accept")).lower()
        manager = self._streaming if EVENT_STREAM in accepted else self._plain
        await manager.handle_request(scope, receive, send)

    async def _run(self, opened: asyncio.Event) -> None:
        async with self._streaming.run(), self._plain.run():
            opened.set()
            await self._ended.wait()

    async def _list(
        self, context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(tool) for tool in CATALOGUE.values()])

    async def _call(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tool = CATALOGUE.get(params.name)
        if tool is None:
            raise MCPError(
                types.INVALID_PARAMS, f"There is no tool of that name; there are {', '.join(CATALOGUE)}"
            )
        request = context.request
        assert isinstance(request, Request)

        async def report(percent: int, state: str) -> None:
            # A client that went away needs no report, and the job goes on without it.
            with contextlib.suppress(Exception):
                await context.session.report_progress(percent, 100, state)

        try:
            answer = await tool(
                ToolRequest(self._service, params.arguments or {}, reached_at(request), report)
            )
        except Refused as exc:
            return _failed(exc.detail)
        except Exception:
            logger.exception("tool %s failed", tool.name)
            return _failed("Internal server error")
        return _answered(answer, links=context.protocol_version >= LINKS_SINCE)


def _described(tool: SandboxTool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(
            read_only_hint=tool.read_only,
            destructive_hint=False,
            idempotent_hint=tool.read_only,
            open_world_hint=False,
        ),
    )


def _answered(answer: Mapping[str, Any], *, links: bool) -> types.CallToolResult:
    # The text is the same as the structured answer, for clients that know only text.
    content: list[types.ContentBlock] = [
        types.TextContent(type="text", text=json.dumps(answer, ensure_ascii=False))
    ]
    if links and "video_url" in answer:
        name, title = f"{answer['request_id']}.mp4", "The clip (sandbox)"
        link = types.ResourceLink(uri=answer["video_url"], name=name, title=title, mime_type="video/mp4")
        content.append(link)
    return types.CallToolResult(content=content, structured_content=dict(answer))


def _failed(reason: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=reason)], is_error=True)
