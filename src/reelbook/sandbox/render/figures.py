"""The cycle of sprites of each kind of subject: which drawing, how large, how much room, how long a cycle."""

import math
from collections.abc import Callable

import numpy as np
from PIL import Image

from reelbook.sandbox.render import animals, craft, flyers, land, people, swimmers, vehicles
from reelbook.sandbox.render.builds import BUILDS, GAITS
from reelbook.sandbox.render.elsewhere import hues
from reelbook.sandbox.render.layers import Sprite
from reelbook.sandbox.render.palette import Palette
from reelbook.sandbox.render.shapes import Pen
from reelbook.sandbox.render.sky import night_share
from reelbook.sandbox.render.words import Scene, Subject

# Pixels of one unit of its drawing on a stage of 360 pixels.
UNITS = {
    "person": 118, "astronaut": 128, "robot": 128, "car": 168, "train": 190, "bicycle": 116, "boat": 136,
    "balloon": 122, "airplane": 170, "rocket": 150, "ufo": 190, "bird": 92, "butterfly": 74, "dragon": 180,
    "fish": 92, "whale": 230, "jellyfish": 128, "flower": 150, "tree": 250, "orb": 120, "horse": 84,
        "bear": 92,
    "elephant": 96, "lion": 84, "rabbit": 62, "camel": 80, "cow": 88, "deer": 78,
}  # fmt: skip

# Units of room around the anchor: left, right, up, down.
_ROOM = {
    "car": (0.62, 1.15, 0.6, 0.05), "train": (1.65, 1.05, 0.85, 0.06), "bicycle": (0.6, 0.6, 1.2, 0.05),
    "boat": (0.75, 0.8, 1.15, 0.28), "balloon": (0.55, 0.55, 1.15, 0.5), "airplane": (0.75, 0.65, 0.45, 0.45),
    "rocket": (1.05, 0.85, 0.85, 1.15), "ufo": (0.62, 0.62, 0.4, 1.0), "bird": (0.75, 0.65, 0.85, 0.65),
    "butterfly": (0.75, 0.75, 0.75, 0.65), "dragon": (1.15, 0.95, 0.95, 0.6), "fish": (0.72, 0.6, 0.42, 0.36),
    "whale": (0.95, 0.65, 0.45, 0.45), "jellyfish": (0.5, 0.5, 0.4, 0.8), "flower": (0.5, 0.5, 1.15, 0.08),
    "tree": (0.55, 0.55, 1.1, 0.06), "orb": (0.62, 0.62, 0.62, 0.62),
}  # fmt: skip

_SECONDS = {
    "car": 0.4, "train": 0.6, "bicycle": 0.75, "boat": 3.4, "balloon": 4.0, "airplane": 2.0, "rocket": 0.7,
    "ufo": 2.6, "bird": 0.62, "butterfly": 0.55, "dragon": 1.3, "fish": 0.8, "whale": 2.8, "jellyfish": 2.2,
    "flower": 3.0, "tree": 3.6, "orb": 4.0, "astronaut": 4.5,
}  # fmt: skip


def cycle(
    scene: Scene, subject: Subject, colours: Palette, gait: str, unit: float, look: int, side: int
) -> tuple[tuple[Sprite, ...], float]:
    """The sprites of one cycle of `subject`, facing `side`, and the cycle's length in seconds.

    `unit` is pixels per unit of the drawing; `look` chooses among the looks of one kind.
    """
    kind = subject.kind
    tired = 0.8 if "old" in subject.traits else 1.0
    length = _SECONDS.get(kind, GAITS[gait][3] / tired)
    # Slow cycles are drawn at every other frame: there is too little between two of them to see.
    count = min(24, max(10, round(length * (12 if length > 1.2 else 24))))
    draw = _drawing(scene, subject, colours, gait, look)
    sprites = []
    for number in range(count):
        pen = _pen(unit, subject)
        draw(pen, number / count)
        sprites.append(pen.sprite(mirrored=side < 0))
    return tuple(sprites), length


def shadow(unit: float, subject: Subject, colours: Palette) -> Sprite:
    """A soft dark ellipse that puts the figure on the ground."""
    wide = {"person": 0.26, "robot": 0.28, "train": 1.5, "flower": 0.2, "tree": 0.4, "bicycle": 0.5}
    half = wide.get(subject.kind, 0.62) * unit
    flat = max(3.0, min(half * 0.13, 9.0))
    width, height = math.ceil(half) + 4, math.ceil(flat) + 4
    yy, xx = np.mgrid[-height : height + 1, -width : width + 1]
    cover = np.clip(1.15 - np.hypot(xx / half, yy / flat), 0, 1) ** 0.7 * 92
    red, green, blue = (round(channel * 0.22) for channel in colours.sky[1])
    colour = Image.new("RGB", (cover.shape[1], cover.shape[0]), (red, green, blue))
    return Sprite(colour, Image.fromarray(cover.astype(np.uint8)), (width, height))


def _pen(unit: float, subject: Subject) -> Pen:
    if subject.kind in BUILDS:
        return animals.pen_for(unit, subject)
    return Pen(unit, *_ROOM[subject.kind]) if subject.kind in _ROOM else people.pen_for(unit)


def _drawing(
    scene: Scene, subject: Subject, colours: Palette, gait: str, look: int
) -> Callable[[Pen, float], None]:
    """What draws `subject` with a pen at a phase from 0 to 1."""
    if subject.kind in BUILDS:
        return lambda pen, phase: animals.draw(pen, subject, colours, gait, phase)
    s, c, dark = subject, colours, night_share(colours)
    leaf = land.AUTUMN[look % len(land.AUTUMN)] if scene.season == "autumn" else (92, 142, 74)
    sails = "big" not in subject.traits or look % 3 > 0
    heading = -0.95 if scene.setting == "space" else 0.0
    drawings: dict[str, Callable[[Pen, float], None]] = {
        "person": lambda pen, phase: people.person(pen, s, c, gait, phase, look),
        "astronaut": lambda pen, phase: people.astronaut(pen, s, c, phase),
        "robot": lambda pen, phase: people.robot(pen, s, c, gait, phase),
        "car": lambda pen, phase: vehicles.car(pen, s, c, phase, dark),
        "train": lambda pen, phase: vehicles.train(pen, s, c, phase, dark),
        "bicycle": lambda pen, phase: vehicles.bicycle(pen, s, c, phase, look),
        "boat": lambda pen, phase: vehicles.boat(pen, s, c, phase, sails),
        "balloon": lambda pen, phase: craft.balloon(pen, s, c, phase),
        "airplane": lambda pen, phase: craft.airplane(pen, s, c, phase),
        "rocket": lambda pen, phase: craft.rocket(pen, s, c, phase, heading),
        "ufo": lambda pen, phase: craft.ufo(pen, s, c, phase),
        "bird": lambda pen, phase: flyers.bird(pen, s, c, phase),
        "butterfly": lambda pen, phase: flyers.butterfly(pen, s, c, phase),
        "dragon": lambda pen, phase: flyers.dragon(pen, s, c, phase),
        "fish": lambda pen, phase: swimmers.fish(pen, s, c, phase, look),
        "whale": lambda pen, phase: swimmers.whale(pen, s, c, phase),
        "jellyfish": lambda pen, phase: swimmers.jellyfish(pen, s, c, phase),
        "flower": lambda pen, phase: flyers.flower(pen, s, c, phase),
        "tree": lambda pen, phase: flyers.tree(pen, s, c, phase, leaf),
        "orb": lambda pen, phase: flyers.orb(pen, s, c, phase, hues(scene)[1]),
    }
    return drawings[subject.kind]
