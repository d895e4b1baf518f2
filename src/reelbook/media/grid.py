"""Many clips in one picture or one video: rows and columns with their labels, one page below another."""

import contextlib
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final, Literal

import av
from av.video.stream import VideoStream
from PIL import Image, ImageDraw, ImageFont, ImageOps

from . import clips

GAP: Final = 8
GROUND, INK, QUIET, BLANK = "#ffffff", "#1f2328", "#57606a", "#f0f1f3"
TEXT_PIXELS, TITLE_PIXELS = 15, 18
LEAST_TILE, MOST_TILE = 96, 480  # pixels wide
MOST_WIDTH, MOST_HEIGHT = 1920, 2160  # what players and encoders take everywhere
FRAMES_PER_SECOND: Final = 24


Tile = Path | str | None
"""One place of a grid: a clip, a word that says why there is none, or nothing."""


@dataclass(frozen=True)
class Page:
    """Rows of tiles, each with its label, under the labels of the columns."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Tile, ...]], ...]


@dataclass(frozen=True)
class Grid:
    """All pages of a grid, drawn one below another. `ratio` is a tile's width divided by its height."""

    title: str
    pages: tuple[Page, ...]
    ratio: float = 16 / 9


def sheet(grid: Grid) -> Image.Image:
    """A contact sheet: a representative frame of each clip, with the labels of its row and column."""
    picture, places = _drawn(grid)
    for path, box in places:
        _put(picture, ImageOps.contain(clips.poster(path), box[2:], Image.Resampling.LANCZOS), box)
    return picture


def film(grid: Grid, path: Path, *, by: Literal["time", "part"] = "time") -> None:
    """Writes the grid as one labelled H.264 video at `path`, all clips playing at once.

    It is as long as the longest clip. By "time", shorter clips hold their last frame; by "part", they are
    slowed down to end with it. Raises `NotAVideo` for a clip that can't be read, and OSError.
    """
    picture, places = _drawn(grid)
    lengths = [clips.probe(clip).duration_seconds for clip, _ in places]
    longest = max(lengths, default=1.0)
    # The middle of each frame: its edges are rounded in the file.
    frames = max(1, round(longest * FRAMES_PER_SECOND))
    times = [(number + 0.5) / FRAMES_PER_SECOND for number in range(frames)]
    with contextlib.ExitStack() as stack:
        readers = []
        for (clip, box), length in zip(places, lengths, strict=True):
            pace = length / longest if by == "part" else 1.0
            shown = clips.pictures_at(clip, [at * pace for at in times], box[2], box[3])
            readers.append((stack.enter_context(contextlib.closing(shown)), box))
        container = stack.enter_context(
            av.open(str(path), "w", format="mp4", options={"movflags": "faststart"})
        )
        container.metadata["title"] = grid.title
        stream: VideoStream = container.add_stream("libx264", rate=FRAMES_PER_SECOND)
        stream.width, stream.height, stream.pix_fmt = picture.width, picture.height, "yuv420p"
        stream.time_base = Fraction(1, FRAMES_PER_SECOND)
        stream.options = {"crf": "20", "preset": "veryfast"}
        for _ in times:
            for reader, box in readers:
                _put(picture, next(reader), box)
            frame = av.VideoFrame.from_image(picture)  # type: ignore[no-untyped-call] # PyAV leaves it untyped
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


Font = ImageFont.FreeTypeFont | ImageFont.ImageFont
_Box = tuple[int, int, int, int]  # left, top, width, height


def _drawn(grid: Grid) -> tuple[Image.Image, list[tuple[Path, _Box]]]:
    text, bold = ImageFont.load_default(TEXT_PIXELS), ImageFont.load_default(TITLE_PIXELS)
    columns = max((len(page.columns) for page in grid.pages), default=1)
    rows = sum(len(page.rows) for page in grid.pages)
    side = min(
        220, max((int(text.getlength(label)) for page in grid.pages for label, _ in page.rows), default=0)
    )
    side += GAP if side else 0
    line = TEXT_PIXELS + 6
    extra = TITLE_PIXELS + 14 + sum(_page_head(page, line) for page in grid.pages)
    wide = (MOST_WIDTH - side - GAP) // columns - GAP
    high = (MOST_HEIGHT - extra) // max(1, rows) - GAP
    width = max(LEAST_TILE, min(MOST_TILE, wide, int(high * grid.ratio)))
    height = round(width / grid.ratio)
    full = (
        side + GAP + columns * (width + GAP),
        extra + rows * (height + GAP) + GAP,
    )
    # The encoder takes even sides only.
    picture = Image.new("RGB", (full[0] + full[0] % 2, full[1] + full[1] % 2), GROUND)
    draw = ImageDraw.Draw(picture)
    draw.text((GAP, GAP), _cut(grid.title, bold, full[0] - 2 * GAP), INK, bold)
    top = TITLE_PIXELS + 14
    places = []
    for page in grid.pages:
        if page.title:
            draw.text((GAP, top + 4), _cut(page.title, text, full[0] - 2 * GAP), INK, text)
        if any(page.columns):
            for number, label in enumerate(page.columns):
                left = side + GAP + number * (width + GAP)
                draw.text((left, top + _page_head(page, line) - line), _cut(label, text, width), INK, text)
        top += _page_head(page, line)
        for label, tiles in page.rows:
            _write(draw, label, text, (GAP, top, max(1, side - GAP), height))
            for number, tile in enumerate(tiles):
                box = (side + GAP + number * (width + GAP), top, width, height)
                if tile is None:
                    continue
                draw.rectangle((box[0], box[1], box[0] + width - 1, box[1] + height - 1), BLANK)
                if isinstance(tile, Path):
                    places.append((tile, box))
                else:
                    _write(draw, tile, text, box, middle=True)
            top += height + GAP
    return picture, places


def _page_head(page: Page, line: int) -> int:
    return (line + 4 if page.title else 0) + (line if any(page.columns) else 0)


def _put(picture: Image.Image, frame: Image.Image, box: _Box) -> None:
    left, top, width, height = box
    picture.paste(frame, (left + (width - frame.width) // 2, top + (height - frame.height) // 2))


def _write(draw: ImageDraw.ImageDraw, said: str, font: Font, box: _Box, *, middle: bool = False) -> None:
    left, top, width, height = box
    text = "\n".join(_wrapped(said, font, width))
    if middle:
        draw.text((left + width / 2, top + height / 2), text, QUIET, font, anchor="mm", align="center")
    else:
        draw.text((left, top + height / 2), text, INK, font, anchor="lm")


def _wrapped(said: str, font: Font, width: int) -> Sequence[str]:
    if font.getlength(said) <= width:
        return [said]
    letters = max(1, int(width / max(1.0, font.getlength("n"))))
    return [_cut(each, font, width) for each in textwrap.wrap(said, letters)[:6]]


def _cut(said: str, font: Font, width: float) -> str:
    if font.getlength(said) <= width:
        return said
    while said and font.getlength(f"{said}…") > width:
        said = said[:-1]
    return f"{said.rstrip()}…"
