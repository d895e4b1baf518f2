"""The still forms of panels as HTML: what a saved notebook shows on a page without a kernel."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..text import Face, Line, Row, plain

if TYPE_CHECKING:
    from PIL import Image

# As base64 text it takes 4/3 of this; together with a panel's code and state that stays under 30 KB.
POSTER_BYTES = 6_000


def small_poster(picture: Image.Image | bytes) -> bytes:
    """`picture` as a JPEG of at most `POSTER_BYTES` bytes."""
    from reelbook.media.images import thumbnail

    return thumbnail(picture, max_side=400, max_bytes=POSTER_BYTES)


def card_html(face: Face, lines: Sequence[Line], poster: bytes) -> str:
    """A card as plain HTML in the page's own colours, for GitHub, nbconvert and pages without a kernel."""
    picture = ""
    if poster and face["shape"]:
        data = base64.b64encode(poster).decode()
        picture = f'<img alt="" src="data:image/jpeg;base64,{data}" style="max-width:100%;display:block">'
    figures = [face["mark"], face["word"], *map(plain, lines), face["money"]]
    rows = [face["prompt"], face["note"], face["aside"], " · ".join(filter(None, figures))]
    texts = "".join(f"<div>{html.escape(row)}</div>" for row in rows if row)
    return f'<figure style="margin:0;max-width:480px">{picture}<figcaption>{texts}</figcaption></figure>'


def card_text(face: Face, lines: Sequence[Line]) -> str:
    """A card in one line."""
    return " · ".join(
        filter(None, [face["prompt"], face["mark"], face["word"], *map(plain, lines), face["money"]])
    )


def board_html(text: str, rows: Sequence[tuple[Row, bytes]], more: str) -> str:
    """A board as a plain table under one line of text; a row's picture may be empty."""
    table = f"<table>{''.join(map(_row_html, rows))}</table>" if rows else ""
    last = f"<div>{html.escape(more)}</div>" if more else ""
    return f"<div>{html.escape(text)}</div>{table}{last}"


def _row_html(shown: tuple[Row, bytes]) -> str:
    row, poster = shown
    data = base64.b64encode(poster).decode()
    picture = f'<img alt="" src="data:image/jpeg;base64,{data}" width="72">' if poster else ""
    texts = [html.escape(text) for text in (row["word"], plain(row["time"]), row["money"])]
    what = f"{html.escape(row['prompt'])}<br><small>{html.escape(row['about'])}</small>"
    cells = "".join(f'<td style="text-align:left">{cell}</td>' for cell in (picture, what, *texts))
    return f"<tr>{cells}</tr>"


def tiles_html(text: str, tiles: Sequence[tuple[str, bytes]]) -> str:
    """Pictures side by side under one line of text, each with its caption."""
    figures = "".join(
        '<figure style="display:inline-block;vertical-align:top;width:200px;margin:8px 8px 0 0">'
        + (f'<img alt="" src="data:image/jpeg;base64,{base64.b64encode(poster).decode()}">' if poster else "")
        + f"<figcaption>{html.escape(caption)}</figcaption></figure>"
        for caption, poster in tiles
    )
    return f"<div>{html.escape(text)}</div>{figures}"


def matrix_html(text: str, tables: Sequence[tuple[str, Sequence[str], Sequence[Any]]], more: str) -> str:
    """Grids of pictures under one line of text, one for each page: its label, its columns' and its rows'.

    A row is its label and its cells; a cell is a word, or a picture.
    """
    made = []
    for page, columns, rows in tables:
        top = "".join(map(_still_head, ("", *columns)))
        body = "".join(
            f"<tr>{_still_head(label)}{''.join(map(_still_cell, cells))}</tr>" for label, cells in rows
        )
        made.append(
            (f"<div><b>{html.escape(page)}</b></div>" if page else "")
            + f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
        )
    last = f"<div>{html.escape(more)}</div>" if more else ""
    return f"<div>{html.escape(text)}</div>{''.join(made)}{last}"


def _still_head(label: str) -> str:
    return f'<th style="text-align:left">{html.escape(label)}</th>'


def _still_cell(cell: tuple[str, bytes]) -> str:
    word, poster = cell
    data = base64.b64encode(poster).decode()
    shown = f'<img alt="" src="data:image/jpeg;base64,{data}" width="160">' if poster else html.escape(word)
    return f'<td style="text-align:left">{shown}</td>'
