"""The still forms of panels as HTML: what a saved notebook shows on a page without a kernel."""

import base64
import html
from collections.abc import Iterable, Sequence

from PIL import Image

from reelbook.media.images import thumbnail

from ..formatting import Line, plain
from ..text.card import CardFace

# As base64 text it takes 4/3 of this; together with a panel's code and state that stays under 30 KB.
POSTER_BYTES = 6_000
# A notebook that isn't trusted shows the still form although its kernel is alive.
RETURNS = (
    "If its kernel still runs, it returns once the notebook is trusted (Trust Notebook in JupyterLab's "
    "command palette, or jupyter trust on a terminal). Otherwise run the cell again."
)
BLOCK = 'style="max-width:100%;display:block"'


def small_poster(
    picture: Image.Image | bytes, *, max_side: int = 400, max_bytes: int = POSTER_BYTES
) -> bytes:
    """`picture` as a JPEG of at most `max_bytes` bytes; empty without one."""
    return thumbnail(picture, max_side=max_side, max_bytes=max_bytes) if picture else b""


def text_html(*texts: str) -> str:
    """Lines of text, without the empty ones."""
    return "".join(f"<div>{html.escape(text)}</div>" for text in texts if text)


def text_still(text: str) -> tuple[str, str]:
    """The still form of a panel that only has a line of text to show."""
    return text_html(text), text


def picture_html(picture: bytes, look: str = BLOCK, *, alt: str = "", kind: str = "jpeg") -> str:
    """An `<img>` of the picture, with the attributes in `look`; empty without a picture."""
    if not picture:
        return ""
    data = base64.b64encode(picture).decode()
    return f'<img alt="{html.escape(alt)}" src="data:image/{kind};base64,{data}" {look}>'


def figure_html(picture: str, caption: str, look: str = "margin:0") -> str:
    """A picture over its caption, both of them HTML."""
    return f'<figure style="{look}">{picture}<figcaption>{caption}</figcaption></figure>'


def table_html(rows: Iterable[Iterable[str]], head: Sequence[str] = ()) -> str:
    """A table of cells that are HTML, under headings that are texts."""
    top = "".join(f'<th style="text-align:left">{html.escape(text)}</th>' for text in head)
    lines = ("".join(f'<td style="text-align:left">{cell}</td>' for cell in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table>{f'<thead><tr>{top}</tr></thead>' if top else ''}<tbody>{body}</tbody></table>"


def card_still(face: CardFace, lines: Sequence[Line], poster: bytes) -> tuple[str, str]:
    """A card as plain HTML in the page's own colours, for GitHub, nbconvert and the like, and as one line."""
    picture = picture_html(poster) if face["shape"] else ""
    figures = [face["mark"], face["word"], *map(plain, lines), face["money"]]
    texts = text_html(face["prompt"], face["note"], face["aside"], " · ".join(filter(None, figures)))
    page = figure_html(picture, texts, "margin:0;max-width:480px")
    return page, " · ".join(filter(None, [face["prompt"], *figures]))
