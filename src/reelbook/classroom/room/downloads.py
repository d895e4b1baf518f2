"""What a student's own computer needs, served by the room: Reelbook's wheels and the lessons.

One page links all of the home's wheels; pip takes it as `--find-links`. No name from outside becomes a path.
"""

import functools
import io
import zipfile
from pathlib import Path
from typing import Final
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route

from ...lessons import shipped_lessons
from ...web.html import Html, joined
from ...web.pages import FRESH
from ..wheels import EXTRA, PACKAGE

WHEELS: Final = "/wheels/"
LESSONS: Final = "/lessons.zip"
_PAGE: Final = Html('<!doctype html><html lang="en"><title>Wheels</title>{}</html>')


def routes(folder: Path) -> list[Route]:
    def wheels(request: Request) -> Response:
        names = sorted(path.name for path in folder.glob("*.whl"))
        link = Html('<a href="{}">{}</a><br>')
        return HTMLResponse(_PAGE.format(joined(link.format(quote(name), name) for name in names)))

    def wheel(request: Request) -> Response:
        for path in folder.glob("*.whl"):
            if path.name == request.path_params["wheel"]:
                return FileResponse(path, media_type="application/octet-stream")
        raise HTTPException(404)

    def lessons(request: Request) -> Response:
        return attachment("reelbook-lessons.zip", _zipped_lessons(), "application/zip")

    return [Route(WHEELS, wheels), Route(f"{WHEELS}{{wheel}}", wheel), Route(LESSONS, lessons)]


def attachment(name: str, content: bytes, media_type: str) -> Response:
    """A file that the browser saves by this name, and keeps nowhere else."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', **FRESH}
    return Response(content, media_type=media_type, headers=headers)


def install_line(base_url: str) -> str:
    """The command that installs Reelbook from the room."""
    scheme, _, host = base_url.partition("://")
    trusted = f" --trusted-host {host}" if scheme == "http" else ""
    return f'pip install --no-index --find-links {base_url}{WHEELS}{trusted} "{PACKAGE}[{EXTRA}]"'


@functools.cache
def _zipped_lessons() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for lesson in shipped_lessons():
            archive.write(lesson, f"reelbook-lessons/{lesson.name}")
    return content.getvalue()
