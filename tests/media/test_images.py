"""What a person hands over becomes a clean, upright JPEG or PNG, or an error that helps."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from media.pictures import gradient, saved
from PIL import ExifTags, Image, ImageCms, PngImagePlugin

from reelbook.errors import InvalidImage
from reelbook.media.images import Crop, PreparedImage, cropped, prepare, thumbnail

SECRET = b"47.3769-planted"


def reopened(prepared: PreparedImage) -> Image.Image:
    picture = Image.open(BytesIO(prepared.data))
    assert picture.format == prepared.format
    assert picture.size == (prepared.width, prepared.height)
    return picture


def located(orientation: int = 1) -> Image.Exif:
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    exif[ExifTags.Base.Make] = SECRET.decode()
    exif.get_ifd(ExifTags.IFD.GPSInfo)[ExifTags.GPS.GPSLatitudeRef] = "N"
    exif.get_ifd(ExifTags.IFD.GPSInfo)[ExifTags.GPS.GPSDateStamp] = SECRET.decode()
    return exif


@pytest.mark.parametrize(("kind", "options"), [("JPEG", {}), ("JPEG", {"progressive": True}), ("PNG", {})])
def test_a_fine_picture_passes(kind: str, options: dict[str, Any]) -> None:
    """A JPEG, also one in several scans, or PNG that needs nothing goes through byte for byte."""
    data = saved(gradient(), kind, **options)
    prepared = prepare(data)
    assert (data, kind, 64, 48, ()) == (
        prepared.data, prepared.format, prepared.width, prepared.height, prepared.notes,
    )  # fmt: skip


def test_the_name_and_type_follow_the_format() -> None:
    """The file's name is ours, never the person's, and fits the format."""
    jpeg, png = prepare(saved(gradient(), "JPEG")), prepare(saved(gradient(), "PNG"))
    assert (jpeg.filename, jpeg.media_type) == ("image.jpg", "image/jpeg")
    assert (png.filename, png.media_type) == ("image.png", "image/png")
    assert "data" not in repr(jpeg)


def texts(**given: str) -> PngImagePlugin.PngInfo:
    info = PngImagePlugin.PngInfo()
    for name, value in given.items():
        info.add_itxt("XML:com.adobe.xmp", value) if name == "xmp" else info.add_text(name, value)
    return info


# A file with the secret in each hidden place.
PLANTED: dict[str, Callable[[Image.Image], bytes]] = {
    "jpeg-exif": lambda picture: saved(picture, "JPEG", exif=located()),
    "jpeg-xmp": lambda picture: saved(picture, "JPEG", xmp=b"<x:xmpmeta>" + SECRET + b"</x:xmpmeta>"),
    "jpeg-comment": lambda picture: saved(picture, "JPEG", comment=SECRET),
    "jpeg-tail": lambda picture: saved(picture, "JPEG") + b"ftyp" + SECRET,
    "png-exif": lambda picture: saved(picture, "PNG", exif=located()),
    "png-text": lambda picture: saved(picture, "PNG", pnginfo=texts(Author=SECRET.decode())),
    "png-xmp": lambda picture: saved(picture, "PNG", pnginfo=texts(xmp=SECRET.decode())),
    "png-tail": lambda picture: saved(picture, "PNG") + SECRET,
    "webp-exif": lambda picture: saved(picture, "WEBP", exif=located().tobytes(), xmp=SECRET),
    "tiff": lambda picture: saved(picture, "TIFF", description=SECRET.decode()),
    "gif-comment": lambda picture: saved(picture.convert("P"), "GIF", comment=SECRET),
}


@pytest.mark.parametrize("kind", PLANTED)
def test_no_metadata_survives(kind: str) -> None:
    """What was planted in any hidden place of a file is in no byte of what is sent."""
    data = PLANTED[kind](gradient())
    assert SECRET in data
    prepared = prepare(data)
    assert SECRET not in prepared.data
    assert not reopened(prepared).getexif()
    assert SECRET not in thumbnail(data)
    if kind == "jpeg-exif":
        assert prepared.notes == ("location and camera data removed",)


def test_metadata_of_an_opened_picture_does_not_survive() -> None:
    """A PIL image that carries EXIF and a comment loses both, and is itself left as it was."""
    picture = Image.open(BytesIO(saved(gradient(), "JPEG", exif=located(6), comment=SECRET)))
    prepared = prepare(picture)
    assert SECRET not in prepared.data
    assert reopened(prepared).size == (48, 64)
    assert picture.size == (64, 48)
    assert picture.info["comment"] == SECRET


@pytest.mark.parametrize("orientation", range(2, 9))
def test_every_orientation_is_turned_upright(orientation: int) -> None:
    """Each of the eight EXIF orientations ends as the picture a viewer would show."""
    from PIL import ImageOps

    data = saved(gradient(), "PNG", exif=located(orientation))
    expected = ImageOps.exif_transpose(Image.open(BytesIO(data)))
    prepared = prepare(data)
    assert np.array_equal(np.asarray(expected), np.asarray(reopened(prepared)))
    assert "turned upright" in prepared.notes


@pytest.mark.parametrize(
    ("kind", "name"),
    [("WEBP", "WebP"), ("BMP", "BMP"), ("TIFF", "TIFF"), ("GIF", "GIF"), ("AVIF", "AVIF"), ("PPM", "PPM")],
)
def test_other_formats_become_jpeg(kind: str, name: str) -> None:
    """What the service doesn't take is converted, and that is said."""
    prepared = prepare(saved(gradient(), kind))
    assert reopened(prepared).format == "JPEG"
    assert (f"converted from {name}",) == prepared.notes


def test_real_transparency_stays() -> None:
    """A transparent WebP becomes a PNG, an opaque one with an alpha channel a JPEG."""
    clear = gradient(mode="RGBA")
    assert prepare(saved(clear, "WEBP", lossless=True)).format == "JPEG"
    clear.putalpha(Image.new("L", clear.size, 90))
    prepared = prepare(saved(clear, "WEBP", lossless=True, exact=True))
    assert (prepared.format, reopened(prepared).getchannel("A").getextrema()) == ("PNG", (90, 90))


def test_a_moving_gif_gives_its_first_frame() -> None:
    """Of an animation the first frame is taken, and that is said."""
    red, blue = Image.new("RGB", (20, 20), "red"), Image.new("RGB", (20, 20), "blue")
    prepared = prepare(saved(red, "GIF", save_all=True, append_images=[blue]))
    assert prepared.notes == ("converted from GIF", "only the first of 2 pictures taken")
    pixel = reopened(prepared).convert("RGB").getpixel((10, 10))
    assert isinstance(pixel, tuple)
    assert pixel[0] > 240
    assert pixel[2] < 20


def test_a_large_picture_is_shrunk() -> None:
    """Sides above the limit are shrunk in proportion, and both sizes are named."""
    prepared = prepare(gradient(300, 200), max_side=150)
    assert reopened(prepared).size == (150, 100)
    assert prepared.notes == ("shrunk from 300 × 200 to 150 × 100",)


@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
def test_a_heavy_picture_is_made_light(mode: str) -> None:
    """A picture above the limit in bytes is saved within it; a limit that none can keep is an error."""
    noise = np.random.default_rng(1).integers(0, 255, (200, 200, len(mode)), dtype=np.uint8)
    prepared = prepare(saved(Image.fromarray(noise), "PNG"), max_bytes=20_000)
    assert len(prepared.data) <= 20_000
    assert prepared.notes
    reopened(prepared).load()
    with pytest.raises(InvalidImage, match="can't be made as small"):
        prepare(gradient(), max_bytes=10)


def test_a_wide_gamut_becomes_srgb() -> None:
    """Colours are converted, which is said, and the profile is removed; print colours become RGB."""
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB"))
    lab = saved(Image.new("LAB", (16, 16), (128, 200, 128)), "TIFF", icc_profile=profile.tobytes())
    prepared = prepare(lab)
    assert "colours converted to sRGB" in prepared.notes
    assert "icc_profile" not in reopened(prepared).info
    assert reopened(prepare(saved(gradient(mode="CMYK"), "JPEG"))).mode == "RGB"


def test_sixteen_bits_become_eight_without_burning_out() -> None:
    """A 16-bit grey picture keeps its tones."""
    grey = Image.fromarray(np.full((8, 8), 32768, dtype=np.uint16))
    assert reopened(prepare(saved(grey, "PNG"))).convert("L").getextrema() == (128, 128)


def test_a_thumbnail_is_small() -> None:
    """A thumbnail is a JPEG within its limits, and clear parts of the picture become white."""
    noise = np.random.default_rng(2).integers(0, 255, (900, 700, 3), dtype=np.uint8)
    data = thumbnail(noise, max_side=200, max_bytes=6_000)
    assert len(data) <= 6_000
    small = Image.open(BytesIO(data))
    assert small.format == "JPEG"
    assert max(small.size) <= 200
    clear = thumbnail(Image.new("RGBA", (40, 40), (0, 0, 0, 0)))
    assert Image.open(BytesIO(clear)).getpixel((20, 20)) == (255, 255, 255)


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
    """Its pixels are those of that place, it says that it was cut, and another is taken from the whole."""
    whole = halves(400, 100)
    left, right = cropped(whole, Crop("1:1", 0.0)), cropped(whole, Crop("1:1", 1.0))
    assert (brightness(left), brightness(right)) == (0, 255)
    assert (left.width, left.height, left.notes) == (100, 100, ("cut to 1:1",))
    assert left.crop == Crop("1:1", 0.0)
    assert cropped(left, Crop("1:1", 1.0)) == right
    assert cropped(left, None) is whole
    assert cropped(left, Crop("16:9")).width == 178


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
