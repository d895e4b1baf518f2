"""What the applications of the sandbox and of a class's room share: who gets in, errors, and their life."""

import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import InvalidInput
from .connections import RequestBody
from .html import Html
from .pages import SECURITY, from_own_page
from .payloads import bearer_key, refusal
from .refusals import Refused

logger = logging.getLogger(__name__)

Answer = Callable[[Request], Awaitable[Mapping[str, Any]]]
# Of a request and its key ("" without one): whether the key's limit allows it, and the headers about that.
# Raises Refused (401).
Admit = Callable[[Request, str], Awaitable[tuple[bool, Mapping[str, str]]]]
# Hands a request to the application, or does something else with it.
Middleware = Callable[[ASGIApp, Scope, RequestBody, Send], Awaitable[None]]

_SAFE: Final = ("GET", "HEAD", "OPTIONS")
_SAID: Final = Html(
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Reelbook</title>'
    '<meta name="viewport" content="width=device-width, initial-scale=1"><p>{}</p></html>'
)
_SECURITY: Final = [(name.encode(), value.encode()) for name, value in SECURITY.items()]


def keyed(path: str, answers: Mapping[str, Answer], admit: Admit) -> Route:
    """A route of the interface, for those with a key: an answer for each method.

    All that is answered to a valid key carries the headers about its limit.
    """

    async def endpoint(request: Request) -> Response:
        request.state.headers = {"WWW-Authenticate": "Bearer"}
        allowed, request.state.headers = await admit(request, bearer_key(request.headers))
        if not allowed:
            raise Refused(429, "Rate limit exceeded")
        method = "GET" if request.method == "HEAD" else request.method
        try:
            return JSONResponse(await answers[method](request), headers=request.state.headers)
        except (Refused, InvalidInput):
            raise
        except Exception:
            logger.exception("%s %s failed", method, path)
            raise Refused(500, "Internal server error") from None

    return Route(path, endpoint, methods=list(answers))


async def _no_middleware(app: ASGIApp, scope: Scope, body: RequestBody, send: Send) -> None:
    await app(scope, body.receive, send)


def application(
    routes: Sequence[Route],
    *,
    start: Callable[[], Awaitable[None]],
    close: Callable[[], Awaitable[None]],
    is_own_host: Callable[[str, Scope], bool],
    middleware: Middleware = _no_middleware,
) -> ASGIApp:
    """An application whose errors are the interface's. `start` and `close` run on the server's loop.

    Requests for another host and from other sites' pages are refused; the rest goes through `middleware`.
    """

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await start()
        try:
            yield
        finally:
            await close()

    handlers = {**dict.fromkeys((HTTPException, Refused, InvalidInput), _refused), Exception: _failed}
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)
    app.router.redirect_slashes = False  # a redirected POST is one more chance to pay twice

    async def front(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        body = RequestBody(receive)

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_SECURITY]
                if message["status"] >= 400:
                    await body.drain()
            await send(message)

        headers = dict(scope["headers"])
        # A page whose name was made to point here sends its own name ("DNS rebinding").
        if not is_own_host(headers.get(b"host", b"").decode("latin-1"), scope):
            said = "Nothing is served by this host name. Use the address that was shown"
            await _told(scope, 421, said)(scope, body.receive, answer)
        elif scope["method"] not in _SAFE and not from_own_page(headers):
            said = "Pages of other origins may not send this"
            await _told(scope, 403, said)(scope, body.receive, answer)
        else:
            await middleware(app, scope, body, answer)

    return front


def clip_file(path: Path) -> Response:
    """A clip's file. It answers byte ranges, without which no player can seek."""
    return FileResponse(path, media_type="video/mp4", headers={"Cache-Control": "private"})


async def _refused(request: Request, exc: Exception) -> Response:
    if isinstance(exc, HTTPException):
        return _told(request.scope, exc.status_code, exc.detail, exc.headers)
    headers = getattr(request.state, "headers", None)
    return _told(request.scope, getattr(exc, "status", 400), str(exc), headers)


async def _failed(request: Request, exc: Exception) -> Response:
    return _told(request.scope, 500, "Internal server error")


def _told(scope: Scope, status: int, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    """A refusal as JSON, or for a person who opened a page as one that says it."""
    if "text/html" in Headers(scope=scope).get("accept", ""):
        return HTMLResponse(_SAID.format(detail), status, headers)
    return refusal(status, detail, headers)
