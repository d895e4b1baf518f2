"""Four-legged animals, drawn from one body plan; the numbers of each kind are in `builds`.

Units are body lengths; the anchor is the ground under the middle of the body; animals face right.
"""

import math
from dataclasses import replace

from reelbook.sandbox.render.builds import BUILDS, GAITS, Build
from reelbook.sandbox.render.palette import Palette, brightness, mix, shaded
from reelbook.sandbox.render.shapes import Pen, Point
from reelbook.sandbox.render.words import RGB, Subject


def pen_for(scale: float, subject: Subject) -> Pen:
    """A pen with room for the kind of `subject`."""
    tall = 1.75 if subject.kind in ("deer", "horse", "camel") else 1.5
    return Pen(scale, 1.35, 1.35, tall, 0.12, (120, 100, 80))


def draw(pen: Pen, subject: Subject, colours: Palette, gait: str, phase: float) -> None:
    """Draw `subject` at `phase` (0 to 1) of its stride."""
    build = BUILDS[subject.kind]
    if "stripes" in subject.traits:
        build = replace(build, stripes=True)
    if subject.kind == "cow":
        build = replace(build, spots=subject.colour is None)
    coat = colours.subject(subject.colour or build.coat)
    light = mix(coat, colours.subject((250, 244, 236)), build.belly)
    dark = mix(coat, colours.subject((34, 28, 36)), 0.72)
    far = shaded(coat, 0.66)
    phases, swing, fold, _ = GAITS[gait]
    turn = 2 * math.pi * phase
    pen.turn = 0.07 * math.sin(turn + 0.8) if gait == "run" else 0.0
    lift = (0.06 * math.sin(turn - 0.9) + 0.03) if gait == "run" else 0.008 * math.cos(2 * turn)
    hip, long = build.leg + lift, build.length
    girth = build.thick
    sock = mix(coat, dark, build.socks)
    white_tail = colours.subject((248, 244, 238))

    def leg(x: float, offset: float, colour: RGB, *, fore: bool) -> None:
        angle = swing * math.sin(turn + 2 * math.pi * offset)
        bend = fold * max(0.0, math.cos(turn + 2 * math.pi * offset))
        upper, lower = build.leg * 0.52, build.leg * 0.54
        top = (x, hip + 0.02)
        first = angle + (0.05 if fore else 0.26)
        second = angle - bend * (0.9 if fore else 0.6) - (0.0 if fore else 0.22)
        knee = (top[0] + math.sin(first) * upper, top[1] - math.cos(first) * upper)
        foot = (
            knee[0] + math.sin(second) * lower,
            max(knee[1] - math.cos(second) * lower, 0.0 if gait != "run" else -0.02),
        )
        width = build.leg_width
        pen.limb([top, knee], [width * (1.75 if not fore else 1.5), width * 0.95], colour, smooth=False)
        shin = mix(colour, sock if colour is coat else shaded(sock, 0.7), 0.85 if build.socks else 0)
        pen.limb([knee, foot], [width * 0.92, width * 0.62], shin, smooth=False)
        pen.limb(
            [foot, (foot[0] + width * 0.5, foot[1])],
            [width * 0.6, width * 0.5],
            shaded(shin, 0.9),
            smooth=False,
        )

    leg(-0.36 * long, phases[1], far, fore=False)
    leg(0.36 * long, phases[3], far, fore=True)
    _tail(pen, build, coat, dark, white_tail, hip, turn, gait)
    head = (
        0.42 * long + build.neck[0],
        hip
        + 0.14 * girth
        + build.neck[1]
        + (0.03 * math.sin(turn + 2) if gait != "rest" else 0.01 * math.sin(turn)),
    )
    _ears(pen, build, far, dark, head, near=False)
    body: list[Point] = [
        (-0.54 * long, hip + 0.08), (-0.40 * long, hip + 0.225 * girth), (-0.05 * long, hip + 0.20 * girth),
            (0.34 * long, hip + 0.235 * girth),
        (0.53 * long, hip + 0.16), (0.54 * long, hip - 0.0), (0.36 * long, hip - 0.145 * girth), (0.0,
            hip - 0.13 * girth * build.waist),
        (-0.30 * long, hip - 0.10 * girth * build.waist), (-0.50 * long, hip - 0.06),
    ]  # fmt: skip
    pen.limb(
        [
            (0.36 * long, hip + 0.10 * girth),
            (0.43 * long + build.neck[0] * 0.45, hip + 0.12 * girth + build.neck[1] * 0.5),
            head,
        ],
        [build.neck_width * 1.35, build.neck_width, build.neck_width * 0.78],
        coat,
    )
    if subject.kind == "sheep":
        for i in range(12):
            angle = i * math.pi / 6
            pen.oval(
                0.46 * long * math.cos(angle),
                hip + 0.06 + 0.2 * girth * 0.8 * math.sin(angle),
                0.15,
                0.14,
                shaded(coat, 0.95 + 0.05 * (i % 2)),
            )
    if subject.kind == "camel":
        pen.blob(
            [
                (-0.3, hip + 0.1),
                (-0.16, hip + 0.42),
                (0.0, hip + 0.47),
                (0.14, hip + 0.38),
                (0.28, hip + 0.1),
            ],
            coat,
        )
    pen.blob(body, coat)
    # The coat's shaded underside, then its lighter chest: this is what makes it round.
    pen.blob(
        [
            (-0.5 * long, hip + 0.02),
            (-0.2 * long, hip + 0.02 * girth),
            (0.2 * long, hip),
            (0.5 * long, hip),
            (0.36 * long, hip - 0.14 * girth),
            (0.0, hip - 0.125 * girth * build.waist),
            (-0.30 * long, hip - 0.095 * girth * build.waist),
        ],
        shaded(coat, 0.88),
    )
    if build.belly > 0.3:
        pen.blob(
            [
                (0.53 * long, hip + 0.13),
                (0.535 * long, hip),
                (0.38 * long, hip - 0.13 * girth),
                (0.12 * long, hip - 0.12 * girth * build.waist),
                (0.32 * long, hip - 0.02),
            ],
            light,
        )
    _markings(pen, build, subject, dark, colours, hip, long, girth)
    leg(-0.40 * long, phases[0], coat, fore=False)
    leg(0.40 * long, phases[2], coat, fore=True)
    _head(pen, build, subject, coat, light, dark, head, colours)
    _ears(pen, build, coat, dark, head, near=True)


def _tail(
    pen: Pen, build: Build, coat: RGB, dark: RGB, white: RGB, hip: float, turn: float, gait: str
) -> None:
    root = (-0.50 * build.length, hip + 0.12 * build.thick)
    wag = 0.07 * math.sin(turn * (1 if gait != "rest" else 2) + 1.0)
    low = 0.10 if gait == "run" else -0.06
    if build.tail == "brush":
        points = [
            root,
            (root[0] - 0.24, root[1] - 0.02 + low + wag * 0.5),
            (root[0] - 0.50, root[1] + low + wag),
            (root[0] - 0.72, root[1] + low + 0.03 + wag * 1.7),
        ]
        pen.limb(points, [0.09, 0.20, 0.22, 0.04], coat)
        pen.limb(points[2:], [0.19, 0.03], white if build.belly > 0.7 else dark)
    elif build.tail == "long":
        pen.limb(
            [
                root,
                (root[0] - 0.2, root[1] + 0.04 + wag),
                (root[0] - 0.36, root[1] + 0.22 + wag),
                (root[0] - 0.30, root[1] + 0.46 + wag * 2.4),
            ],
            [0.085, 0.075, 0.07, 0.05],
            coat,
        )
    elif build.tail == "curl":
        pen.limb(
            [root, (root[0] - 0.14, root[1] + 0.16), (root[0] - 0.10 + wag, root[1] + 0.32)],
            [0.09, 0.08, 0.04],
            coat,
        )
    elif build.tail == "hair":
        hair = dark
        pen.limb(
            [
                root,
                (root[0] - 0.18, root[1] + 0.02 + low),
                (root[0] - 0.30, root[1] - 0.22 + low * 2 + wag),
                (root[0] - 0.40, root[1] - 0.42 + low * 3 + wag * 2),
            ],
            [0.08, 0.13, 0.14, 0.03],
            hair,
        )
    elif build.tail == "tassel":
        tip = (root[0] - 0.2 + wag, root[1] - 0.36 + low)
        pen.limb([root, (root[0] - 0.14, root[1] - 0.12), tip], [0.05, 0.04, 0.03], coat)
        pen.limb([tip, (tip[0] - 0.03, tip[1] - 0.1)], [0.07, 0.03], dark)
    elif build.tail == "puff":
        pen.oval(root[0] - 0.02, root[1], 0.09, 0.09, white)
    elif build.tail == "stub":
        pen.limb([root, (root[0] - 0.09, root[1] + 0.02 + wag * 0.4)], [0.09, 0.04], coat)
    else:
        pen.limb(
            [root, (root[0] - 0.22, root[1] + wag), (root[0] - 0.36, root[1] + 0.12 + wag)],
            [0.07, 0.05, 0.03],
            coat,
        )


def _markings(
    pen: Pen,
    build: Build,
    subject: Subject,
    dark: RGB,
    colours: Palette,
    hip: float,
    long: float,
    girth: float,
) -> None:
    if build.stripes:
        for i in range(7):
            x = (-0.44 + 0.14 * i) * long
            pen.limb(
                [(x, hip + 0.20 * girth), (x + 0.04, hip + 0.08), (x + 0.01, hip - 0.05 * girth)],
                [0.05, 0.035, 0.01],
                dark,
            )
    elif build.spots:
        spot = colours.subject((56, 46, 48)) if subject.kind == "cow" else colours.subject((240, 226, 204))
        size = 0.13 if subject.kind == "cow" else 0.022
        for x, y, s in (
            (-0.38, 0.13, 0.9),
            (-0.22, 0.06, 0.7),
            (-0.08, 0.15, 1.0),
            (0.10, 0.05, 0.8),
            (0.24, 0.14, 0.9),
            (-0.3, 0.0, 0.6),
        ):
            pen.oval(x * long, hip + y * girth * 0.9, size * s, size * s * 0.75, spot)


def _ears(pen: Pen, build: Build, coat: RGB, dark: RGB, head: Point, *, near: bool) -> None:
    x, y = head[0] - (0.03 if near else -0.05), head[1] + build.head * 0.6
    size = build.ear_size
    if build.ear == "point":
        pen.polygon([(x - size * 0.38, y), (x - size * 0.12, y + size), (x + size * 0.36, y + 0.02)], coat)
        if near:
            pen.polygon(
                [
                    (x - size * 0.18, y + size * 0.1),
                    (x - size * 0.1, y + size * 0.72),
                    (x + size * 0.2, y + size * 0.1),
                ],
                mix(coat, dark, 0.55),
            )
    elif build.ear == "flop":
        pen.blob(
            [
                (x - 0.06, y + 0.05),
                (x + 0.05, y + 0.03),
                (x + 0.02, y - size * 0.7),
                (x - 0.07, y - size),
                (x - 0.11, y - size * 0.5),
            ],
            shaded(mix(coat, dark, 0.35), 1.0),
        )
    elif build.ear == "long":
        pen.limb(
            [(x, y - 0.02), (x - size * 0.25, y + size * 0.5), (x - size * 0.42, y + size)],
            [0.07, 0.10, 0.05],
            coat,
        )
    elif build.ear == "round":
        pen.oval(x - 0.02, y + size * 0.3, size, size, shaded(coat, 0.86))
    elif build.ear == "side":
        pen.limb([(x, y - 0.01), (x - size * 0.9, y + 0.05)], [0.05, 0.03], coat)
    elif build.ear == "fan" and near:
        pen.blob(
            [
                (x + 0.04, y + 0.08),
                (x - size * 0.5, y + 0.12),
                (x - size, y - 0.12),
                (x - size * 0.6, y - size),
                (x + 0.02, y - size * 0.8),
            ],
            shaded(coat, 0.84),
        )


def _head(
    pen: Pen, build: Build, subject: Subject, coat: RGB, light: RGB, dark: RGB, head: Point, colours: Palette
) -> None:
    x, y = head
    size = build.head
    if subject.kind == "lion" and "stripes" not in subject.traits:
        mane = colours.subject((140, 84, 44))
        for i in range(12):
            angle = i * math.pi / 6
            pen.oval(
                x - 0.05 + 0.17 * math.cos(angle),
                y - 0.02 + 0.2 * math.sin(angle),
                0.1,
                0.1,
                shaded(mane, 0.9 + 0.1 * (i % 2)),
            )
    if build.mane:
        hair = colours.subject((246, 170, 214)) if "horn" in subject.traits else dark
        for i in range(6):
            share = i / 5
            px, py = 0.38 + (x - 0.44) * share, y - build.neck[1] * (1 - share) + 0.10 - 0.02 * share
            pen.limb([(px, py), (px - 0.13, py - 0.05)], [0.12, 0.04], hair)
    if subject.kind == "elephant":
        pen.oval(x, y, size, size, coat)
        pen.limb(
            [(x + 0.12, y - 0.02), (x + 0.30, y - 0.2), (x + 0.27, y - 0.5), (x + 0.38, y - 0.58)],
            [0.2, 0.14, 0.09, 0.06],
            coat,
        )
        pen.limb(
            [(x + 0.16, y - 0.14), (x + 0.32, y - 0.3), (x + 0.42, y - 0.26)],
            [0.06, 0.045, 0.01],
            colours.subject((246, 240, 222)),
        )
    else:
        face = coat if subject.kind != "sheep" else dark
        drop = 0.55 if build.mane else 0.22 if build.snout > 0.2 else 0.1
        tip = (x + build.snout, y - build.snout * drop)
        pen.limb(
            [(x + 0.02, y - 0.01), (x + build.snout * 0.55, y - build.snout * drop * 0.5 - 0.005), tip],
            [size * 1.5, build.snout_width * 1.45, build.snout_width],
            face,
        )
        pen.oval(x, y, size * 1.04, size * 0.96, face)
        if build.belly > 0.3:
            pen.limb(
                [
                    (x + 0.02, y - size * 0.55),
                    (x + build.snout * 0.6, tip[1] + (y - tip[1]) * 0.4 - build.snout_width * 0.42),
                    (tip[0] - 0.01, tip[1] - build.snout_width * 0.2),
                ],
                [size * 0.7, build.snout_width * 0.6, build.snout_width * 0.5],
                light,
            )
        pen.oval(
            tip[0] + build.snout_width * 0.3,
            tip[1] + build.snout_width * 0.16,
            max(0.026, build.snout_width * 0.3),
            max(0.022, build.snout_width * 0.25),
            mix(dark, (16, 14, 20), 0.6),
        )
    ink = (18, 16, 22) if brightness(coat) > 70 else (236, 214, 130)
    pen.oval(x + size * 0.42, y + size * 0.22, 0.024, 0.028, ink)
    if "horn" in subject.traits:
        pen.polygon(
            [(x + 0.02, y + size * 0.8), (x + 0.09, y + size * 0.7), (x + 0.15, y + size + 0.3)],
            colours.subject((250, 222, 140)),
        )
    if "antlers" in subject.traits:
        horn = colours.subject((116, 88, 64))
        for shift, shade in ((0.05, 0.75), (0.0, 1.0)):
            beam = [
                (x - 0.02 + shift, y + size * 0.7),
                (x - 0.14 + shift, y + 0.3),
                (x - 0.06 + shift, y + 0.5),
            ]
            pen.limb(beam, [0.035, 0.03, 0.015], shaded(horn, shade))
            pen.limb(
                [(x - 0.13 + shift, y + 0.26), (x + 0.03 + shift, y + 0.34)],
                [0.025, 0.012],
                shaded(horn, shade),
            )
            pen.limb(
                [(x - 0.11 + shift, y + 0.38), (x - 0.22 + shift, y + 0.5)],
                [0.025, 0.012],
                shaded(horn, shade),
            )
    if subject.kind == "cow":
        pen.limb(
            [(x - 0.03, y + size * 0.8), (x - 0.02, y + 0.24), (x + 0.06, y + 0.28)],
            [0.05, 0.04, 0.015],
            colours.subject((228, 214, 186)),
        )
