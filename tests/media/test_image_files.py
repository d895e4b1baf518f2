"""Whatever a person hands over as an image: opened, or refused in words."""

import struct
import warnings
import zlib
from io import BytesIO, StringIO
from pathlib import Path

import numpy as np
import pytest
from media.pictures import gradient, saved
from PIL import ExifTags, Image, ImageCms

from reelbook.errors import InvalidImage
from reelbook.media.image_files import never_a_picture, open_image, removed_by_the_page


def test_every_source_gives_the_same_picture(tmp_path: Path) -> None:
    """A path, also as text, bytes, a bytearray and an open file are read alike."""
    data = saved(gradient(), "PNG")
    path = tmp_path / "still.png"
    path.write_bytes(data)
    file = BytesIO(b"before" + data)
    file.seek(6)
    for source in (path, str(path), data, bytearray(data), file):
        assert data == open_image(source).data
    assert not file.closed


@pytest.mark.parametrize(
    ("shape", "dtype", "value", "expected"),
    [
        ((6, 8), np.uint8, 200, (200, 200, 200)),
        ((6, 8, 1), np.uint8, 200, (200, 200, 200)),
        ((6, 8, 3), np.float32, 0.5, (128, 128, 128)),
        ((6, 8, 3), np.float64, 1.0, (255, 255, 255)),
        ((6, 8), np.bool_, 1, (255, 255, 255)),
        ((6, 8, 4), np.uint8, 255, (255, 255, 255)),
    ],
)
def test_arrays_are_pictures(
    shape: tuple[int, ...], dtype: type[np.generic], value: float, expected: tuple[int, int, int]
) -> None:
    """Arrays of height × width with one, three or four channels are taken, in bytes, floats or booleans."""
    picture = open_image(np.full(shape, value, dtype=dtype)).picture.convert("RGB")
    assert picture.size == (8, 6)
    assert expected == picture.getpixel((4, 3))


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.zeros((3, 20, 30), np.uint8), "transpose"),
        (np.zeros((20, 30, 2), np.uint8), "20 × 30 × 2"),
        (np.zeros(9, np.uint8), "isn't a picture"),
        (np.zeros((4, 20, 30, 3), np.uint8), "isn't a picture"),
        (np.zeros((0, 30, 3), np.uint8), "no pixels"),
        (np.zeros((20, 30), np.int64), "ambiguous"),
        (np.full((20, 30), 255.0), "from 255 to 255"),
        (np.full((20, 30), np.nan), "NaN"),
        (np.broadcast_to(np.uint8(0), (20_000, 20_000)), "million pixels"),
    ],
)
def test_arrays_that_are_no_pictures(array: np.ndarray, words: str) -> None:
    """An array of another shape or type is refused with what to do about it."""
    with pytest.raises(InvalidImage, match=words):
        open_image(array)


def bomb(side: int) -> bytes:
    """A PNG that claims side × side pixels in a few hundred bytes."""
    data = bytearray(saved(gradient(), "PNG"))
    data[16:24] = struct.pack(">II", side, side)
    data[29:33] = struct.pack(">I", zlib.crc32(data[12:29]))
    return bytes(data)


@pytest.mark.parametrize("side", [8_001, 9_700, 60_000])
def test_a_bomb_is_refused_before_it_is_decoded(side: int) -> None:
    """Too many pixels are refused from the header alone, and no warning gets out."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(InvalidImage, match="million pixels"):
            open_image(bomb(side))
    assert caught == []


HEIC = b"\0\0\0\x18ftypheic\0\0\0\0mif1heic"


MP4 = b"\0\0\0\x20ftypisom\0\0\2\0isomiso2avc1mp41"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (HEIC, "This is a HEIC photo, which can't be read here. Export it as JPEG."),
        (MP4, "video"),
        (b"\x1aE\xdf\xa3" + bytes(50), "video"),
        (b"a line of text\n" * 9, "a picture that can be read"),
        (b"%PDF-1.7\n\xff\xfe", "PDF"),
        (b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>', "SVG"),
        (b'  <SVG xmlns="http://www.w3.org/2000/svg"/>', "Export it as PNG"),
        (bytes(range(256)), "a picture that can be read"),
        (b"\xff\xd8\xff\xe0 broken", "damaged"),
    ],
)
def test_what_is_no_picture_is_named(data: bytes, words: str) -> None:
    """Bytes that are no picture are refused with what they look like."""
    with pytest.raises(InvalidImage, match=words):
        open_image(data)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "BMP"])
def test_a_truncated_file_is_found(kind: str) -> None:
    """A file that ends too early is refused rather than sent half grey."""
    data = saved(gradient(200, 200), kind)
    with pytest.raises(InvalidImage, match="damaged or cut off"):
        open_image(data[: len(data) * 2 // 3])


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("nowhere/still.png", "There is no file nowhere/still.png"),
        (".", "folder"),
        ("https://example.org/a.png", "address"),
        ("a\0b", "can't be read"),
        (42, "int isn't an image"),
        (None, "isn't an image"),
    ],
)
def test_a_source_that_cannot_be_opened(source: str, words: str) -> None:
    """A wrong path, a folder, an address or another object is refused by name."""
    with pytest.raises(InvalidImage, match=words):
        open_image(source)


def test_a_file_that_was_opened_otherwise_is_refused(tmp_path: Path) -> None:
    """Without "b", with the mode to use; and a PIL image whose file is closed already."""
    with pytest.raises(InvalidImage, match='mode "rb"'):
        open_image(StringIO("words"))  # type: ignore[arg-type] # what a person may do all the same
    path = tmp_path / "still.jpg"
    path.write_bytes(saved(gradient(), "JPEG"))
    with Image.open(path) as picture:
        pass
    with pytest.raises(InvalidImage, match="PIL image"):
        open_image(picture)


def test_the_callers_picture_is_left_as_it_was() -> None:
    """What is opened is a copy; a file's own bytes, format and frames are told."""
    mine = gradient()
    assert open_image(mine).picture is not mine
    assert (open_image(mine).data, open_image(mine).format) == (None, "")
    file = open_image(saved(gradient(), "PNG"))
    assert (file.format, file.frames, file.picture.size) == ("PNG", 1, (64, 48))


def test_the_page_hears_at_the_first_bytes_what_is_never_a_picture() -> None:
    """A picture, and what may be one, isn't refused by its beginning."""
    assert never_a_picture(HEIC) == "This is a HEIC photo, which can't be read here. Export it as JPEG."
    assert never_a_picture(b"\0\0\0\x1cftypavif\0\0\0\0mif1") is None
    assert never_a_picture(saved(gradient(), "JPEG")[:64]) is None


def exif(orientation: int = 1, *, camera: bool = False, place: bool = False) -> bytes:
    """The body of a JPEG's EXIF segment, as a real file carries it."""
    tags = Image.Exif()
    tags[ExifTags.Base.Orientation] = orientation
    if camera:
        tags[ExifTags.Base.Make] = "Phone"
    if place:
        tags.get_ifd(ExifTags.IFD.GPSInfo)[ExifTags.GPS.GPSLatitudeRef] = "N"
    file = BytesIO()
    Image.new("RGB", (8, 8)).save(file, "JPEG", exif=tags)
    data = file.getvalue()
    at = data.index(b"Exif\0\0")
    return data[at : at - 2 + int.from_bytes(data[at - 2 : at])]


def profile(name: str) -> bytes:
    return b"ICC_PROFILE\0\1\1" + ImageCms.ImageCmsProfile(ImageCms.createProfile(name)).tobytes()  # type: ignore[arg-type] # a Literal


@pytest.mark.parametrize(
    ("segments", "notes"),
    [
        ([], []),
        ([("e1", exif())], []),
        ([("e1", exif(6))], ["turned upright"]),
        ([("e1", exif(camera=True))], ["camera data removed"]),
        ([("e1", exif(8, camera=True, place=True))], ["location and camera data removed", "turned upright"]),
        ([("e1", b"Exif\0\0broken")], ["camera data removed"]),
        ([("e1", b"http://ns.adobe.com/xap/1.0/\0<exif:GPSLatitude>")], ["location and camera data removed"]),
        ([("fe", b"made by me")], ["hidden text removed"]),
        ([("tEXt", b"Author\0me"), ("XMP ", b"<x/>")], ["hidden text removed"]),
        ([("e2", profile("sRGB"))], []),
        ([("e2", profile("LAB"))], ["colours converted to sRGB"]),
        ([("e2", profile("LAB")[:200])], []),
    ],
)
def test_what_was_removed_is_said(segments: list[tuple[str, bytes]], notes: list[str]) -> None:
    """One note on hidden data, the worst; then that it was turned, then its colours."""
    assert removed_by_the_page(segments) == notes
