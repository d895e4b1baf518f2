"""Faults that tests and lessons cause: which exist, which request meets one, and what it does.

`Sandbox.fault` says what each kind does. A "handled" request went through the whole application: its job
exists, and it counts against the limit. Any other was read at most, and had no effect.
"""

import inspect
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
from .openapi import PATHS
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
ENDPOINTS: Final[Mapping[str, tuple[str, str]]] = {
    **{
        operation["operationId"]: (method.upper(), path.partition("{")[0])
        for path, operations in PATHS.items()
        for method, operation in operations.items()
    },
    "download": ("GET", VIDEOS),
    "tools": ("POST", TOOLS),
}
_EVERY: Final = frozenset(ENDPOINTS)
# What a fault may be set for: each of them, or a group.
_NAMED: Final[Mapping[str, frozenset[str]]] = {
    **{name: frozenset({name}) for name in ENDPOINTS},
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
            for name, (verb, place) in ENDPOINTS.items()
            if verb == method and (path == place or (place.endswith("/") and path.startswith(place)))
        ),
        None,
    )


@dataclass(frozen=True)
class Hit:
    """A request that meets a fault: `app` would handle its `scope`."""

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

    async def take(self, handled: bool) -> dict[str, str]:
        """Handle the request or only read it; returns the rate-limit headers, if any."""
        if not handled:
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


# What each kind does. Its options and their defaults are the parameters after the `*`.


async def _reset_before(hit: Hit, *, read: bool = True) -> None:
    if read:
        await hit.body.drain()
    await hit.reset()


async def _answer_lost(hit: Hit) -> None:
    await hit.handle()
    await hit.reset()


async def _close(hit: Hit, *, handled: bool = False) -> None:
    await hit.take(handled)
    await hit.close()


async def _short_body(hit: Hit, *, after_bytes: int | None = None) -> None:
    answer = await hit.handle()
    most = len(answer.body) // 2 if after_bytes is None else after_bytes
    if most >= len(answer.body):
        await hit.answer(answer)
        return
    await hit.begin(answer)
    await hit.go_on(answer.body[:most], more=True)
    await hit.close()


async def _garbage(hit: Hit, *, handled: bool = True) -> None:
    await hit.take(handled)
    await hit.close(GARBAGE)


async def _stall(hit: Hit, *, seconds: float = 60.0, handled: bool = True) -> None:
    answer = await hit.handle() if handled else None
    await hit.body.drain()
    if await hit.body.gone_within(seconds):
        return
    if answer is None:
        await hit.close()
    else:
        await hit.answer(answer)


async def _drip(hit: Hit, *, seconds: float = 1.0) -> None:
    answer = await hit.handle()
    await hit.begin(answer)
    for byte in bytes(answer.body):
        await hit.go_on(bytes([byte]), more=True)
        if await hit.body.gone_within(seconds):
            return
    await hit.go_on(b"", more=False)


async def _refused(code: int, detail: str, hit: Hit, *, handled: bool = False) -> None:
    await hit.answer(refusal(code, detail, await hit.take(handled)))


async def _too_many(
    hit: Hit, *, headers: bool = True, reset_seconds: int = 1, retry_after: int | None = None
) -> None:
    key = hit.service.accounts.authenticate(bearer_key(Headers(scope=hit.scope)))
    limit = key.rate_limit if key else wire.DEFAULT_REQUESTS_PER_MINUTE
    admission = Admission(False, limit, 0, reset_seconds)
    told = admission.headers(hit.service.settings, time.time()) if headers else {}
    if retry_after is not None:
        told["Retry-After"] = str(retry_after)
    await hit.answer(refusal(429, "Rate limit exceeded", told))


async def _html(hit: Hit, *, handled: bool = False) -> None:
    await hit.answer(HTMLResponse(PAGE, headers=await hit.take(handled)))


async def _broken_json(hit: Hit) -> None:
    answer = await hit.handle()
    _replace_body(answer, answer.body[:-1])
    await hit.answer(answer)


async def _broken_gzip(hit: Hit) -> None:
    answer = await hit.handle()
    _replace_body(answer, BROKEN_GZIP)
    answer.headers["content-encoding"] = "gzip"
    await hit.answer(answer)


async def _unknown_status(hit: Hit, *, word: str = "queued") -> None:
    answer = await hit.handle()
    said = json.loads(bytes(answer.body))
    if "status" in said:
        _replace_body(answer, json.dumps({**said, "status": word}).encode())
    await hit.answer(answer)


async def _expired_link(hit: Hit, *, status: int = 410) -> None:
    hit.service.expire(hit.scope["path"].removeprefix(VIDEOS), status)
    await hit.app(hit.scope, hit.body.receive, hit.send)


def _replace_body(answer: Response, body: bytes | memoryview) -> None:
    answer.body = body
    answer.headers["content-length"] = str(len(body))


KINDS: Final[Mapping[str, Callable[..., Awaitable[None]]]] = {
    "reset_before": _reset_before,
    "answer_lost": _answer_lost,
    "close": _close,
    "short_body": _short_body,
    "garbage": _garbage,
    "stall": _stall,
    "drip": _drip,
    "500": partial(_refused, 500, "Internal server error"),
    "503": partial(_refused, 503, "Service unavailable"),
    "429": _too_many,
    "html": _html,
    "broken_json": _broken_json,
    "broken_gzip": _broken_gzip,
    "not_found": partial(_refused, 404, "No such request_id"),
    "unknown_status": _unknown_status,
    "expired_link": _expired_link,
    "drop_download": partial(_short_body, after_bytes=10_000),
}
# The endpoints of the kinds that can't happen to all of them.
_CAN_HAPPEN_TO: Final[Mapping[str, frozenset[str]]] = {
    "broken_json": _EVERY - {"download"},
    **dict.fromkeys(("not_found", "unknown_status"), frozenset({"status"})),
    **dict.fromkeys(("expired_link", "drop_download"), frozenset({"download"})),
}

_WANTED: Final = (
    Parameter("kind", "string", "", among=tuple(KINDS)),
    Parameter("endpoint", "string", "", "any", among=tuple(_NAMED)),
    Parameter("times", "integer", "", 1, 1, MAX_COUNT),
    Parameter("after", "integer", "", 0, 0, MAX_COUNT),
)


def _checked(wanted: Mapping[str, Any]) -> Fault:
    kind, endpoint, times, after = (each.read(wanted) for each in _WANTED)
    given = {name: wanted[name] for name in wanted.keys() - {each.name for each in _WANTED}}
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(KINDS[kind]).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    }
    for name, value in given.items():
        if name not in defaults:
            offered = f"it has {', '.join(defaults)}" if defaults else "it has none"
            raise Refused(400, f"{name} isn't an option of {kind}; {offered}")
        if not _fits(name, defaults[name], value):
            raise Refused(400, f"{name} can't be {value!r}")
    possible = _CAN_HAPPEN_TO.get(kind, _EVERY)
    endpoints = _NAMED[endpoint] & possible
    if not endpoints:
        raise Refused(400, f"{kind} can happen to {', '.join(sorted(possible))} only")
    return Fault(kind, endpoint, times, after, {**defaults, **given}, endpoints)


def _fits(name: str, default: Any, value: Any) -> bool:
    """Whether the value is of the default's kind; None stands for an optional count."""
    if name == "status":
        return type(value) is int and value in (404, 410)
    if isinstance(default, bool | str):
        return type(value) is type(default) and value != ""
    if isinstance(default, float):
        return is_number(value) and value <= MAX_SECONDS
    return (is_number(value) and isinstance(value, int)) or (value is None and default is None)
