"""Faults that tests and lessons cause: which exist, which request meets one, and what it does.

`Sandbox.fault` says what each kind does. A "handled" request went through the whole application: its job
exists, and it counts against the limit. Any other was read at most, and had no effect.
"""

import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Scope, Send

from .. import wire
from ..web.connections import RequestBody, connection_of
from ..web.limits import Admission
from ..web.payloads import Parameter, bearer_key, refusal
from ..web.refusals import Refused
from .protocol import TOOLS, is_number
from .service import VIDEOS, SandboxService

GARBAGE: Final = b"\x16\x03\x01\x00\x02these bytes are no HTTP\r\n\r\n"
PAGE: Final = "<!doctype html><title>Sign in</title><p>Sign in to this network to go on.</p>"
# The bytes by which gzip is known, and then no gzip.
BROKEN_GZIP: Final = b"\x1f\x8b\x08\x00not compressed"
END_SECONDS: Final = 10.0
MAX_COUNT: Final = 1_000_000
MAX_SECONDS: Final = 3600.0

# Method and path of each endpoint that can have faults; a path that ends in "/" stands for all below it.
_ENDPOINTS: Final[Mapping[str, tuple[str, str]]] = {
    "text-to-video": ("POST", wire.TEXT_TO_VIDEO),
    "image-to-video": ("POST", wire.IMAGE_TO_VIDEO),
    "status": ("GET", f"{wire.STATUS}/"),
    "balance": ("GET", wire.BALANCE),
    "usage": ("GET", wire.USAGE),
    "list-keys": ("GET", wire.KEYS),
    "create-key": ("POST", wire.KEYS),
    "revoke-key": ("DELETE", f"{wire.KEYS}/"),
    "download": ("GET", VIDEOS),
    "tools": ("POST", TOOLS),
}
_EVERY: Final = frozenset(_ENDPOINTS)
# What a fault may be set for: each of them, or a group.
_NAMED: Final[Mapping[str, frozenset[str]]] = {
    **{name: frozenset({name}) for name in _ENDPOINTS},
    "generate": frozenset({"text-to-video", "image-to-video"}),
    "billing": frozenset({"balance", "usage"}),
    "keys": frozenset({"list-keys", "create-key", "revoke-key"}),
    "any": _EVERY,
}
_RATE_HEADERS: Final = {name.lower() for name in (wire.RATE_LIMIT, wire.RATE_REMAINING, wire.RATE_RESET)}


@dataclass
class Fault:
    """A fault that was asked for: the matching requests `seen`, and to how many it `happened`."""

    kind: str
    endpoint: str
    times: int
    after: int
    options: Mapping[str, Any]
    endpoints: frozenset[str]
    seen: int = 0
    happened: int = 0

    def takes(self, endpoint: str) -> bool:
        """Whether it happens to this request of `endpoint`, which is counted."""
        if endpoint not in self.endpoints or self.happened == self.times:
            return False
        self.seen += 1
        if self.seen <= self.after:
            return False
        self.happened += 1
        return True


class Faults:
    """All faults of a sandbox, in the order they were set. They end with its process.

    `requests` counts what arrived, by endpoint: what a fault took as well as what was answered.
    """

    def __init__(self) -> None:
        self.requests: Counter[str] = Counter()
        self._faults: list[Fault] = []

    def add(self, wanted: Mapping[str, Any]) -> None:
        """Set a fault, as POST /_sandbox/faults asks for it. Raises Refused."""
        self._faults.append(_checked(wanted))

    def clear(self) -> None:
        """Stop all faults. Links that expired stay expired."""
        self._faults.clear()

    def listed(self) -> list[dict[str, Any]]:
        """All faults since the last `clear`, including those that are used up."""
        shown = ("kind", "endpoint", "times", "after", "options", "seen", "happened")
        return [{name: getattr(fault, name) for name in shown} for fault in self._faults]

    def arrived(self, endpoint: str) -> Fault | None:
        """Count a request and return the fault that it meets: the first one due, or None."""
        self.requests[endpoint] += 1
        return next((fault for fault in self._faults if fault.takes(endpoint)), None)


def endpoint_of(method: str, path: str) -> str | None:
    """The endpoint that a request is for, as a fault names it; None if it can't have faults."""
    return next(
        (
            name
            for name, (verb, place) in _ENDPOINTS.items()
            if verb == method and (path == place or (place.endswith("/") and path.startswith(place)))
        ),
        None,
    )


@dataclass(frozen=True)
class Hit:
    """A request that meets a fault: `app` would handle its `scope`; `options` are the fault's."""

    options: Mapping[str, Any]
    service: SandboxService
    app: ASGIApp
    scope: Scope
    body: RequestBody
    send: Send

    async def handle(self) -> Response:
        """Let the application handle the request, and keep its answer back."""
        messages: list[Message] = []

        async def keep(message: Message) -> None:
            messages.append(message)

        await self.app(self.scope, self.body.receive, keep)
        await self.body.drain()
        start, *rest = messages
        answer = Response(b"".join(message.get("body", b"") for message in rest), start["status"])
        answer.raw_headers = list(start["headers"])
        return answer

    async def take(self) -> dict[str, str]:
        """Handle the request or only read it, as `handled` says; returns the rate-limit headers, if any."""
        if not self.options.get("handled"):
            await self.body.drain()
            return {}
        headers = (await self.handle()).headers
        return {name: value for name, value in headers.items() if name in _RATE_HEADERS}

    async def answer(self, response: Response) -> None:
        await response(self.scope, self.body.receive, self.send)

    async def begin(self, answer: Response) -> None:
        status, headers = answer.status_code, answer.raw_headers
        await self.send({"type": "http.response.start", "status": status, "headers": headers})

    async def go_on(self, body: bytes | memoryview, *, more: bool) -> None:
        await self.send({"type": "http.response.body", "body": body, "more_body": more})

    async def close(self, last: bytes = b"") -> None:
        """Close the connection after what was sent, and `last`, which needn't be HTTP."""
        connection = connection_of(self.scope)
        connection.transport.write(last)
        connection.transport.close()
        await self.body.gone_within(END_SECONDS)

    async def reset(self) -> None:
        connection_of(self.scope).reset()
        await self.body.gone_within(END_SECONDS)


async def _reset_before(hit: Hit) -> None:
    if hit.options["read"]:
        await hit.body.drain()
    await hit.reset()


async def _answer_lost(hit: Hit) -> None:
    await hit.handle()
    await hit.reset()


async def _close(hit: Hit) -> None:
    await hit.take()
    await hit.close()


async def _short_body(hit: Hit) -> None:
    answer = await hit.handle()
    most = hit.options["after_bytes"]
    most = len(answer.body) // 2 if most is None else most
    if most >= len(answer.body):
        await hit.answer(answer)
        return
    await hit.begin(answer)
    await hit.go_on(answer.body[:most], more=True)
    await hit.close()


async def _garbage(hit: Hit) -> None:
    await hit.take()
    await hit.close(GARBAGE)


async def _stall(hit: Hit) -> None:
    answer = await hit.handle() if hit.options["handled"] else None
    await hit.body.drain()
    if await hit.body.gone_within(hit.options["seconds"]):
        return
    if answer is None:
        await hit.close()
    else:
        await hit.answer(answer)


async def _drip(hit: Hit) -> None:
    answer = await hit.handle()
    await hit.begin(answer)
    for byte in bytes(answer.body):
        await hit.go_on(bytes([byte]), more=True)
        if await hit.body.gone_within(hit.options["seconds"]):
            return
    await hit.go_on(b"", more=False)


async def _refused(hit: Hit, status: int, detail: str) -> None:
    await hit.answer(refusal(status, detail, await hit.take()))


async def _too_many(hit: Hit) -> None:
    key = hit.service.accounts.authenticate(bearer_key(Headers(scope=hit.scope)))
    limit = key.rate_limit if key else wire.DEFAULT_REQUESTS_PER_MINUTE
    told = Admission(False, limit, 0, hit.options["reset_seconds"])
    headers = told.headers(hit.service.settings, time.time()) if hit.options["headers"] else {}
    if hit.options["retry_after"] is not None:
        headers["Retry-After"] = str(hit.options["retry_after"])
    await hit.answer(refusal(429, "Rate limit exceeded", headers))


async def _html(hit: Hit) -> None:
    await hit.answer(HTMLResponse(PAGE, headers=await hit.take()))


async def _broken_json(hit: Hit) -> None:
    answer = await hit.handle()
    _replace_body(answer, answer.body[:-1])
    await hit.answer(answer)


async def _broken_gzip(hit: Hit) -> None:
    answer = await hit.handle()
    _replace_body(answer, BROKEN_GZIP)
    answer.headers["content-encoding"] = "gzip"
    await hit.answer(answer)


async def _unknown_status(hit: Hit) -> None:
    answer = await hit.handle()
    said = json.loads(bytes(answer.body))
    if "status" in said:
        _replace_body(answer, json.dumps({**said, "status": hit.options["word"]}).encode())
    await hit.answer(answer)


async def _expired_link(hit: Hit) -> None:
    hit.service.expire(hit.scope["path"].removeprefix(VIDEOS), hit.options["status"])
    await hit.app(hit.scope, hit.body.receive, hit.send)


def _replace_body(answer: Response, body: bytes | memoryview) -> None:
    answer.body = body
    answer.headers["content-length"] = str(len(body))


@dataclass(frozen=True)
class _Kind:
    """What a fault does, its options with their defaults, and the endpoints to which it can happen."""

    act: Callable[[Hit], Awaitable[None]]
    options: Mapping[str, Any]
    endpoints: frozenset[str] = _EVERY


_STATUS: Final[frozenset[str]] = frozenset({"status"})
_DOWNLOAD: Final[frozenset[str]] = frozenset({"download"})
KINDS: Final[Mapping[str, _Kind]] = {
    "reset_before": _Kind(_reset_before, {"read": True}),
    "answer_lost": _Kind(_answer_lost, {}),
    "close": _Kind(_close, {"handled": False}),
    "short_body": _Kind(_short_body, {"after_bytes": None}),
    "garbage": _Kind(_garbage, {"handled": True}),
    "stall": _Kind(_stall, {"seconds": 60.0, "handled": True}),
    "drip": _Kind(_drip, {"seconds": 1.0}),
    "500": _Kind(partial(_refused, status=500, detail="Internal server error"), {"handled": False}),
    "503": _Kind(partial(_refused, status=503, detail="Service unavailable"), {"handled": False}),
    "429": _Kind(_too_many, {"headers": True, "reset_seconds": 1, "retry_after": None}),
    "html": _Kind(_html, {"handled": False}),
    "broken_json": _Kind(_broken_json, {}, _EVERY - _DOWNLOAD),
    "broken_gzip": _Kind(_broken_gzip, {}),
    "not_found": _Kind(partial(_refused, status=404, detail="No such request_id"), {}, _STATUS),
    "unknown_status": _Kind(_unknown_status, {"word": "queued"}, _STATUS),
    "expired_link": _Kind(_expired_link, {"status": 410}, _DOWNLOAD),
    "drop_download": _Kind(_short_body, {"after_bytes": 10_000}, _DOWNLOAD),
}


_WANTED: Final = (
    Parameter("kind", "string", "", among=tuple(KINDS)),
    Parameter("endpoint", "string", "", "any", among=tuple(_NAMED)),
    Parameter("times", "integer", "", 1, 1, MAX_COUNT),
    Parameter("after", "integer", "", 0, 0, MAX_COUNT),
)


def _checked(wanted: Mapping[str, Any]) -> Fault:
    kind, endpoint, times, after = (each.read(wanted) for each in _WANTED)
    options = {name: wanted[name] for name in wanted.keys() - {each.name for each in _WANTED}}
    known = KINDS[kind]
    for name, value in options.items():
        if name not in known.options:
            offered = f"it has {', '.join(known.options)}" if known.options else "it has none"
            raise Refused(400, f"{name} is no option of {kind}; {offered}")
        if not _fits(name, known.options[name], value):
            raise Refused(400, f"{name} can't be {value!r}")
    endpoints = _NAMED[endpoint] & known.endpoints
    if not endpoints:
        raise Refused(400, f"{kind} can happen to {', '.join(sorted(known.endpoints))} only")
    return Fault(kind, endpoint, times, after, {**known.options, **options}, endpoints)


def _fits(name: str, default: Any, value: Any) -> bool:
    """Whether the value is of the default's kind; None stands for an optional count."""
    if name == "status":
        return type(value) is int and value in (404, 410)
    if isinstance(default, bool | str):
        return type(value) is type(default) and value != ""
    if isinstance(default, float):
        return is_number(value) and value <= MAX_SECONDS
    return (is_number(value) and isinstance(value, int)) or (value is None and default is None)
