"""The subjects of a scene as actors: drawn as short cycles of sprites, then put where their action takes them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PIL import Image

from reelbook.sandbox.render import animals, flyers, land, people, vehicles
from reelbook.sandbox.render.elsewhere import hues
from reelbook.sandbox.render.layers import Sprite, Stage, View, on_frame, put
from reelbook.sandbox.render.palette import Palette
from reelbook.sandbox.render.shapes import Pen
from reelbook.sandbox.render.sky import night_share
from reelbook.sandbox.render.words import Scene, Subject

FLYING = {"bird", "butterfly", "dragon", "balloon", "airplane", "ufo", "orb"}
SWIMMING = {"fish", "whale", "jellyfish"}
RIDING = {"car", "train", "bicycle", "boat"}
ROOTED = {"tree", "flower"}

# Pixels of one unit of its drawing on a stage of 360 pixels.
_UNITS = {
    "person": 118, "astronaut": 128, "robot": 128, "car": 168, "train": 190, "bicycle": 116, "boat": 136, "balloon": 122,
    "airplane": 170, "rocket": 150, "ufo": 190, "bird": 92, "butterfly": 74, "dragon": 180, "fish": 92, "whale": 230,
    "jellyfish": 128, "flower": 150, "tree": 250, "orb": 120, "horse": 84, "bear": 92, "elephant": 96, "lion": 84,
    "rabbit": 62, "camel": 80, "cow": 88, "deer": 78,
}  # fmt: skip
# How fast each way of moving is, in pixels a second.
_SPEEDS = {
    "run": 235.0,
    "walk": 64.0,
    "fly": 120.0,
    "swim": 74.0,
    "drift": 24.0,
    "drive": 250.0,
    "launch": 90.0,
    "jump": 120.0,
    "dance": 0.0,
    "rest": 0.0,
}


@dataclass(frozen=True, eq=False)
class Actor:
    """One drawn figure: its cycle, where it starts, and how it moves (pixels and seconds)."""

    cycle: tuple[Sprite, ...]
    cycle_seconds: float
    phase: float
    x: float
    y: float
    speed: float
    wander: float
    lift: float
    lift_seconds: float
    hop: float
    rise: float
    scale: float
    shadow: Sprite | None


@dataclass(frozen=True, eq=False)
class Acts:
    """All actors of a clip, far to near, and how fast the camera goes with them."""

    actors: tuple[Actor, ...] = ()
    camera_speed: float = 0.0


def cast(rng: np.random.Generator, stage: Stage, scene: Scene, colours: Palette, seconds: float) -> Acts:
    """Draw the subjects of `scene` and decide how each moves."""
    subjects = scene.subjects
    if not subjects and scene.unknown and scene.setting != "abstract":
        subjects = (Subject("orb"),)
    if not subjects:
        return Acts()
    side = scene.direction or (1 if rng.random() < 0.6 else -1)
    action = _action(scene, subjects[0])
    pace = scene.pace if action not in ("rest", "dance") else 1.0
    speed = side * _SPEEDS[action] * pace * stage.unit
    if subjects[0].kind in ROOTED or (subjects[0].kind == "rocket" and scene.setting != "space"):
        speed = 0.0
    static = any(move.kind == "static" for move in scene.moves)
    follows = 0.0 if static or abs(speed) < 40 * stage.unit else speed
    if static and speed:
        speed = side * 0.72 * stage.width / seconds
    actors: list[Actor] = []
    for order, subject in enumerate(subjects):
        gap = -side * order * 0.30 * stage.width if len(subjects) > 1 else 0.0
        middle = stage.width / 2 + (0.15 * side * stage.width if len(subjects) > 1 else 0.0) + gap
        own = _action(scene, subject)
        mine = 0.0 if subject.kind in ROOTED else speed
        actors += _company(rng, stage, scene, colours, subject, own, middle, mine, side, seconds, follows)
    return Acts(tuple(sorted(actors, key=lambda actor: actor.y)), follows)


def play(frame: Image.Image, acts: Acts, stage: Stage, view: View, start: float, seconds: float) -> None:
    """Put every actor where it is `seconds` into the clip; `start` is where the camera began."""
    for actor in acts.actors:
        world = actor.x + actor.speed * seconds + actor.wander * math.sin(seconds * 0.9 + actor.phase * 6.3)
        lift = actor.lift * math.sin(2 * math.pi * (seconds / actor.lift_seconds + actor.phase))
        if actor.hop:
            lift += actor.hop * abs(math.sin(math.pi * (seconds / 0.95 + actor.phase)))
        x, ground = on_frame(stage, view, world + start, actor.y, 1.0)
        number = int((seconds / actor.cycle_seconds + actor.phase) % 1 * len(actor.cycle))
        if actor.shadow:
            put(frame, actor.shadow, x, ground, actor.scale)
        put(frame, actor.cycle[number], x, ground - lift - actor.rise * seconds, actor.scale)


def _action(scene: Scene, subject: Subject) -> str:
    kind = subject.kind
    usual = (
        "drive" if kind in ("car", "train", "bicycle") else "swim" if kind in SWIMMING
        else "fly" if kind in ("bird", "dragon", "airplane", "butterfly") else "drift" if kind in FLYING | {"boat", "astronaut", "rocket"}
        else "rest" if kind in ROOTED else "walk"
    )  # fmt: skip
    asked = scene.action
    if kind in ROOTED:
        return "rest"
    if asked is None:
        return usual
    if asked in ("run", "walk") and kind in FLYING | SWIMMING | RIDING | {"rocket"}:
        return usual
    if asked == "swim" and kind not in SWIMMING or (asked == "drive" and kind not in RIDING):
        return usual
    if asked == "fly" and kind in ("car", "train", "bicycle", "boat", "tree"):
        return usual
    return "drift" if asked == "rest" and kind in FLYING | SWIMMING | {"boat"} else asked


def _company(rng: np.random.Generator, stage: Stage, scene: Scene, colours: Palette, subject: Subject, action: str, middle: float, speed: float, side: int, seconds: float, follows: float) -> list[Actor]:  # fmt: skip
    """All of one subject: a single figure, or a flock of its kind at different sizes and phases."""
    unit = stage.unit * _UNITS.get(subject.kind, 70) * subject.size
    gait = (
        "run"
        if action in ("run", "jump", "dance")
        else "rest"
        if action in ("rest", "drift", "fly", "swim") and subject.kind not in FLYING | SWIMMING
        else "walk"
    )
    if (
        subject.kind in ("horse", "dog", "wolf", "lion")
        and scene.pace > 1.3
        and gait == "walk"
        and action == "walk"
    ):
        gait = "run"
    flock = subject.count > 1
    if flock:
        unit *= 0.74 if subject.count > 3 else 0.84
    actors = []
    for number in range(subject.count):
        look = int(rng.integers(100))
        if number == 0 or (number < 3 and subject.kind in ("fish", "person")):
            cycle, cycle_seconds = _cycle(stage, scene, subject, colours, gait, unit, look, side)
        x, y = middle, _height(rng, stage, scene, subject, action)
        scale = 1.0
        if flock:
            spread = number / max(1, subject.count - 1) - 0.5
            flying = subject.kind in FLYING | SWIMMING
            x += (
                spread * (0.72 if len(scene.subjects) == 1 else 0.34) + rng.uniform(-0.05, 0.05)
            ) * stage.width
            y += (
                rng.uniform(-0.17, 0.17) * stage.height
                if flying
                else rng.uniform(-0.05, 0.055) * stage.height
            )
            scale = rng.uniform(0.6, 1.0) if flying else 1.0 + (y - stage.ground) / stage.height
        own = speed
        if follows:
            # The camera goes along; the figure itself gains a little, so the picture isn't nailed down.
            own = follows + side * 0.20 * stage.width / seconds
            x -= side * 0.10 * stage.width
        elif speed:
            x -= speed * seconds / 2
        free = subject.kind in FLYING | SWIMMING or (
            action in ("fly", "drift") and subject.kind in ("astronaut", "rocket")
        )
        rise = 0.0
        if subject.kind == "rocket" and scene.setting != "space":
            rise, own, free = 0.62 * stage.height / seconds, 0.0, False
        actors.append(
            Actor(
                cycle, cycle_seconds, float(rng.random()) if flock else 0.0, x, y, own,
                wander=(10.0 if free else 0.0) * stage.unit * (2.4 if subject.kind == "butterfly" else 1.0),
                lift=stage.unit * ((15.0 if subject.kind in ("butterfly", "ufo") else 9.0) if free else 3.0 if subject.kind == "boat" else 0.0),
                lift_seconds=1.6 if subject.kind == "butterfly" else 3.4,
                hop=34 * stage.unit if action == "jump" and not free else 9 * stage.unit if action == "dance" else 12 * stage.unit if subject.kind == "rabbit" and action in ("run", "walk") else 0.0,
                rise=rise, scale=scale, shadow=None if free or subject.kind in ("boat", "rocket") or scene.setting in ("space", "underwater") else _shadow(unit, subject, colours),
            )
        )  # fmt: skip
    return actors


def _height(rng: np.random.Generator, stage: Stage, scene: Scene, subject: Subject, action: str) -> float:
    jitter = rng.uniform(-0.03, 0.03)
    if subject.kind == "boat":
        return stage.height * (0.855 if scene.setting == "sea" else 0.83)
    if subject.kind in SWIMMING:
        return stage.height * (0.46 + jitter)
    if subject.kind == "rocket":
        return stage.height * (0.50 if scene.setting == "space" else 0.70)
    if (
        subject.kind in FLYING
        or action == "fly"
        or (subject.kind == "astronaut" and scene.setting == "space")
    ):
        return stage.height * (
            {
                "butterfly": 0.55,
                "dragon": 0.46,
                "ufo": 0.34,
                "orb": 0.52,
                "balloon": 0.49,
                "astronaut": 0.66,
            }.get(subject.kind, 0.37)
            + jitter
        )
    if scene.setting in ("space", "underwater"):
        return stage.height * 0.66
    return stage.ground + (
        14 * stage.unit
        if subject.kind in ("car", "bicycle", "train") and scene.setting in ("street", "city")
        else 0
    )


def _cycle(
    stage: Stage,
    scene: Scene,
    subject: Subject,
    colours: Palette,
    gait: str,
    unit: float,
    look: int,
    side: int,
) -> tuple[tuple[Sprite, ...], float]:
    """The sprites of one cycle, and its length in seconds."""
    kind = subject.kind
    dark = night_share(colours)
    leaf = land.AUTUMN[look % len(land.AUTUMN)] if scene.season == "autumn" else (92, 142, 74)
    hue = hues(scene)[1]
    sails = "big" not in subject.traits or look % 3 > 0
    heading = -0.95 if scene.setting == "space" else 0.0
    room = {
        "car": (0.62, 1.15, 0.6, 0.05), "train": (1.65, 1.05, 0.85, 0.06), "bicycle": (0.6, 0.6, 1.2, 0.05), "boat": (0.75, 0.8, 1.15, 0.28),
        "balloon": (0.55, 0.55, 1.15, 0.5), "airplane": (0.75, 0.65, 0.45, 0.45), "rocket": (1.05, 0.85, 0.85, 1.15), "ufo": (0.62, 0.62, 0.4, 1.0),
        "bird": (0.75, 0.65, 0.85, 0.65), "butterfly": (0.75, 0.75, 0.75, 0.65), "dragon": (1.15, 0.95, 0.95, 0.6), "fish": (0.72, 0.6, 0.42, 0.36),
        "whale": (0.95, 0.65, 0.45, 0.45), "jellyfish": (0.5, 0.5, 0.4, 0.8), "flower": (0.5, 0.5, 1.15, 0.08), "tree": (0.55, 0.55, 1.1, 0.06),
        "orb": (0.62, 0.62, 0.62, 0.62),
    }  # fmt: skip
    seconds: dict[str, float] = {
        "car": 0.4, "train": 0.6, "bicycle": 0.75, "boat": 3.4, "balloon": 4.0, "airplane": 2.0, "rocket": 0.7, "ufo": 2.6, "bird": 0.62,
        "butterfly": 0.55, "dragon": 1.3, "fish": 0.8, "whale": 2.8, "jellyfish": 2.2, "flower": 3.0, "tree": 3.6, "orb": 4.0, "astronaut": 4.5,
    }  # fmt: skip
    length = seconds.get(kind, animals.GAITS[gait][3] / (0.8 if "old" in subject.traits else 1.0))
    count = min(24, max(10, round(length * 24 / (2 if length > 1.2 else 1))))

    def one(draw: Callable[[Pen], None]) -> Sprite:
        pen = (
            animals.pen_for(unit, subject)
            if kind in animals.BUILDS
            else Pen(unit, *room[kind])
            if kind in room
            else people.pen_for(unit)
        )
        draw(pen)
        return pen.sprite(mirrored=side < 0)

    def drawn(phase: float) -> Callable[[Pen], None]:
        if kind in animals.BUILDS:
            return lambda pen: animals.draw(pen, subject, colours, gait, phase)
        return {
            "person": lambda pen: people.person(pen, subject, colours, gait, phase, look),
            "astronaut": lambda pen: people.astronaut(pen, subject, colours, phase),
            "robot": lambda pen: people.robot(pen, subject, colours, gait, phase),
            "car": lambda pen: vehicles.car(pen, subject, colours, phase, dark),
            "train": lambda pen: vehicles.train(pen, subject, colours, phase, dark),
            "bicycle": lambda pen: vehicles.bicycle(pen, subject, colours, phase, look),
            "boat": lambda pen: vehicles.boat(pen, subject, colours, phase, sails),
            "balloon": lambda pen: vehicles.balloon(pen, subject, colours, phase),
            "airplane": lambda pen: vehicles.airplane(pen, subject, colours, phase),
            "rocket": lambda pen: vehicles.rocket(pen, subject, colours, phase, heading),
            "ufo": lambda pen: vehicles.ufo(pen, subject, colours, phase),
            "bird": lambda pen: flyers.bird(pen, subject, colours, phase),
            "butterfly": lambda pen: flyers.butterfly(pen, subject, colours, phase),
            "dragon": lambda pen: flyers.dragon(pen, subject, colours, phase),
            "fish": lambda pen: flyers.fish(pen, subject, colours, phase, look),
            "whale": lambda pen: flyers.whale(pen, subject, colours, phase),
            "jellyfish": lambda pen: flyers.jellyfish(pen, subject, colours, phase),
            "flower": lambda pen: flyers.flower(pen, subject, colours, phase),
            "tree": lambda pen: flyers.tree(pen, subject, colours, phase, leaf),
            "orb": lambda pen: flyers.orb(pen, subject, colours, phase, hue),
        }[kind]

    return tuple(one(drawn(i / count)) for i in range(count)), length


def _shadow(unit: float, subject: Subject, colours: Palette) -> Sprite:
    """A soft dark ellipse that puts the figure on the ground."""
    half = {"person": 0.26, "robot": 0.28, "train": 1.5, "flower": 0.2, "tree": 0.4, "bicycle": 0.5}.get(
        subject.kind, 0.62
    ) * unit
    flat = max(3.0, min(half * 0.13, 9.0))
    width, height = math.ceil(half) + 4, math.ceil(flat) + 4
    yy, xx = np.mgrid[-height : height + 1, -width : width + 1]
    cover = np.clip(1.15 - np.hypot(xx / half, yy / flat), 0, 1) ** 0.7 * 92
    dark = tuple(round(channel * 0.22) for channel in colours.sky[1])
    colour = Image.new("RGB", (cover.shape[1], cover.shape[0]), (dark[0], dark[1], dark[2]))
    return Sprite(colour, Image.fromarray(np.clip(cover, 0, 255).astype(np.uint8)), (width, height))
