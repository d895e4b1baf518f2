"""Pictures for tests, and the files that they make."""

from __future__ import annotations

from io import BytesIO

import numpy as np
from PIL import Image


def gradient(width: int = 64, height: int = 48, mode: str = "RGB") -> Image.Image:
    """A picture whose upper left is dark and whose lower right is bright."""
    rows, columns = np.mgrid[0:height, 0:width]
    pixels = np.stack([columns * 255 // width, rows * 255 // height, (rows + columns) % 256], axis=-1)
    return Image.fromarray(pixels.astype(np.uint8)).convert(mode)


def saved(picture: Image.Image, kind: str, **options: object) -> bytes:
    file = BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()
