"""What the page found in a file that it drew anew, said in the words for a file that Python opened."""

from __future__ import annotations

from io import BytesIO

import pytest
from PIL import ExifTags, Image, ImageCms

from reelbook.media.image_files import removed_by_the_page


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
