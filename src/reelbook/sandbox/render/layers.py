"""How a frame is put together: wide layers drawn once, cropped per frame by depth, and sprites put between them.

A layer is periodic in x, so a camera can follow a runner for as long as it likes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Floats = NDArray[np.float64]
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
    """Where the camera looks from in one frame: pixels at the subject's depth, and a zoom of at least 1."""

    x: float = 0.0
    y: float = 0.0
    zoom: float = 1.0
    orbit: float = 0.0


@dataclass(frozen=True, eq=False)
class Layer:
    """A strip of scenery. `depth` is 0 at infinity, 1 where the subject is, more in front of it."""

    colour: Image.Image
    cover: Image.Image | None
    top: int
    depth: float
    period: int
    drift: float = 0.0
    bob: float = 0.0
    bob_seconds: float = 4.0
    phase: float = 0.0


@dataclass(frozen=True, eq=False)
class Sprite:
    """A small drawn thing. `anchor` is the point of it that is put somewhere; its edge is clear for 3 pixels."""

    colour: Image.Image
    cover: Image.Image
    anchor: tuple[float, float]


def lay(frame: Image.Image, layer: Layer, view: View, seconds: float, pivot: float) -> None:
    """Draw `layer` on `frame` as `view` sees it `seconds` into the clip; a zoom is about the row `pivot`."""
    width, height = frame.size
    x = (view.x * layer.depth + view.orbit * (layer.depth - 1) + layer.drift * seconds) % layer.period
    lift = layer.bob * math.sin(2 * math.pi * (seconds / layer.bob_seconds + layer.phase))
    y = layer.top + view.y * min(1.0, 0.45 + 0.55 * layer.depth) + lift
    scale = 1 + (view.zoom - 1) * min(1.35, 0.12 + 0.88 * layer.depth)
    if scale < 1.001:
        _lay_plain(frame, layer, x, y)
        return
    first = max(0, math.ceil(pivot + (y - pivot) * scale))
    last = min(height, math.floor(pivot + (y + layer.colour.height - pivot) * scale))
    if last <= first:
        return
    left = x + (width - width / scale) / 2
    rows = [min(max(pivot + (row - pivot) / scale - y, 0), layer.colour.height) for row in (first, last)]
    box = (left, rows[0], left + width / scale, rows[1])
    size = (width, last - first)
    colour = layer.colour.resize(size, Image.Resampling.BILINEAR, box=box)
    cover = layer.cover.resize(size, Image.Resampling.BILINEAR, box=box) if layer.cover else None
    frame.paste(colour, (0, first), cover)


def _lay_plain(frame: Image.Image, layer: Layer, x: float, y: float) -> None:
    # Blending two crops moves a layer by parts of a pixel, at a fifth of the cost of a resize.
    width = frame.width
    row, left = round(y), math.floor(x)
    above = max(0, -row)
    below = min(layer.colour.height, frame.height - row)
    if below <= above:
        return
    part = x - left
    colour = layer.colour.crop((left, above, left + width, below))
    cover = layer.cover.crop((left, above, left + width, below)) if layer.cover else None
    if part > 0.04:
        colour = Image.blend(colour, layer.colour.crop((left + 1, above, left + width + 1, below)), part)
        if layer.cover and cover:
            cover = Image.blend(cover, layer.cover.crop((left + 1, above, left + width + 1, below)), part)
    frame.paste(colour, (0, row + above), cover)


def put(frame: Image.Image, sprite: Sprite, x: float, y: float, scale: float = 1.0) -> None:
    """Put `sprite` with its anchor at (x, y), moved by parts of a pixel and scaled."""
    left, top = x - (sprite.anchor[0] - 2) * scale, y - (sprite.anchor[1] - 2) * scale
    size = (int((sprite.colour.width - 4) * scale), int((sprite.colour.height - 4) * scale))
    column, row = math.floor(left), math.floor(top)
    if min(size) < 1 or column >= frame.width or row >= frame.height or column + size[0] <= 0 or row + size[1] <= 0:
        return
    box_x, box_y = max(0.0, 2 - (left - column) / scale), max(0.0, 2 - (top - row) / scale)
    box = (box_x, box_y, box_x + size[0] / scale, box_y + size[1] / scale)
    colour = sprite.colour.resize(size, Image.Resampling.BILINEAR, box=box)
    cover = sprite.cover.resize(size, Image.Resampling.BILINEAR, box=box)
    frame.paste(colour, (column, row), cover)


def on_frame(stage: Stage, view: View, x: float, y: float, depth: float, pivot: float) -> tuple[float, float, float]:
    """Where a point of the world is on the frame, and how much larger things are there."""
    scale = 1 + (view.zoom - 1) * min(1.35, 0.12 + 0.88 * depth)
    moved_x = x - view.x * depth - view.orbit * (depth - 1)
    moved_y = y + view.y * min(1.0, 0.45 + 0.55 * depth)
    return stage.width / 2 + (moved_x - stage.width / 2) * scale, pivot + (moved_y - pivot) * scale, scale


def wrapped(strip: Image.Image, stage: Stage) -> Image.Image:
    """A strip of one period, prolonged by its own beginning so that any crop of a frame's width fits."""
    wide = Image.new(strip.mode, (strip.width + stage.width + 2, strip.height))
    wide.paste(strip, (0, 0))
    wide.paste(strip, (strip.width, 0))
    return wide
