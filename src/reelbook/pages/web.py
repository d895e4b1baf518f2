"""A server's pages over HTTP: its templates, its static files, and who may send its forms."""

from __future__ import annotations

import functools
import hmac
import string
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from .html import Html, safe

FRESH: Final = {"Cache-Control": "no-store"}
# Pages load scripts, styles and files from their own server only, and no other page can frame them.
SECURITY: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; media-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}
_TYPES: Final = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
_SHARED: Final = Path(__file__).parent


@dataclass(frozen=True)
class Site:
    """A server's pages: `templates/` and `static/` of its `folder`, beside those that all sites share.

    Its own style is `<name>.css`. Static files are served below `prefix`.
    """

    name: str
    folder: Path
    prefix: str

    def filled(self, template: str, **values: Any) -> Html:
        """The site's template filled with values, which are escaped."""
        return _filled(self.folder, template, values)

    def whole(self, title: str, body: Html) -> Html:
        """A whole page as text."""
        values = {"title": title, "body": body, "prefix": self.prefix, "name": self.name}
        return _filled(_SHARED, "page.html", values)

    def page(self, title: str, body: Html, *, status: int = 200) -> Response:
        """A whole page as a response that no browser keeps."""
        return HTMLResponse(self.whole(title, body), status, headers=FRESH)

    def enter_page(self, title: str, why: str = "", status: int = 200) -> Response:
        """The page that asks for the token; `why` says what was wrong with the last one."""
        said = Html('<p class="why" role="alert">{}</p>').format(why) if why else ""
        return self.page(title, self.filled("enter.html", bad=" bad" if why else "", why=said), status=status)

    def style(self) -> str:
        """Both style sheets as one, for a page that is kept as a file."""
        return _read(_SHARED / "static" / "page.css") + _read(self.folder / "static" / f"{self.name}.css")

    async def static(self, request: Request) -> Response:
        """The endpoint of the static files."""
        name = request.path_params["name"]
        folders = {"page.css": _SHARED, "page.js": _SHARED, f"{self.name}.css": self.folder}
        if name not in folders:
            raise HTTPException(404)
        headers = {"Content-Type": _TYPES[Path(name).suffix], "Cache-Control": "max-age=300"}
        return Response(_read(folders[name] / "static" / name), headers=headers)


def from_own_page(headers: dict[bytes, bytes]) -> bool:
    """Whether a request that changes something comes from the server's own pages, or from no page at all."""
    if headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
        return False
    origin, host = headers.get(b"origin"), headers.get(b"host", b"").decode("latin-1")
    return origin is None or urlsplit(origin.decode("latin-1")).netloc == host


def usd(text: str) -> float | None:
    """An amount of USD as a person types it; None for anything else."""
    try:
        amount = float(text.strip().removeprefix("$"))
    except ValueError:
        return None
    return amount if 0 < amount < 1e7 else None


def same(given: str, secret: str) -> bool:
    """Whether `given` is the secret; the time it takes tells nothing about it."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), secret.encode())


def _filled(folder: Path, template: str, values: dict[str, Any]) -> Html:
    text = string.Template(_read(folder / "templates" / template))
    return Html(text.substitute({name: safe(value) for name, value in values.items()}))


@functools.cache
def _read(file: Path) -> str:
    return file.read_text("utf-8")
