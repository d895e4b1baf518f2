"""The lines of a landscape: hills with what grows on them, mountains, table mountains, dunes.

Far ones fade into the sky's haze.
"""

from collections.abc import Callable

import numpy as np
from PIL import Image

from reelbook.sandbox.render.layers import Floats, Layer, Sprite, Stage
from reelbook.sandbox.render.palette import Palette, mix, shaded
from reelbook.sandbox.render.shapes import Strip, waves
from reelbook.sandbox.render.words import RGB

# Draws one thing of a height in pixels; the second number is chance from 0 to 1, to choose among kinds.
Grower = Callable[[float, float], Sprite]


def hills(
    rng: np.random.Generator,
    stage: Stage,
    colours: Palette,
    base: RGB,
    *,
    row: float,
    swell: float,
    depth: float,
    low: int = 2,
    high: int = 8,
    fade: float = 90,
    haze: float = 0.7,
    grow: Grower | None = None,
    count: int = 0,
    tall: tuple[float, float] = (0, 0),
    crest: RGB | None = None,
    sink: float = 2.0,
) -> Layer:
    """One line of hills at `row` (a share of the frame's height), with `count` things grown on it."""
    line = stage.height * row + stage.unit * swell * waves(rng, stage.period, low=low, high=high)
    lit = colours.lit(base, depth, haze)
    misty = mix(lit, colours.haze, 0.34 * (1 - depth))
    top = colours.lit(crest, depth, haze) if crest else shaded(lit, 1.08)
    strip = Strip.hill(
        stage, line, (top, lit, misty), fade=fade * stage.unit, headroom=tall[1] * stage.unit * 1.12
    )
    plant(rng, strip, stage, line, grow, count, tall, sink)
    return strip.layer(stage, depth)


def plant(
    rng: np.random.Generator,
    strip: Strip,
    stage: Stage,
    line: Floats,
    grow: Grower | None,
    count: int,
    tall: tuple[float, float],
    sink: float = 2.0,
) -> None:
    """Stamp `count` things of a few drawn kinds along `line`, unevenly, as things grow."""
    if not grow or not count:
        return
    kinds = [
        grow(rng.uniform(*tall) * stage.unit, rng.random())
        for _ in range(min(count, 6 if tall[1] > 50 else 10))
    ]
    groves = rng.uniform(0, stage.period, max(2, count // 5))
    for _ in range(count):
        loose = rng.random() < 0.45
        x = rng.uniform(0, stage.period) if loose else rng.choice(groves) + rng.normal(0, 42 * stage.unit)
        column = int(x) % stage.period
        strip.stamp(kinds[int(rng.integers(len(kinds)))], column, float(line[column]) + sink * stage.unit)


def peaks(
    rng: np.random.Generator,
    stage: Stage,
    colours: Palette,
    base: RGB,
    *,
    row: float,
    tall: float,
    depth: float,
    cap: RGB | None = None,
) -> Layer:
    """A chain of mountains with a lit and a shaded side, and snow on top if `cap` is given."""
    width = stage.period
    foot = stage.height * row
    columns = np.arange(width, dtype=np.float32)
    line = np.full(width, foot, dtype=float)
    side: Floats = np.ones(width)
    rough = waves(rng, width, low=14, high=90, rough=0.7)
    sharp = waves(rng, width, low=30, high=160, rough=0.75)
    step = 128 * stage.unit * tall / 150
    count = max(3, round(width / step))
    for i in range(count):
        x = (i + rng.uniform(0.1, 0.9)) * width / count
        height = stage.unit * tall * rng.uniform(0.5, 1.0)
        slope = rng.uniform(0.75, 1.15)
        gap = (columns - x + width / 2) % width - width / 2
        # The ridge between light and shade wanders down from the summit.
        peak = foot - height + np.abs(gap) * slope * np.where(gap < 0, 1.0, 0.86)
        higher = peak < line
        line = np.where(higher, peak, line)
        side = np.where(higher, gap, side)
    # Narrow mountains on a narrow stage must not carve more than they have.
    line += (rough * 5 + sharp * 2) * stage.unit * np.clip((foot - line) / (30 * stage.unit), 0, 1)
    strip = Strip.hill(stage, line, (colours.lit(base, depth),), fade=100 * stage.unit)
    rows = np.arange(strip.colour.height)[:, None] + strip.top
    below = rows - line[None, :]
    lit = np.array(colours.lit(shaded(base, 1.16), depth), dtype=float)
    dark = np.array(colours.lit(shaded(base, 0.72), depth), dtype=float)
    wander = (sharp * 9 + rough * 6)[None, :] * stage.unit + 0.30 * below * np.sin(
        below / (15 * stage.unit) + rough[None, :] * 2
    )
    # Light falls from the left; shade is where the ground falls away to the right of its own summit.
    right = np.clip((side[None, :] + wander) / (3 * stage.unit) + 0.5, 0, 1)[:, :, None]
    colour = lit + (dark - lit) * right
    if cap:
        snow_lit = np.array(colours.lit(cap, depth + 0.12), dtype=float)
        snow_dark = np.array(colours.lit(mix(cap, (110, 140, 196), 0.42), depth + 0.12), dtype=float)
        covered = foot - tall * stage.unit * 0.40 + (rough * 20 + sharp * 15)[None, :] * stage.unit
        share = np.clip((covered - rows) / (2.5 * stage.unit), 0, 1)[:, :, None]
        colour += (snow_lit + (snow_dark - snow_lit) * right - colour) * share
    mist = (
        np.clip((rows - (foot - tall * stage.unit * 0.62)) / (tall * stage.unit * 0.62), 0, 1)[:, :, None]
        * 0.62
    )
    colour += (np.array(colours.haze, dtype=float) - colour) * mist
    strip.colour = _image(colour)
    return strip.layer(stage, depth)


def mesas(rng: np.random.Generator, stage: Stage, colours: Palette, base: RGB, *, depth: float) -> Layer:
    """Table mountains."""
    line = np.full(stage.period, stage.height * 0.635)
    rough = waves(rng, stage.period, low=20, high=80, rough=0.8)
    columns = np.arange(stage.period)
    for _ in range(int(rng.integers(3, 6))):
        x, half, height = rng.uniform(0, stage.period), rng.uniform(22, 75), rng.uniform(34, 84)
        gap = np.abs((columns - x + stage.period / 2) % stage.period - stage.period / 2) / stage.unit
        profile = np.clip((half + 26 - gap) / 26, 0, 1) ** 1.9 * 0.55 + np.clip((half - gap) / 5, 0, 1) * 0.45
        line = np.minimum(
            line,
            stage.height * 0.635
            - height * stage.unit * profile
            + rough * 1.5 * stage.unit * (profile > 0.02),
        )
    lit = colours.lit(base, depth)
    strip = Strip.hill(
        stage,
        line,
        (shaded(lit, 1.1), lit, shaded(lit, 0.9), lit, mix(lit, colours.haze, 0.5)),
        fade=80 * stage.unit,
    )
    return strip.layer(stage, depth)


def dunes(
    rng: np.random.Generator,
    stage: Stage,
    colours: Palette,
    sand: RGB,
    *,
    row: float,
    swell: float,
    depth: float,
) -> Layer:
    """A line of dunes: a long lit slope up to each crest, a shaded one beyond it."""
    columns = np.arange(stage.period)
    line = np.full(stage.period, 1e9)
    side: Floats = np.zeros(stage.period)
    count = int(rng.integers(3, 6))
    for i in range(count):
        x = (i + rng.uniform(0.15, 0.85)) * stage.period / count
        gap = (columns - x + stage.period / 2) % stage.period - stage.period / 2
        height = swell * stage.unit * rng.uniform(0.5, 1.2)
        far = stage.period / count
        dune = stage.height * row - height * np.where(
            gap < 0, np.exp(-((gap / far) ** 2) * 2.2), np.exp(-np.abs(gap) / far * 1.7)
        )
        side = np.where(dune < line, gap, side)
        line = np.minimum(line, dune)
    strip = Strip.hill(stage, line, (colours.lit(sand, depth),), fade=80)
    rows = np.arange(strip.colour.height)[:, None] + strip.top
    below = (rows - line[None, :]) / stage.unit
    lit = np.array(colours.lit(shaded(sand, 1.07), depth), dtype=float)
    dark = np.array(colours.lit(mix(shaded(sand, 0.72), (150, 92, 92), 0.2), depth), dtype=float)
    # The edge between light and shade runs down from each crest in a long curve.
    edge = side[None, :] / stage.unit - 1.2 * below - 10 * np.sin(below / 16)
    right = (
        np.clip(edge / 2 + 0.5, 0, 1)
        * np.clip(1.25 - below / 120, 0.0, 1)
        * np.clip(1.7 - side[None, :] / (0.30 * stage.period / count), 0, 1)
    )
    ripple = 2.2 * np.sin(below * 1.1 + 3 * np.sin(columns[None, :] / (31 * stage.unit)))
    colour = lit + (dark - lit) * right[:, :, None] + (ripple * (1 - right) * depth)[:, :, None]
    strip.colour = _image(colour)
    return strip.layer(stage, depth)


def _image(colour: Floats) -> Image.Image:
    return Image.fromarray(np.clip(colour, 0, 255).astype(np.uint8))
