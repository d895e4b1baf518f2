"""Tool servers to talk to: the official package's own on a socket, and one that answers as a test wants."""

from __future__ import annotations

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
from support.raw_server import Exchange, RawServer, raw_server

USER = "user-planted-7f3a"

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
            gone = {"code": -32600, "message": "gone"}
            await _plain(send, 404, {"jsonrpc": "2.0", "id": None, "error": gone})
            return
        if method == "server/discover" and not modern:
            error = {"code": -32601, "message": "no such method"}
            await _plain(send, 400, {"jsonrpc": "2.0", "id": 0, "error": error})
            return
        if session:
            seen.sessions.append(session)
        given = [first] if first else []

        async def replay() -> Any:
            return given.pop() if given else await receive()

        await app(scope, replay, send)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        seen.url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        running = uvicorn.Server(
            uvicorn.Config(watched, log_config=None, log_level="critical", timeout_graceful_shutdown=1)
        )
        ready = threading.Event()

        async def serve() -> None:
            # The app's lifespan starts the sessions; uvicorn's own would install signal handlers.
            loop = asyncio.get_running_loop()
            loop.call_later(0, ready.set)
            await running.serve([listener])

        thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
        thread.start()
        ready.wait(60)
        try:
            yield seen
        finally:
            running.should_exit = running.force_exit = True
            thread.join(60)


async def _plain(send: Any, status: int, body: Any) -> None:
    content = json.dumps(body).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})


def result(exchange: Exchange, message: Any, value: Any) -> None:
    """Answers a request with a result, as JSON."""
    body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": value}).encode()
    exchange.answer(200, body, {"content-type": "application/json"})


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
            result(
                exchange,
                message,
                {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "scripted", "version": "1"},
                },
            )
        elif method == "tools/call" and call is not None:
            call(exchange, message)
        elif method == "tools/list" and listing is not None:
            listing(exchange, message)
        elif method == "tools/list":
            result(exchange, message, {"tools": [{"name": "buy", "inputSchema": {"type": "object"}}]})
        elif method.startswith("notifications/"):
            exchange.answer(202)
        else:
            error = {"code": -32601, "message": f"{method} isn't known"}
            body = json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "error": error}).encode()
            exchange.answer(200, body, {"content-type": "application/json"})

    with raw_server(handle) as server:
        yield server


def calls(server: RawServer) -> int:
    """How many calls of a tool reached the server."""
    return sum(b'"tools/call"' in exchange.body for exchange in server.seen)


def no_call_answered(exchange: Exchange, _: Any) -> None:
    """Holds the connection open without an answer: it is closed with the process."""
    _held.append(exchange.connection.dup())


_held: list[socket.socket] = []
