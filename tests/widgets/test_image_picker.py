"""The image picker's part in the kernel."""

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import traitlets
from PIL import Image
from widgets.doubles import asks, says

from reelbook.errors import InvalidImage
from reelbook.media.images import PreparedImage
from reelbook.media.recent_images import RecentImages
from reelbook.widgets.image_picker import ImagePicker
from reelbook.widgets.uploads import MAX_PIECE_BYTES


def png(width: int = 40, height: int = 30) -> bytes:
    file = BytesIO()
    Image.new("RGB", (width, height), "teal").save(file, "PNG")
    return file.getvalue()


def send_in_pieces(picker: ImagePicker, data: bytes, piece: int) -> list[dict[str, Any]]:
    """Sends the file as the page does; gives the answers."""
    about = {"id": "a", "total": -(-len(data) // piece), "size": len(data)}
    pieces = [data[at : at + piece] for at in range(0, len(data), piece)]
    return [asks(picker, "image", each, index=index, **about) for index, each in enumerate(pieces)]


def test_pieces_become_the_image() -> None:
    """Every piece is acknowledged; what is no picture is refused at its first one, and changes nothing."""
    picker = ImagePicker()
    data = png(400, 300)
    answers = send_in_pieces(picker, data, 200)
    assert (len(answers) > 2, [each for each in answers if each]) == (True, [])
    assert picker.image == PreparedImage(data, "PNG", 400, 300)
    assert 0 < len(picker.preview) <= 10_000
    assert picker.image_words.startswith("400 × 300 · PNG · ")
    assert "image" not in picker.get_state()
    assert "problem" in send_in_pieces(picker, b"plain text, no picture at all", 100)[0]
    pdf = asks(picker, "image", b"%PDF-1.7 ...", id="a", index=0, total=40, size=40 << 20)
    assert "PDF" in pdf["problem"]
    assert picker.image.width == 400


@pytest.mark.parametrize(
    "header",
    [
        {"index": 1, "total": 2, "size": 10},
        {"index": 0, "total": 1, "size": 99},
        {"index": 0, "total": 1, "size": 60 << 20},
        {"index": 0, "total": 10**9, "size": 10},
    ],
)
def test_a_transfer_that_does_not_add_up_is_refused(header: dict[str, int]) -> None:
    """Out of order, of another size than said, or too large: nothing is kept."""
    picker = ImagePicker()
    assert asks(picker, "image", b"0123456789", id="a", **header)["problem"]
    assert picker.image is None


@pytest.mark.parametrize(
    ("changed", "piece"),
    [({"index": 2}, b"x"), ({"id": "b"}, b"x"), ({}, bytes(MAX_PIECE_BYTES + 1))],
)
def test_a_second_piece_that_does_not_fit_is_refused(changed: dict[str, Any], piece: bytes) -> None:
    """One after the next, one of another file, and one that is too large; the file has to be sent anew."""
    picker, head = ImagePicker(), {"id": "a", "total": 2, "size": 100}
    assert asks(picker, "image", b"x", index=0, **head) == {}
    for content in ({"index": 1, **changed}, {"index": 1}):
        answer = asks(picker, "image", piece, **{**head, **content})
        assert answer == {"problem": "The image arrived incomplete. Choose it again."}


def test_a_second_file_takes_the_place_of_one_under_way() -> None:
    """Who chooses again wants the second one; pieces of the first are refused."""
    picker = ImagePicker()
    data = png()
    says(picker, "image", b"x", id="old", index=0, total=2, size=99)
    send_in_pieces(picker, data, len(data))
    assert asks(picker, "image", b"x", id="old", index=1, total=2, size=99)["problem"]
    assert picker.image.data == data


def test_an_image_can_be_set_from_python() -> None:
    """A picture, an array or bytes are prepared; None takes it away; what is no image raises."""
    picker: Any = ImagePicker()
    picker.image = Image.new("RGB", (20, 10))
    assert (picker.image.width, picker.image.height) == (20, 10)
    picker.image = np.zeros((5, 6, 3), np.uint8)
    assert (picker.image.width, picker.image.height) == (6, 5)
    with pytest.raises(InvalidImage):
        picker.image = b"no image"
    says(picker, "remove")
    assert (picker.image, picker.preview, picker.image_words) == (None, b"", "")


def test_what_the_page_did_to_a_file_is_said() -> None:
    """The page sends a smaller picture and what its file held besides; the words are those of Python."""
    picker = ImagePicker()
    shrunk = Image.new("RGB", (2048, 1024))
    file = BytesIO()
    shrunk.save(file, "JPEG")
    made = {"kind": "PNG", "width": 4096, "height": 2048, "segments": ["tEXt"]}
    about = {"id": "a", "index": 0, "total": 1, "size": len(file.getvalue()), "made": made}
    assert asks(picker, "image", file.getvalue(), b"Author\0me", **about) == {}
    assert picker.image.notes == (
        "hidden text removed",
        "converted from PNG",
        "shrunk from 4096 × 2048 to 2048 × 1024",
    )


def test_a_crop_is_cut_from_the_whole_and_can_be_taken_back() -> None:
    """`crop` follows what is sent: a ratio means the middle, None the whole; the preview shows the whole."""
    picker: Any = ImagePicker(crop="1:1", image=png(400, 200))
    preview = picker.preview
    assert (picker.image.width, picker.image.height) == (200, 200)
    assert picker.crop == {"ratio": "1:1", "x": 0.5, "y": 0.5}
    assert "cut to 1:1" in picker.image_words
    says(picker, "crop", crop={"ratio": "1:1", "x": 0, "y": 0.5})
    assert picker.crop == {"ratio": "1:1", "x": 0, "y": 0.5}
    picker.crop = None
    assert (picker.image.data, picker.preview) == (png(400, 200), preview)
    picker.crop = {"ratio": "1:1", "x": 0.9}
    data = png(300, 200)
    send_in_pieces(picker, data, len(data))  # another image keeps the shape and not the place
    assert picker.crop == {"ratio": "1:1", "x": 0.5, "y": 0.5}
    says(picker, "remove")
    assert picker.crop is None


@pytest.mark.parametrize(
    "wrong", ["4:3", {"ratio": "1:1", "x": 2}, {"x": 0.5}, 3, {"ratio": "1:1", "x": "a"}]
)
def test_a_crop_that_cannot_be_is_refused(wrong: Any) -> None:
    """From Python it raises; from the page it stands under the panel, and nothing changed."""
    picker: Any = ImagePicker(image=png(400, 200))
    with pytest.raises(traitlets.TraitError):
        picker.crop = wrong
    says(picker, "crop", crop=wrong)
    assert picker.message["tone"] == "problem"
    assert (picker.crop, picker.image.width) == (None, 400)


def test_pickers_linked_by_image_or_crop_show_the_same_part() -> None:
    """A part brings its whole along, so that either picker can move the frame or leave it."""
    one: Any = ImagePicker()
    other: Any = ImagePicker()
    traitlets.link((one, "image"), (other, "image"))
    traitlets.link((one, "crop"), (other, "crop"))
    one.image = png(400, 200)
    one.crop = "1:1"
    assert other.crop == one.crop
    other.crop = {"ratio": "9:16", "x": 0.1, "y": 0.5}
    assert (one.image.height, one.image) == (200, other.image)
    other.crop = None
    assert one.image.data == png(400, 200)
    assert one.crop is None


def test_the_pages_code_comes_when_it_is_asked_for() -> None:
    """It is one module without imports, and isn't part of what a notebook saves."""
    picker = ImagePicker()
    content = asks(picker, "tools")
    assert "\nimport " not in content["code"]
    assert "export function pickerTools(" in content["code"]
    assert ".rb-pane" in content["style"]
    assert "getUserMedia" not in str(picker._esm)


def test_recent_images_can_be_taken_again_and_forgotten(home: Path) -> None:
    """Each has its small picture and a name; the folder is told; what is gone is said."""
    picker: Any = ImagePicker()
    empty = asks(picker, "recent")
    assert (empty["items"], "The last 12 that you send" in empty["words"]) == ([], True)
    RecentImages(home).keep(ImagePicker(image=png(400, 200)).image)
    found = asks(picker, "recent")
    (item,) = found["items"]
    assert item["words"].startswith("400 × 200, sent ")
    assert str(home / "images") in found["words"]
    assert 0 < len(found["buffers"][0]) <= 6_000
    assert asks(picker, "take_recent", key=item["key"]) == {}
    assert picker.image.data == png(400, 200)
    assert asks(picker, "forget_recent") == empty
    assert "no longer kept" in asks(picker, "take_recent", key=item["key"])["problem"]


def test_a_pickers_still_form_shows_the_part_that_is_sent() -> None:
    """A page without a kernel has the picture and its figures, in a few kilobytes."""
    page, text = ImagePicker(image=png(400, 200), crop="1:1").still()
    assert "data:image/jpeg;base64," in page
    assert "200 × 200 · PNG" in text
    assert len(page) < 10_000
    assert "run the cell again" in ImagePicker().still()[1]
