"""Tool servers to talk to: the official package's own on a socket, and one that answers as a test wants."""

import asyncio
import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from starlette.responses import JSONResponse
from support.raw_server import Exchange, RawServer, raw_server

USER = "user-planted-7f3a"
NO_SUCH_METHOD = -32601

Answer = Callable[[Exchange, Any], None]


@dataclass
class Official:
    """A server made with the official package. `calls` are the tools that were carried out."""

    url: str = ""
    calls: list[str] = field(default_factory=list)
    methods: list[str] = field(default_factory=list)
    user_ids: set[str | None] = field(default_factory=set)
    forgotten: set[str] = field(default_factory=set)
    sessions: list[str] = field(default_factory=list)
    begun: threading.Event = field(default_factory=threading.Event)

    def forget(self) -> None:
        """Drops every session that there is."""
        self.forgotten.update(self.sessions)


@contextlib.contextmanager
def official(*, modern: bool = True, **options: Any) -> Iterator[Official]:
    """A few tools; without `modern` the server knows the older generation of the protocol only."""
    seen = Official()
    server = MCPServer("official", log_level="ERROR")

    @server.tool()
    async def add(a: int, b: int = 2) -> dict[str, int]:
        """Adds."""
        seen.calls.append("add")
        return {"sum": a + b}

    @server.tool()
    async def slow(ctx: Context[Any, Any]) -> str:
        """Reports how far it is."""
        seen.calls.append("slow")
        await ctx.report_progress(1, 2, "half")
        await ctx.report_progress(2, 2, "all")
        return "done"

    @server.tool()
    async def stuck() -> str:
        """Never ends by itself."""
        seen.calls.append("stuck")
        seen.begun.set()
        await asyncio.sleep(60)
        return "never"

    app = server.streamable_http_app(**options)

    async def watched(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        seen.user_ids.add(headers.get("x-user-id"))
        first = await receive() if scope["method"] == "POST" else None
        body = first.get("body", b"") if first else b""
        method = json.loads(body).get("method", "") if body else ""
        if method:
            seen.methods.append(method)
        session = headers.get("mcp-session-id")
        if session in seen.forgotten:
            await JSONResponse(_error(None, -32600), 404)(scope, receive, send)
            return
        if method == "server/discover" and not modern:
            await JSONResponse(_error(0, NO_SUCH_METHOD), 400)(scope, receive, send)
            return
        if session:
            seen.sessions.append(session)
        given = [first] if first else []

        async def replay() -> Any:
            return given.pop() if given else await receive()

        await app(scope, replay, send)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        seen.url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        running = uvicorn.Server(uvicorn.Config(watched, log_config=None, timeout_graceful_shutdown=1))
        thread = threading.Thread(target=running.run, args=([listener],), daemon=True)
        thread.start()
        try:
            yield seen
        finally:
            running.should_exit = running.force_exit = True
            thread.join(60)


def _error(request_id: Any, code: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": "no"}}


def result(exchange: Exchange, message: Any, value: Any) -> None:
    """Answers a request with a result, as JSON."""
    _say(exchange, {"jsonrpc": "2.0", "id": message["id"], "result": value})


def _say(exchange: Exchange, body: Any) -> None:
    exchange.answer(200, json.dumps(body).encode(), {"content-type": "application/json"})


def stream(exchange: Exchange, *events: str) -> None:
    """Answers with a stream of events, which then ends."""
    body = "".join(f"event: message\ndata: {event}\n\n" for event in events).encode()
    exchange.answer(200, body, {"content-type": "text/event-stream"})


@contextlib.contextmanager
def scripted(call: Answer | None = None, listing: Answer | None = None) -> Iterator[RawServer]:
    """A server of the older generation that does as `call` and `listing` say. Its address is `.url`."""

    def handle(exchange: Exchange) -> None:
        message = json.loads(exchange.body) if exchange.body else {}
        method = message.get("method", "")
        if method == "initialize":
            about = {"name": "scripted", "version": "1"}
            hello = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": about}
            result(exchange, message, hello)
        elif method == "tools/call" and call is not None:
            call(exchange, message)
        elif method == "tools/list" and listing is not None:
            listing(exchange, message)
        elif method == "tools/list":
            result(exchange, message, {"tools": [{"name": "buy", "inputSchema": {"type": "object"}}]})
        elif method.startswith("notifications/"):
            exchange.answer(202)
        else:
            _say(exchange, _error(message.get("id"), NO_SUCH_METHOD))

    with raw_server(handle) as server:
        yield server


def calls(server: RawServer) -> int:
    """How many calls of a tool reached the server."""
    return sum(b'"tools/call"' in exchange.body for exchange in server.seen)
