"""Settings that people built: a city's skyline, a street, a room."""

import math
from collections.abc import Callable

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from reelbook.sandbox.render import plants
from reelbook.sandbox.render.land import GREENS, Built
from reelbook.sandbox.render.layers import Layer, Sprite, Stage
from reelbook.sandbox.render.palette import MOOD_HUES, Palette, mix, shaded
from reelbook.sandbox.render.shapes import Pen, Strip
from reelbook.sandbox.render.sky import night_share
from reelbook.sandbox.render.words import RGB, Scene

_WALLS: tuple[RGB, ...] = ((92, 100, 122), (112, 104, 118), (82, 96, 110), (124, 112, 112), (98, 90, 108))
_LAMP: RGB = (255, 214, 136)
_FINE = 2

Box = tuple[float, float, float, float]
Fill = Callable[[Box, RGB], None]


def city(rng: np.random.Generator, stage: Stage, scene: Scene, colours: Palette) -> Built:
    """A skyline behind a promenade."""
    back = [
        blocks(rng, stage, scene, colours, depth=0.10, foot=0.74, tall=(70, 190), wide=(20, 46), pane=0),
        blocks(rng, stage, scene, colours, depth=0.26, foot=0.78, tall=(60, 168), wide=(30, 58), pane=4.0),
        blocks(rng, stage, scene, colours, depth=0.5, foot=0.80, tall=(44, 120), wide=(44, 84), pane=6.0),
        pavement(rng, stage, scene, colours, row=0.775, lamps=3),
    ]
    return back, []


def street(rng: np.random.Generator, stage: Stage, scene: Scene, colours: Palette) -> Built:
    """A street between houses, with shop windows, lamps and, in neon, signs."""
    back = [
        blocks(rng, stage, scene, colours, depth=0.12, foot=0.74, tall=(110, 215), wide=(26, 60), pane=0),
        blocks(rng, stage, scene, colours, depth=0.34, foot=0.76, tall=(110, 205), wide=(44, 78), pane=5.0),
        blocks(
            rng,
            stage,
            scene,
            colours,
            depth=0.72,
            foot=0.775,
            tall=(110, 195),
            wide=(84, 140),
            pane=9.0,
            shops=True,
        ),
        pavement(rng, stage, scene, colours, row=0.765, lamps=4),
    ]
    return back, []


def blocks(
    rng: np.random.Generator,
    stage: Stage,
    scene: Scene,
    colours: Palette,
    *,
    depth: float,
    foot: float,
    tall: tuple[float, float],
    wide: tuple[float, float],
    pane: float,
    shops: bool = False,
) -> Layer:
    """One row of buildings; `pane` is the size of its windows, 0 for a mere outline."""
    unit, dark = stage.unit, night_share(colours)
    highest = tall[1] * unit * (1.35 if stage.height > stage.width else 1.0)
    top = math.floor(stage.height * foot - highest - 24 * unit)
    height = round(stage.height * foot) - top
    colour = Image.new("RGB", (stage.period * _FINE, height * _FINE), colours.lit(_WALLS[0], depth))
    cover = Image.new("L", colour.size, 0)
    pens = (ImageDraw.Draw(colour), ImageDraw.Draw(cover))
    signs: list[tuple[Box, RGB]] = []

    def fill(box: Box, paint: RGB) -> None:
        fine = (box[0] * _FINE, box[1] * _FINE, box[2] * _FINE - 1, box[3] * _FINE - 1)
        if fine[2] >= fine[0] and fine[3] >= fine[1]:
            pens[0].rectangle(fine, fill=paint)
            pens[1].rectangle(fine, fill=255)

    x = 0.0
    while x < stage.period:
        width = min(rng.uniform(*wide) * unit, stage.period - x)
        if stage.period - x - width < wide[0] * unit * 0.6:
            width = stage.period - x
        roof = height - rng.uniform(tall[0] * unit, highest)
        wall = colours.lit(shaded(_WALLS[int(rng.integers(len(_WALLS)))], rng.uniform(0.85, 1.08)), depth)
        fill((x, roof, x + width, height), wall)
        fill((x + width * 0.7, roof, x + width, height), shaded(wall, 0.86))
        if rng.random() < 0.4:
            fill((x + width * 0.2, roof - 9 * unit, x + width * 0.55, roof), shaded(wall, 0.92))
        if rng.random() < 0.25:
            fill((x + width * 0.48, roof - 20 * unit, x + width * 0.48 + 1.5 * unit, roof), shaded(wall, 0.8))
        if pane:
            _windows(
                rng,
                fill,
                (x, roof, x + width, height - (34 * unit if shops else 0)),
                pane * unit,
                wall,
                colours,
                dark,
                depth,
            )
        if shops:
            _shop(rng, fill, signs, (x, roof, x + width, height), unit, scene, colours, dark)
        x += width
    colour, cover = colour.reduce(_FINE), cover.reduce(_FINE)
    if signs:
        _glow(colour, signs, 5 * unit)
    mist = np.clip((np.arange(height) / height - 0.35) / 0.65, 0, 1)[:, None, None] * 0.55 * (1 - depth)
    pixels = np.asarray(colour, dtype=float)
    pixels = pixels + (np.array(colours.haze, dtype=float) - pixels) * mist
    return Strip(Image.fromarray(pixels.astype(np.uint8)), cover, top).layer(stage, depth)


def _windows(
    rng: np.random.Generator,
    fill: Fill,
    box: Box,
    pane: float,
    wall: RGB,
    colours: Palette,
    dark: float,
    depth: float,
) -> None:
    x0, y0, x1, y1 = box
    lamp = mix(colours.haze, colours.tone(_LAMP), 0.45 + 0.55 * depth)
    glass = mix(shaded(wall, 0.72), colours.sky[2], 0.35)
    step_x, step_y = pane * 1.9, pane * 2.1
    columns = max(1, int((x1 - x0 - pane) / step_x))
    left = x0 + ((x1 - x0) - columns * step_x + (step_x - pane)) / 2
    y = y0 + pane * 1.2
    while y < y1 - pane:
        busy = rng.random()
        for i in range(columns):
            lit = rng.random() < (0.10 + 0.62 * dark) * (0.45 + busy)
            paint = (
                shaded(lamp, rng.uniform(0.72, 1.05))
                if lit and dark > 0.25
                else shaded(glass, rng.uniform(0.9, 1.12))
            )
            fill((left + i * step_x, y, left + i * step_x + pane, y + pane * 1.15), paint)
        y += step_y


def _shop(
    rng: np.random.Generator,
    fill: Fill,
    signs: list[tuple[Box, RGB]],
    wall: Box,
    unit: float,
    scene: Scene,
    colours: Palette,
    dark: float,
) -> None:
    x, roof, width, height = wall[0], wall[1], wall[2] - wall[0], wall[3]
    hues: tuple[RGB, ...] = (
        MOOD_HUES["neon"]
        if scene.mood == "neon"
        else ((206, 92, 78), (76, 132, 128), (222, 164, 84), (98, 108, 156))
    )
    hue = colours.tone(hues[int(rng.integers(len(hues)))])
    inside = mix(colours.lit((150, 150, 150), 0.7), colours.tone(_LAMP), 0.2 + 0.75 * dark)
    top = height - 30 * unit
    fill((x + 6 * unit, top, x + width - 6 * unit, height - 4 * unit), inside)
    for share in (0.33, 0.66):
        fill((x + width * share, top, x + width * share + 2 * unit, height - 4 * unit), shaded(inside, 0.55))
    awning = hue if scene.mood == "neon" else colours.lit(hue, 0.8)
    fill(
        (x + 3 * unit, top - 6 * unit, x + width - 3 * unit, top + 1 * unit),
        mix(awning, colours.lit((60, 60, 70)), 0.3),
    )
    if scene.mood == "neon":
        for _ in range(2):
            tall, wide = (
                (rng.uniform(30, 66), rng.uniform(9, 13))
                if rng.random() < 0.6
                else (rng.uniform(9, 13), rng.uniform(30, 56))
            )
            sx = x + rng.uniform(0.05, max(0.06, 0.92 - wide * unit / width)) * width
            room = top - 16 * unit - tall * unit - roof
            if room > 8 * unit:
                sy = roof + 6 * unit + rng.random() * (room - 6 * unit)
                signs.append(
                    (
                        (sx, sy, sx + wide * unit, sy + tall * unit),
                        colours.tone(hues[int(rng.integers(len(hues)))]),
                    )
                )
        signs.append(((x + 3 * unit, top - 4 * unit, x + width - 3 * unit, top - 2 * unit), hue))


def _glow(picture: Image.Image, signs: list[tuple[Box, RGB]], reach: float) -> None:
    """Neon: a blurred halo of every sign, then its bright tubes."""
    halo = Image.new("RGB", picture.size)
    pen = ImageDraw.Draw(halo)
    for (x0, y0, x1, y1), paint in signs:
        pen.rectangle((x0 - reach, y0 - reach, x1 + reach, y1 + reach), fill=paint)
    halo = halo.filter(ImageFilter.BoxBlur(reach * 1.6)).filter(ImageFilter.BoxBlur(reach))
    pixels = np.asarray(picture, dtype=float)
    lit = np.asarray(halo, dtype=float)
    picture.paste(
        Image.fromarray(np.clip(255 - (255 - pixels) * (255 - lit * 0.8) / 255, 0, 255).astype(np.uint8))
    )
    pen = ImageDraw.Draw(picture)
    for (x0, y0, x1, y1), paint in signs:
        line = max(1, round(reach * 0.3))
        across, along = x1 - x0, y1 - y0
        if min(across, along) < reach:
            pen.rectangle((x0, y0, x1, y1), fill=shaded(paint, 1.55))
            continue
        pen.rounded_rectangle(
            (x0, y0, x1, y1),
            radius=reach * 0.6,
            fill=shaded(paint, 0.22),
            outline=shaded(paint, 1.35),
            width=line,
        )
        marks = max(2, int(max(across, along) / (reach * 2.4)))
        for i in range(marks):
            # Bars that read as letters from afar and mean nothing.
            share, size = (i + 0.5) / marks, min(across, along) * 0.22
            cx, cy = (
                (x0 + across * share, (y0 + y1) / 2)
                if across > along
                else ((x0 + x1) / 2, y0 + along * share)
            )
            pen.line((cx - size, cy, cx + size, cy), fill=shaded(paint, 1.6), width=line)
            if i % 2:
                pen.line((cx, cy - size, cx, cy + size), fill=shaded(paint, 1.6), width=line)


def pavement(
    rng: np.random.Generator, stage: Stage, scene: Scene, colours: Palette, *, row: float, lamps: int
) -> Layer:
    """Kerb, road and street lamps; wet, it mirrors the lights above it."""
    unit, dark = stage.unit, night_share(colours)
    line = np.full(stage.period, stage.height * row)
    wet = bool(scene.weather & {"rain", "storm"})
    asphalt = colours.lit((96, 98, 108) if not wet else (70, 76, 92))
    stone = colours.lit((150, 146, 146))
    strip = Strip.hill(
        stage,
        line,
        (stone, stone, asphalt, asphalt, shaded(asphalt, 0.8)),
        fade=96 * unit,
        headroom=150 * unit,
    )
    pen = ImageDraw.Draw(strip.colour)
    kerb = round(stage.height * row + 14 * unit - strip.top)
    bottom = strip.colour.height
    pen.rectangle((0, kerb, stage.period, bottom), fill=asphalt)
    pen.rectangle((0, kerb, stage.period, kerb + round(2.5 * unit)), fill=shaded(stone, 0.7))
    pixels = np.asarray(strip.colour, dtype=np.float32)
    rows = np.arange(bottom)
    fall = np.clip((rows - kerb) / max(1, bottom - kerb), 0, 1)[:, None]
    pixels = pixels * np.where(rows[:, None, None] >= kerb, 1.06 - 0.30 * fall[:, :, None], 1)
    if wet or dark > 0.5:
        hues: tuple[RGB, ...] = (
            MOOD_HUES["neon"] if scene.mood == "neon" else (_LAMP, (255, 190, 120), colours.sky[2])
        )
        road = pixels[kerb:]
        down = np.arange(road.shape[0], dtype=np.float32)[:, None]
        for _ in range(26):
            half = rng.uniform(4, 16) * unit
            reach = math.ceil(2.4 * half)
            columns = (int(rng.integers(stage.period)) + np.arange(-reach, reach)) % stage.period
            start = rng.uniform(20, 40) * unit
            streak = np.exp(-((np.arange(-reach, reach) / half) ** 2))[None, :] * np.exp(
                -np.abs(down - start) / (30 * unit)
            )
            broken = 0.6 + 0.4 * np.sin(down / (1.7 * unit) + start)
            share = (streak * broken * (0.62 if wet else 0.18) * max(0.3, dark))[:, :, None]
            light = np.array(colours.tone(hues[int(rng.integers(len(hues)))]), dtype=np.float32)
            road[:, columns] += (light - road[:, columns]) * share
    strip.colour = Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
    dash = round(stage.height * 0.905) - strip.top
    pen = ImageDraw.Draw(strip.colour)
    for left in range(0, stage.period - 30, max(1, stage.period // 9)):
        pen.polygon(
            [
                (left, dash),
                (left + 46 * unit, dash),
                (left + 44 * unit, dash + 3.5 * unit),
                (left - 3 * unit, dash + 3.5 * unit),
            ],
            fill=shaded(stone, 1.05),
        )
    for i in range(lamps):
        x = (i + rng.uniform(0.2, 0.8)) * stage.period / lamps
        if rng.random() < 0.35 and scene.mood != "neon":
            leaf = colours.lit(GREENS[int(rng.integers(len(GREENS)))])
            strip.stamp(
                plants.broadleaf(rng, 92 * unit, leaf, colours.lit((80, 64, 52))),
                x,
                stage.height * row + 8 * unit,
            )
        else:
            strip.stamp(_lamp(unit, colours, dark), x, stage.height * row + 9 * unit)
    return strip.layer(stage, 1.0)


def _lamp(unit: float, colours: Palette, dark: float) -> Sprite:
    iron = colours.lit((64, 68, 78))
    pen = Pen(120 * unit, 0.25, 0.3, 1.06, 0.04, iron)
    if dark > 0.4:
        for size, cover in ((0.2, 26), (0.14, 44), (0.085, 86)):
            pen.oval(0.17, 0.9, size, size, colours.tone(_LAMP), cover=cover)
    pen.limb([(0, 0), (0, 0.9)], [0.035, 0.02], iron)
    pen.limb([(0, 0.88), (0.05, 0.97), (0.16, 0.97)], [0.02, 0.02, 0.02], iron)
    pen.oval(0.17, 0.945, 0.055, 0.02, iron)
    pen.oval(
        0.17,
        0.925,
        0.04,
        0.018,
        colours.tone((255, 240, 200)) if dark > 0.3 else colours.lit((220, 224, 220)),
    )
    return pen.sprite()
