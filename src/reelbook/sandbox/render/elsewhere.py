"""Settings that are no place on earth: outer space, and the abstract ribbons of a prompt without things."""

import colorsys
import hashlib
import math

import numpy as np
from PIL import Image

from reelbook.sandbox.render.land import Built
from reelbook.sandbox.render.layers import Floats, Layer, Sprite, Stage, wrapped
from reelbook.sandbox.render.palette import MOOD_HUES, Palette, mix, shaded
from reelbook.sandbox.render.shapes import Strip, clouded, gradient, waves
from reelbook.sandbox.render.words import RGB, Scene

_NEBULAE: tuple[tuple[RGB, RGB], ...] = (
    ((112, 52, 168), (34, 118, 178)),
    ((176, 60, 110), (70, 60, 170)),
    ((30, 130, 130), (90, 60, 160)),
    ((190, 96, 60), (90, 50, 140)),
)


def space_picture(rng: np.random.Generator, stage: Stage, scene: Scene, colours: Palette) -> Image.Image:
    """The far background of space: black, a nebula, countless faint stars."""
    height = stage.height + stage.margin
    picture = np.zeros((height, stage.width, 3)) + np.array(colours.tone((8, 9, 24)), dtype=float)
    first, second = _NEBULAE[int(rng.integers(len(_NEBULAE)))]
    for hue in (scene.sky_tint or first, second):
        noise = clouded(rng, stage.width, height, round(220 * stage.unit))
        share = np.clip((noise - 0.42) * 1.7, 0, 1) ** 1.4 * 0.62
        picture += (np.array(colours.tone(hue), dtype=float) - picture) * share[:, :, None]
    count = stage.width * height // 620
    xs, ys = rng.integers(0, stage.width, count), rng.integers(0, height, count)
    picture[ys, xs] += (255 - picture[ys, xs]) * (rng.random((count, 1)) ** 2.2 * 0.8)
    picture += rng.normal(0, 0.8, (height, stage.width, 1))
    return Image.fromarray(np.clip(picture, 0, 255).astype(np.uint8))


def space(rng: np.random.Generator, stage: Stage, scene: Scene, colours: Palette) -> Built:
    """Stars at two depths and planets."""
    back = [_stars(rng, stage, colours, 130, 0.22, 0.9), _stars(rng, stage, colours, 46, 0.45, 1.5)]
    planets: tuple[tuple[RGB, RGB], ...] = (
        ((218, 130, 84), (244, 206, 150)),
        ((84, 140, 214), (220, 238, 250)),
        ((196, 160, 214), (120, 92, 176)),
        ((124, 182, 142), (222, 226, 170)),
    )
    order = rng.permutation(len(planets))
    height = stage.height
    strip = Strip(Image.new("RGB", (stage.period, height)), Image.new("L", (stage.period, height), 0), 0)
    big_x = rng.uniform(0.08, 0.22) if rng.random() < 0.5 else rng.uniform(0.40, 0.5)
    strip.stamp(
        planet(rng, 92 * stage.unit, planets[order[0]], colours, ring=rng.random() < 0.6),
        big_x * stage.period,
        height * rng.uniform(0.70, 0.88),
    )
    strip.stamp(
        planet(rng, 24 * stage.unit, planets[order[1]], colours, ring=False),
        (big_x + 0.3) * stage.period,
        height * rng.uniform(0.14, 0.3),
    )
    strip.stamp(
        planet(rng, 38 * stage.unit, planets[order[2]], colours, ring=rng.random() < 0.5),
        (big_x + 0.72) * stage.period,
        height * rng.uniform(0.2, 0.7),
    )
    back.append(strip.layer(stage, 0.34))
    return back, []


def _stars(
    rng: np.random.Generator, stage: Stage, colours: Palette, count: int, depth: float, size: float
) -> Layer:
    height = stage.height + 2 * stage.margin
    cover = np.zeros((height, stage.period))
    reach = math.ceil(size * stage.unit * 3)
    yy, xx = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    for _ in range(count):
        x, y = int(rng.integers(0, stage.period)), int(rng.integers(reach, height - reach))
        radius = size * stage.unit * rng.uniform(0.5, 1.1)
        dot = np.exp(-(xx**2 + yy**2) / (radius**2 * 1.2)) * rng.uniform(0.5, 1.0) * 255
        columns = (x + np.arange(-reach, reach + 1)) % stage.period
        cover[y - reach : y + reach + 1, columns] = np.maximum(cover[y - reach : y + reach + 1, columns], dot)
    colour = Image.new("RGB", (stage.width, height), colours.tone((252, 248, 255)))
    return Layer(
        colour,
        wrapped(Image.fromarray(cover.astype(np.uint8)), stage),
        -stage.margin,
        depth,
        stage.period,
        drift=2 * stage.unit,
    )


def planet(
    rng: np.random.Generator, radius: float, hues: tuple[RGB, RGB], colours: Palette, *, ring: bool
) -> Sprite:
    """A banded globe, lit from the upper left."""
    reach = math.ceil(radius * (1.95 if ring else 1.12))
    yy, xx = np.mgrid[-reach : reach + 1, -reach : reach + 1] / radius
    distance = np.hypot(xx, yy)
    depth = np.sqrt(np.clip(1 - distance**2, 0, 1))
    tilt = rng.uniform(-0.4, 0.4)
    latitude = yy * math.cos(tilt) + xx * math.sin(tilt) + 0.06 * np.sin(4 * xx + rng.uniform(0, 6)) * depth
    stripes = 0.5 + 0.5 * np.sin(latitude * rng.uniform(6, 11) + rng.uniform(0, 6)) * np.cos(
        latitude * 3.1 + 1
    )
    light = np.clip(-0.62 * xx - 0.5 * yy + 0.6 * depth, 0, 1) ** 0.85
    low, high = (np.array(colours.tone(hue), dtype=float) for hue in hues)
    colour: Floats = (low + (high - low) * stripes[:, :, None]) * (0.07 + 0.98 * light[:, :, None])
    rim = np.clip(1 - np.abs(distance - 0.985) * 14, 0, 1) * light
    colour += rim[:, :, None] * 46
    cover = np.clip((1 - distance) * radius + 0.5, 0, 1)
    if ring:
        rx, ry = xx * math.cos(0.35) - yy * math.sin(0.35), (xx * math.sin(0.35) + yy * math.cos(0.35)) * 3.4
        round_it = np.hypot(rx, ry)
        band_cover = (
            np.clip((1.82 - round_it) * 9, 0, 1)
            * np.clip((round_it - 1.26) * 9, 0, 1)
            * (0.5 + 0.4 * np.sin(round_it * 30))
        )
        band_cover *= np.where((ry < 0) & (distance < 1), 0, 1)
        colour += (high * 0.9 - colour) * band_cover[:, :, None]
        cover = np.maximum(cover, band_cover * 0.85)
    return Sprite(
        Image.fromarray(np.clip(colour, 0, 255).astype(np.uint8)),
        Image.fromarray((cover * 255).astype(np.uint8)),
        (reach, reach),
    )


def hues(scene: Scene) -> tuple[RGB, RGB, RGB]:
    """Three colours that suit the mood, or else the unknown words themselves."""
    if scene.mood in MOOD_HUES:
        return MOOD_HUES[scene.mood or ""]
    digest = hashlib.blake2b(" ".join(scene.unknown).encode(), digest_size=4).digest()
    turn, spread = digest[0] / 256, 0.06 + digest[1] / 256 * 0.2
    tint = scene.sky_tint or scene.ground_tint
    if tint:
        turn = colorsys.rgb_to_hsv(*(channel / 255 for channel in tint))[0]
    three = [
        colorsys.hsv_to_rgb((turn + shift) % 1, s, v)
        for shift, s, v in ((0, 0.66, 0.72), (spread, 0.55, 0.9), (-spread, 0.35, 0.97))
    ]
    a, b, c = ((round(r * 255), round(g * 255), round(bl * 255)) for r, g, bl in three)
    return a, b, c


def abstract_picture(rng: np.random.Generator, stage: Stage, scene: Scene, colours: Palette) -> Image.Image:
    """A soft field of the scene's hues."""
    height = stage.height + stage.margin
    deep, middle, light = hues(scene)
    dark = mix(shaded(deep, 0.34), (20, 18, 40), 0.4)
    table = gradient((dark, shaded(deep, 0.75), mix(deep, middle, 0.6)), 256)
    noise = clouded(rng, stage.width, height, round(300 * stage.unit))
    rows = np.linspace(0, 1, height)[:, None]
    picture = table[np.clip((0.55 * noise + 0.45 * rows) * 255, 0, 255).astype(int)].astype(float)
    yy, xx = np.mgrid[0:height, 0 : stage.width]
    x, y = rng.uniform(0.25, 0.75) * stage.width, rng.uniform(0.2, 0.5) * height
    glow = np.exp(-((np.hypot(xx - x, yy - y) / (130 * stage.unit)) ** 1.4)) * 0.6
    picture += (np.array(light, dtype=float) - picture) * glow[:, :, None] + rng.normal(
        0, 0.9, (height, stage.width, 1)
    )
    return Image.fromarray(np.clip(picture, 0, 255).astype(np.uint8))


def abstract(rng: np.random.Generator, stage: Stage, scene: Scene, colours: Palette) -> Built:
    """Ribbons and discs that drift past each other."""
    deep, middle, light = hues(scene)
    back: list[Layer] = []
    strip = Strip(
        Image.new("RGB", (stage.period, stage.height), light),
        Image.new("L", (stage.period, stage.height), 0),
        0,
    )
    for _ in range(9):
        radius = rng.uniform(8, 58) * stage.unit
        strip.stamp(
            disc(rng, radius, mix(light, middle, rng.random()), rng.uniform(0.25, 0.8)),
            rng.uniform(0, stage.period),
            rng.uniform(0.12, 0.75) * stage.height,
        )
    back.append(
        strip.layer(
            stage, 0.3, drift=-12 * stage.unit, bob=7 * stage.unit, bob_seconds=6.5, phase=rng.random()
        )
    )
    ramp = (light, mix(light, middle, 0.5), middle, mix(middle, deep, 0.4), deep, shaded(deep, 0.7))
    for i in range(5):
        line = stage.height * (0.24 + 0.155 * i) + (96 - 8 * i) * stage.unit * waves(
            rng, stage.period, low=2, high=6, rough=0.45
        )
        colour = mix(ramp[i], ramp[i + 1], rng.random() * 0.5)
        band = Strip.hill(
            stage, line, (mix(colour, light, 0.45), colour, shaded(colour, 0.62)), fade=118 * stage.unit
        )
        _into_ribbon(band, line, rng.uniform(50, 105) * stage.unit)
        back.append(
            band.layer(
                stage,
                0.25 + 0.18 * i,
                drift=(14 + 9 * i) * stage.unit * (1 if i % 2 else -1),
                bob=(4 + 2 * i) * stage.unit,
                bob_seconds=rng.uniform(5, 8),
                phase=rng.random(),
            )
        )
    return back[:4], back[4:]


def _into_ribbon(band: Strip, line: Floats, thick: float) -> None:
    """Let a hill fade out below its crest, so that it hangs in the air as silk does."""
    below = np.arange(band.cover.height)[:, None] + band.top - line[None, :]
    fade = np.clip(1.0 - below / (thick * (1.0 + 0.45 * np.sin(line / thick * 3.1)[None, :])), 0, 1) ** 0.9
    cover = np.asarray(band.cover, dtype=np.float32) * 0.92 * fade
    band.cover = Image.fromarray(cover.astype(np.uint8))


def disc(rng: np.random.Generator, radius: float, colour: RGB, solid: float) -> Sprite:
    """A soft-shaded ball or ring."""
    reach = math.ceil(radius) + 4
    yy, xx = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    distance = np.hypot(xx, yy)
    cover = np.clip(radius - distance + 0.5, 0, 1) * solid
    if rng.random() < 0.35:
        cover *= 0.15 + 0.85 * np.clip(distance - radius * 0.82 + 0.5, 0, 1)
    light = np.clip(1.0 - np.hypot(xx + radius * 0.4, yy + radius * 0.4) / (radius * 2.4), 0, 1)
    pixels = (
        np.array(shaded(colour, 0.72), dtype=float)
        + (255 - np.array(colour, dtype=float)) * 0.5 * light[:, :, None]
        + 60 * light[:, :, None]
    )
    return Sprite(
        Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)),
        Image.fromarray((cover * 255).astype(np.uint8)),
        (reach, reach),
    )
