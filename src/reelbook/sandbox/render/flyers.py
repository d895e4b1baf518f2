"""What flies by itself: bird, butterfly, dragon; and what stands and sways: flower, tree, orb.

Units are about the length of the thing; the anchor is its middle (its foot, for what grows); it faces right.
"""

import math

import numpy as np

from reelbook.sandbox.render import plants
from reelbook.sandbox.render.palette import Palette, brightness, mix, shaded
from reelbook.sandbox.render.shapes import Pen, Point
from reelbook.sandbox.render.words import RGB, Subject


def bird(pen: Pen, subject: Subject, colours: Palette, phase: float) -> None:
    """A bird beating its wings."""
    coat = colours.subject(subject.colour or (70, 92, 122))
    light = mix(coat, colours.subject((250, 246, 236)), 0.72 if brightness(coat) > 60 else 0.15)
    turn = 2 * math.pi * phase
    beat = math.sin(turn)
    pen.turn = 0.05 * math.cos(turn) + 0.06

    def wing(root: Point, shade: float, reach: float) -> None:
        up = beat * 0.62 + 0.10
        elbow = (root[0] - 0.08, root[1] + up * 0.42)
        tip = (root[0] - 0.36 - 0.10 * (1 - abs(beat)), root[1] + up * reach - 0.12 * math.cos(turn))
        pen.blob(
            [
                (root[0] + 0.15, root[1]),
                (elbow[0] + 0.13, elbow[1] + 0.06),
                tip,
                (elbow[0] - 0.20, elbow[1] - 0.09),
                (root[0] - 0.18, root[1] - 0.03),
            ],
            shaded(coat, shade),
        )
        pen.blob(
            [
                (root[0] + 0.10, root[1] - 0.01),
                (elbow[0] + 0.05, elbow[1] + 0.01),
                (elbow[0] - 0.13, elbow[1] - 0.05),
                (root[0] - 0.13, root[1] - 0.025),
            ],
            shaded(coat, shade * 1.16),
        )

    wing((0.05, 0.06), 0.62, 0.84)
    pen.polygon(
        [(-0.30, 0.03), (-0.62, 0.075), (-0.55, 0.0), (-0.62, -0.055), (-0.30, -0.05)], shaded(coat, 0.78)
    )
    pen.blob(
        [
            (-0.40, 0.02),
            (-0.15, 0.105),
            (0.14, 0.13),
            (0.32, 0.14),
            (0.42, 0.09),
            (0.36, 0.01),
            (0.16, -0.11),
            (-0.14, -0.09),
        ],
        coat,
    )
    pen.blob(
        [(0.37, 0.03), (0.22, -0.06), (0.05, -0.10), (-0.14, -0.085), (-0.02, -0.01), (0.22, 0.03)], light
    )
    pen.oval(0.335, 0.105, 0.105, 0.098, coat)
    pen.polygon([(0.42, 0.12), (0.545, 0.075), (0.42, 0.055)], colours.subject((246, 176, 70)))
    pen.oval(0.375, 0.125, 0.02, 0.022, (18, 18, 24) if brightness(coat) > 60 else (240, 236, 220))
    wing((0.04, 0.04), 0.92, 1.0)


def butterfly(pen: Pen, subject: Subject, colours: Palette, phase: float) -> None:
    """A butterfly opening and closing its wings."""
    hue = colours.subject(subject.colour or (240, 150, 50))
    edge = mix(hue, colours.subject((30, 24, 40)), 0.75)
    fold = 0.28 + 0.72 * abs(math.sin(math.pi * phase))
    pen.turn = 0.30
    for side, shade in ((-1, 0.78), (1, 1.0)):
        w = side * fold
        for outline, scale in (
            ([(0.0, 0.06), (0.18, 0.44), (0.52, 0.50), (0.50, 0.16), (0.10, 0.0)], 1.0),
            ([(0.0, 0.0), (0.34, 0.02), (0.40, -0.26), (0.16, -0.40), (0.02, -0.12)], 1.0),
        ):
            pen.blob([(x * w * scale, y * scale) for x, y in outline], shaded(edge, shade))
            mx, my = sum(x for x, _ in outline) / 5, sum(y for _, y in outline) / 5
            pen.blob(
                [((mx + (x - mx) * 0.76) * w, my + (y - my) * 0.76) for x, y in outline], shaded(hue, shade)
            )
        for x, y, r in ((0.40, 0.40, 0.035), (0.43, 0.28, 0.028), (0.30, -0.20, 0.04)):
            pen.oval(x * w, y, r * fold, r, shaded((250, 244, 226), shade))
    pen.limb([(0, -0.24), (0, 0.0), (0, 0.20)], [0.03, 0.06, 0.045], edge)
    pen.oval(0, 0.225, 0.036, 0.036, edge)
    for side in (-1, 1):
        pen.limb([(0, 0.24), (0.07 * side, 0.34), (0.12 * side, 0.38)], [0.012, 0.01, 0.018], edge)


def dragon(pen: Pen, subject: Subject, colours: Palette, phase: float) -> None:
    """A dragon on slow wings, its long body winding."""
    scales = colours.subject(subject.colour or (66, 140, 96))
    belly = mix(scales, colours.subject((246, 214, 140)), 0.65)
    turn = 2 * math.pi * phase
    beat = math.sin(turn)

    def wave(x: float) -> float:
        return 0.075 * math.sin(turn - x * 4.2) * (0.4 + abs(x))

    def wing(shade: float, reach: float, shift: float) -> None:
        root = (0.10 + shift, 0.06 + wave(0.1))
        up = 0.58 * beat + 0.18
        wrist = (root[0] + 0.02, root[1] + up * 0.62 * reach + 0.06)
        tip = (root[0] - 0.40, root[1] + up * 1.05 * reach)
        skin = mix(scales, colours.subject((190, 80, 60)), 0.35)
        pen.polygon(
            [
                root,
                wrist,
                tip,
                (root[0] - 0.46, root[1] + up * 0.40),
                (root[0] - 0.36, root[1] + up * 0.36),
                (root[0] - 0.40, root[1] + 0.02 * up),
                (root[0] - 0.26, root[1] + 0.10 * up),
                (root[0] - 0.22, root[1] - 0.03),
            ],
            shaded(skin, shade),
        )
        for end in (tip, (root[0] - 0.46, root[1] + up * 0.40), (root[0] - 0.40, root[1] + 0.02 * up)):
            pen.limb([wrist, end], [0.026, 0.008], shaded(scales, shade * 0.9))
        pen.limb([root, wrist], [0.05, 0.03], shaded(scales, shade))

    wing(0.6, 0.9, 0.05)
    spine = [(x / 10, wave(x / 10) + (0.10 if x > 3 else 0.0) * (x / 10 - 0.3) * 3) for x in range(-9, 6)]
    pen.limb(spine, [0.01, 0.045, 0.10, 0.19, 0.235, 0.19, 0.13], scales)
    pen.limb([(x, y - 0.045) for x, y in spine[4:]], [0.02, 0.08, 0.10, 0.07], belly)
    for x, y in spine[1:-1]:
        size = 0.035 + 0.05 * max(0.0, 1 - abs(x) * 1.3)
        pen.polygon(
            [(x - 0.035, y + size * 0.75), (x - 0.045, y + size * 1.9), (x + 0.035, y + size * 0.75)],
            shaded(scales, 0.7),
        )
    tail = spine[0]
    pen.polygon(
        [
            (tail[0] + 0.03, tail[1]),
            (tail[0] - 0.05, tail[1] + 0.07),
            (tail[0] - 0.11, tail[1]),
            (tail[0] - 0.05, tail[1] - 0.07),
        ],
        shaded(scales, 0.7),
    )
    for x in (-0.12, 0.16):
        pen.limb(
            [(x, wave(x) - 0.06), (x - 0.08, wave(x) - 0.17), (x - 0.16, wave(x) - 0.18)],
            [0.09, 0.06, 0.03],
            shaded(scales, 0.8),
        )
    hx, hy = spine[-1][0] + 0.06, spine[-1][1] + 0.05
    pen.limb([(hx - 0.03, hy + 0.02), (hx + 0.09, hy), (hx + 0.23, hy - 0.035)], [0.16, 0.12, 0.06], scales)
    pen.limb([(hx + 0.02, hy - 0.045), (hx + 0.18, hy - 0.085)], [0.05, 0.03], belly)
    for shift in (0.0, 0.045):
        pen.limb([(hx - 0.04 + shift, hy + 0.06), (hx - 0.17 + shift, hy + 0.15)], [0.045, 0.01], belly)
    pen.oval(hx + 0.055, hy + 0.035, 0.02, 0.022, (255, 226, 90))
    wing(0.95, 1.0, 0.0)


def flower(pen: Pen, subject: Subject, colours: Palette, phase: float) -> None:
    """One large flower that sways."""
    petal = colours.subject(subject.colour or (232, 84, 118))
    stem = colours.subject((78, 132, 70))
    sway = 0.06 * math.sin(2 * math.pi * phase)
    head = (sway * 1.6, 0.80)
    pen.limb([(0, -0.05), (sway * 0.3, 0.4), head], [0.035, 0.03, 0.028], stem)
    for side, low in ((1, 0.12), (-1, 0.26)):
        pen.limb(
            [
                (sway * low, low),
                (0.14 * side + sway * 0.4, low + 0.14),
                (0.25 * side + sway * 0.5, low + 0.13),
            ],
            [0.02, 0.085, 0.01],
            shaded(stem, 0.9 if side > 0 else 1.1),
        )
    for ring, count, radius, size, shade in (
        (0, 11, 0.155, 0.085, 0.80),
        (1, 9, 0.125, 0.075, 1.0),
        (2, 7, 0.085, 0.055, 1.14),
    ):
        for i in range(count):
            angle = 2 * math.pi * i / count + ring * 0.3 + sway
            pen.oval(
                head[0] + radius * math.cos(angle),
                head[1] + radius * math.sin(angle),
                size,
                size * 0.62,
                shaded(petal, shade - 0.06 * (i % 2)),
                turn=angle,
            )
    pen.oval(
        head[0],
        head[1],
        0.062,
        0.062,
        colours.subject((250, 206, 80))
        if brightness(petal) < 190 or petal[2] > 120
        else colours.subject((110, 68, 40)),
    )


def tree(pen: Pen, subject: Subject, colours: Palette, phase: float, leaf: RGB) -> None:
    """One large tree whose crown moves in the wind."""
    crown = colours.subject(subject.colour or leaf)
    bark = colours.subject((98, 72, 54))
    turn = 2 * math.pi * phase
    sway = 0.012 * math.sin(turn)
    pen.blob([(-0.09, -0.02), (-0.045, 0.18), (-0.04, 0.46), (0.04, 0.46), (0.05, 0.18), (0.10, -0.02)], bark)
    pen.polygon([(0.015, 0.0), (0.10, -0.01), (0.05, 0.18), (0.04, 0.46), (0.01, 0.46)], shaded(bark, 0.8))
    for tip in ((-0.18, 0.60), (0.17, 0.62), (0.02, 0.70)):
        pen.limb([(0, 0.38), (tip[0] + sway, tip[1])], [0.05, 0.02], bark)
    puffs = [
        (-0.27, 0.56, 0.15),
        (0.27, 0.57, 0.155),
        (-0.15, 0.68, 0.18),
        (0.16, 0.70, 0.18),
        (0.0, 0.62, 0.2),
        (0.0, 0.80, 0.17),
        (-0.08, 0.55, 0.13),
        (0.12, 0.56, 0.13),
        (-0.24, 0.68, 0.11),
        (0.26, 0.69, 0.11),
    ]
    moving = [
        (x + sway + 0.014 * math.sin(turn + i * 1.3) * (y - 0.2), y, r) for i, (x, y, r) in enumerate(puffs)
    ]
    # The same chance for every phase: the leaves keep their places and only sway.
    plants.crown(pen, np.random.default_rng(5), moving, crown)


def orb(pen: Pen, subject: Subject, colours: Palette, phase: float, hue: RGB) -> None:
    """A shining ball with small ones around it: what stands for things that have no picture here."""
    colour = colours.tone(subject.colour or hue)
    turn = 2 * math.pi * phase

    def moon(i: int) -> None:
        angle = turn + i * 2.1
        size = 0.045 + 0.012 * math.sin(angle)
        pen.oval(
            0.50 * math.cos(angle),
            0.14 * math.sin(angle) + 0.05 * math.cos(angle + i),
            size,
            size,
            shaded(colour, 1.25 + 0.1 * math.sin(angle)),
        )

    for size, cover in ((0.46, 22), (0.40, 34), (0.35, 52)):
        pen.oval(0, 0, size, size, shaded(colour, 1.4), cover=cover)
    for i in range(3):
        if math.sin(turn + i * 2.1) > 0:
            moon(i)
    steps = 9
    for i in range(steps):
        share = i / (steps - 1)
        pen.oval(
            -0.09 * share,
            0.10 * share,
            0.29 * (1 - 0.86 * share),
            0.29 * (1 - 0.86 * share),
            shaded(colour, 0.62 + 0.82 * share),
        )
    for i in range(3):
        if math.sin(turn + i * 2.1) <= 0:
            moon(i)
