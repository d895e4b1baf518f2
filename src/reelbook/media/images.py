"""Prepares a still for the service: upright, without hidden data, a JPEG or PNG of a size it takes."""

from __future__ import annotations

import contextlib
import hashlib
import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from io import BytesIO
from typing import Literal

from PIL import Image, ImageOps

from .. import wire
from ..errors import InvalidImage
from ..secret import hidden, quotable
from .image_files import ImageSource, Opened, hidden_data, is_srgb, is_turned, open_image, quietly

__all__ = ["ImageSource", "PreparedImage", "prepare", "saved", "thumbnail"]

MAX_BYTES = 10_000_000
MAX_SIDE = 2048


@dataclass(frozen=True)
class PreparedImage:
    """A picture as it is sent. `notes` says in plain words what was changed; empty if nothing was.

    `whole` and `crop`: the picture that it is a part of, and which part (see `Crop`).
    """

    data: bytes = field(repr=False)
    format: Literal["JPEG", "PNG"]
    width: int
    height: int
    notes: tuple[str, ...] = ()
    whole: PreparedImage | None = field(default=None, repr=False)
    crop: Crop | None = None

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of its bytes: tells pictures apart where they aren't kept."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def filename(self) -> str:
        """A neutral name: the person's own file name isn't sent."""
        return "image.jpg" if self.format == "JPEG" else "image.png"

    @property
    def media_type(self) -> str:
        """The type that it is sent as: "image/jpeg" or "image/png"."""
        return "image/jpeg" if self.format == "JPEG" else "image/png"


def prepare(image: ImageSource, *, max_side: int = MAX_SIDE, max_bytes: int = MAX_BYTES) -> PreparedImage:
    """Makes `image` a JPEG or PNG that the service takes (interface, POST …/image-to-video, part `image`).

    A suitable JPEG or PNG passes unchanged. Otherwise it is turned upright, converted to sRGB, stripped of
    all metadata, shrunk to `max_side` pixels and `max_bytes` bytes, and saved as PNG if it was one or has
    transparent parts and that is small enough, else as JPEG. Raises `InvalidImage`.
    """
    image = hidden(image)  # type: ignore[assignment]  # verbose tracebacks print arguments
    source = open_image(image)
    with quietly():
        if _passes(source, max_side, max_bytes):
            kind: Literal["JPEG", "PNG"] = "PNG" if source.format == "PNG" else "JPEG"
            return PreparedImage(source.data or b"", kind, *source.picture.size)
        notes = hidden_data(source)
        picture, changes = _plain(source.picture)
        notes += changes
        before = picture.size
        picture = _within(picture, max_side)
        kind = "PNG" if picture.mode == "RGBA" or source.format == "PNG" else "JPEG"
        data, kind, picture, lossier = saved(picture, kind, max_bytes)
    if source.format not in ("", "MPO", kind):
        notes += [f"converted from {_NAMES.get(source.format, source.format)}"]
    if source.format != "MPO" and source.frames > 1:
        notes += [f"only the first of {source.frames} pictures taken"]
    if picture.size != before:
        notes += [f"shrunk from {before[0]} × {before[1]} to {picture.width} × {picture.height}"]
    elif lossier:
        notes += ["saved with a little less detail"]
    return PreparedImage(data, kind, picture.width, picture.height, tuple(notes))


def thumbnail(image: ImageSource, *, max_side: int = 320, max_bytes: int = 12_000) -> bytes:
    """A small upright JPEG of `image` for previews, at most `max_bytes`; transparent parts become white."""
    source = open_image(image)
    with quietly():
        picture = _within(_plain(source.picture)[0], max_side)
        if picture.mode == "RGBA":
            white = Image.new("RGB", picture.size, "white")
            white.paste(picture, mask=picture.getchannel("A"))
            picture = white
        return saved(picture, "JPEG", max_bytes, qualities=(82, 70, 55, 40))[0]


_NAMES = {"WEBP": "WebP", "JPEG2000": "JPEG 2000"}


def _passes(source: Opened, max_side: int, max_bytes: int) -> bool:
    data, picture = source.data, source.picture
    if data is None or len(data) > max_bytes or max(picture.size) > max_side:
        return False
    if source.format == "JPEG":
        return picture.mode in ("L", "RGB") and _only_the_picture_jpeg(data)
    return source.format == "PNG" and _only_the_picture_png(data)


# JFIF's own header, Adobe's colour flag, tables, frame and scan headers: a picture needs no other segment.
_JPEG_SEGMENTS = {0xE0, 0xEE, 0xDB, 0xC4, 0xDD, 0xDA, 0xC0, 0xC1, 0xC2}
_MARKER = re.compile(rb"\xff[^\x00\xff\xd0-\xd7]")


def _only_the_picture_jpeg(data: bytes) -> bool:
    """Whether the file holds nothing but the picture: no other segment, and nothing after its end."""
    at = 2
    while at + 4 <= len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4])
        if marker not in _JPEG_SEGMENTS:
            return False
        # A longer JFIF header has a thumbnail, and an Adobe one of another length something else.
        if (marker == 0xE0 and (length != 16 or data[at + 4 : at + 9] != b"JFIF\0")) or (
            marker == 0xEE and length != 14
        ):
            return False
        at += 2 + length
        if marker == 0xDA:
            found = _MARKER.search(data, at)
            if found is None:
                return False
            at = found.start()
            if data[at + 1] == 0xD9:
                return at + 2 == len(data)
    return False


_PNG_CHUNKS = {b"IHDR", b"PLTE", b"tRNS", b"sRGB", b"gAMA", b"cHRM", b"IDAT", b"IEND"}


def _only_the_picture_png(data: bytes) -> bool:
    """Whether the file holds nothing but a picture of at most 8 bits, and nothing after its end."""
    at = 8
    while at + 12 <= len(data):
        length, name = int.from_bytes(data[at : at + 4]), data[at + 4 : at + 8]
        if name not in _PNG_CHUNKS or (name == b"IHDR" and data[at + 16] > 8):
            return False
        at += 12 + length
        if name == b"IEND":
            return at == len(data)
    return False


def _plain(picture: Image.Image) -> tuple[Image.Image, list[str]]:
    """The picture upright and in sRGB, a new L, RGB or (if really transparent) RGBA one; and the changes."""
    notes: list[str] = []
    with contextlib.suppress(Exception):  # broken EXIF says nothing about which way is up
        if is_turned(picture.getexif()):
            picture, notes = ImageOps.exif_transpose(picture), ["turned upright"]
    icc = picture.info.get("icc_profile")
    if picture.mode.startswith(("I", "F")):
        picture = _eight_bit_grey(picture)
    clear = None
    if picture.mode in ("RGBA", "RGBa", "LA", "La", "PA") or "transparency" in picture.info:
        picture = picture.convert("RGBA")
        alpha = picture.getchannel("A")
        clear = alpha if alpha.getextrema() != (255, 255) else None
        picture = picture.convert("RGB")
    if icc:
        converted = _to_srgb(picture, icc)
        if converted is not None:
            picture = converted
            notes += ["colours converted to sRGB"]
    fresh = picture.convert("L" if picture.mode in ("1", "L") and clear is None else "RGB").copy()
    if clear is not None:
        fresh.putalpha(clear)
    # Nothing may be carried over into the new file: Pillow's writers look here.
    fresh.info = {}
    return fresh, notes


def _eight_bit_grey(picture: Image.Image) -> Image.Image:
    import numpy as np

    values = np.asarray(picture).astype(np.float64)
    if not np.isfinite(values).all():
        raise InvalidImage("The picture holds NaN or infinity where a brightness should be.")
    low, high = float(values.min()), float(values.max())
    if picture.mode.startswith("I") and low >= 0:
        low, high = 0.0, 255.0 if picture.mode == "I" and high <= 255 else 65535.0
    scaled = (values - low) / max(high - low, 1e-9) * 255
    return Image.fromarray(np.clip(scaled + 0.5, 0, 255).astype(np.uint8))


def _to_srgb(picture: Image.Image, icc: bytes) -> Image.Image | None:
    """The picture's colours in sRGB; None if they already are, or the profile can't be used."""
    try:
        from PIL import ImageCms

        if is_srgb(icc):
            return None
        profile = ImageCms.ImageCmsProfile(BytesIO(icc))
        if picture.mode == "P":
            picture = picture.convert("RGB")
        return ImageCms.profileToProfile(picture, profile, ImageCms.createProfile("sRGB"), outputMode="RGB")
    except Exception:  # a broken profile, or a Pillow without littleCMS: the values are taken as sRGB
        return None


def _within(picture: Image.Image, max_side: int) -> Image.Image:
    factor = max_side / max(picture.size)
    return picture if factor >= 1 else _scaled(picture, factor)


def _scaled(picture: Image.Image, factor: float) -> Image.Image:
    size = (max(1, round(picture.width * factor)), max(1, round(picture.height * factor)))
    return picture.resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0)


def saved(
    picture: Image.Image,
    kind: Literal["JPEG", "PNG"],
    max_bytes: int = MAX_BYTES,
    qualities: tuple[int, ...] = (93, 85, 75),
) -> tuple[bytes, Literal["JPEG", "PNG"], Image.Image, bool]:
    """The picture in at most `max_bytes`: at lower quality, else smaller; and whether detail was lost."""
    lossier = False
    while True:
        if kind == "PNG":
            data = _encoded(picture, "PNG")
            if len(data) <= max_bytes:
                return data, "PNG", picture, False
            if picture.mode != "RGBA":
                kind = "JPEG"
                continue
        else:
            for quality in qualities:
                data = _encoded(picture, "JPEG", quality=quality)
                if len(data) <= max_bytes:
                    return data, "JPEG", picture, lossier or quality != qualities[0]
        if max(picture.size) < 16:
            raise InvalidImage(f"The picture can't be made as small as {max_bytes} bytes.")
        picture, lossier = _scaled(picture, 0.8), True


def _encoded(picture: Image.Image, kind: str, **options: int) -> bytes:
    file = BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()


@dataclass(frozen=True)
class Crop:
    """An aspect ratio, and the centre of the part in shares of width and height; it stops at the edges."""

    ratio: str
    x: float = 0.5
    y: float = 0.5

    def __post_init__(self) -> None:
        if self.ratio not in wire.ASPECT_RATIOS:
            offered = ", ".join(wire.ASPECT_RATIOS)
            raise ValueError(f"A crop's ratio is one of {offered}, not {quotable(self.ratio)}.")
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
    """That part of `image`, or of the whole that it is a part of; None: the whole."""
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
