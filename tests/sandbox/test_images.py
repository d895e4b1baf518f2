"""Which stills are taken, and in what shape their clip is made."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from PIL import Image

from reelbook.sandbox.images import shape_of


@pytest.mark.parametrize(
    ("size", "shape"),
    [
        ((640, 360), "16:9"),
        ((360, 640), "9:16"),
        ((100, 100), "1:1"),
        ((400, 300), "1:1"),
        ((300, 200), "16:9"),
    ],
)
def test_the_clip_takes_the_nearest_shape(
    still: Callable[..., bytes], size: tuple[int, int], shape: str
) -> None:
    """Of the three shapes, the one whose ratio is nearest."""
    assert shape_of(still(size)) == shape


def test_a_turned_photograph_is_seen_upright(still: Callable[..., bytes]) -> None:
    """A JPEG whose metadata says that it lies on its side counts as a tall one."""
    assert shape_of(still((640, 360), "JPEG", orientation=6)) == "9:16"


def test_only_jpeg_and_png_are_taken(still: Callable[..., bytes]) -> None:
    """Other formats are none, however valid, and so is a text with the right beginning."""
    assert shape_of(still(kind="GIF")) is None
    assert shape_of(still(kind="WEBP")) is None
    assert shape_of(b"\x89PNG\r\n\x1a\n and so on") is None
    assert shape_of(b"\xff\xd8\xff and so on") is None
    assert shape_of(b"") is None


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_a_cut_off_image_is_none(still: Callable[..., bytes], kind: str) -> None:
    """A file that ends in its middle can't be moved."""
    whole = still((400, 300), kind)
    assert shape_of(whole) is not None
    assert shape_of(whole[: len(whole) // 2]) is None


def test_an_enormous_image_is_refused_before_it_is_unpacked() -> None:
    """A small file that unpacks to more than 50 million pixels is not unpacked."""
    content = io.BytesIO()
    Image.new("1", (8000, 8000)).save(content, "PNG")
    assert shape_of(content.getvalue()) is None
