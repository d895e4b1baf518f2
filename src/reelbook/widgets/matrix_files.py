"""A matrix as one file: a video, a contact sheet or a page that plays by itself."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from reelbook.atomic_files import atomic_write
from reelbook.errors import InvalidInput, ReelbookError
from reelbook.media import clips
from reelbook.media.grid import Grid, Page, Tile, film, sheet
from reelbook.media.images import thumbnail

from .bundle import module, style

KINDS = (".mp4", ".png", ".html")
POSTER_BYTES = 20_000

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; media-src data:; \
style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>{title}</title><style>{look}</style></head>
<body class="rb-host rb-of-_matrix_page" style="margin:0"><main class="rb" style="--rb-shape:{ratio:.4f}">
<h1>{title}</h1><div class="rb-pages">{pages}</div></main>
<script type="module">{code}</script></body></html>
"""


def write(grid: Grid, path: Path, *, by: Literal["time", "part"], overwrite: bool) -> Path:
    """Writes the grid to `path`, whole or not at all; its ending says as what. See `Matrix.save`."""
    kind = path.suffix.lower()
    if kind not in KINDS:
        raise InvalidInput(f"A grid is saved as {', '.join(KINDS)}, not {kind or 'without an ending'}.")
    if not path.absolute().parent.is_dir():
        raise InvalidInput(
            f"There is no folder {path.absolute().parent}. Make it first. Nothing was written."
        )
    if path.exists() and not overwrite:
        raise InvalidInput(f"{path} is there already: overwrite=True replaces it. Nothing was written.")
    try:
        with atomic_write(path) as part:
            if kind == ".mp4":
                film(grid, part, by=by)
            elif kind == ".png":
                sheet(grid).save(part)
            else:
                with part.open("w", encoding="utf-8") as file:
                    file.writelines(page_html(grid))
    except OSError as error:
        raise ReelbookError(
            f"The grid could not be written: {error.strerror or error}. The clips are where they were."
        ) from error
    return path


def page_html(grid: Grid) -> Iterable[str]:
    """The page piece by piece, as it is large. Raises `NotAVideo` for a clip that can't be read."""
    before, after = _PAGE.split("{pages}")
    yield before.format(title=html.escape(grid.title), look=style("_matrix_page"), ratio=grid.ratio)
    for page in grid.pages:
        yield from _table(page)
    yield after.format(code=module("_matrix_page").replace("</", "<\\/"))


def _table(page: Page) -> Iterable[str]:
    if page.title:
        yield f"<h2>{html.escape(page.title)}</h2>"
    yield "<table>"
    if any(page.columns):
        heads = "".join(f'<th scope="col">{html.escape(label)}</th>' for label in page.columns)
        yield f"<thead><tr><td></td>{heads}</tr></thead>"
    yield "<tbody>"
    for label, tiles in page.rows:
        yield f'<tr><th scope="row">{html.escape(label)}</th>'
        for number, tile in enumerate(tiles):
            yield f"<td>{_cell(tile, f'{label} {page.columns[number]}'.strip())}</td>"
        yield "</tr>"
    yield "</tbody></table>"


def _cell(tile: Tile | None, label: str) -> str:
    if tile is None:
        return ""
    if tile.clip is None:
        return f'<div class="rb-blank">{html.escape(tile.word)}</div>'
    info = clips.probe(tile.clip)
    poster = thumbnail(clips.poster(tile.clip), max_side=480, max_bytes=POSTER_BYTES)
    return (
        f'<video muted playsinline aria-label="{html.escape(label)}"'
        f' data-seconds="{info.duration_seconds:.4f}" data-fps="{info.frames_per_second:.3f}"'
        f' poster="data:image/jpeg;base64,{_text(poster)}"'
        f' data-clip="data:video/mp4;base64,{_text(tile.clip.read_bytes())}"></video>'
    )


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
