"""A room: a window, a lamp's warmth, a plant, some furniture."""

import math

import numpy as np
from PIL import Image, ImageDraw

from reelbook.sandbox.render.land import Built
from reelbook.sandbox.render.layers import Sprite, Stage
from reelbook.sandbox.render.palette import Palette, mix, shaded
from reelbook.sandbox.render.shapes import Pen, Strip
from reelbook.sandbox.render.sky import night_share
from reelbook.sandbox.render.words import RGB, Scene


def indoors(rng: np.random.Generator, stage: Stage, scene: Scene, colours: Palette) -> Built:
    unit, dark = stage.unit, night_share(colours)
    walls: tuple[RGB, ...] = ((214, 186, 160), (160, 186, 182), (202, 178, 196), (190, 196, 160))
    wall = mix(
        colours.tone(scene.ground_tint or walls[int(rng.integers(len(walls)))]), (40, 30, 52), 0.5 * dark
    )
    floor_row, top = stage.height * 0.76, -stage.margin
    picture = Image.new("RGB", (stage.period, stage.height + 2 * stage.margin), wall)
    pixels = (
        np.asarray(picture, dtype=float) * (1.08 - 0.22 * np.linspace(0, 1, picture.height))[:, None, None]
    )
    picture = Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
    pen = ImageDraw.Draw(picture)
    wood = mix(colours.tone((150, 106, 74)), (34, 26, 40), 0.45 * dark)
    base = round(floor_row - top)
    pen.rectangle((0, base, stage.period, picture.height), fill=wood)
    for i in range(5):
        y = base + (i + 1) ** 1.6 * 6 * unit
        pen.line((0, y, stage.period, y), fill=shaded(wood, 0.86), width=max(1, round(unit)))
    pen.rectangle((0, base - 7 * unit, stage.period, base), fill=shaded(wall, 1.16))
    windows: list[float] = []
    for i in range(2):
        x = stage.period * (0.12 + 0.5 * i) + rng.uniform(0, 0.12) * stage.period
        windows.append(x)
        _window(pen, x, stage.height * 0.16 - top, 120 * unit, 136 * unit, unit, wall, colours)
    for _ in range(6):
        x, y = rng.uniform(0, stage.period - 60 * unit), stage.height * rng.uniform(0.2, 0.34) - top
        if any(left - 60 * unit < x < left + 140 * unit for left in windows):
            continue
        hue = colours.tone(tuple(int(c) for c in rng.integers(70, 210, 3)))  # type: ignore[arg-type] # three numbers
        pen.rectangle(
            (x, y, x + 38 * unit, y + 48 * unit),
            fill=shaded(wall, 1.3),
            outline=shaded(wood, 0.7),
            width=max(1, round(3 * unit)),
        )
        pen.ellipse((x + 9 * unit, y + 12 * unit, x + 29 * unit, y + 34 * unit), fill=mix(hue, wall, 0.2))
    strip = Strip(picture, Image.new("L", picture.size, 255), top)
    for i in range(3):
        x = (i + rng.uniform(0.1, 0.9)) * stage.period / 3
        strip.stamp(
            _sofa(rng, unit, colours, dark) if i == 0 else _plant(rng, unit, colours, dark),
            x,
            floor_row + 10 * unit,
        )
    rug = colours.lit((170, 84, 78))
    fine = ImageDraw.Draw(strip.colour)
    for x in (0.22, 0.72):
        box = (
            stage.period * x,
            stage.height * 0.82 - top,
            stage.period * (x + 0.26),
            stage.height * 0.95 - top,
        )
        fine.ellipse(box, fill=mix(rug, wood, 0.3))
        fine.ellipse((box[0] + 9 * unit, box[1] + 4 * unit, box[2] - 9 * unit, box[3] - 4 * unit), fill=rug)
    return [strip.layer(stage, 1.0)], []


def _window(
    pen: ImageDraw.ImageDraw,
    x: float,
    y: float,
    width: float,
    height: float,
    unit: float,
    wall: RGB,
    colours: Palette,
) -> None:
    for row in range(int(height)):
        share = row / height * 3
        low = min(2, int(share))
        pen.line(
            (x, y + row, x + width, y + row), fill=mix(colours.sky[low], colours.sky[low + 1], share - low)
        )
    frame = shaded(wall, 1.3)
    line = max(2, round(5 * unit))
    pen.rectangle((x - line, y - line, x + width + line, y + height + line), outline=frame, width=line)
    pen.line((x + width / 2, y, x + width / 2, y + height), fill=frame, width=line)
    pen.line((x, y + height * 0.42, x + width, y + height * 0.42), fill=frame, width=line)


def _sofa(rng: np.random.Generator, unit: float, colours: Palette, dark: float) -> Sprite:
    hues: tuple[RGB, ...] = ((78, 110, 132), (170, 96, 76), (96, 126, 96))
    cloth = mix(colours.tone(hues[int(rng.integers(3))]), (30, 26, 40), 0.4 * dark)
    pen = Pen(150 * unit, 0.6, 0.6, 0.62, 0.06, cloth)
    pen.blob([(-0.5, 0.1), (-0.48, 0.52), (0.0, 0.56), (0.48, 0.52), (0.5, 0.1)], shaded(cloth, 0.9))
    pen.box(-0.5, 0.04, 0.5, 0.26, cloth)
    for x in (-0.52, 0.40):
        pen.blob(
            [(x, 0.02), (x, 0.36), (x + 0.06, 0.4), (x + 0.12, 0.36), (x + 0.12, 0.02)], shaded(cloth, 1.08)
        )
    pen.box(-0.005, 0.1, 0.005, 0.5, shaded(cloth, 0.75))
    return pen.sprite()


def _plant(rng: np.random.Generator, unit: float, colours: Palette, dark: float) -> Sprite:
    leaf = mix(colours.tone((76, 136, 84)), (20, 30, 40), 0.4 * dark)
    pot = mix(colours.tone((196, 116, 80)), (40, 26, 40), 0.4 * dark)
    pen = Pen(120 * unit, 0.4, 0.4, 1.0, 0.05, leaf)
    for i in range(9):
        angle = -1.1 + 2.2 * i / 8 + rng.uniform(-0.1, 0.1)
        reach = rng.uniform(0.35, 0.6)
        tip = (math.sin(angle) * reach * 0.7, 0.26 + math.cos(angle) * reach)
        pen.limb(
            [(0, 0.2), (tip[0] * 0.4, tip[1] * 0.75), tip],
            [0.03, 0.085, 0.01],
            shaded(leaf, rng.uniform(0.8, 1.15)),
        )
    pen.polygon([(-0.12, 0.26), (0.12, 0.26), (0.09, 0.0), (-0.09, 0.0)], pot)
    pen.box(-0.135, 0.23, 0.135, 0.28, shaded(pot, 1.1))
    return pen.sprite()
