"""Ways in to the sandbox's agent tools: the protocol's official client, and bare HTTP."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import httpx
import httpx2
from mcp import Client as Tools
from mcp.client.streamable_http import streamable_http_client
from sandbox.doubles import Client

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
