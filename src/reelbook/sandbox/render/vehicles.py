"""What people ride: car, train, bicycle, boat. All face right.

Units are about the length of the thing; the anchor is on the ground or the waterline.
"""

import math

from reelbook.sandbox.render.palette import Palette, mix, shaded
from reelbook.sandbox.render.shapes import Pen
from reelbook.sandbox.render.words import RGB, Subject

_RUBBER: RGB = (40, 40, 48)
_BEAM: RGB = (255, 238, 176)


def wheel(
    pen: Pen, x: float, radius: float, phase: float, colours: Palette, *, y: float | None = None
) -> None:
    """A tyre with turning spokes."""
    y = radius if y is None else y
    pen.oval(x, y, radius, radius, colours.subject(_RUBBER))
    rim = colours.subject((186, 190, 198))
    pen.oval(x, y, radius * 0.6, radius * 0.6, rim)
    for i in range(5):
        angle = -2 * math.pi * (phase + i) / 5
        pen.limb(
            [(x, y), (x + math.cos(angle) * radius * 0.52, y + math.sin(angle) * radius * 0.52)],
            [radius * 0.2, radius * 0.14],
            shaded(rim, 0.55),
        )
    pen.oval(x, y, radius * 0.16, radius * 0.16, shaded(rim, 0.5))


def car(pen: Pen, subject: Subject, colours: Palette, phase: float, dark: float) -> None:
    """A car, a taxi, or a truck."""
    paint = colours.subject(subject.colour or (206, 70, 58))
    glass = mix(colours.subject((150, 190, 210)), colours.sky[2], 0.35)
    bounce = 0.006 * math.sin(4 * math.pi * phase)
    if dark > 0.3:
        for reach, cover in ((0.55, 26), (0.38, 36)):
            pen.polygon(
                [(0.48, 0.20), (0.48 + reach, 0.30), (0.48 + reach, 0.02)], colours.tone(_BEAM), cover
            )
    if "truck" in subject.traits:
        pen.blob([(-0.52, 0.10), (-0.53, 0.50 + bounce), (0.14, 0.51 + bounce), (0.15, 0.10)], paint)
        pen.box(-0.50, 0.30 + bounce, 0.12, 0.36 + bounce, shaded(paint, 1.25))
        pen.blob(
            [(0.13, 0.09), (0.14, 0.42 + bounce), (0.34, 0.42 + bounce), (0.46, 0.25 + bounce), (0.50, 0.10)],
            shaded(paint, 0.88),
        )
        pen.polygon(
            [(0.21, 0.25 + bounce), (0.21, 0.37 + bounce), (0.33, 0.37 + bounce), (0.41, 0.25 + bounce)],
            glass,
        )
    else:
        pen.blob(
            [
                (-0.34, 0.20),
                (-0.27, 0.345 + bounce),
                (-0.1, 0.385 + bounce),
                (0.10, 0.375 + bounce),
                (0.26, 0.22),
            ],
            shaded(paint, 0.94),
        )
        pen.blob(
            [
                (-0.27, 0.225),
                (-0.225, 0.325 + bounce),
                (-0.1, 0.352 + bounce),
                (0.08, 0.342 + bounce),
                (0.195, 0.225),
            ],
            glass,
        )
        pen.polygon(
            [(-0.06, 0.22), (-0.045, 0.36 + bounce), (-0.02, 0.36 + bounce), (-0.03, 0.22)],
            shaded(paint, 0.85),
        )
        pen.blob(
            [
                (-0.51, 0.10),
                (-0.515, 0.20 + bounce),
                (-0.40, 0.235 + bounce),
                (-0.1, 0.235 + bounce),
                (0.25, 0.232 + bounce),
                (0.46, 0.20 + bounce),
                (0.515, 0.12),
                (0.48, 0.075),
                (-0.46, 0.075),
            ],
            paint,
        )
        pen.blob([(-0.50, 0.085), (-0.50, 0.125), (0.50, 0.125), (0.49, 0.085)], shaded(paint, 0.7))
        pen.limb([(-0.46, 0.205 + bounce), (0.42, 0.198 + bounce)], [0.012, 0.010], shaded(paint, 1.35))
        if "taxi" in subject.traits:
            pen.blob(
                [(-0.12, 0.375), (-0.11, 0.42 + bounce), (0.02, 0.42 + bounce), (0.03, 0.375)],
                colours.tone((255, 246, 214)),
            )
    lamp = colours.tone(_BEAM) if dark > 0.3 else colours.subject((250, 246, 226))
    pen.oval(0.475, 0.175 + bounce, 0.028, 0.024, lamp)
    pen.oval(-0.50, 0.175 + bounce, 0.018, 0.026, colours.tone((240, 60, 50)))
    for x in (-0.30, 0.30):
        pen.oval(x, 0.10, 0.108, 0.108, shaded(paint, 0.45))
        wheel(pen, x, 0.092, phase, colours)


def train(pen: Pen, subject: Subject, colours: Palette, phase: float, dark: float) -> None:
    """A locomotive with two carriages on rails; steam rises from it."""
    paint = colours.subject(subject.colour or (176, 62, 58))
    trim, iron = colours.subject((236, 206, 150)), colours.subject((54, 56, 66))
    steam = mix(colours.subject((246, 246, 246)), colours.sky[3], 0.25)
    pane = (
        colours.tone((255, 222, 140))
        if dark > 0.3
        else mix(colours.subject((170, 204, 220)), colours.sky[2], 0.3)
    )
    for i in range(7):
        age = (i + phase) / 7
        pen.oval(
            0.36 - age * 0.9,
            0.40 + 0.24 * age**0.7 + 0.015 * math.sin(i * 2.3),
            0.035 + 0.10 * age,
            0.03 + 0.075 * age,
            steam,
            cover=round(190 * (1 - age)),
        )
    pen.box(-1.6, -0.02, 1.0, 0.004, iron)
    for i in range(2):
        x = -1.28 + 0.62 * i
        pen.blob(
            [(x - 0.27, 0.08), (x - 0.275, 0.31), (x + 0.275, 0.31), (x + 0.27, 0.08)], shaded(paint, 0.92)
        )
        pen.box(x - 0.275, 0.295, x + 0.275, 0.322, iron)
        for k in range(4):
            pen.box(x - 0.225 + 0.12 * k, 0.18, x - 0.14 + 0.12 * k, 0.265, pane)
        pen.box(x - 0.27, 0.135, x + 0.27, 0.15, trim)
        pen.box(x + 0.27, 0.09, x + 0.36, 0.11, iron)
        for wx in (x - 0.17, x + 0.17):
            wheel(pen, wx, 0.058, phase, colours)
    pen.blob([(-0.36, 0.08), (-0.37, 0.36), (-0.10, 0.36), (-0.09, 0.08)], paint)
    pen.box(-0.40, 0.35, -0.05, 0.38, iron)
    pen.box(-0.30, 0.22, -0.16, 0.33, pane)
    pen.blob([(-0.12, 0.10), (-0.12, 0.275), (0.40, 0.275), (0.47, 0.185), (0.40, 0.10)], shaded(iron, 1.12))
    for x in (0.02, 0.18):
        pen.box(x, 0.10, x + 0.016, 0.272, trim)
    pen.polygon([(0.31, 0.26), (0.29, 0.38), (0.42, 0.38), (0.38, 0.26)], iron)
    pen.oval(0.12, 0.285, 0.045, 0.05, trim)
    pen.polygon([(0.40, 0.09), (0.58, 0.01), (0.36, 0.01)], paint)
    pen.oval(0.475, 0.215, 0.03, 0.03, colours.tone(_BEAM))
    for x, r in ((-0.24, 0.085), (0.02, 0.085), (0.22, 0.085), (0.39, 0.055)):
        wheel(pen, x, r, phase, colours)
    rod = 0.035 * math.cos(-2 * math.pi * phase)
    pen.limb(
        [
            (-0.24 + rod, 0.085 + 0.03 * math.sin(-2 * math.pi * phase)),
            (0.22 + rod, 0.085 + 0.03 * math.sin(-2 * math.pi * phase)),
        ],
        [0.018, 0.018],
        trim,
    )


def bicycle(pen: Pen, subject: Subject, colours: Palette, phase: float, look: int) -> None:
    """A bicycle with its rider."""
    paint = colours.subject(subject.colour or (60, 140, 170))
    for x in (-0.30, 0.30):
        pen.oval(x, 0.20, 0.20, 0.20, colours.subject(_RUBBER))
        pen.oval(x, 0.20, 0.175, 0.175, mix(colours.haze, colours.subject((150, 160, 170)), 0.5), cover=150)
        for i in range(6):
            angle = -2 * math.pi * (phase + i) / 6
            pen.limb(
                [(x, 0.2), (x + 0.17 * math.cos(angle), 0.2 + 0.17 * math.sin(angle))],
                [0.008, 0.008],
                colours.subject((214, 216, 222)),
            )
    frame = [
        ((-0.30, 0.20), (-0.04, 0.20)),
        ((-0.04, 0.20), (0.22, 0.46)),
        ((-0.14, 0.46), (0.22, 0.46)),
        ((-0.30, 0.20), (-0.14, 0.46)),
        ((-0.04, 0.20), (-0.15, 0.52)),
        ((0.30, 0.20), (0.20, 0.56)),
    ]
    for a, b in frame:
        pen.limb([a, b], [0.03, 0.03], paint)
    pen.limb([(0.20, 0.56), (0.28, 0.57)], [0.026, 0.026], colours.subject(_RUBBER))
    coat = colours.subject((202, 96, 66)) if look % 2 else colours.subject((86, 108, 156))
    skin, legs = colours.subject((226, 178, 142)), colours.subject((52, 54, 68))
    for shift, shade in ((math.pi, 0.7), (0.0, 1.0)):
        angle = -2 * math.pi * phase + shift
        pedal = (-0.04 + 0.07 * math.cos(angle), 0.20 + 0.07 * math.sin(angle))
        knee = (0.10 + 0.035 * math.cos(angle), 0.42 + 0.05 * math.sin(angle))
        pen.limb([(-0.15, 0.57), knee, pedal], [0.12, 0.09, 0.06], shaded(legs, shade), smooth=False)
        pen.limb([pedal, (pedal[0] + 0.07, pedal[1])], [0.05, 0.045], shaded(legs, 0.6))
    pen.limb([(-0.14, 0.58), (0.0, 0.86)], [0.18, 0.16], coat)
    pen.limb(
        [(0.0, 0.84), (0.14, 0.70), (0.26, 0.60)], [0.075, 0.065, 0.05], shaded(coat, 0.88), smooth=False
    )
    pen.oval(0.07, 1.0, 0.085, 0.095, skin)
    pen.blob([(-0.03, 1.0), (-0.02, 1.08), (0.08, 1.125), (0.17, 1.05), (0.07, 1.03)], paint)


def boat(pen: Pen, subject: Subject, colours: Palette, phase: float, sails: bool) -> None:
    """A sailing boat that rocks; `pen.turn` is set here."""
    pen.turn = 0.10 * math.sin(2 * math.pi * phase)
    hull = colours.subject(subject.colour or (150, 78, 58))
    cloth = colours.subject((248, 242, 228))
    wood = colours.subject((108, 76, 54))
    puff = 0.03 * math.sin(2 * math.pi * phase + 1)
    pen.limb([(0.02, 0.05), (0.02, 1.0)], [0.026, 0.016], wood)
    if sails:
        pen.blob(
            [(-0.01, 0.24), (-0.02, 0.62), (-0.01, 0.94), (-0.18 - puff, 0.62), (-0.40 - puff, 0.26)], cloth
        )
        pen.polygon([(-0.16, 0.25), (-0.09, 0.70), (-0.01, 0.92), (-0.02, 0.24)], shaded(cloth, 0.93))
        pen.blob([(0.05, 0.26), (0.05, 0.84), (0.22 + puff, 0.56), (0.40 + puff, 0.27)], shaded(cloth, 0.90))
    pen.limb([(-0.40, 0.225), (0.06, 0.225)], [0.02, 0.02], wood)
    pen.polygon([(0.02, 1.0), (0.02, 0.93), (-0.13, 0.955 + puff)], colours.subject((214, 66, 56)))
    pen.blob(
        [
            (-0.56, 0.16),
            (-0.44, -0.10),
            (0.0, -0.15),
            (0.40, -0.11),
            (0.64, 0.22),
            (0.30, 0.135),
            (-0.1, 0.11),
        ],
        hull,
    )
    pen.blob(
        [(-0.53, 0.09), (-0.44, -0.10), (0.0, -0.15), (0.40, -0.11), (0.55, 0.09), (0.1, 0.0)],
        shaded(hull, 0.72),
    )
    pen.limb(
        [(-0.55, 0.155), (-0.1, 0.105), (0.30, 0.13), (0.63, 0.215)],
        [0.026, 0.024, 0.024, 0.026],
        colours.subject((240, 226, 200)),
    )
    if not sails:
        pen.blob([(-0.34, 0.12), (-0.33, 0.36), (0.0, 0.36), (0.02, 0.12)], colours.subject((240, 238, 230)))
        pen.box(-0.24, 0.22, -0.06, 0.31, colours.tone(_BEAM))
