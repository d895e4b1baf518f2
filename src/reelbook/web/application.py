"""What the applications of the sandbox and of a class's room share: their life, errors and files."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from .payloads import refusal


def application(
    routes: Sequence[Route], *, start: Callable[[], Awaitable[None]], close: Callable[[], Awaitable[None]]
) -> Starlette:
    """An application whose errors are the interface's. `start` and `close` run on the server's loop."""

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await start()
        try:
            yield
        finally:
            await close()

    handlers = {HTTPException: _refused, Exception: _failed}
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)
    app.router.redirect_slashes = False  # a redirected POST is one more chance to pay twice
    return app


def clip_file(path: Path) -> Response:
    """A clip's file. It answers byte ranges, without which no player can seek."""
    return FileResponse(path, media_type="video/mp4", headers={"Cache-Control": "private"})


async def _refused(request: Request, exc: Exception) -> Response:
    assert isinstance(exc, HTTPException)
    return refusal(exc.status_code, exc.detail, exc.headers)


async def _failed(request: Request, exc: Exception) -> Response:
    return refusal(500, "Internal server error")
