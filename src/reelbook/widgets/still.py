"""The still form of a panel: what a saved notebook shows on a page without a kernel."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .words import Face, Line, plain

if TYPE_CHECKING:
    from PIL import Image

# As text 4/3 of it: with a panel's code and state it stays under 30 KB, with its caption under 20.
POSTER_BYTES = 6_000


def small_poster(picture: Image.Image | bytes) -> bytes:
    """`picture` as a JPEG of at most `POSTER_BYTES` bytes."""
    from reelbook.media.images import thumbnail

    return thumbnail(picture, max_side=400, max_bytes=POSTER_BYTES)


def card_html(face: Face, lines: Sequence[Line], poster: bytes) -> str:
    """A card as plain HTML with its colours inherited, for GitHub, nbconvert and a page without a kernel."""
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
