"""The image picker's part in the kernel."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np
import pytest
import traitlets
from PIL import Image
from widgets.doubles import heard, page_sends

from reelbook.errors import InvalidImage
from reelbook.media.images import PreparedImage
from reelbook.widgets.picker import ImagePicker


def png(width: int = 40, height: int = 30) -> bytes:
    file = BytesIO()
    Image.new("RGB", (width, height), "teal").save(file, "PNG")
    return file.getvalue()


def send_in_pieces(picker: ImagePicker, data: bytes, piece: int, **changes: object) -> None:
    total = -(-len(data) // piece)
    for index in range(total):
        header = {"name": "image", "id": "a", "index": index, "total": total, "size": len(data), **changes}
        page_sends(picker, header, data[index * piece : (index + 1) * piece])


def test_pieces_become_the_image() -> None:
    """Every piece is acknowledged, and the whole is a prepared picture with a small preview."""
    picker = ImagePicker()
    messages = heard(picker)
    data = png(400, 300)
    send_in_pieces(picker, data, 200)
    assert [content["index"] for content, _ in messages] == list(range(-(-len(data) // 200)))
    assert all("problem" not in content for content, _ in messages)
    assert picker.image == PreparedImage(data, "PNG", 400, 300)
    assert 0 < len(picker.preview) <= 10_000
    assert picker.image_words.startswith("400 × 300 · PNG")


def test_what_is_no_image_is_said_and_changes_nothing() -> None:
    """The page hears why, and the image chosen before stays."""
    picker = ImagePicker(image=png())
    messages = heard(picker)
    send_in_pieces(picker, b"plain text, no picture at all", 100)
    assert "problem" in messages[0][0]
    assert picker.image.width == 40


@pytest.mark.parametrize(
    "header",
    [
        {"index": 1, "total": 2, "size": 10},
        {"index": 0, "total": 1, "size": 99},
        {"index": 0, "total": 1, "size": 60 << 20},
        {"index": 0, "total": 10**9, "size": 10},
        {"index": 0, "total": 0, "size": 10},
    ],
)
def test_a_transfer_that_does_not_add_up_is_refused(header: dict[str, int]) -> None:
    """Out of order, of another size than said, or too large: nothing is kept."""
    picker = ImagePicker()
    messages = heard(picker)
    page_sends(picker, {"name": "image", "id": "a", **header}, b"0123456789")
    assert messages[0][0]["problem"]
    assert picker.image is None


def test_a_second_file_takes_the_place_of_one_under_way() -> None:
    """Who chooses again wants the second one; pieces of the first are refused."""
    picker = ImagePicker()
    messages = heard(picker)
    data = png()
    page_sends(picker, {"name": "image", "id": "old", "index": 0, "total": 2, "size": 99}, b"x")
    send_in_pieces(picker, data, len(data))
    page_sends(picker, {"name": "image", "id": "old", "index": 1, "total": 2, "size": 99}, b"x")
    assert picker.image.data == data
    assert messages[-1][0]["problem"]


def test_an_image_can_be_set_from_python() -> None:
    """A picture, an array or bytes are prepared; None takes it away; what is no image raises."""
    picker: Any = ImagePicker()
    picker.image = Image.new("RGB", (20, 10))
    assert (picker.image.width, picker.image.height) == (20, 10)
    picker.image = np.zeros((5, 6, 3), np.uint8)
    assert (picker.image.width, picker.image.height) == (6, 5)
    with pytest.raises(InvalidImage):
        picker.image = b"no image"
    page_sends(picker, {"name": "remove"})
    assert (picker.image, picker.preview, picker.image_words) == (None, b"", "")


def test_the_image_can_be_observed_and_linked() -> None:
    """The choice is a trait like any other."""
    picker, other, seen = ImagePicker(), ImagePicker(), list[object]()
    picker.observe(lambda change: seen.append(change["new"]), "image")
    traitlets.link((picker, "image"), (other, "image"))
    picker.image = png()
    assert other.image is picker.image
    assert seen == [picker.image]


def test_the_picture_itself_is_not_in_the_saved_state() -> None:
    """State holds the preview, never the file."""
    picker = ImagePicker(image=png(2000, 1500))
    assert "image" not in picker.get_state()
