"""Clips in one file: a page that plays them without a network or a kernel, and how it is written."""

import base64
import html
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, Literal

from reelbook.atomic_files import atomic_write
from reelbook.errors import InvalidInput
from reelbook.media import clips
from reelbook.media.grid import Grid, Page, Tile, film, sheet
from reelbook.media.images import thumbnail
from reelbook.saved_files import target_file, writing

from .bundle import module, style

POSTER_BYTES: Final = 20_000
GRID_KINDS: Final = (".mp4", ".png", ".html")

# The page may load nothing.
_POLICY: Final = (
    "default-src 'none'; img-src data:; media-src data:; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'"
)


def write_whole(
    path: Path, write: Callable[[Path], None], *, what: str, kinds: Sequence[str], overwrite: bool
) -> None:
    """Has `write` fill a file that becomes `path`, whole or not at all.

    Raises InvalidInput for an ending not in `kinds`, if the folder doesn't exist, and if a file is in the
    way; ReelbookError if the disk refuses.
    """
    kind = path.suffix.lower()
    if kind not in kinds:
        raise InvalidInput(f"{what} is saved as {' or '.join(kinds)}, not {kind or 'without an ending'}.")
    target_file(path, path.name, remedy="overwrite=True replaces it", overwrite=overwrite)
    with writing(what), atomic_write(path) as part:
        write(part)


def page(stem: str, title: str, body: Iterable[str], *, shape: str = "") -> Iterator[str]:
    """A page with the style `stem`, piece by piece, as it is large. `body` is HTML."""
    title, code = html.escape(title), module("_matrix_page").replace("</", "<\\/")
    yield (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>{title}</title><style>{style(stem)}</style></head>\n"
        f'<body class="rb-host rb-of-{stem}" style="margin:0"><main class="rb" style="{shape}">'
        f"<h1>{title}</h1>\n"
    )
    yield from body
    yield f'</main>\n<script type="module">{code}</script></body></html>\n'


def video(file: Path, label: str, *, max_side: int) -> str:
    """A clip with its poster, embedded in the page. Raises NotAVideo for one that can't be read."""
    info = clips.probe(file)
    poster = thumbnail(clips.poster(file), max_side=max_side, max_bytes=POSTER_BYTES)
    return (
        f'<video muted playsinline aria-label="{html.escape(label)}"'
        f' data-seconds="{info.duration_seconds:.4f}" data-fps="{info.frames_per_second:.3f}"'
        f' poster="data:image/jpeg;base64,{base64.b64encode(poster).decode()}"'
        f' data-clip="data:video/mp4;base64,{base64.b64encode(file.read_bytes()).decode()}"></video>'
    )


def write_grid(grid: Grid, path: Path, *, by: Literal["time", "part"], overwrite: bool) -> Path:
    """Writes the grid to `path`, whole or not at all, as its ending says. See `Matrix.save`."""

    def fill(part: Path) -> None:
        match path.suffix.lower():
            case ".mp4":
                film(grid, part, by=by)
            case ".png":
                sheet(grid).save(part)
            case _:
                with part.open("w", encoding="utf-8") as file:
                    file.writelines(grid_html(grid))

    write_whole(path, fill, what="The grid", kinds=GRID_KINDS, overwrite=overwrite)
    return path


def grid_html(grid: Grid) -> Iterable[str]:
    """The grid as a page, piece by piece. Raises `NotAVideo` for a clip that can't be read."""
    tables = (piece for page in grid.pages for piece in _table(page))
    body = itertools.chain(['<div class="rb-pages">'], tables, ["</div>"])
    return page("_matrix_page", grid.title, body, shape=f"--rb-shape:{grid.ratio:.4f}")


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


def _cell(tile: Tile, label: str) -> str:
    if tile is None:
        return ""
    if isinstance(tile, str):
        return f'<div class="rb-blank">{html.escape(tile)}</div>'
    return video(tile, label, max_side=480)
