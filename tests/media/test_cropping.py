"""A part of a picture in a wanted shape, which remembers the whole."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from reelbook.media.cropping import Crop, cropped
from reelbook.media.images import PreparedImage, prepare


def halves(width: int, height: int) -> PreparedImage:
    """A picture whose left half is black and whose right half is white."""
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[:, width // 2 :] = 255
    return prepare(pixels)


def brightness(image: PreparedImage) -> float:
    with Image.open(BytesIO(image.data)) as picture:
        assert picture.size == (image.width, image.height)
        return float(np.asarray(picture.convert("L")).mean())


@pytest.mark.parametrize(
    ("crop", "size", "box"),
    [
        (Crop("1:1"), (400, 200), (100, 0, 300, 200)),
        (Crop("1:1", 0, 0.5), (400, 200), (0, 0, 200, 200)),
        (Crop("1:1", 1, 0.5), (400, 200), (200, 0, 400, 200)),
        (Crop("16:9", 0.5, 0.9), (1600, 1600), (0, 700, 1600, 1600)),
        (Crop("9:16", 0.3, 0.5), (1600, 1600), (30, 0, 930, 1600)),
        (Crop("16:9"), (640, 360), (0, 0, 640, 360)),
        (Crop("16:9"), (1, 1), (0, 0, 1, 1)),
    ],
)
def test_the_largest_part_around_a_centre(
    crop: Crop, size: tuple[int, int], box: tuple[int, int, int, int]
) -> None:
    """The part is as large as the shape allows, and stays inside the picture."""
    assert crop.box(*size) == box


def test_the_part_is_what_is_sent() -> None:
    """Its pixels are those of that place, and it says that it was cut."""
    whole = halves(400, 100)
    left, right = cropped(whole, Crop("1:1", 0.0)), cropped(whole, Crop("1:1", 1.0))
    assert (brightness(left), brightness(right)) == (0, 255)
    assert (left.width, left.height, left.notes) == (100, 100, ("cut to 1:1",))
    assert left.crop == Crop("1:1", 0.0)


def test_another_part_is_taken_from_the_whole() -> None:
    """Moving the frame, changing its shape and leaving it lose nothing."""
    whole = halves(400, 100)
    part = cropped(cropped(whole, Crop("1:1", 0.0)), Crop("1:1", 1.0))
    assert brightness(part) == 255
    assert cropped(part, None) is whole
    assert cropped(part, Crop("16:9")).width == 178


def test_a_picture_of_that_shape_stays_as_it_is() -> None:
    """Where there is nothing to cut off, the bytes and the notes are the same."""
    whole = halves(320, 180)
    part = cropped(whole, Crop("16:9", 0.1, 0.1))
    assert (part.data, part.notes) == (whole.data, whole.notes)
    assert part.crop == Crop("16:9", 0.1, 0.1)


def test_clear_parts_stay_clear() -> None:
    """A PNG is cut as a PNG."""
    part = cropped(prepare(Image.new("RGBA", (40, 20), (0, 0, 0, 90))), Crop("1:1"))
    with Image.open(BytesIO(part.data)) as picture:
        assert (part.format, picture.mode, picture.size) == ("PNG", "RGBA", (20, 20))


@pytest.mark.parametrize("wrong", [("4:3",), ("16:9", -0.1), ("16:9", 0.5, 1.1), ("16:9", float("nan"))])
def test_a_crop_that_cannot_be(wrong: tuple[str, float]) -> None:
    """Other shapes and centres outside are refused."""
    with pytest.raises(ValueError, match="crop's"):
        Crop(*wrong)
