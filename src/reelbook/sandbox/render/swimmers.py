"""What swims: fish, whale, jellyfish.

Units are about the length of the thing; the anchor is its middle; it faces right.
"""

import math

from reelbook.sandbox.render.palette import Palette, mix, shaded
from reelbook.sandbox.render.shapes import Pen
from reelbook.sandbox.render.words import RGB, Subject


def fish(pen: Pen, subject: Subject, colours: Palette, phase: float, look: int) -> None:
    """A fish bending from head to tail."""
    hues: tuple[RGB, ...] = ((246, 146, 48), (80, 170, 224), (244, 206, 70), (226, 96, 130))
    coat = colours.subject(subject.colour or hues[look % 4])
    turn = 2 * math.pi * phase

    def bend(x: float) -> float:
        return 0.075 * math.sin(turn + x * 3.4) * max(0.0, 0.32 - x)

    top = [(-0.34, 0.045), (-0.15, 0.17), (0.10, 0.235), (0.32, 0.17), (0.50, 0.0)]
    bottom = [(0.32, -0.15), (0.10, -0.205), (-0.15, -0.15), (-0.34, -0.045)]
    tail = 0.13 * math.sin(turn - 0.9)
    pen.blob(
        [
            (-0.30, bend(-0.3)),
            (-0.60 + abs(tail) * 0.6, 0.19 + tail * 0.2),
            (-0.51 + abs(tail) * 0.4, tail * 0.2),
            (-0.60 + abs(tail) * 0.6, -0.19 + tail * 0.2),
        ],
        shaded(coat, 0.8),
    )
    pen.blob([(-0.2, 0.13 + bend(-0.2)), (-0.14, 0.31), (0.06, 0.33), (0.20, 0.20)], shaded(coat, 0.75))
    pen.blob([(-0.12, -0.12), (-0.10, -0.28), (0.04, -0.26), (0.08, -0.17)], shaded(coat, 0.75))
    pen.blob([(x, y + bend(x)) for x, y in top + bottom], coat)
    pen.blob(
        [(0.48, -0.02), (0.3, -0.145), (0.10, -0.20), (-0.15, -0.145 + bend(-0.15)), (0.1, -0.06)],
        mix(coat, colours.subject((255, 250, 236)), 0.55),
    )
    if "stripes" in subject.traits or look % 3 == 0:
        for x, wide in ((0.20, 0.06), (-0.05, 0.055), (-0.25, 0.04)):
            high = 0.21 - abs(x - 0.05) * 0.40
            pen.limb(
                [(x, high + bend(x)), (x + 0.03, bend(x)), (x, -high + 0.02 + bend(x))],
                [wide * 0.8, wide, wide * 0.6],
                colours.subject((250, 250, 244)),
            )
    flap = 0.05 * math.sin(turn * 2)
    pen.blob([(0.10, -0.02), (-0.06, -0.03 + flap), (-0.10, -0.12 + flap), (0.08, -0.07)], shaded(coat, 0.7))
    pen.oval(0.345, 0.045, 0.048, 0.048, (250, 250, 246))
    pen.oval(0.357, 0.045, 0.027, 0.029, (20, 22, 30))


def whale(pen: Pen, subject: Subject, colours: Palette, phase: float) -> None:
    """A whale with slow flukes."""
    skin = colours.subject(subject.colour or (72, 104, 146))
    belly = mix(skin, colours.subject((226, 236, 242)), 0.75)
    turn = 2 * math.pi * phase
    drop = 0.10 * math.sin(turn)
    pen.turn = 0.03 * math.cos(turn)
    pen.limb([(-0.25, 0.03), (-0.45, 0.02 + drop * 0.4), (-0.60, 0.03 + drop)], [0.24, 0.12, 0.05], skin)
    pen.blob(
        [
            (-0.57, 0.03 + drop),
            (-0.72, 0.15 + drop * 1.7),
            (-0.80, 0.11 + drop * 1.7),
            (-0.70, 0.02 + drop * 1.3),
            (-0.80, -0.07 + drop * 1.4),
            (-0.70, -0.07 + drop * 1.4),
        ],
        shaded(skin, 0.85),
    )
    pen.blob(
        [
            (-0.36, 0.06),
            (-0.10, 0.20),
            (0.22, 0.23),
            (0.46, 0.16),
            (0.55, 0.02),
            (0.44, -0.13),
            (0.12, -0.19),
            (-0.20, -0.09),
        ],
        skin,
    )
    pen.blob(
        [(0.54, -0.02), (0.44, -0.135), (0.12, -0.19), (-0.20, -0.09), (0.05, -0.075), (0.34, -0.045)], belly
    )
    for i in range(5):
        pen.limb(
            [(0.44 - 0.03 * i, -0.07 - 0.016 * i), (0.10 + 0.02 * i, -0.115 - 0.013 * i)],
            [0.006, 0.006],
            shaded(belly, 0.8),
        )
    pen.blob(
        [(0.10, -0.09), (-0.02, -0.28 - drop * 0.5), (-0.11, -0.29 - drop * 0.5), (0.0, -0.10)],
        shaded(skin, 0.74),
    )
    pen.blob([(-0.16, 0.16), (-0.22, 0.25), (-0.06, 0.19)], shaded(skin, 0.8))
    pen.oval(0.39, 0.0, 0.017, 0.019, (20, 24, 34))


def jellyfish(pen: Pen, subject: Subject, colours: Palette, phase: float) -> None:
    """A jellyfish that opens and closes, trailing its arms."""
    hue = colours.tone(subject.colour or (232, 150, 214))
    turn = 2 * math.pi * phase
    wide = 0.30 + 0.05 * math.sin(turn)
    high = 0.27 - 0.05 * math.sin(turn)
    for i in range(7):
        x = (-0.8 + 1.6 * i / 6) * wide
        points = [(x * (1 - 0.2 * k / 5), -0.12 * k + 0.02) for k in range(6)]
        pen.limb(
            [(px + 0.035 * math.sin(turn - 1.1 * k + i), py) for k, (px, py) in enumerate(points)],
            [0.03, 0.022, 0.008],
            shaded(hue, 0.85 + 0.05 * (i % 3)),
        )
    pen.blob(
        [
            (-wide, 0.0),
            (-wide * 0.92, high * 0.6),
            (0, high),
            (wide * 0.92, high * 0.6),
            (wide, 0.0),
            (wide * 0.5, 0.04),
            (0, 0.0),
            (-wide * 0.5, 0.04),
        ],
        hue,
        225,
    )
    pen.blob(
        [
            (-wide * 0.65, high * 0.25),
            (-wide * 0.4, high * 0.72),
            (0.0, high * 0.85),
            (wide * 0.1, high * 0.5),
            (-wide * 0.3, high * 0.3),
        ],
        shaded(hue, 1.35),
        235,
    )
