"""What is above the horizon: the sky's colours, sun or moon, stars, clouds, northern lights."""

import math
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw

from reelbook.sandbox.render.layers import Floats, Layer, Stage, wrapped
from reelbook.sandbox.render.palette import Palette, brightness, mix, shaded
from reelbook.sandbox.render.shapes import clouded, gradient
from reelbook.sandbox.render.words import RGB, Scene


@dataclass(frozen=True, eq=False)
class Sky:
    """The still picture of the sky, taller than the frame by a margin on top, and what moves in it."""

    picture: Image.Image
    layers: tuple[Layer, ...]
    twinkling: tuple[tuple[float, float, float, float], ...]
    sun: tuple[float, float] | None


def sky(rng: np.random.Generator, stage: Stage, scene: Scene, colours: Palette) -> Sky:
    height = stage.height + stage.margin
    horizon = stage.horizon + stage.margin
    rows = np.clip(np.arange(height) / horizon, 0, 1) ** 1.15
    table = gradient(colours.sky, 512).astype(np.float32)
    picture = np.repeat(table[(rows * 511).astype(int)][:, None, :], stage.width, axis=1)
    # A little grain keeps wide dark gradients from showing steps once they are compressed.
    picture += 0.9 * rng.standard_normal((height, stage.width, 1), dtype=np.float32)
    sun = _sun(rng, stage, scene, colours, picture)
    twinkling = _stars(rng, stage, scene, colours, picture, horizon)
    layers: list[Layer] = []
    if "aurora" in scene.weather:
        _aurora(rng, stage, colours, picture)
    layers += _clouds(rng, stage, scene, colours)
    return Sky(Image.fromarray(np.clip(picture, 0, 255).astype(np.uint8)), tuple(layers), twinkling, sun)


def paint(frame: Image.Image, above: Sky, y: float, seconds: float, colours: Palette) -> None:
    """Put the sky on `frame`, moved down by `y` pixels, its bright stars twinkling."""
    margin = above.picture.height - frame.height
    row = min(max(round(margin - y), 0), margin)
    frame.paste(above.picture.crop((0, row, frame.width, row + frame.height)))
    pen = ImageDraw.Draw(frame)
    for sx, sy, size, phase in above.twinkling:
        share = 0.5 + 0.5 * math.sin(seconds * (1.6 + phase) + phase * 9)
        colour = mix(colours.sky[1], (255, 252, 244), 0.25 + 0.7 * share)
        at = sy - row
        pen.ellipse((sx - size, at - size, sx + size, at + size), fill=colour)


def _sun(
    rng: np.random.Generator, stage: Stage, scene: Scene, colours: Palette, picture: Floats
) -> tuple[float, float] | None:
    hour = colours.hour
    left = rng.uniform(0.18, 0.40) if rng.random() < 0.5 else rng.uniform(0.60, 0.82)
    x, y = left * stage.width, stage.margin + stage.horizon * (1 - hour.height) - 0.02 * stage.height
    radius = stage.unit * (21 if hour.moon else 26 if hour.height < 0.35 else 19)
    yy, xx = np.ogrid[0 : picture.shape[0], 0 : picture.shape[1]]
    yy, xx = yy.astype(np.float32), xx.astype(np.float32)
    distance = np.sqrt((xx - x) ** 2 + (yy - y) ** 2)
    strength = hour.glow * (0.25 + 0.75 * colours.sun_shows)
    reach = stage.unit * (64 if hour.moon else 150)
    sun = np.array(colours.tone(hour.sun), dtype=np.float32)
    # The glow is wide at its foot and bright at its heart, as light in hazy air is.
    glow = strength * (
        0.42 * np.exp(-((distance / reach) ** 1.3)) + 0.4 * np.exp(-((distance / (reach * 0.36)) ** 1.5))
    )
    picture += (sun - picture) * np.clip(glow, 0, 0.95)[:, :, None]
    if colours.sun_shows < 0.25 or scene.time == "dusk":
        return None
    disc = np.clip(radius - distance + 0.5, 0, 1) * min(1.0, colours.sun_shows + 0.1)
    face = np.broadcast_to(sun, picture.shape).copy()
    if hour.moon:
        for _ in range(7):
            a, r, size = rng.uniform(0, 6.3), radius * rng.uniform(0.1, 0.75), radius * rng.uniform(0.12, 0.3)
            crater = np.hypot(xx - x - r * math.cos(a), yy - y - r * math.sin(a))
            face -= 20 * np.clip(size - crater + 0.5, 0, 1)[:, :, None]
        if rng.random() < 0.4:
            bite = np.hypot(xx - x - radius * 0.5, yy - y + radius * 0.22)
            disc *= np.clip(bite - radius * 0.92 + 0.5, 0, 1)
    picture += (face - picture) * disc[:, :, None]
    return x, y - stage.margin


def _stars(
    rng: np.random.Generator, stage: Stage, scene: Scene, colours: Palette, picture: Floats, horizon: int
) -> tuple[tuple[float, float, float, float], ...]:
    amount = max(colours.hour.stars, 0.6 if "stars" in scene.weather else 0.0) * colours.sun_shows
    if amount <= 0:
        return ()
    count = int(260 * amount * stage.width * horizon / (640 * 230))
    xs, ys = rng.uniform(1, stage.width - 2, count), rng.uniform(0, 1, count) ** 1.25 * (horizon - 3) + 1
    bright = rng.uniform(0.15, 0.85, count) * (1 - 0.75 * ys / horizon)
    for x, y, share in zip(xs.astype(int), ys.astype(int), bright, strict=True):
        picture[y, x] += (np.array((255.0, 250, 240)) - picture[y, x]) * share
        if share > 0.5:
            for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                picture[y + dy if y else y, x + dx] += 36 * share
    chosen = rng.integers(0, count, max(3, int(20 * amount)))
    sizes = rng.uniform(0.5, 1.0, len(chosen)) * stage.unit
    return tuple(
        (float(xs[i]), float(ys[i]) * 0.8, float(size), float(rng.random()))
        for i, size in zip(chosen, sizes, strict=True)
    )


def _aurora(rng: np.random.Generator, stage: Stage, colours: Palette, picture: Floats) -> None:
    noise = clouded(rng, stage.width, 8, 90)
    rows = np.arange(picture.shape[0])[:, None]
    for colour, top, reach in (
        ((70, 240, 160), 0.30, 0.34),
        ((120, 120, 240), 0.16, 0.30),
        ((80, 230, 210), 0.44, 0.22),
    ):
        path = (top + 0.12 * (clouded(rng, stage.width, 4, 240)[1] - 0.5)) * stage.horizon + stage.margin
        curtain = np.exp(-np.clip((rows - path[None, :]) / (reach * stage.horizon * 0.4), 0, 9))
        curtain *= np.exp(-np.clip((path[None, :] - rows) / (reach * stage.horizon), 0, 9))
        share = (curtain * (0.25 + 0.75 * noise[rng.integers(0, 8)][None, :]) * 0.55)[:, :, None]
        picture += (np.array(colours.tone(colour), dtype=float) - picture) * share


def _clouds(rng: np.random.Generator, stage: Stage, scene: Scene, colours: Palette) -> list[Layer]:
    if scene.weather & {"storm", "rain", "clouds", "fog", "snowfall"}:
        heavy = 1.0 if "storm" in scene.weather else 0.7 if scene.weather & {"rain", "clouds"} else 0.35
        return [_ceiling(rng, stage, colours, heavy, wind=1.6 if scene.weather & {"wind", "storm"} else 1.0)]
    if "clear" in scene.weather or colours.hour.stars > 0.5 or scene.setting == "desert":
        return []
    return [
        _puffs(rng, stage, colours, row=0.50, size=0.55, depth=0.05, share=0.55),
        _puffs(rng, stage, colours, row=0.26, size=1.0, depth=0.10, share=0.8),
    ]


def cloud_colours(colours: Palette) -> tuple[RGB, RGB]:
    """A cloud's lit top and shaded foot."""
    lit = mix(
        mix(colours.sky[3], colours.tone(colours.hour.sun), 0.45),
        (255, 255, 255),
        0.25 * min(1.0, colours.light[1]),
    )
    return lit, mix(colours.sky[1], lit, 0.42)


def _puffs(
    rng: np.random.Generator,
    stage: Stage,
    colours: Palette,
    *,
    row: float,
    size: float,
    depth: float,
    share: float,
) -> Layer:
    """A row of fair-weather clouds: flat feet, round heads, soft edges."""
    fine = 2
    height = round(70 * stage.unit * size)
    mask = Image.new("L", (stage.period * fine, height * fine), 0)
    pen = ImageDraw.Draw(mask)
    for _ in range(3):
        middle, wide = rng.uniform(0, stage.period), stage.unit * size * rng.uniform(60, 120)
        for _ in range(9):
            off = rng.normal(0, 0.3)
            r = height * rng.uniform(0.2, 0.46) * max(0.25, 1 - abs(off) * 1.1)
            for lap in (-stage.period, 0, stage.period):
                x, y = (middle + lap + off * wide) * fine, (height * 0.78 - r * 0.55) * fine
                pen.ellipse((x - 1.35 * r * fine, y - r * fine, x + 1.35 * r * fine, y + r * fine), fill=255)
    mask = mask.reduce(fine)
    fall = np.clip((height * 0.80 - np.arange(height)) / (height * 0.3), 0, 1)[:, None]
    cover = (np.asarray(mask, dtype=float) * fall * share).astype(np.uint8)
    lit, dark = cloud_colours(colours)
    colour = np.repeat(gradient((lit, lit, dark), height)[:, None, :], stage.period, axis=1)
    return Layer(
        wrapped(Image.fromarray(colour), stage),
        wrapped(Image.fromarray(cover), stage),
        round(stage.horizon * row * rng.uniform(0.7, 1.2)),
        depth,
        stage.period,
        drift=-5.0 * size * stage.unit,
    )


def _ceiling(rng: np.random.Generator, stage: Stage, colours: Palette, heavy: float, *, wind: float) -> Layer:
    """A covered sky, thickest at its top."""
    height = stage.horizon + stage.margin
    noise = clouded(rng, stage.period, height, round(300 * stage.unit), flat=2.6)
    rows = np.arange(height)[:, None] / height
    cover = (
        np.clip((noise - 0.40 + 0.22 * heavy) * 2.4, 0, 1) * np.clip(1.18 - rows, 0, 1) * (0.45 + 0.5 * heavy)
    )
    lit, dark = cloud_colours(colours)
    table = gradient((shaded(dark, 1 - 0.34 * heavy), dark, mix(lit, dark, 0.3)), 256)
    tone = np.clip((noise * 0.75 + 0.35 * rows) * 255, 0, 255).astype(np.uint8)
    return Layer(
        wrapped(Image.fromarray(table[tone]), stage),
        wrapped(Image.fromarray((cover * 255).astype(np.uint8)), stage),
        -stage.margin,
        0.05,
        stage.period,
        drift=-9.0 * wind * stage.unit,
    )


def night_share(colours: Palette) -> float:
    """How dark it is, from 0 by day to 1 at night: lamps and windows shine by it."""
    return float(np.clip(1.25 - brightness(colours.sky[2]) / 130, 0, 1))
