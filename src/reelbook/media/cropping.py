"""The part of a picture that has a wanted shape: the largest one, around a centre."""

from __future__ import annotations

from dataclasses import dataclass, replace
from io import BytesIO
from typing import Final

from PIL import Image

from .. import wire
from ..secret import quotable
from .images import PreparedImage, saved

RATIOS: Final = wire.ASPECT_RATIOS


@dataclass(frozen=True)
class Crop:
    """A shape, and the centre of the part as shares of the picture's width and height.

    A centre too near an edge means the part at that edge.
    """

    ratio: str
    x: float = 0.5
    y: float = 0.5

    def __post_init__(self) -> None:
        if self.ratio not in RATIOS:
            raise ValueError(f"A crop's ratio is one of {', '.join(RATIOS)}, not {quotable(self.ratio)}.")
        if not (0 <= self.x <= 1 and 0 <= self.y <= 1):
            raise ValueError("A crop's centre lies between 0 and 1.")

    def box(self, width: int, height: int) -> tuple[int, int, int, int]:
        """The part in pixels of a picture of that size: left, top, right, bottom."""
        wide, high = (int(side) for side in self.ratio.split(":"))
        part_width = max(1, min(width, round(height * wide / high)))
        part_height = max(1, min(height, round(width * high / wide)))
        left = round(min(max(0.0, self.x * width - part_width / 2), width - part_width))
        top = round(min(max(0.0, self.y * height - part_height / 2), height - part_height))
        return left, top, left + part_width, top + part_height


def cropped(image: PreparedImage, crop: Crop | None) -> PreparedImage:
    """The wanted part of `image`, which remembers the whole; of a part, another part of its whole.

    None gives the whole back.
    """
    whole = image.whole or image
    if crop is None:
        return whole
    box = crop.box(whole.width, whole.height)
    if box == (0, 0, whole.width, whole.height):
        return replace(whole, whole=whole, crop=crop)
    with Image.open(BytesIO(whole.data)) as picture:
        part = picture.crop(box)
        part.info = {}
    data, kind, part, _ = saved(part, whole.format)
    notes = (*whole.notes, f"cut to {crop.ratio}")
    return PreparedImage(data, kind, part.width, part.height, notes, whole=whole, crop=crop)
