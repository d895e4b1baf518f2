"""The still forms of panels as HTML: what a saved notebook shows on a page without a kernel."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..formatting import Line, plain
from ..text.board import BoardRow
from ..text.card import CardFace

if TYPE_CHECKING:
    from PIL import Image

# As base64 text it takes 4/3 of this; together with a panel's code and state that stays under 30 KB.
POSTER_BYTES = 6_000
BLOCK = 'style="max-width:100%;display:block"'


def small_poster(picture: Image.Image | bytes) -> bytes:
    """`picture` as a JPEG of at most `POSTER_BYTES` bytes."""
    from reelbook.media.images import thumbnail

    return thumbnail(picture, max_side=400, max_bytes=POSTER_BYTES)


def picture_html(picture: bytes, look: str = BLOCK, *, alt: str = "", kind: str = "jpeg") -> str:
    """The picture as part of a page, with the attributes in `look`; nothing without one."""
    if not picture:
        return ""
    data = base64.b64encode(picture).decode()
    return f'<img alt="{html.escape(alt)}" src="data:image/{kind};base64,{data}" {look}>'


def card_still(face: CardFace, lines: Sequence[Line], poster: bytes) -> tuple[str, str]:
    """A card as plain HTML in the page's own colours, for GitHub, nbconvert and the like, and as one line."""
    picture = picture_html(poster) if face["shape"] else ""
    figures = [face["mark"], face["word"], *map(plain, lines), face["money"]]
    rows = [face["prompt"], face["note"], face["aside"], " · ".join(filter(None, figures))]
    texts = "".join(f"<div>{html.escape(row)}</div>" for row in rows if row)
    page = f'<figure style="margin:0;max-width:480px">{picture}<figcaption>{texts}</figcaption></figure>'
    return page, " · ".join(filter(None, [face["prompt"], *figures]))


def board_html(text: str, rows: Sequence[tuple[BoardRow, bytes]], more: str) -> str:
    """A board as a plain table under one line of text; a row's picture may be empty."""
    table = f"<table>{''.join(map(_row_html, rows))}</table>" if rows else ""
    last = f"<div>{html.escape(more)}</div>" if more else ""
    return f"<div>{html.escape(text)}</div>{table}{last}"


def _row_html(shown: tuple[BoardRow, bytes]) -> str:
    row, poster = shown
    texts = [html.escape(text) for text in (row["word"], plain(row["time"]), row["money"])]
    what = f"{html.escape(row['prompt'])}<br><small>{html.escape(row['about'])}</small>"
    cells = (picture_html(poster, 'width="72"'), what, *texts)
    line = "".join(f'<td style="text-align:left">{cell}</td>' for cell in cells)
    return f"<tr>{line}</tr>"


def tiles_html(text: str, tiles: Sequence[tuple[str, bytes]]) -> str:
    """Pictures side by side under one line of text, each with its caption."""
    figures = "".join(
        '<figure style="display:inline-block;vertical-align:top;width:200px;margin:8px 8px 0 0">'
        f"{picture_html(poster, '')}<figcaption>{html.escape(caption)}</figcaption></figure>"
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
    shown = picture_html(poster, 'width="160"') or html.escape(word)
    return f'<td style="text-align:left">{shown}</td>'
