"""A person's own picture is moved by the words of the prompt, and stays that picture."""

from io import BytesIO

import av
import numpy as np
import pytest
from PIL import ExifTags, Image

from reelbook.sandbox.render import Spec, render
from reelbook.sandbox.render.motion import choreography, moved, pose, upright
from reelbook.sandbox.render.words import Move

PROMPTS = (
    "zoom in", "zoom out", "pan left", "pan right", "tilt up", "gentle sway", "ripple", "parallax",
    "handheld", "orbit", "slow zoom in, gentle sway", "pulse", "rotate", "static", "",
    "the cat turns its head",
)  # fmt: skip


def photo(width: int = 320, height: int = 180) -> Image.Image:
    """Smooth colours with fine squares over them, so that moves and blur can be measured."""
    rows, columns = np.mgrid[0:height, 0:width]
    squares = ((rows // 8 + columns // 8) % 2) * 60
    pixels = np.stack([40 + columns * 150 // width, 40 + rows * 150 // height, 90 + 0 * rows], axis=-1)
    return Image.fromarray((pixels + squares[:, :, None]).astype(np.uint8))


def jpeg(picture: Image.Image, **options: object) -> bytes:
    file = BytesIO()
    picture.save(file, "JPEG", quality=95, **options)
    return file.getvalue()


def frames(
    prompt: str, picture: Image.Image, size: tuple[int, int] = (640, 360), count: int = 5
) -> list[np.ndarray]:
    return [np.asarray(frame).astype(int) for frame in moved(picture, prompt, 1, size, count, 1)]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_every_move_moves_without_borders_and_stays_sharp(prompt: str) -> None:
    """Each move changes the picture, never shows what lies outside it, and keeps its colours.

    A detailed picture keeps most of its edges in every frame.
    """
    shown = frames(prompt, photo())
    for frame in shown:
        assert frame[:, :500].min() > 25
        assert abs(frame.mean() - np.asarray(photo()).mean()) < 25
    assert max(np.abs(shown[0] - frame).mean() for frame in shown) > 0.8
    noise = np.random.default_rng(1).integers(0, 255, (90, 160, 3))
    noisy = Image.fromarray(np.kron(noise, np.ones((8, 8, 1))).astype(np.uint8))
    for frame in frames(prompt, noisy):
        steps = np.abs(np.diff(frame[:300, :500, 1], axis=1))
        assert np.percentile(steps, 97) > 45


def test_zoom_goes_where_it_says() -> None:
    """Zooming in ends closer than it began, zooming out farther, and words add up."""
    closer, farther = choreography("zoom in", 1), choreography("zoom out", 1)
    assert pose(closer, 0, 5).zoom < pose(closer, 5, 5).zoom
    assert pose(farther, 0, 5).zoom > pose(farther, 5, 5).zoom
    both = choreography("slow zoom in, gentle sway", 1)
    assert (Move("dolly", 1, 0.6),) == both.moves
    assert {"sway"} == both.bends


def test_a_pan_right_looks_to_the_right() -> None:
    """Panning right shows more of the picture's right side at the end, panning left less."""
    right, left = frames("pan right", photo()), frames("pan left", photo())
    assert right[-1][:, :500, 0].mean() > right[0][:, :500, 0].mean() + 5
    assert left[-1][:, :500, 0].mean() < left[0][:, :500, 0].mean() - 5


@pytest.mark.parametrize("orientation", range(1, 9))
def test_every_orientation_ends_upright(orientation: int) -> None:
    """A picture stored in any of the eight orientations is shown the way up that its camera says."""
    tall = Image.new("RGB", (90, 160), (30, 30, 200))
    tall.paste((220, 30, 30), (0, 0, 90, 80))
    undo = {1: None, 2: 0, 3: 3, 4: 1, 5: 5, 6: 2, 7: 6, 8: 4}[orientation]
    stored = tall if undo is None else tall.transpose(Image.Transpose(undo))
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    clip = render(Spec("static", 1, "9:16", 1, jpeg(stored, exif=exif)))
    with av.open(BytesIO(clip.mp4), "r") as container:
        frame = next(container.decode(video=0)).to_ndarray(format="rgb24").astype(int)
    assert frame.shape == (640, 360, 3)
    assert frame[100, 180, 0] > 150 > frame[100, 180, 2]
    assert frame[500, 180, 2] > 150 > frame[500, 180, 0]


def test_the_same_seed_moves_the_same_way() -> None:
    """A picture, prompt and seed repeated give the same file; another seed sways in another phase."""
    data = jpeg(photo())
    clips = [render(Spec("gentle sway", 1, "16:9", seed, data)).mp4 for seed in (3, 3, 4)]
    assert clips[0] == clips[1]
    assert clips[0] != clips[2]


@pytest.mark.parametrize("mode", ["L", "LA", "RGBA", "P", "CMYK", "1", "I;16"])
def test_any_kind_of_picture_is_taken(mode: str) -> None:
    """Grey, transparent, indexed and printer's pictures become RGB of the same brightness."""
    file = BytesIO()
    if mode == "I;16":
        picture = Image.fromarray(np.full((20, 30), 51_400, np.uint16))
    else:
        picture = Image.new("L", (30, 20), 255 if mode == "1" else 200).convert(mode)
    picture.save(file, "JPEG" if mode == "CMYK" else "PNG")
    shown = upright(file.getvalue())
    assert (shown.mode, shown.size) == ("RGB", (30, 20))
    assert abs(np.asarray(shown).mean() - (255 if mode == "1" else 200)) < 3


def test_clear_parts_become_white() -> None:
    """What is transparent is shown on white."""
    file = BytesIO()
    Image.new("RGBA", (9, 9), (0, 0, 0, 0)).save(file, "PNG")
    assert upright(file.getvalue()).getpixel((4, 4)) == (255, 255, 255)
