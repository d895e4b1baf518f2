"""What moves through the air: snow, rain, leaves, bubbles, fog and lightning.

Particles are drawn once on a tile that repeats both ways; a frame shows the tile shifted.
"""

import math
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw

from reelbook.sandbox.render.land import AUTUMN
from reelbook.sandbox.render.layers import Layer, Stage, View, wrapped
from reelbook.sandbox.render.palette import Palette, mix, shaded
from reelbook.sandbox.render.shapes import Pen, clouded
from reelbook.sandbox.render.sky import night_share
from reelbook.sandbox.render.words import RGB, Scene


@dataclass(frozen=True, eq=False)
class Field:
    """A tile of particles. Velocities in pixels a second; `sway` pixels to and fro; `depth` as of a layer."""

    colour: Image.Image
    cover: Image.Image
    velocity: tuple[float, float]
    sway: float
    depth: float
    behind: bool
    pulse: float = 0.0


@dataclass(frozen=True, eq=False)
class Weather:
    """All that the weather adds: particle fields, drifting fog, and the moments of lightning in seconds."""

    fields: tuple[Field, ...] = ()
    fog: tuple[Layer, ...] = ()
    flashes: tuple[float, ...] = ()
    bolts: tuple[Image.Image, ...] = ()


def weather(rng: np.random.Generator, stage: Stage, scene: Scene, colours: Palette) -> Weather:
    """Prepare the weather of `scene`. Indoors, in space and under water only what belongs there falls."""
    words = scene.weather
    if scene.setting in ("indoors", "space"):
        words = words & {"fireflies", "dust", "embers", "petals"}
    elif scene.setting == "underwater":
        words = words & {"bubbles"}
    unit = stage.unit
    gust = 2.2 if words & {"wind", "storm"} else 1.0
    side = (1 if rng.random() < 0.5 else -1) * gust
    fields: list[Field] = []

    def plain(colour: RGB) -> Image.Image:
        return Image.new("RGB", (stage.width, stage.height), colour)

    if "snowfall" in words:
        white = mix((255, 255, 255), colours.sky[2], 0.22 * night_share(colours))
        for count, size, speed, depth, behind in (
            (150, 1.1, 36, 0.4, True),
            (90, 1.9, 62, 0.9, False),
            (26, 3.4, 98, 1.5, False),
        ):
            cover = _dots(rng, stage, count, size * unit, 0.95 if size < 3 else 0.7)
            fields.append(
                Field(
                    plain(white),
                    cover,
                    (side * 14 * unit * (0.6 + depth), speed * unit),
                    9 * unit,
                    depth,
                    behind,
                )
            )
    if "rain" in words:
        tint = mix(colours.sky[3], (255, 255, 255), 0.5)
        for count, long, speed, depth, solid, behind in (
            (150, 15, 560, 0.5, 0.30, True),
            (80, 26, 780, 1.2, 0.42, False),
        ):
            slant = side * 0.16
            cover = _streaks(rng, stage, count, long * unit, slant, solid)
            fields.append(Field(plain(tint), cover, (speed * slant * unit, speed * unit), 0, depth, behind))
    if "leaves" in words or "petals" in words:
        hues: tuple[RGB, ...] = (
            AUTUMN if "leaves" in words else ((250, 190, 206), (255, 224, 230), (240, 150, 180))
        )
        for count, size, depth, behind in ((16, 3.4, 0.6, True), (11, 6.0, 1.3, False)):
            colour, cover = _flakes(rng, stage, count, size * unit, tuple(colours.lit(hue) for hue in hues))
            fields.append(
                Field(colour, cover, (side * 34 * unit, (26 + 14 * depth) * unit), 16 * unit, depth, behind)
            )
    if "bubbles" in words:
        for count, size, speed, depth, behind in ((34, 1.6, -30, 0.4, True), (14, 3.2, -52, 1.2, False)):
            fields.append(
                Field(
                    plain((226, 246, 250)),
                    _rings(rng, stage, count, size * unit),
                    (4 * unit, speed * unit),
                    6 * unit,
                    depth,
                    behind,
                )
            )
    if "dust" in words:
        tint = colours.lit((226, 184, 130), 0.8)
        for count, long, speed, depth in ((120, 22, 420, 0.6), (70, 40, 640, 1.2)):
            cover = _streaks(rng, stage, count, long * unit, 9.0, 0.55)
            fields.append(
                Field(plain(tint), cover, (side / gust * speed * unit, 26 * unit), 5 * unit, depth, False)
            )
    if "wind" in words:
        cover = _streaks(rng, stage, 16, 70 * unit, 16.0, 0.22)
        fields.append(
            Field(
                plain(mix(colours.haze, (255, 255, 255), 0.5)),
                cover,
                (side * 300 * unit, 8 * unit),
                6 * unit,
                0.8,
                False,
            )
        )
    if "fireflies" in words:
        for count, phase in ((16, 0.7), (14, 1.1)):
            cover = _dots(rng, stage, count, 4.2 * unit, 1.0)
            fields.append(
                Field(
                    plain(colours.tone((244, 250, 130))),
                    cover,
                    (5 * unit, -3 * unit),
                    12 * unit,
                    0.9,
                    False,
                    pulse=phase,
                )
            )
    if "embers" in words:
        cover = _dots(rng, stage, 60, 2.3 * unit, 1.0)
        fields.append(
            Field(
                plain(colours.tone((255, 150, 60))),
                cover,
                (14 * unit, -58 * unit),
                10 * unit,
                1.0,
                False,
                pulse=1.6,
            )
        )
    fog = _fog(rng, stage, colours, words)
    flashes, bolts = (
        _lightning(rng, stage)
        if "lightning" in words or ("storm" in words and rng.random() < 0.6)
        else ((), ())
    )
    return Weather(tuple(fields), tuple(fog), flashes, bolts)


def fall(frame: Image.Image, conditions: Weather, view: View, seconds: float, *, behind: bool) -> None:
    """Draw the particles that are behind the subject, or those before it."""
    for field in conditions.fields:
        if field.behind != behind:
            continue
        width, height = frame.size
        sway = field.sway * math.sin(seconds * 1.3 + field.depth * 5)
        x = round(-field.velocity[0] * seconds + view.x * field.depth + sway) % width
        y = round(-field.velocity[1] * seconds - view.y * field.depth) % height
        cover = field.cover.crop((x, y, x + width, y + height))
        if field.pulse:
            share = 0.35 + 0.65 * (0.5 + 0.5 * math.sin(seconds * 2.4 * field.pulse + field.pulse * 9))
            cover = cover.point([round(value * share) for value in range(256)])
        # Leaves have colours of their own; all else is one colour, and then a frame of it is enough.
        plain = field.colour.size == frame.size
        frame.paste(
            field.colour if plain else field.colour.crop((x, y, x + width, y + height)), (0, 0), cover
        )


def flash(conditions: Weather, seconds: float) -> float:
    """How bright lightning is at this moment, from 0 to 1: a stroke, a dark blink, a second stroke."""
    total = 0.0
    for moment in conditions.flashes:
        since = seconds - moment
        if 0 <= since < 0.6:
            total = max(
                total, math.exp(-since * 9), 0.8 * math.exp(-(since - 0.18) * 8) if since >= 0.18 else 0
            )
    return total


def strike(frame: Image.Image, conditions: Weather, seconds: float) -> None:
    """Draw the bolt of the flash that is on, if one is."""
    for moment, bolt in zip(conditions.flashes, conditions.bolts, strict=True):
        since = seconds - moment
        if 0 <= since < 0.34 and not 0.10 < since < 0.18:
            frame.paste((252, 250, 255), (0, 0, *frame.size), bolt)


def _tiled(tile: Image.Image) -> Image.Image:
    wide = Image.new(tile.mode, (tile.width * 2, tile.height * 2))
    for x in (0, tile.width):
        for y in (0, tile.height):
            wide.paste(tile, (x, y))
    return wide


def _dots(rng: np.random.Generator, stage: Stage, count: int, radius: float, solid: float) -> Image.Image:
    """Soft round flakes."""
    cover = np.zeros((stage.height, stage.width))
    reach = math.ceil(radius * 1.8)
    yy, xx = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    area = stage.width * stage.height / (640 * 360 * stage.unit**2)
    for _ in range(round(count * area)):
        x, y, r = (
            int(rng.integers(stage.width)),
            int(rng.integers(stage.height)),
            radius * rng.uniform(0.6, 1.15),
        )
        dot = np.clip(1.25 - np.hypot(xx, yy) / r, 0, 1) * solid * 255 * rng.uniform(0.6, 1)
        rows, columns = (
            (y + np.arange(-reach, reach + 1)) % stage.height,
            (x + np.arange(-reach, reach + 1)) % stage.width,
        )
        cover[np.ix_(rows, columns)] = np.maximum(cover[np.ix_(rows, columns)], dot)
    return _tiled(Image.fromarray(np.clip(cover, 0, 255).astype(np.uint8)))


def _wrapped_lines(stage: Stage, lines: list[tuple[float, float, float, float, int, int]]) -> Image.Image:
    fine = 2
    tile = Image.new("L", (stage.width * fine, stage.height * fine), 0)
    pen = ImageDraw.Draw(tile)
    for x0, y0, x1, y1, width, value in lines:
        for dx in (-stage.width, 0, stage.width):
            for dy in (-stage.height, 0):
                pen.line(
                    ((x0 + dx) * fine, (y0 + dy) * fine, (x1 + dx) * fine, (y1 + dy) * fine),
                    fill=value,
                    width=width,
                )
    return _tiled(tile.reduce(fine))


def _streaks(
    rng: np.random.Generator, stage: Stage, count: int, long: float, slant: float, solid: float
) -> Image.Image:
    """Thin lines along the fall: `slant` is sideways pixels for each pixel down."""
    area = stage.width * stage.height / (640 * 360 * stage.unit**2)
    steep = math.hypot(1, slant)
    lines = []
    for _ in range(round(count * area)):
        x, y, length = rng.uniform(0, stage.width), rng.uniform(0, stage.height), long * rng.uniform(0.6, 1.2)
        value = round(255 * solid * rng.uniform(0.5, 1))
        lines.append(
            (x, y, x + length * slant / steep, y + length / steep, max(2, round(2.4 * stage.unit)), value)
        )
    return _wrapped_lines(stage, lines)


def _rings(rng: np.random.Generator, stage: Stage, count: int, radius: float) -> Image.Image:
    """Bubbles: a rim and a glint."""
    cover = np.zeros((stage.height, stage.width))
    reach = math.ceil(radius * 2.2)
    yy, xx = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    for _ in range(count):
        x, y, r = (
            int(rng.integers(stage.width)),
            int(rng.integers(stage.height)),
            radius * rng.uniform(0.5, 1.7),
        )
        rim = np.clip(1 - np.abs(np.hypot(xx, yy) - r) / 0.9, 0, 1) * 190
        glint = np.clip(1 - np.hypot(xx + r * 0.35, yy + r * 0.35) / max(r * 0.3, 0.8), 0, 1) * 220
        body = np.where(np.hypot(xx, yy) < r, 34, 0)
        rows, columns = (
            (y + np.arange(-reach, reach + 1)) % stage.height,
            (x + np.arange(-reach, reach + 1)) % stage.width,
        )
        cover[np.ix_(rows, columns)] = np.maximum(
            cover[np.ix_(rows, columns)], np.maximum(np.maximum(rim, glint), body)
        )
    return _tiled(Image.fromarray(cover.astype(np.uint8)))


def _flakes(
    rng: np.random.Generator, stage: Stage, count: int, size: float, hues: tuple[RGB, ...]
) -> tuple[Image.Image, Image.Image]:
    """Leaves or petals, each turned its own way."""
    colour = Image.new("RGB", (stage.width, stage.height), hues[0])
    cover = Image.new("L", colour.size, 0)
    for _ in range(count):
        hue = shaded(hues[int(rng.integers(len(hues)))], rng.uniform(0.85, 1.1))
        pen = Pen(size, 1.1, 1.1, 1.1, 1.1, hue, turn=rng.uniform(0, 6.3))
        slim = rng.uniform(0.25, 0.6)
        pen.blob([(-1, 0), (0, slim), (1, 0), (0, -slim)], hue)
        sprite = pen.sprite()
        x, y = int(rng.integers(stage.width)), int(rng.integers(stage.height))
        for dx in (0, -stage.width):
            for dy in (0, -stage.height):
                colour.paste(sprite.colour, (x + dx, y + dy), sprite.cover)
                cover.paste(255, (x + dx, y + dy), sprite.cover)
    return _tiled(colour), _tiled(cover)


def _fog(rng: np.random.Generator, stage: Stage, colours: Palette, words: frozenset[str]) -> list[Layer]:
    if "fog" not in words:
        return []
    layers = []
    for depth, row, solid in ((0.3, 0.40, 0.72), (0.75, 0.56, 0.62), (1.4, 0.70, 0.46)):
        height = round(stage.height * 0.42)
        noise = clouded(rng, stage.period, height, round(170 * stage.unit))
        rows = np.linspace(0, 1, height)[:, None]
        cover = np.clip(0.25 + 0.95 * noise, 0, 1) * np.sin(np.pi * rows) ** 0.8 * solid * 255
        colour = Image.new("RGB", (stage.width, height), mix(colours.haze, (255, 255, 255), 0.10))
        layers.append(
            Layer(
                colour,
                wrapped(Image.fromarray(cover.astype(np.uint8)), stage),
                round(stage.height * row),
                depth,
                stage.period,
                drift=(10 + 14 * depth) * stage.unit,
            )
        )
    return layers


def _lightning(rng: np.random.Generator, stage: Stage) -> tuple[tuple[float, ...], tuple[Image.Image, ...]]:
    """The moments of a clip's strokes in seconds, and how far each one's bolt covers the frame."""
    moments = tuple(0.45 + 1.7 * i + rng.uniform(0, 0.7) for i in range(6))
    return moments, tuple(_bolt(rng, stage) for _ in moments)


def _bolt(rng: np.random.Generator, stage: Stage) -> Image.Image:
    fine = 2
    cover = Image.new("L", (stage.width * fine, stage.height * fine), 0)
    pen = ImageDraw.Draw(cover)
    trunk = _jagged(rng, stage, (rng.uniform(0.12, 0.88) * stage.width, 0.0), stage.horizon, 0.0)
    lines = [(trunk, 1.0)]
    for _ in range(3):
        root = trunk[int(rng.integers(2, max(3, len(trunk) * 2 // 3)))]
        end = min(root[1] + rng.uniform(40, 90) * stage.unit, stage.horizon)
        lines.append((_jagged(rng, stage, root, end, rng.choice([-0.8, 0.8])), 0.55))
    for width, value in ((9.0, 36), (4.5, 96), (1.8, 255)):
        for points, share in lines:
            placed = [(x * fine, y * fine) for x, y in points]
            pen.line(
                placed, fill=round(value * share**0.5), width=max(2, round(width * share * fine * stage.unit))
            )
    return cover.reduce(fine)


def _jagged(
    rng: np.random.Generator, stage: Stage, start: tuple[float, float], end: float, lean: float
) -> list[tuple[float, float]]:
    """A broken line from `start` down to row `end`."""
    x, y = start
    points = [start]
    while y < end:
        step = rng.uniform(5, 15) * stage.unit
        x, y = x + lean * step + rng.normal(0, 7) * stage.unit, min(y + step, end)
        points.append((x, y))
    return points
