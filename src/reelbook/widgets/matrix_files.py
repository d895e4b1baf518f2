"""A matrix as one file: a video, a contact sheet or a page that plays by itself."""

from __future__ import annotations

import html
import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from reelbook.media.grid import Grid, Page, Tile, film, sheet

from . import pages

KINDS = (".mp4", ".png", ".html")


def write(grid: Grid, path: Path, *, by: Literal["time", "part"], overwrite: bool) -> Path:
    """Writes the grid to `path`, whole or not at all; its ending says as what. See `Matrix.save`."""

    def fill(part: Path) -> None:
        match path.suffix.lower():
            case ".mp4":
                film(grid, part, by=by)
            case ".png":
                sheet(grid).save(part)
            case _:
                with part.open("w", encoding="utf-8") as file:
                    file.writelines(page_html(grid))

    pages.write_whole(path, fill, what="The grid", kinds=KINDS, overwrite=overwrite)
    return path


def page_html(grid: Grid) -> Iterable[str]:
    """The page piece by piece, as it is large. Raises `NotAVideo` for a clip that can't be read."""
    tables = (piece for page in grid.pages for piece in _table(page))
    body = itertools.chain(['<div class="rb-pages">'], tables, ["</div>"])
    return pages.page("_matrix_page", grid.title, body, shape=f"--rb-shape:{grid.ratio:.4f}")


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
    return pages.video(tile.clip, label, max_side=480)
