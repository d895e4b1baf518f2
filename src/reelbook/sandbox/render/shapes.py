"""Shapes to draw with: smooth noise, gradients, hill lines, and a pen for smooth, antialiased outlines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from PIL import Image, ImageDraw

from reelbook.sandbox.render.layers import Bytes, Floats, Layer, Sprite, Stage, wrapped
from reelbook.sandbox.render.words import RGB

Point = tuple[float, float]
_FINE = 3


def gradient(stops: Sequence[RGB], count: int) -> Bytes:
    """`count` colours that run smoothly through `stops`."""
    at = np.linspace(0, len(stops) - 1, count)
    channels = [np.interp(at, range(len(stops)), [stop[i] for stop in stops]) for i in range(3)]
    return (np.stack(channels, axis=-1) + 0.5).astype(np.uint8)


def waves(
    rng: np.random.Generator, length: int, *, low: int = 2, high: int = 9, rough: float = 0.55
) -> Floats:
    """A periodic line of smooth random waves, about -1 to 1: `low` to `high` of them, finer ones flatter."""
    x = np.linspace(0, 2 * np.pi, length, endpoint=False, dtype=np.float32)
    line = np.zeros(length, dtype=np.float32)
    size, total, count = 1.0, 0.0, float(low)
    while count <= high:
        line += size * np.sin(round(count) * x + rng.uniform(0, 2 * np.pi))
        total += size * 0.75
        size *= rough
        count *= 1.7
    scaled: Floats = line / max(total, 1e-9)
    return scaled


def clouded(rng: np.random.Generator, width: int, height: int, cell: int, flat: float = 1.0) -> Floats:
    """Smooth noise from 0 to 1, periodic in x: blots `cell` pixels wide, `flat` times less high."""
    total = np.zeros((height, width), dtype=np.float32)
    weight = 1.0
    for octave in range(3):
        size = max(3, cell >> octave)
        columns, rows = max(2, round(width / size)), max(2, math.ceil(height * flat / size) + 2)
        blots = rng.random((rows, columns))
        blots = np.concatenate([blots[:, -2:], blots, blots[:, :2]], axis=1)
        picture = Image.fromarray((blots * 255).astype(np.uint8))
        scale = width / columns
        box = (2.0, 0.5, 2.0 + columns, min(float(rows), 0.5 + height * flat / scale))
        total += weight * np.asarray(
            picture.resize((width, height), Image.Resampling.BICUBIC, box=box), dtype=np.float32
        )
        weight *= 0.5
    scaled: Floats = (total - total.min()) / max(float(np.ptp(total)), 1e-9)
    return scaled


@dataclass(eq=False)
class Strip:
    """One period of a layer while it is being drawn: colours, and how far they cover."""

    colour: Image.Image
    cover: Image.Image
    top: int

    @classmethod
    def hill(
        cls, stage: Stage, line: Floats, colours: Sequence[RGB], *, fade: float, headroom: float = 0
    ) -> Strip:
        """Everything below `line` (frame rows), coloured from its crest down over `fade` pixels."""
        top = math.floor(float(line.min()) - headroom) - 1
        rows = np.arange(top, stage.height + stage.margin)[:, None]
        below = rows - line[None, :]
        table = gradient(colours, 256)
        colour = table[np.clip(below * (255 / fade), 0, 255).astype(np.uint8)]
        cover = (np.clip(below + 0.5, 0, 1) * 255).astype(np.uint8)
        return cls(Image.fromarray(colour), Image.fromarray(cover), top)

    def stamp(self, sprite: Sprite, x: float, y: float) -> None:
        """Put `sprite` with its anchor at column `x` and frame row `y`, also across the seam."""
        row = round(y - sprite.anchor[1]) - self.top
        for left in (
            round(x - sprite.anchor[0]) % self.colour.width,
            round(x - sprite.anchor[0]) % self.colour.width - self.colour.width,
        ):
            if left + sprite.colour.width > 0:
                self.colour.paste(sprite.colour, (left, row), sprite.cover)
                self.cover.paste(255, (left, row), sprite.cover)

    def layer(
        self,
        stage: Stage,
        depth: float,
        *,
        drift: float = 0.0,
        bob: float = 0.0,
        bob_seconds: float = 4.0,
        phase: float = 0.0,
    ) -> Layer:
        """The finished layer."""
        return Layer(
            wrapped(self.colour, stage),
            wrapped(self.cover, stage),
            self.top,
            depth,
            self.colour.width,
            drift,
            bob,
            bob_seconds,
            phase,
        )


def curve(points: Sequence[Point], *, closed: bool = False, steps: int = 8) -> list[Point]:
    """A smooth line through `points` (Catmull-Rom)."""
    count = len(points)
    line: list[Point] = []
    for i in range(count if closed else count - 1):
        if closed:
            a, b, c, d = (points[(i + k) % count] for k in (-1, 0, 1, 2))
        else:
            a, b, c, d = points[max(i - 1, 0)], points[i], points[i + 1], points[min(i + 2, count - 1)]
        for step in range(steps):
            t = step / steps
            weights = (
                -0.5 * t + t * t - 0.5 * t**3,
                1 - 2.5 * t * t + 1.5 * t**3,
                0.5 * t + 2 * t * t - 1.5 * t**3,
                -0.5 * t * t + 0.5 * t**3,
            )
            line.append(
                (
                    sum(w * p[0] for w, p in zip(weights, (a, b, c, d), strict=True)),
                    sum(w * p[1] for w, p in zip(weights, (a, b, c, d), strict=True)),
                )
            )
    if not closed:
        line.append(points[-1])
    return line


@dataclass(eq=False)
class Pen:
    """Draws one sprite in its own units: x to the right, y upwards, the anchor at (0, 0).

    `scale` is pixels per unit; the four reaches say how many units lie around the anchor.
    """

    scale: float
    left: float
    right: float
    up: float
    down: float
    ground: RGB = (128, 128, 128)
    turn: float = 0.0
    _colour: Image.Image = field(init=False)
    _cover: Image.Image = field(init=False)

    def __post_init__(self) -> None:
        size = (
            (math.ceil((self.left + self.right) * self.scale) + 6) * _FINE,
            (math.ceil((self.up + self.down) * self.scale) + 6) * _FINE,
        )
        self._colour = Image.new("RGB", size, self.ground)
        self._cover = Image.new("L", size, 0)
        self._on_colour = ImageDraw.Draw(self._colour)
        self._on_cover = ImageDraw.Draw(self._cover)

    def at(self, x: float, y: float) -> Point:
        """Where a point in units is on the fine canvas."""
        if self.turn:
            sin, cos = math.sin(self.turn), math.cos(self.turn)
            x, y = x * cos - y * sin, x * sin + y * cos
        fine = self.scale * _FINE
        return (x + self.left) * fine + 3 * _FINE, (self.up - y) * fine + 3 * _FINE

    def polygon(self, points: Sequence[Point], colour: RGB, cover: int = 255) -> None:
        """Fill the polygon through `points`."""
        if len(points) > 2:
            placed = [self.at(x, y) for x, y in points]
            self._on_colour.polygon(placed, fill=colour)
            self._on_cover.polygon(placed, fill=cover)

    def blob(self, points: Sequence[Point], colour: RGB, cover: int = 255) -> None:
        """Fill the smooth outline through `points`."""
        self.polygon(curve(points, closed=True), colour, cover)

    def oval(
        self, x: float, y: float, rx: float, ry: float, colour: RGB, *, turn: float = 0.0, cover: int = 255
    ) -> None:
        """Fill an ellipse about (x, y), turned by `turn` radians."""
        if rx == ry or not (turn or self.turn):
            (px, py), fine = self.at(x, y), self.scale * _FINE
            bounds = (px - rx * fine, py - ry * fine, px + rx * fine, py + ry * fine)
            self._on_colour.ellipse(bounds, fill=colour)
            self._on_cover.ellipse(bounds, fill=cover)
            return
        sin, cos = math.sin(turn), math.cos(turn)
        ring = [(rx * math.cos(a / 14 * math.pi), ry * math.sin(a / 14 * math.pi)) for a in range(28)]
        self.polygon([(x + a * cos - b * sin, y + a * sin + b * cos) for a, b in ring], colour, cover)

    def box(self, x0: float, y0: float, x1: float, y1: float, colour: RGB, cover: int = 255) -> None:
        """Fill the rectangle between two corners."""
        self.polygon([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], colour, cover)

    def limb(
        self, points: Sequence[Point], widths: Sequence[float], colour: RGB, *, smooth: bool = True
    ) -> None:
        """Fill a rounded stroke along `points`, its width running through `widths`: legs, tails, trunks."""
        line = curve(points, steps=5) if smooth and len(points) > 2 else list(points)
        at = np.linspace(0, len(widths) - 1, len(line))
        radii = [float(radius) for radius in np.interp(at, range(len(widths)), widths) / 2]
        one_side: list[Point] = []
        other_side: list[Point] = []
        for i, ((x, y), radius) in enumerate(zip(line, radii, strict=True)):
            self.oval(x, y, radius, radius, colour)
            (ax, ay), (bx, by) = line[max(i - 1, 0)], line[min(i + 1, len(line) - 1)]
            length = math.hypot(bx - ax, by - ay) or 1e-9
            nx, ny = -(by - ay) / length * radius, (bx - ax) / length * radius
            one_side.append((x + nx, y + ny))
            other_side.append((x - nx, y - ny))
        self.polygon(one_side + other_side[::-1], colour)

    def sprite(self, *, mirrored: bool = False) -> Sprite:
        """What was drawn, made smooth."""
        turn, self.turn = self.turn, 0.0
        x, y = (at / _FINE for at in self.at(0, 0))
        self.turn = turn
        colour, cover = self._colour.reduce(_FINE), self._cover.reduce(_FINE)
        left, top, right, bottom = cover.getbbox() or (0, 0, 1, 1)
        box = (left - 3, top - 3, right + 3, bottom + 3)
        colour, cover, x, y = colour.crop(box), cover.crop(box), x - box[0], y - box[1]
        if mirrored:
            flip = Image.Transpose.FLIP_LEFT_RIGHT
            colour, cover, x = colour.transpose(flip), cover.transpose(flip), colour.width - x
        return Sprite(colour, cover, (x, y))
