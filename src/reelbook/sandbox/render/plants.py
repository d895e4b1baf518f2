"""Small standing things of a landscape, drawn once and stamped many times: trees, bushes, rocks, flowers."""

import math

import numpy as np

from reelbook.sandbox.render.layers import Sprite
from reelbook.sandbox.render.palette import mix, shaded
from reelbook.sandbox.render.shapes import Pen, Point
from reelbook.sandbox.render.words import RGB


def pine(rng: np.random.Generator, height: float, leaf: RGB, *, snow: RGB | None = None) -> Sprite:
    """A fir of `height` pixels, with snow of that colour on its boughs if one is given."""
    pen = Pen(height, 0.3, 0.3, 1.05, 0.05, leaf)
    trunk = mix(leaf, (60, 40, 30), 0.5)
    pen.box(-0.022, -0.04, 0.022, 0.2, trunk)
    tiers = int(rng.integers(4, 6))
    lean = rng.uniform(-0.015, 0.015)
    dark = shaded(leaf, 0.82)
    for i in range(tiers):
        low, wide = 0.1 + 0.9 * i / tiers * 0.93, 0.245 * (1 - i / tiers) ** 0.85 + 0.03
        high = min(1.0, low + 0.40 - 0.03 * i)
        shape = [
            (-wide, low),
            (-wide * 0.45, low + 0.022),
            (0.0, low - 0.015),
            (wide * 0.5, low + 0.02),
            (wide, low),
            (lean, high),
        ]
        pen.polygon(shape, leaf)
        pen.polygon([(0.02, low - 0.01), (wide * 0.5, low + 0.02), (wide, low), (lean, high)], dark)
        if snow:
            pen.polygon(
                [
                    (lean, high),
                    (-wide * 0.62, low + (high - low) * 0.32),
                    (-wide * 0.3, low + (high - low) * 0.36),
                    (-wide * 0.12, low + (high - low) * 0.22),
                    (wide * 0.16, low + (high - low) * 0.46),
                    (wide * 0.34, low + (high - low) * 0.4),
                    (wide * 0.30, low + (high - low) * 0.52),
                ],
                snow,
            )
    return pen.sprite()


def broadleaf(rng: np.random.Generator, height: float, leaf: RGB, trunk: RGB = (92, 66, 48)) -> Sprite:
    """A round-crowned tree of `height` pixels."""
    pen = Pen(height, 0.5, 0.5, 1.05, 0.05, leaf)
    pen.limb([(0, -0.03), (0.01, 0.25), (0.0, 0.5)], [0.10, 0.055, 0.05], trunk)
    pen.limb([(0.0, 0.3), (0.12, 0.48)], [0.04, 0.025], trunk)
    pen.limb([(0.0, 0.34), (-0.11, 0.5)], [0.035, 0.02], trunk)
    puffs = [(rng.uniform(-0.24, 0.24), rng.uniform(0.48, 0.82), rng.uniform(0.13, 0.2)) for _ in range(9)]
    puffs += [(0.0, 0.68, 0.26), (-0.2, 0.56, 0.17), (0.2, 0.56, 0.17)]
    crown(pen, rng, puffs, leaf)
    return pen.sprite()


def crown(pen: Pen, rng: np.random.Generator, puffs: list[tuple[float, float, float]], leaf: RGB) -> None:
    """The leaves of a tree: a dark mass of `puffs` (x, y, radius), lighter tufts where light falls."""
    for x, y, r in puffs:
        pen.oval(x, y, r, r * 0.95, shaded(leaf, 0.74))
    for shade, shift, size, count in ((0.88, 0.03, 0.62, 26), (1.0, 0.055, 0.42, 26), (1.13, 0.08, 0.22, 18)):
        for _ in range(count):
            x, y, r = puffs[int(rng.integers(len(puffs)))]
            px, py = x - shift + rng.normal(0, 0.3) * r, y + shift + rng.normal(0, 0.3) * r
            pen.oval(
                px,
                py,
                r * size * rng.uniform(0.7, 1.1),
                r * size * rng.uniform(0.5, 0.85),
                shaded(leaf, shade),
            )


def birch(rng: np.random.Generator, height: float, leaf: RGB, trunk: RGB) -> Sprite:
    """A tall thin trunk with a loose crown, for the near edge of a wood."""
    pen = Pen(height, 0.32, 0.32, 1.05, 0.05, leaf)
    pen.limb([(0, -0.04), (rng.uniform(-0.02, 0.02), 0.4), (0.0, 0.9)], [0.055, 0.036, 0.02], trunk)
    for _ in range(7):
        y, side = rng.uniform(0.12, 0.8), rng.choice([-1, 1])
        pen.limb([(side * 0.012, y), (side * 0.02, y + 0.004)], [0.008, 0.004], shaded(trunk, 0.45))
    for shade in (0.72, 0.86, 1.0, 1.13):
        for _ in range(26):
            y = rng.uniform(0.52, 0.99)
            wide = 0.16 * math.sin(math.pi * min(1.0, (y - 0.44) / 0.62))
            pen.oval(
                rng.normal(0, wide * 0.62) - 0.03 * (shade - 0.7),
                y,
                rng.uniform(0.02, 0.05),
                rng.uniform(0.014, 0.03),
                shaded(leaf, shade),
            )
    return pen.sprite()


def palm(rng: np.random.Generator, height: float, leaf: RGB, trunk: RGB) -> Sprite:
    pen = Pen(height, 0.5, 0.55, 1.15, 0.05, leaf)
    lean = rng.uniform(-0.1, 0.16)
    pen.limb([(0, -0.03), (lean * 0.3, 0.4), (lean, 0.85)], [0.055, 0.04, 0.035], trunk)
    for i in range(8):
        angle = -1.9 + 3.8 * i / 7 + rng.uniform(-0.12, 0.12)
        reach = rng.uniform(0.28, 0.36)
        tip = (lean + math.sin(angle) * reach, 0.85 + math.cos(angle) * reach * 0.55 - 0.12)
        middle = (lean + math.sin(angle) * reach * 0.55, 0.85 + math.cos(angle) * reach * 0.5 + 0.06)
        pen.limb([(lean, 0.85), middle, tip], [0.02, 0.065, 0.006], shaded(leaf, 0.8 + 0.3 * (i % 2)))
    return pen.sprite()


def cactus(rng: np.random.Generator, height: float, colour: RGB) -> Sprite:
    """A saguaro."""
    pen = Pen(height, 0.4, 0.4, 1.05, 0.05, colour)
    for side, low in ((-1, rng.uniform(0.3, 0.5)), (1, rng.uniform(0.38, 0.6))):
        reach = 0.2 * side
        pen.limb(
            [(0, low), (reach, low + 0.02), (reach, low + 0.1), (reach, low + 0.3)],
            [0.09, 0.1, 0.1, 0.085],
            colour,
        )
    pen.limb([(0, -0.03), (0, 0.5), (0, 0.93)], [0.15, 0.155, 0.125], colour)
    light = shaded(colour, 1.12)
    for x in (-0.035, 0.0):
        pen.limb([(x, 0.02), (x, 0.9)], [0.014, 0.014], light)
    return pen.sprite()


def rock(rng: np.random.Generator, width: float, colour: RGB) -> Sprite:
    """A boulder of `width` pixels."""
    pen = Pen(width, 0.6, 0.6, 0.7, 0.08, colour)
    top = rng.uniform(0.35, 0.5)
    outline = [
        (-0.5, -0.04),
        (-0.44, top * 0.55),
        (-0.16, top),
        (0.2, top * 0.9),
        (0.46, top * 0.4),
        (0.5, -0.04),
    ]
    pen.polygon(outline, colour)
    pen.polygon(
        [(-0.44, top * 0.55), (-0.16, top), (0.2, top * 0.9), (0.05, top * 0.62), (-0.2, top * 0.5)],
        shaded(colour, 1.13),
    )
    pen.polygon(
        [(0.2, top * 0.9), (0.46, top * 0.4), (0.5, -0.04), (0.2, -0.04), (0.05, top * 0.62)],
        shaded(colour, 0.82),
    )
    return pen.sprite()


def bush(rng: np.random.Generator, width: float, colour: RGB) -> Sprite:
    """A low bush of `width` pixels."""
    pen = Pen(width, 0.55, 0.55, 0.6, 0.08, colour)
    puffs = [(rng.uniform(-0.34, 0.34), rng.uniform(0.02, 0.24), rng.uniform(0.12, 0.2)) for _ in range(8)]
    for shade, shift, size in ((0.8, 0.0, 1.0), (1.0, 0.04, 0.8), (1.12, 0.07, 0.45)):
        for x, y, r in puffs:
            pen.oval(x - shift * 0.5, y + shift, r * size, r * size, shaded(colour, shade))
    pen.box(-0.4, -0.06, 0.4, 0.02, shaded(colour, 0.8))
    return pen.sprite()


def tuft(rng: np.random.Generator, height: float, colour: RGB) -> Sprite:
    """Some blades of grass."""
    pen = Pen(height, 0.6, 0.6, 1.05, 0.1, colour)
    for _ in range(7):
        x, bend = rng.uniform(-0.25, 0.25), rng.uniform(-0.3, 0.3)
        blade: list[Point] = [(x, -0.05), (x + bend * 0.3, 0.4), (x + bend, rng.uniform(0.6, 1.0))]
        pen.limb(blade, [0.09, 0.06, 0.015], shaded(colour, rng.uniform(0.85, 1.12)))
    return pen.sprite()


def blossom(rng: np.random.Generator, height: float, petal: RGB, stem: RGB) -> Sprite:
    """A flower on its stem, for a meadow."""
    pen = Pen(height, 0.4, 0.4, 1.2, 0.1, petal)
    bend = rng.uniform(-0.12, 0.12)
    pen.limb([(0, -0.06), (bend * 0.4, 0.5), (bend, 0.9)], [0.05, 0.045, 0.04], stem)
    pen.limb([(0, 0.2), (0.16, 0.42)], [0.03, 0.08], stem)
    for i in range(6):
        angle = i * math.pi / 3
        pen.oval(
            bend + 0.13 * math.cos(angle),
            0.93 + 0.13 * math.sin(angle),
            0.10,
            0.10,
            shaded(petal, 0.92 + 0.1 * (i % 2)),
        )
    pen.oval(bend, 0.93, 0.08, 0.08, (244, 200, 80) if petal[2] > 90 or petal[1] < 120 else (120, 72, 40))
    return pen.sprite()


def seaweed(rng: np.random.Generator, height: float, colour: RGB) -> Sprite:
    """Long waving leaves from a sea floor."""
    pen = Pen(height, 0.45, 0.45, 1.05, 0.08, colour)
    for _ in range(int(rng.integers(3, 6))):
        x, tall, phase = rng.uniform(-0.2, 0.2), rng.uniform(0.5, 1.0), rng.uniform(0, 6)
        points = [(x + 0.06 * math.sin(phase + 5 * k / 5), tall * k / 5 - 0.04) for k in range(6)]
        pen.limb(points, [0.05, 0.07, 0.06, 0.015], shaded(colour, rng.uniform(0.8, 1.15)))
    return pen.sprite()


def coral(rng: np.random.Generator, height: float, colour: RGB) -> Sprite:
    """A branching coral."""
    pen = Pen(height, 0.7, 0.7, 1.1, 0.08, colour)

    def branch(x: float, y: float, angle: float, length: float, width: float) -> None:
        end = (x + math.sin(angle) * length, y + math.cos(angle) * length)
        pen.limb([(x, y), end], [width, width * 0.8], colour)
        if length > 0.13:
            for side in (-1, 1):
                branch(*end, angle + side * rng.uniform(0.3, 0.65), length * 0.72, width * 0.76)

    for side in (-0.4, 0.05, 0.45):
        branch(side * 0.2, -0.05, side + rng.uniform(-0.15, 0.15), rng.uniform(0.26, 0.34), 0.1)
    return pen.sprite()
