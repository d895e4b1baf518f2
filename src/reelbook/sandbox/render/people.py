"""People and those built like them: a walker's cycle, with looks by age and dress; an astronaut; a robot.

Units are body heights; the anchor is the ground between the feet; they face right.
"""

import math

from reelbook.sandbox.render.palette import Palette, mix, shaded
from reelbook.sandbox.render.shapes import Pen, Point
from reelbook.sandbox.render.words import RGB, Subject

_COATS: tuple[RGB, ...] = ((58, 92, 128), (164, 74, 62), (78, 110, 84), (122, 84, 120), (196, 146, 72))
_SKINS: tuple[RGB, ...] = ((236, 192, 160), (198, 142, 104), (142, 96, 70), (224, 172, 132))


def pen_for(scale: float) -> Pen:
    """A pen with room for one figure."""
    return Pen(scale, 0.62, 0.62, 1.25, 0.08, (90, 90, 100))


def person(pen: Pen, subject: Subject, colours: Palette, gait: str, phase: float, look: int) -> None:
    """Draw a person at `phase` of the stride; `look` chooses skin and clothes."""
    old, dress = "old" in subject.traits, "dress" in subject.traits
    coat = colours.subject(subject.colour or _COATS[look % len(_COATS)])
    skin = colours.subject(_SKINS[(look // 5) % len(_SKINS)])
    legs = colours.subject((62, 62, 78) if not dress else (196, 150, 124))
    hair = colours.subject((224, 224, 226) if old else ((72, 50, 40), (40, 34, 38), (150, 104, 60))[look % 3])
    turn = 2 * math.pi * phase
    swing = {"run": 0.80, "walk": 0.42, "rest": 0.0}[gait] * (0.72 if old else 1)
    lean = 0.20 if gait == "run" else 0.15 if old else 0.03
    lift = 0.016 * abs(math.sin(turn)) * (2 if gait == "run" else 1)
    hip = (0.0, 0.47 + lift)
    neck = (lean * 0.75, 0.81 + lift - (0.03 if old else 0))
    head = (neck[0] + (0.07 if old else 0.025), neck[1] + 0.085)
    _leg(pen, hip, turn + math.pi, swing, shaded(legs, 0.72), gait)
    _arm(pen, neck, turn, swing, shaded(coat, 0.72), shaded(skin, 0.8), None)
    _leg(pen, hip, turn, swing, legs, gait)
    if dress:
        sway = 0.02 * math.sin(turn)
        pen.blob(
            [
                (neck[0] - 0.075, neck[1] - 0.02),
                (-0.085, 0.55 + lift),
                (-0.19 + sway, 0.24),
                (0.0, 0.215),
                (0.19 + sway, 0.24),
                (0.095, 0.55 + lift),
                (neck[0] + 0.075, neck[1] - 0.02),
            ],
            coat,
        )
        pen.polygon([(0.03, 0.56 + lift), (0.19 + sway, 0.25), (0.06, 0.22)], shaded(coat, 0.85))
    else:
        pen.blob(
            [
                (neck[0] - 0.085, neck[1] - 0.03),
                (hip[0] - 0.115, 0.60 + lift),
                (hip[0] - 0.12, 0.37 + lift),
                (hip[0] + 0.12, 0.37 + lift),
                (hip[0] + 0.12, 0.60 + lift),
                (neck[0] + 0.085, neck[1] - 0.03),
            ],
            coat,
        )
        pen.polygon(
            [
                (neck[0] + 0.03, neck[1] - 0.04),
                (hip[0] + 0.10, 0.58 + lift),
                (hip[0] + 0.115, 0.385 + lift),
                (hip[0] + 0.03, 0.38 + lift),
            ],
            shaded(coat, 0.86),
        )
    cane = (neck[0] + 0.22, 0.0) if old and gait != "run" else None
    pen.limb([(neck[0], neck[1] - 0.02), head], [0.07, 0.06], skin)
    if dress and not old:
        flow = 0.03 * math.sin(turn + 1)
        pen.limb(
            [
                (head[0] - 0.03, head[1] + 0.04),
                (head[0] - 0.10, head[1] - 0.06),
                (head[0] - 0.13 - abs(swing) * 0.1, head[1] - 0.17 + flow),
            ],
            [0.12, 0.09, 0.02],
            hair,
        )
    pen.oval(head[0], head[1], 0.078, 0.086, skin)
    pen.blob(
        [
            (head[0] - 0.085, head[1] - 0.03),
            (head[0] - 0.085, head[1] + 0.05),
            (head[0] - 0.02, head[1] + 0.105),
            (head[0] + 0.07, head[1] + 0.07),
            (head[0] + 0.03, head[1] + 0.045),
            (head[0] - 0.03, head[1] + 0.02),
            (head[0] - 0.045, head[1] - 0.05),
        ],
        hair,
    )
    if old:
        pen.blob(
            [
                (head[0] + 0.0, head[1] - 0.05),
                (head[0] + 0.075, head[1] - 0.035),
                (head[0] + 0.06, head[1] - 0.12),
                (head[0] + 0.015, head[1] - 0.10),
            ],
            hair,
        )
    if "hat" in subject.traits:
        felt = shaded(coat, 0.6)
        pen.oval(head[0], head[1] + 0.055, 0.14, 0.024, felt, turn=0.08)
        pen.blob(
            [
                (head[0] - 0.075, head[1] + 0.055),
                (head[0] - 0.06, head[1] + 0.135),
                (head[0] + 0.06, head[1] + 0.135),
                (head[0] + 0.08, head[1] + 0.06),
            ],
            felt,
        )
    pen.limb(
        [(neck[0] - 0.02, neck[1] - 0.05), (neck[0] + 0.06, neck[1] - 0.035)],
        [0.05, 0.05],
        mix(coat, colours.subject((246, 236, 220)), 0.6),
    )
    _arm(pen, neck, turn + math.pi, swing, shaded(coat, 1.06), skin, cane)


def _leg(pen: Pen, hip: Point, turn: float, swing: float, colour: RGB, gait: str) -> None:
    angle = swing * math.sin(turn) + (0.02 if swing else 0.0)
    fold = (
        (1.35 if gait == "run" else 0.72)
        * max(0.0, math.cos(turn))
        * (1 if swing else 0)
        * (swing / 0.42 if gait == "walk" else 1)
    )
    knee = (hip[0] + math.sin(angle + 0.06) * 0.225, hip[1] - math.cos(angle + 0.06) * 0.225)
    foot = (knee[0] + math.sin(angle - fold) * 0.235, max(0.012, knee[1] - math.cos(angle - fold) * 0.235))
    pen.limb([hip, knee, foot], [0.105, 0.082, 0.06], colour, smooth=False)
    pen.limb([foot, (foot[0] + 0.075, foot[1] - 0.004)], [0.058, 0.045], shaded(colour, 0.55), smooth=False)


def _arm(
    pen: Pen, neck: Point, turn: float, swing: float, sleeve: RGB, skin: RGB, cane: Point | None
) -> None:
    shoulder = (neck[0], neck[1] - 0.05)
    angle = swing * 0.85 * math.sin(turn)
    if cane:
        hand = (neck[0] + 0.17, 0.43)
        elbow = (neck[0] + 0.02, 0.60)
        tip = (cane[0] + 0.05 * math.sin(turn), 0.01 + 0.03 * max(0.0, math.cos(turn)))
        pen.limb(
            [(hand[0] - 0.035, hand[1] + 0.035), hand, tip], [0.022, 0.022, 0.018], (92, 66, 48), smooth=False
        )
    else:
        bend = 1.2 if swing > 0.6 else 0.25
        elbow = (shoulder[0] + math.sin(angle) * 0.165, shoulder[1] - math.cos(angle) * 0.165)
        hand = (elbow[0] + math.sin(angle + bend) * 0.15, elbow[1] - math.cos(angle + bend) * 0.15)
    pen.limb([shoulder, elbow, hand], [0.075, 0.062, 0.05], sleeve, smooth=False)
    pen.oval(hand[0], hand[1], 0.032, 0.032, skin)


def astronaut(pen: Pen, subject: Subject, colours: Palette, phase: float) -> None:
    """Draw a floating or walking figure in a space suit."""
    suit = colours.subject(subject.colour or (236, 238, 244))
    turn = 2 * math.pi * phase
    pen.turn = 0.14 * math.sin(turn)
    pen.blob([(-0.22, 0.40), (-0.24, 0.80), (-0.05, 0.84), (-0.04, 0.40)], shaded(suit, 0.7))
    for side, shade in ((-1, 0.8), (1, 1.0)):
        kick = 0.12 * math.sin(turn + side)
        pen.limb(
            [(0.02, 0.42), (0.05 + kick * 0.5, 0.22), (kick - 0.02, 0.05)],
            [0.16, 0.13, 0.11],
            shaded(suit, shade),
        )
        pen.limb([(kick - 0.02, 0.05), (kick + 0.06, 0.035)], [0.11, 0.08], shaded(suit, shade * 0.7))
        wave = 0.12 * math.sin(turn * 1 + side * 1.4)
        pen.limb(
            [(0.02, 0.74), (0.16 * side + 0.06, 0.62 + wave * 0.4), (0.25 * side + 0.06, 0.62 + wave)],
            [0.12, 0.10, 0.08],
            shaded(suit, shade),
        )
    pen.blob([(-0.12, 0.38), (-0.14, 0.62), (-0.09, 0.82), (0.11, 0.82), (0.16, 0.62), (0.14, 0.38)], suit)
    pen.box(0.03, 0.55, 0.13, 0.64, shaded(suit, 0.62))
    for i, hue in enumerate(((220, 80, 70), (90, 190, 120), (90, 150, 230))):
        pen.oval(0.05 + 0.03 * i, 0.595, 0.011, 0.011, hue)
    pen.oval(0.02, 0.94, 0.145, 0.15, suit)
    pen.oval(0.055, 0.94, 0.105, 0.112, shaded(colours.tone((46, 60, 104)), 1.0))
    pen.oval(0.085, 0.975, 0.045, 0.028, (236, 206, 140), turn=-0.5)


def robot(pen: Pen, subject: Subject, colours: Palette, gait: str, phase: float) -> None:
    """Draw a walking robot whose lamp blinks."""
    steel = colours.subject(subject.colour or (150, 166, 182))
    dark = shaded(steel, 0.55)
    glow = colours.tone((110, 236, 250))
    turn = 2 * math.pi * phase
    swing = 0.0 if gait == "rest" else 0.40
    lift = 0.014 * abs(math.sin(turn))
    for shift, shade in ((math.pi, 0.66), (0.0, 0.9)):
        angle = swing * math.sin(turn + shift)
        knee = (math.sin(angle) * 0.16, 0.36 - math.cos(angle) * 0.16 + lift)
        second = angle - 0.7 * max(0.0, math.cos(turn + shift)) * (1 if swing else 0)
        foot = (knee[0] + math.sin(second) * 0.17, max(0.03, knee[1] - math.cos(second) * 0.17))
        pen.limb([(0, 0.38 + lift), knee, foot], [0.09, 0.08, 0.075], shaded(steel, shade), smooth=False)
        pen.oval(knee[0], knee[1], 0.05, 0.05, dark)
        pen.box(foot[0] - 0.07, foot[1] - 0.035, foot[0] + 0.11, foot[1] + 0.03, shaded(steel, shade * 0.8))
        arm = swing * math.sin(turn + shift + math.pi)
        elbow = (math.sin(arm) * 0.15 - 0.01, 0.66 - math.cos(arm) * 0.15)
        if shade < 0.8:
            pen.limb(
                [(-0.01, 0.68), elbow, (elbow[0] + 0.09, elbow[1] - 0.10)],
                [0.075, 0.065, 0.06],
                shaded(steel, shade),
                smooth=False,
            )
    pen.blob([(-0.15, 0.38 + lift), (-0.19, 0.72 + lift), (0.19, 0.72 + lift), (0.15, 0.38 + lift)], steel)
    pen.polygon(
        [(0.06, 0.39 + lift), (0.06, 0.72 + lift), (0.185, 0.70 + lift), (0.145, 0.39 + lift)],
        shaded(steel, 0.84),
    )
    pen.oval(0.0, 0.58 + lift, 0.062, 0.062, dark)
    pen.oval(0.0, 0.58 + lift, 0.042, 0.042, mix(dark, glow, 0.55 + 0.45 * math.sin(turn)))
    pen.box(-0.035, 0.73 + lift, 0.035, 0.79 + lift, dark)
    pen.blob(
        [(-0.14, 0.79 + lift), (-0.15, 0.97 + lift), (0.15, 0.97 + lift), (0.14, 0.79 + lift)],
        shaded(steel, 1.08),
    )
    pen.blob(
        [(-0.06, 0.84 + lift), (-0.07, 0.93 + lift), (0.15, 0.93 + lift), (0.14, 0.84 + lift)],
        shaded(dark, 0.6),
    )
    for x in (0.0, 0.085):
        pen.oval(x, 0.885 + lift, 0.024, 0.026, glow)
    pen.limb([(-0.03, 0.97 + lift), (-0.05, 1.09 + lift)], [0.018, 0.014], dark)
    pen.oval(
        -0.05, 1.10 + lift, 0.026, 0.026, mix((120, 40, 40), (255, 110, 90), 0.5 + 0.5 * math.sin(turn * 2))
    )
    arm = swing * math.sin(turn + math.pi)
    elbow = (math.sin(arm) * 0.15 - 0.03, 0.66 - math.cos(arm) * 0.15 + lift)
    pen.limb(
        [(-0.03, 0.68 + lift), elbow, (elbow[0] + 0.10, elbow[1] - 0.09)],
        [0.085, 0.07, 0.06],
        shaded(steel, 1.1),
        smooth=False,
    )
    pen.oval(elbow[0] + 0.11, elbow[1] - 0.10, 0.04, 0.04, dark)
