"""Craft that fly: balloon, airplane, rocket, saucer. All face right.

Units are about the length of the thing; the anchor is its middle (a balloon's: between envelope and basket).
"""

import math

from reelbook.sandbox.render.palette import Palette, mix, shaded
from reelbook.sandbox.render.shapes import Pen
from reelbook.sandbox.render.words import Subject


def balloon(pen: Pen, subject: Subject, colours: Palette, phase: float) -> None:
    """A hot-air balloon with stripes; its flame breathes."""
    pen.turn = 0.035 * math.sin(2 * math.pi * phase)
    paint = colours.subject(subject.colour or (226, 84, 62))
    other = mix(paint, colours.subject((250, 232, 190)), 0.82)
    pen.blob(
        [
            (0, -0.06),
            (0.13, 0.0),
            (0.40, 0.36),
            (0.42, 0.66),
            (0.25, 0.95),
            (0, 1.04),
            (-0.25, 0.95),
            (-0.42, 0.66),
            (-0.40, 0.36),
            (-0.13, 0.0),
        ],
        paint,
    )
    for share, width, hue in (
        (-0.62, 0.12, other),
        (-0.2, 0.10, other),
        (0.24, 0.11, other),
        (0.66, 0.11, other),
    ):
        left, right = share - width, share + width
        side = []
        for edge in (left, right):
            side.append(
                [
                    (edge * 0.13, 0.0),
                    (edge * 0.40, 0.36),
                    (edge * 0.425, 0.66),
                    (edge * 0.25, 0.95),
                    (edge * 0.06, 1.03),
                ]
            )
        pen.blob([*side[0], *side[1][::-1]], hue)
    basket = colours.subject((140, 98, 60))
    for x in (-0.085, 0.085):
        pen.limb([(x * 1.3, -0.02), (x, -0.24)], [0.012, 0.012], shaded(basket, 0.6))
    flame = 0.5 + 0.5 * math.sin(2 * math.pi * phase * 2)
    pen.blob([(-0.025, -0.13), (0.0, -0.05 + 0.05 * flame), (0.025, -0.13)], colours.tone((255, 190, 80)))
    pen.blob([(-0.10, -0.22), (-0.085, -0.38), (0.085, -0.38), (0.10, -0.22)], basket)
    pen.box(-0.11, -0.245, 0.11, -0.215, shaded(basket, 1.25))


def airplane(pen: Pen, subject: Subject, colours: Palette, phase: float) -> None:
    """A small airplane with a turning propeller."""
    paint = colours.subject(subject.colour or (232, 236, 242))
    stripe = colours.subject((206, 70, 62)) if subject.colour is None else shaded(paint, 1.4)
    pen.turn = 0.03 * math.sin(2 * math.pi * phase)
    pen.polygon([(-0.02, 0.03), (0.20, 0.03), (0.05, 0.24), (-0.06, 0.24)], shaded(paint, 0.62))
    pen.blob(
        [
            (-0.50, 0.07),
            (-0.44, 0.0),
            (-0.1, -0.085),
            (0.34, -0.085),
            (0.47, 0.0),
            (0.34, 0.085),
            (0.05, 0.125),
            (-0.2, 0.075),
        ],
        paint,
    )
    pen.blob([(-0.48, 0.045), (0.0, 0.015), (0.44, 0.02), (0.44, -0.025), (0.0, -0.03)], stripe)
    pen.polygon([(-0.48, 0.03), (-0.34, 0.06), (-0.46, 0.26), (-0.55, 0.26)], stripe)
    pen.blob(
        [(0.02, 0.08), (0.06, 0.155), (0.18, 0.15), (0.26, 0.07)],
        mix(colours.subject((150, 200, 224)), colours.sky[1], 0.3),
    )
    pen.polygon([(-0.04, -0.02), (0.20, -0.03), (-0.03, -0.30), (-0.17, -0.30)], shaded(paint, 0.86))
    pen.polygon([(-0.50, 0.06), (-0.38, 0.04), (-0.52, -0.05), (-0.60, -0.05)], shaded(paint, 0.8))
    spin = abs(math.cos(2 * math.pi * phase * 3))
    pen.oval(0.49, 0.0, 0.016, 0.05 + 0.14 * spin, colours.subject((70, 70, 80)), cover=150)
    pen.oval(0.47, 0.0, 0.035, 0.035, shaded(stripe, 0.8))


def rocket(pen: Pen, subject: Subject, colours: Palette, phase: float, turn: float) -> None:
    """A rocket with a flickering flame, its nose up and turned by `turn`."""
    pen.turn = turn + 0.02 * math.sin(2 * math.pi * phase)
    paint = colours.subject(subject.colour or (226, 72, 60))
    body = colours.subject((240, 242, 246))
    flick = 0.10 * math.sin(2 * math.pi * phase * 3) + 0.05 * math.sin(2 * math.pi * phase * 7)
    for size, hue, cover in (
        (1.5, (255, 110, 50), 70),
        (1.15, (255, 140, 50), 200),
        (0.8, (255, 206, 92), 255),
        (0.45, (255, 250, 220), 255),
    ):
        long = size * (0.36 + flick)
        pen.blob(
            [
                (-0.10 * size**0.5, -0.36),
                (-0.07 * size, -0.40 - long * 0.45),
                (0.0, -0.42 - long),
                (0.07 * size, -0.40 - long * 0.45),
                (0.10 * size**0.5, -0.36),
            ],
            colours.tone(hue),
            cover,
        )
    for side in (-1, 1):
        pen.blob(
            [(side * 0.10, -0.08), (side * 0.27, -0.30), (side * 0.27, -0.46), (side * 0.12, -0.34)],
            shaded(paint, 0.8 if side > 0 else 1.0),
        )
    pen.polygon([(-0.08, -0.36), (0.08, -0.36), (0.06, -0.30), (-0.06, -0.30)], colours.subject((80, 84, 96)))
    pen.blob(
        [
            (-0.13, -0.33),
            (-0.165, -0.05),
            (-0.14, 0.25),
            (-0.06, 0.47),
            (0.0, 0.55),
            (0.06, 0.47),
            (0.14, 0.25),
            (0.165, -0.05),
            (0.13, -0.33),
        ],
        body,
    )
    pen.blob(
        [
            (0.05, -0.33),
            (0.08, 0.0),
            (0.05, 0.3),
            (0.02, 0.52),
            (0.06, 0.47),
            (0.14, 0.25),
            (0.165, -0.05),
            (0.13, -0.33),
        ],
        shaded(body, 0.80),
    )
    pen.blob([(-0.115, 0.32), (-0.06, 0.47), (0.0, 0.56), (0.06, 0.47), (0.115, 0.32), (0.0, 0.30)], paint)
    pen.oval(0.0, 0.12, 0.085, 0.085, shaded(body, 0.6))
    pen.oval(0.0, 0.12, 0.062, 0.062, colours.tone((96, 190, 226)))
    pen.oval(-0.02, 0.14, 0.022, 0.018, (236, 250, 255))
    pen.blob([(-0.022, -0.10), (-0.022, -0.40), (0.022, -0.40), (0.022, -0.10)], paint)


def ufo(pen: Pen, subject: Subject, colours: Palette, phase: float) -> None:
    """A saucer with running lights and its beam."""
    steel = colours.subject(subject.colour or (166, 176, 196))
    glow = colours.tone((150, 250, 190))
    pen.turn = 0.07 * math.sin(2 * math.pi * phase)
    for width, cover in ((0.44, 26), (0.30, 34)):
        pen.polygon([(-0.12, -0.05), (0.12, -0.05), (width, -0.95), (-width, -0.95)], glow, cover)
    pen.oval(0.0, 0.07, 0.23, 0.21, mix(colours.tone((170, 230, 246)), colours.sky[1], 0.2))
    pen.oval(-0.07, 0.16, 0.05, 0.06, (240, 252, 255), turn=0.5)
    pen.oval(0.0, -0.005, 0.52, 0.125, steel)
    pen.oval(0.0, -0.045, 0.46, 0.082, shaded(steel, 0.62))
    pen.oval(0.0, 0.03, 0.44, 0.055, shaded(steel, 1.2))
    for i in range(7):
        lit = (i / 7 + phase) % 1
        pen.oval(
            -0.39 + 0.13 * i,
            -0.035 - 0.022 * math.cos((i - 3) / 2),
            0.026,
            0.024,
            mix(shaded(steel, 0.5), colours.tone((255, 220, 120)), 1 - lit),
        )
