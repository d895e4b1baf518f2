"""Opens whatever a person hands over as an image, as one decoded picture; says in plain words if it can't.

It also says what else the file carries (place, camera, texts), which `images` or the page removes.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, TypeAlias

from PIL import ExifTags, Image

from ..errors import InvalidImage
from ..secret import NOT_SHOWN, Secret, looks_like_key

if TYPE_CHECKING:
    import numpy as np

ImageSource: TypeAlias = (
    "str | os.PathLike[str] | bytes | bytearray | BinaryIO | Image.Image | np.ndarray[Any, np.dtype[Any]]"
)

MAX_PIXELS = 64_000_000
MAX_FILE_BYTES = 200_000_000
SHOWN_CHARACTERS = 200
# Only formats that are nothing but pictures: Pillow would also run EPS files through an interpreter.
_FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF", "PPM", "ICO", "JPEG2000")

quietly = partial(warnings.catch_warnings, action="ignore")
"""Hides Pillow's warnings about odd files, and keeps them from becoming errors."""

# Every TIFF has tags of its own, which say how it is stored; only these tell of a camera.
_CAMERA = {ExifTags.Base.Make, ExifTags.Base.Model, ExifTags.Base.DateTime, ExifTags.IFD.Exif}


@dataclass(frozen=True)
class Opened:
    """A decoded picture, the first of `frames` in its file; `data` is None if there was no file."""

    picture: Image.Image
    data: bytes | None
    format: str
    frames: int = 1


def open_image(image: ImageSource) -> Opened:
    """Opens and decodes `image`; the caller's object stays as it was.

    A file object is read from its current position and not closed. Of a moving picture it takes the first
    frame (of a PIL image, its current one). Raises `InvalidImage`, which says what is wrong.
    """
    if isinstance(image, Image.Image):
        return _from_pillow(image)
    if isinstance(image, bytes | bytearray | memoryview):
        return _decoded(bytes(image))
    if isinstance(image, str | os.PathLike | Secret):
        return _decoded(_file(image))
    if hasattr(image, "__array_interface__"):
        return Opened(_from_array(image), None, "")
    if hasattr(image, "read"):
        return _decoded(_stream(image))
    kind = type(image).__name__
    raise InvalidImage(
        f"{'An' if kind[0] in 'aeiouAEIOU' else 'A'} {kind} isn't an image. "
        "Give a path, bytes, a file, a PIL image or a numpy array."
    )


def _file(path: str | os.PathLike[str] | Secret) -> bytes:
    data = _read(path)
    if isinstance(data, str):
        raise InvalidImage(data)  # here, where no variable holds the path: it may be a key
    return data


def _read(path: str | os.PathLike[str] | Secret) -> bytes | str:
    name = path.reveal() if isinstance(path, Secret) else os.fspath(path)
    shown = NOT_SHOWN if looks_like_key(name) else name[:SHOWN_CHARACTERS]
    if name.startswith(("http://", "https://", "data:")):
        return "That is an address, not a file. Save the picture first and give its path."
    try:
        size = Path(name).stat().st_size
        if size > MAX_FILE_BYTES:
            return f"{shown} has {size / 1e6:.0f} MB, too much to be opened safely."
        return Path(name).read_bytes()
    except FileNotFoundError:
        return f"There is no file {shown}."
    except IsADirectoryError:
        return f"{shown} is a folder. Give the path of a picture in it."
    except OSError as error:
        return f"{shown} can't be read: {error.strerror or type(error).__name__}."
    except ValueError as error:
        return f"{shown!r} can't be read: {error}."


def _stream(file: IO[bytes]) -> bytes:
    data = file.read(MAX_FILE_BYTES + 1)
    if not isinstance(data, bytes | bytearray | memoryview):
        raise InvalidImage('The file was opened as text. Open it with mode "rb".')
    if len(data) > MAX_FILE_BYTES:
        raise InvalidImage(
            f"The file has more than {MAX_FILE_BYTES / 1e6:.0f} MB, too much to be opened safely."
        )
    return bytes(data)


def _decoded(data: bytes) -> Opened:
    if not data:
        raise InvalidImage("The image is empty: it has no bytes.")
    with quietly():
        try:
            picture = Image.open(BytesIO(data), formats=_FORMATS)
        except Image.DecompressionBombError:
            raise InvalidImage(_TOO_MANY_PIXELS) from None
        except Exception as exc:  # Pillow's readers raise all kinds of errors for a broken file
            raise InvalidImage(_what_it_is(data)) from exc
        _check_size(*picture.size)
        try:
            frames = int(getattr(picture, "n_frames", 1))
            picture.load()
        except Exception as exc:  # as above
            raise InvalidImage(
                f"The {picture.format} picture is damaged or cut off: it can't be read to its end."
            ) from exc
    return Opened(picture, data, picture.format or "", frames)


_TOO_MANY_PIXELS = (
    f"The image has more than {MAX_PIXELS // 1_000_000} million pixels, too many to be opened safely. "
    "Save it smaller first."
)


def _check_size(width: int, height: int) -> None:
    if width < 1 or height < 1:
        raise InvalidImage("The image is empty: it has no pixels.")
    if width * height > MAX_PIXELS:
        raise InvalidImage(_TOO_MANY_PIXELS)


def _from_pillow(image: Image.Image) -> Opened:
    _check_size(*image.size)
    with quietly():
        try:
            copy = image.copy()
            copy.info["exif"] = image.getexif().tobytes()
        except Exception as exc:  # a lazily opened file may turn out broken, or be closed already
            raise InvalidImage(f"The PIL image can't be read: {exc}") from exc
    return Opened(copy, None, image.format or "")


def _from_array(image: Any) -> Image.Image:
    import numpy as np

    array = np.asarray(image)
    shape = " × ".join(str(side) for side in array.shape) or "no sides"
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (3, 4)):
        channels_first = array.ndim == 3 and array.shape[0] in (1, 3, 4)
        hint = " Its channels stand first: use array.transpose(1, 2, 0)." if channels_first else ""
        raise InvalidImage(
            f"An array of {shape} isn't a picture. "
            f"It must be height × width, with 1, 3 or 4 channels or none.{hint}"
        )
    _check_size(array.shape[1], array.shape[0])
    return Image.fromarray(np.ascontiguousarray(_eight_bits(array)))


def _eight_bits(array: Any) -> Any:
    import numpy as np

    if array.dtype == np.uint8:
        return array
    if array.dtype == np.bool_:
        return array.astype(np.uint8) * 255
    if not np.issubdtype(array.dtype, np.floating):
        raise InvalidImage(
            f"An array of {array.dtype} is ambiguous. Give uint8 (0 to 255), floats (0 to 1) or booleans."
        )
    if not np.isfinite(array).all():
        raise InvalidImage("The array holds NaN or infinity where a colour should be.")
    if array.min() < -1e-3 or array.max() > 1.001:
        raise InvalidImage(
            f"The array's floats go from {array.min():.4g} to {array.max():.4g}; colours go from 0 to 1. "
            "Divide by its largest value, or convert to uint8."
        )
    return (np.clip(array, 0, 1) * 255 + 0.5).astype(np.uint8)


# What can't be read here: how such a file begins, what it is, and what to do.
_NO_PICTURES = (
    (rb".{4}ftyp(hei|hevc|mif1|msf1)", "a HEIC photo, which can't be read here", "Export it as JPEG"),
    (
        rb".{4}ftyp|\x1aE\xdf\xa3|OggS|FLV|.{8}AVI ",
        "a video, not a picture",
        "Save one frame as JPEG or PNG",
    ),
    (rb"%PDF", "a PDF document, not a picture", "Save the page that you want as JPEG or PNG"),
    (rb"(\xef\xbb\xbf)?\s*(<.*)?(?i:<svg)", "an SVG drawing, which can't be read here", "Export it as PNG"),
)
_AVIF = rb".{4}ftyp.{0,52}avi[fs]"  # which may call itself "mif1", too
_PICTURE = rb"\xff\xd8\xff|\x89PNG|GIF8|BM|II\*\0|MM\0\*|.{8}WEBP|.{4}ftyp"


def never_a_picture(start: bytes) -> str | None:
    """What to say of a file that can't be read here, by how it begins; None for all others."""
    if not re.match(_AVIF, start, re.DOTALL):
        for begins, what, do in _NO_PICTURES:
            if re.match(begins, start, re.DOTALL):
                return f"This is {what}. {do}."
    return None


def _what_it_is(data: bytes) -> str:
    """What to say of bytes that no reader took, by how they begin."""
    if found := never_a_picture(data[:2048]):
        return found
    if re.match(_PICTURE, data, re.DOTALL):
        return "The picture is damaged or cut off: it can't be read."
    return "That isn't a picture that can be read here. Give a JPEG or PNG."


def hidden_data(source: Opened) -> list[str]:
    """What is removed from an opened file, as at most one note."""
    picture = source.picture
    try:
        exif = picture.getexif()
        camera, located = _exif_findings(exif)
        if source.format == "TIFF":
            camera = bool(set(exif) & _CAMERA)
    except Exception:  # broken EXIF is dropped with the rest
        camera, located = True, False
    xmp = picture.info.get("xmp") or picture.info.get("XML:com.adobe.xmp") or b""
    located = located or b"GPS" in (xmp if isinstance(xmp, bytes) else str(xmp).encode())
    texts = bool(xmp or picture.info.get("comment") or getattr(picture, "text", None))
    return _removal_notes(located, camera, texts)


def removed_by_the_page(segments: Iterable[tuple[str, bytes]]) -> list[str]:
    """What the page removed or changed by redrawing a file, as notes.

    `segments` are the file's parts that hold no picture: a JPEG's marker in hexadecimal digits ("e1") or a
    chunk's name, each with its bytes, which may be cut off.
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
    return [*_removal_notes(located, camera, texts), *turned, *colours]


def is_turned(exif: Image.Exif) -> bool:
    """Whether a picture isn't stored upright."""
    return exif.get(ExifTags.Base.Orientation, 1) in range(2, 9)


def is_srgb(profile: bytes) -> bool:
    """Whether an ICC profile is sRGB's. Raises what littleCMS raises for a broken one."""
    from PIL import ImageCms

    return "srgb" in ImageCms.getProfileDescription(ImageCms.ImageCmsProfile(BytesIO(profile))).lower()


def _removal_notes(located: bool, camera: bool, texts: bool) -> list[str]:
    if located:
        return ["location and camera data removed"]
    if camera:
        return ["camera data removed"]
    return ["hidden text removed"] if texts else []


def _exif_findings(exif: Image.Exif) -> tuple[bool, bool]:
    return bool(set(exif) - {ExifTags.Base.Orientation}), bool(exif.get_ifd(ExifTags.IFD.GPSInfo))


def _exif_segment(body: bytes) -> tuple[bool, bool, list[str]]:
    with quietly():
        try:
            exif = Image.Exif()
            exif.load(body)
            return (*_exif_findings(exif), ["turned upright"] if is_turned(exif) else [])
        except Exception:  # Pillow raises all kinds of errors for a broken file
            return True, False, []


def _profile_segment(body: bytes) -> list[str]:
    try:
        # "ICC_PROFILE", a zero, which part of how many, then the profile.
        return [] if is_srgb(body[14:]) else ["colours converted to sRGB"]
    except Exception:  # broken or cut off: what the browser made of it can't be known
        return []
