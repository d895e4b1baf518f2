"""A server's pages over HTTP: its templates, its static files, and who may send its forms."""

import hmac
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from .. import states
from .html import Html, filled, kept_text

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
# What a field has that is wrong, as the `alert` of its page says.
INVALID: Final = Html(' aria-invalid="true" aria-describedby="why"')


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
        return filled(self.folder, template, **values)

    def whole(self, title: str, body: Html) -> Html:
        return filled(_SHARED, "page.html", title=title, body=body, prefix=self.prefix, name=self.name)

    def page(self, title: str, body: Html, *, status: int = 200) -> Response:
        """A whole page as a response that no browser keeps."""
        return HTMLResponse(self.whole(title, body), status, headers=FRESH)

    def enter_page(self, title: str, why: str = "", status: int = 200) -> Response:
        """The page that asks for the token; `why` says what was wrong with the last one."""
        body = self.filled("enter.html", invalid=INVALID if why else "", why=alert(why))
        return self.page(title, body, status=status)

    def style(self) -> str:
        """Both style sheets as one, for a page that is kept as a file."""
        own = self.folder / "static" / f"{self.name}.css"
        return kept_text(_SHARED / "static" / "page.css") + kept_text(own)

    async def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        folders = {"page.css": _SHARED, "page.js": _SHARED, f"{self.name}.css": self.folder}
        if name not in folders:
            raise HTTPException(404)
        headers = {"Content-Type": _TYPES[Path(name).suffix], "Cache-Control": "max-age=300"}
        return Response(kept_text(folders[name] / "static" / name), headers=headers)


def alert(why: str) -> Html:
    """What is wrong with what was sent; empty if nothing is."""
    return Html('<p class="why" id="why" role="alert">{}</p>').format(why) if why else Html("")


def video(url: str) -> Html:
    """A clip that plays when it is asked to."""
    return Html('<video controls playsinline preload="metadata" src="{}"></video>').format(url)


def clip_article(name: str, film: Html, prompt: str, state: states.State, quiet: str, more: Html) -> Html:
    """A clip among others: its film, its prompt, its state with a few quiet words, and what else there is."""
    return Html(
        '<article class="clip" id="{}">{}<div class="in"><p class="prompt">{}</p><div class="line">'
        '<span class="chip {}">{}</span><span class="quiet">{}</span></div>{}</div></article>'
    ).format(name, film, prompt, state.tone, state.title, quiet, more)


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
