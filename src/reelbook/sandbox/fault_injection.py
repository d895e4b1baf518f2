"""Makes a due fault happen to one request. Which fault is due to which request is decided in faults.py.

"Handled" is a request that went through the whole application: its job exists, its limit is used up. One that
isn't was read at most, and had no effect at all.
"""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Scope, Send

from .. import wire
from .bodies import Body
from .connection import Connection, connection_of
from .faults import VIDEOS, Fault
from .limits import Verdict
from .service import Service

GARBAGE: Final = b"\x16\x03\x01\x00\x02these bytes are no HTTP\r\n\r\n"
PAGE: Final = "<!doctype html><title>Sign in</title><p>Sign in to this network to go on.</p>"
# The bytes by which gzip is known, and then no gzip.
BROKEN_GZIP: Final = b"\x1f\x8b\x08\x00not compressed"
END_SECONDS = 10.0

_RATE_HEADERS = {name.lower() for name in (wire.RATE_LIMIT, wire.RATE_REMAINING, wire.RATE_RESET)}


@dataclass(frozen=True)
class _Answer:
    """What the application answered, kept back."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes

    def with_body(self, body: bytes) -> _Answer:
        """The same with another body, whose length it tells."""
        others = [(name, value) for name, value in self.headers if name != b"content-length"]
        return replace(self, headers=[*others, (b"content-length", str(len(body)).encode())], body=body)

    def rate_headers(self) -> dict[str, str]:
        """What it tells about the limit: true also where the rest of it is not."""
        return {name: value for name, value in Headers(raw=self.headers).items() if name in _RATE_HEADERS}


@dataclass(frozen=True)
class _Hit:
    """One request, and the fault that happens to it."""

    options: Mapping[str, Any]
    service: Service
    app: ASGIApp
    scope: Scope
    body: Body
    send: Send
    connection: Connection

    async def handle(self) -> _Answer:
        """Let the application handle the request, and keep its answer back."""
        messages: list[Message] = []

        async def keep(message: Message) -> None:
            messages.append(message)

        await self.app(self.scope, self.body.receive, keep)
        await self.body.drain()
        start, *rest = messages
        content = b"".join(message.get("body", b"") for message in rest)
        return _Answer(start["status"], list(start["headers"]), content)

    async def take(self) -> dict[str, str]:
        """Handle the request or only read it, as `handled` says; the headers about the limit, if any."""
        if self.options["handled"]:
            return (await self.handle()).rate_headers()
        await self.body.drain()
        return {}

    async def answer(self, response: Response) -> None:
        """Answer with `response`."""
        await response(self.scope, self.body.receive, self.send)

    async def begin(self, answer: _Answer) -> None:
        """Send status and headers."""
        await self.send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})

    async def go_on(self, body: bytes, *, more: bool) -> None:
        """Send a piece of the body."""
        await self.send({"type": "http.response.body", "body": body, "more_body": more})

    async def whole(self, answer: _Answer) -> None:
        """Send all of `answer`."""
        await self.begin(answer)
        await self.go_on(answer.body, more=False)

    async def close(self) -> None:
        """Close the connection after what was sent."""
        self.connection.close()
        await self.body.gone_within(END_SECONDS)

    async def reset(self) -> None:
        """Reset the connection."""
        self.connection.reset()
        await self.body.gone_within(END_SECONDS)


async def happen(fault: Fault, service: Service, app: ASGIApp, scope: Scope, body: Body, send: Send) -> None:
    """Let `fault` happen to the request of `scope`, which `app` would handle."""
    await _ACTS[fault.kind](_Hit(fault.options, service, app, scope, body, send, connection_of(scope)))


async def _reset_before(hit: _Hit) -> None:
    if hit.options["read"]:
        await hit.body.drain()
    await hit.reset()


async def _answer_lost(hit: _Hit) -> None:
    await hit.handle()
    await hit.reset()


async def _close(hit: _Hit) -> None:
    await hit.take()
    await hit.close()


async def _short_body(hit: _Hit) -> None:
    answer = await hit.handle()
    most = hit.options["after_bytes"]
    most = len(answer.body) // 2 if most is None else most
    if most >= len(answer.body):
        await hit.whole(answer)
        return
    await hit.begin(answer)
    await hit.go_on(answer.body[:most], more=True)
    await hit.close()


async def _garbage(hit: _Hit) -> None:
    await hit.take()
    hit.connection.write(GARBAGE)
    await hit.close()


async def _stall(hit: _Hit) -> None:
    answer = await hit.handle() if hit.options["handled"] else None
    await hit.body.drain()
    if await hit.body.gone_within(hit.options["seconds"]):
        return
    if answer is None:
        await hit.close()
    else:
        await hit.whole(answer)


async def _drip(hit: _Hit) -> None:
    answer = await hit.handle()
    await hit.begin(answer)
    for byte in answer.body:
        await hit.go_on(bytes([byte]), more=True)
        if await hit.body.gone_within(hit.options["seconds"]):
            return
    await hit.go_on(b"", more=False)


def _failing(status: int, detail: str) -> Callable[[_Hit], Awaitable[None]]:
    async def act(hit: _Hit) -> None:
        await hit.answer(JSONResponse({"detail": detail}, status, await hit.take()))

    return act


async def _refused(hit: _Hit) -> None:
    key = hit.service.key_of(Headers(scope=hit.scope).get("authorization", ""))
    limit = key.rate_limit if key else wire.DEFAULT_REQUESTS_PER_MINUTE
    verdict = Verdict(False, limit, 0, hit.options["reset_seconds"])
    headers = verdict.headers(hit.service.limits.rules, time.time()) if hit.options["headers"] else {}
    if hit.options["retry_after"] is not None:
        headers["Retry-After"] = str(hit.options["retry_after"])
    await hit.answer(JSONResponse({"detail": "Rate limit exceeded"}, 429, headers))


async def _html(hit: _Hit) -> None:
    await hit.answer(HTMLResponse(PAGE, headers=await hit.take()))


async def _broken_json(hit: _Hit) -> None:
    answer = await hit.handle()
    await hit.whole(answer.with_body(answer.body[:-1]))


async def _broken_gzip(hit: _Hit) -> None:
    answer = (await hit.handle()).with_body(BROKEN_GZIP)
    await hit.whole(replace(answer, headers=[*answer.headers, (b"content-encoding", b"gzip")]))


async def _not_found(hit: _Hit) -> None:
    await hit.answer(JSONResponse({"detail": "No such request_id"}, 404))


async def _unknown_status(hit: _Hit) -> None:
    answer = await hit.handle()
    said = json.loads(answer.body)
    if "status" in said:
        answer = answer.with_body(json.dumps({**said, "status": hit.options["word"]}).encode())
    await hit.whole(answer)


async def _expired_link(hit: _Hit) -> None:
    hit.service.faults.expire(hit.scope["path"].removeprefix(VIDEOS), hit.options["status"])
    await hit.app(hit.scope, hit.body.receive, hit.send)


_ACTS: Final[Mapping[str, Callable[[_Hit], Awaitable[None]]]] = {
    "reset_before": _reset_before,
    "answer_lost": _answer_lost,
    "close": _close,
    "short_body": _short_body,
    "garbage": _garbage,
    "stall": _stall,
    "drip": _drip,
    "500": _failing(500, "Internal server error"),
    "503": _failing(503, "Service unavailable"),
    "429": _refused,
    "html": _html,
    "broken_json": _broken_json,
    "broken_gzip": _broken_gzip,
    "not_found": _not_found,
    "unknown_status": _unknown_status,
    "expired_link": _expired_link,
    "drop_download": _short_body,
}
