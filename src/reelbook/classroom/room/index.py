"""What a student's own computer needs, served by the room: a package index and the lessons.

The index of the home's wheels is the simple repository API as HTML (PEP 503), with hashes and each wheel's
`Requires-Python`. Names are looked up among the files that exist: no name from outside becomes a path.
"""

from __future__ import annotations

import asyncio
import email
import functools
import hashlib
import io
import re
import zipfile
from pathlib import Path
from typing import Final
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route

from ...lessons import shipped_lessons
from ...pages.html import Html, joined
from ..wheels import EXTRA, PACKAGE

SIMPLE: Final = "/simple/"
LESSONS: Final = "/lessons.zip"
_PAGE: Final = Html('<!doctype html><html lang="en"><title>{}</title>{}</html>')


def routes(wheels: Path) -> list[Route]:
    """The index of this folder, and the lessons."""

    async def projects(request: Request) -> Response:
        names = sorted(await asyncio.to_thread(_by_project, wheels))
        return _page("Packages", joined(Html('<a href="{0}/">{0}</a><br>').format(name) for name in names))

    async def project(request: Request) -> Response:
        name = request.path_params["project"]
        found = (await asyncio.to_thread(_by_project, wheels)).get(_normal(name))
        if found is None:
            raise HTTPException(404)
        return _page(name, joined([await asyncio.to_thread(_link, path) for path in found]))

    async def wheel(request: Request) -> Response:
        name = request.path_params["wheel"]
        found = (await asyncio.to_thread(_by_project, wheels)).get(_normal(request.path_params["project"]))
        for path in found or ():
            if path.name == name:
                return FileResponse(path, media_type="application/octet-stream")
        raise HTTPException(404)

    async def lessons(request: Request) -> Response:
        return Response(
            await asyncio.to_thread(_zipped_lessons),
            media_type="application/zip",
            headers={"Content-Disposition": 'attachment; filename="reelbook-lessons.zip"'},
        )

    return [
        Route(SIMPLE, projects),
        Route(f"{SIMPLE}{{project}}/", project),
        Route(f"{SIMPLE}{{project}}/{{wheel}}", wheel),
        Route(LESSONS, lessons),
    ]


def install_line(base_url: str) -> str:
    """The command with which a student installs Reelbook from the room."""
    scheme, _, host = base_url.partition("://")
    trusted = f" --trusted-host {host}" if scheme == "http" else ""
    return f'pip install --index-url {base_url}{SIMPLE}{trusted} "{PACKAGE}[{EXTRA}]"'


def _page(title: str, body: Html) -> Response:
    return HTMLResponse(_PAGE.format(title, body))


def _by_project(wheels: Path) -> dict[str, list[Path]]:
    """The wheels by their project's normalized name."""
    found: dict[str, list[Path]] = {}
    for path in sorted(wheels.glob("*.whl")):
        found.setdefault(_normal(path.name.partition("-")[0]), []).append(path)
    return found


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _link(path: Path) -> Html:
    try:
        digest, python = _known(path, path.stat().st_mtime_ns)
    except (OSError, KeyError, zipfile.BadZipFile):
        return Html("")  # an incomplete one, left by a gathering that was killed
    needs = Html(' data-requires-python="{}"').format(python) if python else ""
    return Html('<a href="{}#sha256={}"{}>{}</a><br>').format(quote(path.name), digest, needs, path.name)


@functools.lru_cache(maxsize=4096)
def _known(path: Path, changed_at: int) -> tuple[str, str]:
    """A wheel's SHA-256, and the Pythons that it supports."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    with zipfile.ZipFile(path) as wheel:
        metadata = "-".join(path.name.split("-")[:2]) + ".dist-info/METADATA"
        told = email.message_from_bytes(wheel.read(metadata))
    return digest, str(told["Requires-Python"] or "")


@functools.cache
def _zipped_lessons() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for lesson in shipped_lessons():
            archive.write(lesson, f"reelbook-lessons/{lesson.name}")
    return content.getvalue()
