"""Many clips in one picture or one video."""

from pathlib import Path

import numpy as np
import pytest
from media import pictures
from PIL import Image, ImageFont

from reelbook.errors import NotAVideo
from reelbook.media import clips
from reelbook.media import grid as grid_module
from reelbook.media.grid import BLANK, GROUND, Grid, Page, film, sheet

RED, BLUE = (200, 30, 30), (30, 30, 200)


def plain(path: Path, *colours: tuple[int, int, int], size: tuple[int, int] = (64, 36)) -> Path:
    """A clip that shows each colour for half a second."""
    frames = np.repeat([np.full((size[1], size[0], 3), colour, np.uint8) for colour in colours], 4, axis=0)
    frames[:, :4] = 128  # not quite plain, so that it can be a poster
    return pictures.film(path, frames, 8)


def grid(folder: Path) -> Grid:
    """A short clip, a longer one, one that failed, and a place that is empty, on two pages."""
    short = plain(folder / "short.mp4", RED, BLUE)
    longer = plain(folder / "longer.mp4", RED, RED, BLUE, BLUE)
    return Grid(
        "foxes",
        (
            Page("seed 1", ("snow", "dunes"), (("fox", (short, longer)),)),
            Page("seed 2", ("snow", "dunes"), (("fox", ("Failed", None)),)),
        ),
    )


def colour(picture: Image.Image, place: tuple[float, float]) -> tuple[int, int, int]:
    """What is drawn there, in shares of width and height."""
    found = picture.convert("RGB").getpixel((int(place[0] * picture.width), int(place[1] * picture.height)))
    assert isinstance(found, tuple)
    return found[0], found[1], found[2]


SHORT, LONGER, FAILED, EMPTY = (0.2, 0.2), (0.7, 0.2), (0.1, 0.6), (0.7, 0.75)


def alike(first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    return all(abs(a - b) < 40 for a, b in zip(first, second, strict=True))


def test_a_sheet_has_a_frame_of_each_clip(tmp_path: Path) -> None:
    """Page under page; a place without a clip is blank, one that isn't in the grid is empty."""
    drawn = sheet(grid(tmp_path))
    assert drawn.width % 2 == drawn.height % 2 == 0
    assert alike(colour(drawn, LONGER), RED)
    assert "#{:02x}{:02x}{:02x}".format(*colour(drawn, FAILED)) == BLANK
    assert "#{:02x}{:02x}{:02x}".format(*colour(drawn, EMPTY)) == GROUND


@pytest.mark.parametrize(("by", "at_0_7"), [("time", BLUE), ("part", RED)])
def test_a_film_plays_all_clips_at_once(tmp_path: Path, by: str, at_0_7: tuple[int, int, int]) -> None:
    """It is as long as the longest; a shorter clip waits at its end, or is slowed down to end with it."""
    path = tmp_path / "grid.mp4"
    film(grid(tmp_path), path, by="part" if by == "part" else "time")
    info = clips.probe(path)
    assert (info.codec, info.pixel_format) == ("h264", "yuv420p")  # what browsers play
    assert info.duration_seconds == pytest.approx(2.0, abs=0.05)
    assert alike(colour(clips.frame(path, 0.1), SHORT), RED)
    shown = clips.frame(path, 0.7)
    assert alike(colour(shown, SHORT), at_0_7)
    assert alike(colour(shown, LONGER), RED)
    assert alike(colour(clips.frame(path, 1.8), SHORT), BLUE)


def test_a_grid_of_any_size_stays_within_what_players_take(tmp_path: Path) -> None:
    """Two hundred tiles and long labels still make a picture of usual size."""
    clip = plain(tmp_path / "a.mp4", RED)
    rows = tuple((f"an animal with a very long name, number {n}", (clip,) * 10) for n in range(20))
    drawn = sheet(Grid("a " * 300, (Page("", tuple(f"column {n} " * 9 for n in range(10)), rows),)))
    assert drawn.width <= 1920
    assert drawn.height <= 2400


def test_a_tall_clip_stands_in_the_middle_of_its_tile(tmp_path: Path) -> None:
    """It is drawn whole; beside it is the blank tile."""
    tall = plain(tmp_path / "tall.mp4", RED, size=(36, 64))
    drawn = sheet(Grid("", (Page("", ("",), (("", (tall,)),)),)))
    assert alike(colour(drawn, (0.5, 0.6)), RED)
    assert "#{:02x}{:02x}{:02x}".format(*colour(drawn, (0.1, 0.6))) == BLANK


def test_a_file_that_is_no_video_is_told(tmp_path: Path) -> None:
    """Neither picture nor video is made of it."""
    (tmp_path / "no.mp4").write_text("no video")
    broken = Grid("", (Page("", ("",), (("", (tmp_path / "no.mp4",)),)),))
    with pytest.raises(NotAVideo):
        sheet(broken)
    with pytest.raises(NotAVideo):
        film(broken, tmp_path / "grid.mp4")


def test_a_label_that_fits_stays_whole() -> None:
    """A short word isn't broken where its row's label is as wide as the word."""
    font = ImageFont.load_default(14)
    width = int(font.getlength("heron")) + 1
    assert grid_module._wrapped("heron", font, width) == ["heron"]
