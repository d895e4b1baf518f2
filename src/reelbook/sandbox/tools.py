"""The door of the agent tool server: who may come in, and the server behind it, opened for the first who may.

The package that speaks the protocol (extra `agents`) takes half a second to import and may be missing, so
nothing here imports it. The tools are in tool_catalogue.py, the server in tool_server.py.
"""

from __future__ import annotations

import asyncio
import hmac
import importlib
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from .. import wire
from .answers import reached_at
from .payloads import Refused, refusal
from .service import Service

if TYPE_CHECKING:
    from .tool_server import ToolServer

EXTRA_MISSING = (
    "This sandbox has no agent tools: the package that serves them isn't installed. "
    "pip install 'mcp>=2.3,<3', then ask again."
)


class ToolDoor:
    """The ASGI application at /mcp. `close` ends what it opened."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._opening: asyncio.Task[ToolServer] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            self._check(request)
            server = await self._server()
        except Refused as exc:
            await refusal(exc.status, exc.detail)(scope, receive, send)
            return
        await server.handle(scope, receive, send)

    async def close(self) -> None:
        """End all calls that still wait."""
        if self._opening is not None:
            server = await self._opening
            await server.close()

    def _check(self, request: Request) -> None:
        origin = request.headers.get("origin")
        # A web page says where it comes from; only one of the sandbox's own address may ask.
        if origin is not None and origin != reached_at(request):
            raise Refused(403, "Pages of other origins may not use the agent tools")
        given = request.headers.getlist(wire.USER_ID_HEADER)
        known = self._service.access.user_id.encode()
        if len(given) != 1 or not hmac.compare_digest(given[0].encode(), known):
            raise Refused(401, f"{wire.USER_ID_HEADER} is missing or names nobody here")

    async def _server(self) -> ToolServer:
        if self._opening is None:
            importlib.invalidate_caches()  # the extra may have been installed since the sandbox was started
            self._opening = asyncio.create_task(self._opened())
        try:
            # Shielded: the first client may go away while others wait for the same server.
            return await asyncio.shield(self._opening)
        except ImportError as exc:
            self._opening = None
            raise Refused(501, f"{EXTRA_MISSING} ({exc})") from None

    async def _opened(self) -> ToolServer:
        module = await asyncio.to_thread(importlib.import_module, ".tool_server", __package__)
        server: ToolServer = module.ToolServer(self._service)
        await server.open()
        return server
