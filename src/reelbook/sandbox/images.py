"""Whether an uploaded still is one that can be moved, and which of the clips' shapes it is nearest to."""

from __future__ import annotations

import io
import math

MAX_PIXELS = 50_000_000
JPEG_START = b"\xff\xd8\xff"
PNG_START = b"\x89PNG\r\n\x1a\n"

_SHAPES = {"16:9": 16 / 9, "9:16": 9 / 16, "1:1": 1.0}
_ORIENTATION = 0x0112
_TURNED = (5, 6, 7, 8)


def shape_of(content: bytes) -> str | None:
    """The aspect ratio for the clip of a JPEG or PNG, None for anything else, broken or enormous."""
    if not content.startswith((JPEG_START, PNG_START)):
        return None
    from PIL import Image

    try:
        with Image.open(io.BytesIO(content), formats=["JPEG", "PNG"]) as image:
            if image.width * image.height > MAX_PIXELS:
                return None
            image.load()  # the whole of it: a cut-off file is told now, not when the clip is drawn
            width, height = image.size
            if image.getexif().get(_ORIENTATION) in _TURNED:
                width, height = height, width
    except Exception:  # Pillow raises whatever a damaged file leads it to
        return None
    return min(_SHAPES, key=lambda name: abs(math.log(width / height / _SHAPES[name])))
