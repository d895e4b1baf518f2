"""The routes of the service's interface: parse, ask the state, answer.

Every answer to a request with a valid key carries the rate-limit headers. Control is in control.py.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .. import wire
from . import answers, control, payloads
from .answers import Answered
from .bodies import Body
from .fault_injection import happen
from .faults import VIDEOS
from .payloads import Refused, refusal
from .protocol import STATE, TOOLS
from .service import Service
from .tools import ToolDoor

logger = logging.getLogger(__name__)

Handler = Callable[[Service, Request], Awaitable[Answered]]

_LOOPBACK_HOST = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d+)?", re.IGNORECASE)


def make_app(service: Service, *, loopback_only: bool = True) -> ASGIApp:
    """The service as an ASGI application. With `loopback_only`, requests for other host names are refused."""

    tools = ToolDoor(service)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await service.start()
        try:
            yield
        finally:
            await tools.close()
            await service.close()

    endpoints: dict[str, dict[str, Handler]] = {
        wire.TEXT_TO_VIDEO: {"POST": _text_to_video},
        wire.IMAGE_TO_VIDEO: {"POST": _image_to_video},
        f"{wire.STATUS}/{{request_id}}": {"GET": _status},
        wire.BALANCE: {"GET": _balance},
        wire.USAGE: {"GET": _usage},
        wire.KEYS: {"GET": _list_keys, "POST": _create_key},
        f"{wire.KEYS}/{{key_id}}": {"DELETE": _revoke_key},
    }
    app = Starlette(
        routes=[
            *(
                Route(path, _authenticated(service, path, by_method), methods=list(by_method))
                for path, by_method in endpoints.items()
            ),
            Route(f"{VIDEOS}{{name}}", _videos(service), methods=["GET"]),
            Route(TOOLS, tools, methods=["POST"]),
            *control.routes(service),
        ],
        lifespan=lifespan,
        exception_handlers={HTTPException: _no_such_route, Exception: _failed},
    )
    app.router.redirect_slashes = False  # a redirected POST is one more chance to pay twice
    return _Front(app, service, loopback_only)


async def _text_to_video(service: Service, request: Request) -> Answered:
    return await answers.submitted(service, await payloads.text_to_video(request))


async def _image_to_video(service: Service, request: Request) -> Answered:
    wanted = await payloads.image_to_video(request, service.settings.max_image_bytes)
    return await answers.submitted(service, wanted)


async def _status(service: Service, request: Request) -> Answered:
    return await answers.status(service, request.path_params["request_id"], answers.reached_at(request))


async def _balance(service: Service, request: Request) -> Answered:
    return await answers.balance(service)


async def _usage(service: Service, request: Request) -> Answered:
    return await answers.usage(service, payloads.days(request))


async def _list_keys(service: Service, request: Request) -> Answered:
    keys = service.accounts.listed()
    return {"api_keys": keys, "count": len(keys)}


async def _create_key(service: Service, request: Request) -> Answered:
    wanted = await payloads.new_key(request)
    return await asyncio.to_thread(service.accounts.create_key, wanted.name, wanted.rate_limit)


async def _revoke_key(service: Service, request: Request) -> Answered:
    key_id = request.path_params["key_id"]
    if not await asyncio.to_thread(service.accounts.revoke, key_id):
        raise Refused(404, "No such key_id")
    return {"message": "The API key was revoked", "key_id": key_id}


def _videos(service: Service) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        name = request.path_params["name"]
        path = service.places.videos / name
        if not re.fullmatch(r"[\w-]+\.mp4", name, re.ASCII) or not path.is_file():
            return refusal(404, "No such video, or it was removed: videos are kept for 7 days")
        if request.query_params.get("link", "0") != str(service.faults.link(name)):
            return refusal(
                service.faults.expired_status(name), "This link has expired; the job's status has a new one"
            )
        # FileResponse answers byte ranges, without which no player can seek.
        return FileResponse(path, media_type="video/mp4", headers={"Cache-Control": "private"})

    return endpoint


def _authenticated(
    service: Service, path: str, by_method: Mapping[str, Handler]
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        key = service.key_of(request.headers.get("authorization", ""))
        if key is None:
            return refusal(401, "Invalid API key", {"WWW-Authenticate": "Bearer"})
        service.accounts.note_use(key)
        verdict = service.limits.take(key.key_id, key.rate_limit, service.clock.now())
        headers = verdict.headers(service.limits.rules, time.time())
        if not verdict.allowed:
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


async def _no_such_route(request: Request, exc: Exception) -> Response:
    assert isinstance(exc, HTTPException)
    return refusal(exc.status_code, exc.detail, exc.headers)


async def _failed(request: Request, exc: Exception) -> Response:
    return refusal(500, "Internal server error")


class _Front:
    """Before all routes: refuses other host names than the machine's own, notes that somebody asked, and lets
    a fault happen where one is due.
    """

    def __init__(self, app: ASGIApp, service: Service, loopback_only: bool) -> None:
        self._app = app
        self._service = service
        self._loopback_only = loopback_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = Body(receive)

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] >= 400:
                await body.drain()
            await send(message)

        fault = None
        if scope["type"] == "http":
            host = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
            # A page whose name was made to point at 127.0.0.1 names itself here ("DNS rebinding").
            if self._loopback_only and not _LOOPBACK_HOST.fullmatch(host):
                await refusal(421, "This sandbox answers only as localhost")(scope, receive, send)
                return
            if scope["path"] != STATE:
                self._service.note_use()
            fault = self._service.faults.arrived(scope["method"], scope["path"])
        if fault is None:
            await self._app(scope, body.receive, answer)
        else:
            await happen(fault, self._service, self._app, scope, body, answer)
