"""Pictures for tests, and the files that they make."""

from collections.abc import Iterable
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import Any

import av
import numpy as np
from PIL import Image


def gradient(width: int = 64, height: int = 48, mode: str = "RGB") -> Image.Image:
    """A picture whose upper left is dark and whose lower right is bright."""
    rows, columns = np.mgrid[0:height, 0:width]
    pixels = np.stack([columns * 255 // width, rows * 255 // height, (rows + columns) % 256], axis=-1)
    return Image.fromarray(pixels.astype(np.uint8)).convert(mode)


def film(path: Path, frames: Iterable[Any], rate: int) -> Path:
    """Writes arrays of height × width × 3 as a video."""
    options = {"movflags": "faststart"} if path.suffix == ".mp4" else {}
    pictures = [av.VideoFrame.from_ndarray(frame, format="rgb24") for frame in frames]
    with av.open(str(path), "w", options=options) as container:
        stream = container.add_stream("libx264", rate=rate)
        stream.width, stream.height, stream.pix_fmt = pictures[0].width, pictures[0].height, "yuv420p"
        stream.time_base = Fraction(1, rate)
        for picture in pictures:
            container.mux(stream.encode(picture))
        container.mux(stream.encode(None))
    return path


def saved(picture: Image.Image, kind: str, **options: object) -> bytes:
    file = BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()
