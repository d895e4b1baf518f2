"""The routes of the service's interface: parse, ask the state, answer.

Every answer to a request with a valid key carries the rate-limit headers. The controls are in control.py.
"""

from __future__ import annotations

import asyncio
import functools
import importlib
import logging
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .. import wire
from ..pages.web import same
from ..web.application import application, clip_file
from ..web.connections import RequestBody
from ..web.openapi import OPENAPI, document
from ..web.payloads import (
    NAME,
    RATE_LIMIT,
    days,
    json_object,
    reached_at,
    refusal,
    wanted_from_form,
    wanted_from_text,
)
from ..web.refusals import Refused
from . import control, page
from .faults import KINDS, Faults, Hit, endpoint_of
from .protocol import STATE, TOOLS, version
from .service import VIDEOS, Answered, SandboxService

logger = logging.getLogger(__name__)

Handler = Callable[[SandboxService, Request], Awaitable[Answered]]

EXTRA_MISSING: Final = (
    "This sandbox has no agent tools: the package that serves them isn't installed. "
    "pip install 'mcp>=2.3,<3', then ask again."
)
_LOOPBACK_HOST = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d+)?", re.IGNORECASE)


def make_app(service: SandboxService, *, loopback_only: bool = True) -> ASGIApp:
    """The service as an ASGI application. With `loopback_only`, requests for other host names are refused."""
    faults, log = Faults(), page.Log(maxlen=page.KEPT_REQUESTS)
    endpoints: dict[str, dict[str, Handler]] = {
        wire.TEXT_TO_VIDEO: {"POST": _text_to_video},
        wire.IMAGE_TO_VIDEO: {"POST": _image_to_video},
        f"{wire.STATUS}/{{request_id}}": {
            "GET": lambda _, request: service.status(request.path_params["request_id"], reached_at(request))
        },
        wire.BALANCE: {"GET": lambda *_: service.balance()},
        wire.USAGE: {"GET": lambda _, request: service.usage(days(request))},
        wire.KEYS: {"GET": _list_keys, "POST": _create_key},
        f"{wire.KEYS}/{{key_id}}": {"DELETE": _revoke_key},
    }
    app = application(
        [
            *(
                Route(path, _authenticated(service, path, by_method), methods=list(by_method))
                for path, by_method in endpoints.items()
            ),
            Route(f"{VIDEOS}{{name}}", _videos(service), methods=["GET"]),
            Route(TOOLS, _tools(service), methods=["POST"]),
            Route(OPENAPI, JSONResponse(document(version=version())), methods=["GET"]),
            *control.routes(service, faults),
            *page.routes(service, faults, log),
        ],
        start=service.start,
        close=service.close,
    )
    return _front(app, service, faults, log, loopback_only)


async def _text_to_video(service: SandboxService, request: Request) -> Answered:
    return await service.accept(wanted_from_text(await json_object(request)), request.state.key_id)


async def _image_to_video(service: SandboxService, request: Request) -> Answered:
    wanted = await wanted_from_form(request, service.settings.max_image_bytes)
    return await service.accept(wanted, request.state.key_id)


async def _list_keys(service: SandboxService, request: Request) -> Answered:
    keys = service.accounts.listed()
    return {"api_keys": keys, "count": len(keys)}


async def _create_key(service: SandboxService, request: Request) -> Answered:
    wanted = await json_object(request)
    name, rate_limit = NAME.read(wanted).strip(), RATE_LIMIT.read(wanted)
    return await asyncio.to_thread(service.accounts.create_key, name, rate_limit)


async def _revoke_key(service: SandboxService, request: Request) -> Answered:
    key_id = request.path_params["key_id"]
    if not await asyncio.to_thread(service.accounts.revoke, key_id):
        raise Refused(404, "No such key_id")
    return {"message": "The API key was revoked", "key_id": key_id}


def _videos(service: SandboxService) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        name = request.path_params["name"]
        path = service.places.videos / name
        if not re.fullmatch(r"[\w-]+\.mp4", name, re.ASCII) or not path.is_file():
            return refusal(404, "No such video, or it was removed: videos are kept for 7 days")
        number, expired = service.link(name)
        if request.query_params.get("link", "0") != str(number):
            return refusal(expired, "This link has expired; the job's status has a new one")
        return clip_file(path)

    return endpoint


def _authenticated(
    service: SandboxService, path: str, by_method: Mapping[str, Handler]
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        key = service.key_of(request.headers.get("authorization", ""))
        if key is None:
            return refusal(401, "Invalid API key", {"WWW-Authenticate": "Bearer"})
        service.accounts.note_use(key)
        request.state.key_id = key.key_id
        admission = service.limits.take(key.key_id, key.rate_limit, service.clock.now(), service.settings)
        headers = admission.headers(service.settings, time.time())
        if not admission.allowed:
            return refusal(429, "Rate limit exceeded", headers)
        method = "GET" if request.method == "HEAD" else request.method
        try:
            body = await by_method[method](service, request)
        except Refused as exc:
            return refusal(exc.status, exc.detail, headers)
        except Exception:
            logger.exception("%s %s failed", method, path)
            return refusal(500, "Internal server error", headers)
        return JSONResponse(body, headers=headers)

    return endpoint


def _tools(service: SandboxService) -> Callable[[Request], Awaitable[ASGIApp]]:
    async def endpoint(request: Request) -> ASGIApp:
        origin = request.headers.get("origin")
        # A web page says where it comes from; only one of the sandbox's own address may ask.
        if origin is not None and origin != reached_at(request):
            return refusal(403, "Pages of other origins may not use the agent tools")
        if not same(request.headers.get(wire.USER_ID_HEADER, ""), service.access.user_id):
            return refusal(401, f"{wire.USER_ID_HEADER} is missing or names nobody here")
        try:
            # In a thread: for the first one that comes in this takes half a second.
            server = await asyncio.to_thread(_tool_server)
        except ImportError as exc:
            return refusal(501, f"{EXTRA_MISSING} ({exc})")
        return functools.partial(server.answer, service)

    return endpoint


def _tool_server() -> Any:
    importlib.invalidate_caches()  # the extra may have been installed since the sandbox was started
    return importlib.import_module(".tool_server", __package__)


def _front(
    app: ASGIApp, service: SandboxService, faults: Faults, log: page.Log, loopback_only: bool
) -> ASGIApp:
    """Before all routes: refuses foreign host names, notes what was asked, and makes faults happen."""

    async def front(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        # A page whose name was made to point at 127.0.0.1 sends its own name here ("DNS rebinding").
        if loopback_only and not _LOOPBACK_HOST.fullmatch(headers.get(b"host", b"").decode("latin-1")):
            await refusal(421, "This sandbox answers only as localhost")(scope, receive, send)
            return
        if scope["path"] not in (STATE, page.PAGE):  # a page that is left open uses nothing
            service.note_use()
        body, status = RequestBody(receive), 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if status >= 400:
                    await body.drain()
            await send(message)

        endpoint = endpoint_of(scope["method"], scope["path"])
        # A clip on our own page is no client's.
        if endpoint is None or headers.get(b"sec-fetch-site") == b"same-origin":
            await app(scope, body.receive, answer)
            return
        arrived_at, fault = service.clock.now(), faults.arrived(endpoint)
        try:
            if fault is None:
                await app(scope, body.receive, answer)
            else:
                await KINDS[fault.kind].act(Hit(fault.options, service, app, scope, body, answer))
        finally:
            log.append((arrived_at, endpoint, status))

    return front
