"""What a picture's file carries besides the picture, in plain words: the place, the camera, texts.

Nothing of it is passed on; what removes it is `images`, or the page that drew the picture anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO

from PIL import ExifTags, Image

from .image_files import Opened, quietly

# Every TIFF has tags of its own, which say how it is stored; only these tell of a camera.
_CAMERA = {ExifTags.Base.Make, ExifTags.Base.Model, ExifTags.Base.DateTime, ExifTags.IFD.Exif}


def hidden_data(source: Opened) -> list[str]:
    """What is removed from an opened file: at most one note."""
    picture = source.picture
    try:
        exif = picture.getexif()
        camera, located = _told_by(exif)
        if source.format == "TIFF":
            camera = bool(set(exif) & _CAMERA)
    except Exception:  # broken EXIF is dropped with the rest
        camera, located = True, False
    xmp = picture.info.get("xmp") or picture.info.get("XML:com.adobe.xmp") or b""
    located = located or b"GPS" in (xmp if isinstance(xmp, bytes) else str(xmp).encode())
    texts = bool(xmp or picture.info.get("comment") or getattr(picture, "text", None))
    return _said(located, camera, texts)


def removed_by_the_page(segments: Iterable[tuple[str, bytes]]) -> list[str]:
    """The same for a file that the page drew anew, and what else that changed.

    `segments` are the parts of that file that hold no picture: a JPEG's marker in hexadecimal digits ("e1")
    or a chunk's name, each with its bytes, which may be cut off.
    """
    located = camera = texts = False
    turned, colours = list[str](), list[str]()
    for name, body in segments:
        if name == "e1" and body.startswith(b"Exif"):
            camera_too, located_too, turned = _exif_segment(body)
            camera, located = camera or camera_too, located or located_too
        elif name == "e2":
            colours = _profile_segment(body) or colours
        else:
            texts, located = True, located or b"GPS" in body
    return [*_said(located, camera, texts), *turned, *colours]


def is_srgb(profile: bytes) -> bool:
    """Whether an ICC profile is sRGB's. Raises what littleCMS raises for a broken one."""
    from PIL import ImageCms

    return "srgb" in ImageCms.getProfileDescription(ImageCms.ImageCmsProfile(BytesIO(profile))).lower()


def _said(located: bool, camera: bool, texts: bool) -> list[str]:
    if located:
        return ["location and camera data removed"]
    if camera:
        return ["camera data removed"]
    return ["hidden text removed"] if texts else []


def _told_by(exif: Image.Exif) -> tuple[bool, bool]:
    return bool(set(exif) - {ExifTags.Base.Orientation}), bool(exif.get_ifd(ExifTags.IFD.GPSInfo))


def _exif_segment(body: bytes) -> tuple[bool, bool, list[str]]:
    with quietly():
        try:
            exif = Image.Exif()
            exif.load(body)
            turned = exif.get(ExifTags.Base.Orientation, 1) in range(2, 9)
            return (*_told_by(exif), ["turned upright"] if turned else [])
        except Exception:  # Pillow raises whatever a broken file makes it trip over
            return True, False, []


def _profile_segment(body: bytes) -> list[str]:
    try:
        # "ICC_PROFILE", a zero, which part of how many: then the profile.
        return [] if is_srgb(body[14:]) else ["colours converted to sRGB"]
    except Exception:  # broken or cut off: what the browser made of it can't be known
        return []
