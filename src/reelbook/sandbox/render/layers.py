"""How a frame is put together: wide layers drawn once, cropped by depth, and sprites put between them.

A layer is periodic in x, so a camera can follow a runner for as long as it likes.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Floats = NDArray[np.floating[Any]]
Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class Stage:
    """The frame's size in pixels, the row of the horizon, and `unit`, the scale that things are drawn in."""

    width: int
    height: int

    @property
    def unit(self) -> float:
        return min(self.width, self.height) / 360

    @property
    def horizon(self) -> int:
        return round(self.height * {True: 0.60, False: 0.66}[self.width > self.height])

    @property
    def ground(self) -> int:
        """The row that the subject's feet stand on."""
        return round(self.height * (0.83 if self.width > self.height else 0.80))

    @property
    def margin(self) -> int:
        """Rows that layers reach beyond the frame, for a camera that looks up or down."""
        return round(self.height * 0.14)

    @property
    def period(self) -> int:
        """The width after which a layer repeats."""
        return round(self.width * 1.75)


@dataclass(frozen=True)
class View:
    """Where the camera looks from in one frame: pixels at the subject's depth, and a zoom of at least 1.

    `speed` is how fast it goes sideways, in pixels a second.
    """

    x: float = 0.0
    y: float = 0.0
    zoom: float = 1.0
    orbit: float = 0.0
    speed: float = 0.0


@dataclass(frozen=True, eq=False)
class Layer:
    """A strip of scenery. `depth` is 0 at infinity, 1 where the subject is, more in front of it.

    A layer of one single colour may bring it as an image of the frame's width instead of a period's. From row
    `solid` of its image on it covers wholly; a layer without `cover` does everywhere.
    """

    colour: Image.Image
    cover: Image.Image | None
    top: int
    depth: float
    period: int
    drift: float = 0.0
    bob: float = 0.0
    bob_seconds: float = 4.0
    phase: float = 0.0
    solid: int = 1 << 20


@dataclass(frozen=True, eq=False)
class Sprite:
    """A small drawn thing. `anchor` is the point that is put somewhere; its edge is clear for 3 pixels."""

    colour: Image.Image
    cover: Image.Image
    anchor: tuple[float, float]


def lay(frame: Image.Image, layer: Layer, view: View, seconds: float) -> None:
    """Draw `layer` on `frame` as `view` sees it `seconds` into the clip; the zoom is left to `zoomed`."""
    x = (view.x * layer.depth + view.orbit * (layer.depth - 1) + layer.drift * seconds) % layer.period
    lift = layer.bob * math.sin(2 * math.pi * (seconds / layer.bob_seconds + layer.phase))
    y = layer.top + _lowered(view, layer.depth, frame.height) + lift
    # A layer that runs past needs no parts of a pixel: they only show in slow ones.
    finely = abs(view.speed * layer.depth) < 40
    _lay_plain(frame, layer, x, y, finely=finely)


def _lowered(view: View, depth: float, height: int) -> float:
    """How far down a layer goes as the camera looks up, or comes nearer: near ones more than far ones."""
    return view.y * min(1.0, 0.45 + 0.55 * depth) + 0.16 * height * (view.zoom - 1) * (depth - 0.4)


def zoomed(frame: Image.Image, view: View, pivot: float) -> Image.Image:
    """`frame` as the view's zoom sees it, about the middle of row `pivot`."""
    if view.zoom < 1.001:
        return frame
    width, height = frame.size
    part = 1 / view.zoom
    box = (
        width / 2 * (1 - part),
        pivot * (1 - part),
        width / 2 * (1 + part),
        pivot + (height - pivot) * part,
    )
    return frame.resize(frame.size, Image.Resampling.BILINEAR, box=box)


def _lay_plain(frame: Image.Image, layer: Layer, x: float, y: float, *, finely: bool) -> None:
    # Blending two crops moves a layer by parts of a pixel, at a fifth of the cost of a resize.
    width = frame.width
    row, left = round(y), math.floor(x)
    above = max(0, -row)
    below = min(layer.colour.height, frame.height - row)
    if below <= above:
        return
    part = x - left
    plain = layer.colour.width == width
    finely = finely and part > 0.04
    colour = layer.colour.crop((0, above, width, below) if plain else (left, above, left + width, below))
    if finely and not plain:
        colour = Image.blend(colour, layer.colour.crop((left + 1, above, left + width + 1, below)), part)
    solid = min(max(layer.solid, above), below) if layer.cover else above
    if layer.cover and solid > above:
        cover = layer.cover.crop((left, above, left + width, solid))
        if finely:
            cover = Image.blend(cover, layer.cover.crop((left + 1, above, left + width + 1, solid)), part)
        frame.paste(
            colour.crop((0, 0, width, solid - above)) if solid < below else colour, (0, row + above), cover
        )
    if solid < below:
        # Without a mask a paste is a mere copy.
        frame.paste(colour.crop((0, solid - above, width, below - above)), (0, row + solid))


def put(frame: Image.Image, sprite: Sprite, x: float, y: float, scale: float = 1.0) -> None:
    """Put `sprite` with its anchor at (x, y), moved by parts of a pixel and scaled."""
    left, top = x - (sprite.anchor[0] - 2) * scale, y - (sprite.anchor[1] - 2) * scale
    size = (int((sprite.colour.width - 4) * scale), int((sprite.colour.height - 4) * scale))
    column, row = math.floor(left), math.floor(top)
    if (
        min(size) < 1
        or column >= frame.width
        or row >= frame.height
        or column + size[0] <= 0
        or row + size[1] <= 0
    ):
        return
    box_x, box_y = max(0.0, 2 - (left - column) / scale), max(0.0, 2 - (top - row) / scale)
    box = (box_x, box_y, box_x + size[0] / scale, box_y + size[1] / scale)
    colour = sprite.colour.resize(size, Image.Resampling.BILINEAR, box=box)
    cover = sprite.cover.resize(size, Image.Resampling.BILINEAR, box=box)
    frame.paste(colour, (column, row), cover)


def on_frame(stage: Stage, view: View, x: float, y: float, depth: float) -> tuple[float, float]:
    """Where a point of the world is on the frame, the zoom aside."""
    return x - view.x * depth - view.orbit * (depth - 1), y + _lowered(view, depth, stage.height)


def wrapped(strip: Image.Image, stage: Stage) -> Image.Image:
    """A strip of one period, prolonged by its own beginning so that any crop of a frame's width fits."""
    wide = Image.new(strip.mode, (strip.width + stage.width + 2, strip.height))
    wide.paste(strip, (0, 0))
    wide.paste(strip, (strip.width, 0))
    return wide
