"""The routes of the service's interface: parse, ask the state, answer.

The controls are in control.py.
"""

import asyncio
import importlib
import re
import time
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Scope, Send

from .. import wire
from ..version import VERSION
from ..web.application import Answer, application, clip_file, keyed
from ..web.connections import RequestBody
from ..web.pages import same
from ..web.payloads import (
    NAME,
    RATE_LIMIT,
    days,
    json_object,
    reached_at,
    wanted_from_form,
    wanted_from_text,
)
from ..web.refusals import Refused
from . import control, page
from .faults import KINDS, Faults, Hit, endpoint_of
from .openapi import OPENAPI, PATHS, document
from .protocol import STATE, TOOLS
from .service import VIDEOS, Answered, SandboxService

EXTRA_MISSING: Final = (
    "This sandbox has no agent tools: the package that serves them isn't installed. "
    "pip install 'mcp>=2.3,<3', then ask again."
)
_LOOPBACK_HOST = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d+)?", re.IGNORECASE)


def make_app(service: SandboxService, *, loopback_only: bool = True) -> ASGIApp:
    """The service as an ASGI application. With `loopback_only`, requests for other host names are refused."""
    faults, log = Faults(), page.Log(maxlen=page.KEPT_REQUESTS)
    answers: dict[str, Answer] = {
        "text-to-video": partial(_text_to_video, service),
        "image-to-video": partial(_image_to_video, service),
        "status": lambda request: service.status(request.path_params["request_id"], reached_at(request)),
        "balance": lambda _: service.balance(),
        "usage": lambda request: service.usage(days(request)),
        "list-keys": partial(_list_keys, service),
        "create-key": partial(_create_key, service),
        "revoke-key": partial(_revoke_key, service),
    }
    endpoints = {
        path: {method.upper(): answers[told["operationId"]] for method, told in methods.items()}
        for path, methods in PATHS.items()
    }
    return application(
        [
            *(keyed(path, methods, partial(_admit, service)) for path, methods in endpoints.items()),
            Route(f"{VIDEOS}{{name}}", partial(_video, service)),
            Route(TOOLS, partial(_tools, service), methods=["POST"]),
            Route(OPENAPI, JSONResponse(document(VERSION))),
            *control.routes(service, faults),
            *page.routes(service, faults, log),
        ],
        start=service.start,
        close=service.close,
        is_own_host=lambda host, _: not loopback_only or _LOOPBACK_HOST.fullmatch(host) is not None,
        middleware=partial(_with_faults, service, faults, log),
    )


async def _admit(service: SandboxService, request: Request, secret: str) -> tuple[bool, Mapping[str, str]]:
    key = service.accounts.authenticate(secret)
    if key is None:
        raise Refused(401, "Invalid API key")
    service.accounts.note_use(key)
    request.state.key_id = key.key_id
    admission = service.limits.take(key.key_id, key.rate_limit, service.clock.now(), service.settings)
    return admission.allowed, admission.headers(service.settings, time.time())


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


async def _video(service: SandboxService, request: Request) -> Response:
    name = request.path_params["name"]
    path = service.places.videos / name
    if not re.fullmatch(r"[\w-]+\.mp4", name, re.ASCII) or not path.is_file():
        raise Refused(404, "No such video, or it was removed: videos are kept for 7 days")
    number, expired = service.link(name)
    if request.query_params.get("link", "0") != str(number):
        raise Refused(expired, "This link has expired; the job's status has a new one")
    return clip_file(path)


async def _tools(service: SandboxService, request: Request) -> ASGIApp:
    if not same(request.headers.get(wire.USER_ID_HEADER, ""), service.access.user_id):
        raise Refused(401, f"{wire.USER_ID_HEADER} is missing or names nobody here")
    try:
        # In a thread, as the first request takes half a second here.
        server = await asyncio.to_thread(_tool_server)
    except ImportError as exc:
        raise Refused(501, f"{EXTRA_MISSING} ({exc})") from None
    return partial(server.answer, service)


def _tool_server() -> Any:
    importlib.invalidate_caches()  # the extra may have been installed since the sandbox was started
    return importlib.import_module(".tool_server", __package__)


async def _with_faults(
    service: SandboxService,
    faults: Faults,
    log: page.Log,
    app: ASGIApp,
    scope: Scope,
    body: RequestBody,
    send: Send,
) -> None:
    """Notes what was asked, and makes faults happen."""
    if scope["path"] not in (STATE, page.PAGE):  # a page that is left open uses nothing
        service.note_use()
    endpoint = endpoint_of(scope["method"], scope["path"])
    # A clip on our own page isn't a client's request.
    if endpoint is None or Headers(scope=scope).get("sec-fetch-site") == "same-origin":
        await app(scope, body.receive, send)
        return
    status = 0

    async def answer(message: Message) -> None:
        nonlocal status
        status = message.get("status", status)
        await send(message)

    arrived_at, fault = service.clock.now(), faults.arrived(endpoint)
    try:
        if fault is None:
            await app(scope, body.receive, answer)
        else:
            await KINDS[fault.kind](Hit(service, app, scope, body, answer), **fault.options)
    finally:
        log.append((arrived_at, endpoint, status))
