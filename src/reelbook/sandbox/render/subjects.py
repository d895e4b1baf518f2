"""The subjects of a scene as actors: how many, where each starts, and how it moves through the clip.

Their drawing is in `figures`.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from PIL import Image

from reelbook.sandbox.render.camera import sideways
from reelbook.sandbox.render.figures import UNITS, cycle, shadow
from reelbook.sandbox.render.layers import Sprite, Stage, View, on_frame, put
from reelbook.sandbox.render.palette import Palette
from reelbook.sandbox.render.words import Scene, Subject

FLYING = {"bird", "butterfly", "dragon", "balloon", "airplane", "ufo", "orb"}
SWIMMING = {"fish", "whale", "jellyfish"}
RIDING = {"car", "train", "bicycle"}
ROOTED = {"tree", "flower"}

# How fast each way of moving is, in pixels a second on a stage of 360 pixels.
_SPEEDS = {
    "run": 235.0, "walk": 64.0, "fly": 120.0, "swim": 74.0, "drift": 24.0, "drive": 250.0, "launch": 90.0,
    "jump": 120.0, "dance": 0.0, "rest": 0.0,
}  # fmt: skip

_USUAL = {
    "bird": "fly", "dragon": "fly", "airplane": "fly", "butterfly": "fly", "balloon": "drift", "ufo": "drift",
    "orb": "drift", "boat": "drift", "astronaut": "drift", "rocket": "drift", "car": "drive",
        "train": "drive",
    "bicycle": "drive", "fish": "swim", "whale": "swim", "jellyfish": "swim", "tree": "rest",
        "flower": "rest",
}  # fmt: skip

# The row that something in the air, the water or space is about at, as a share of the frame's height.
_ROWS = {
    "fish": 0.46, "whale": 0.46, "jellyfish": 0.46, "butterfly": 0.55, "dragon": 0.46, "ufo": 0.34,
        "orb": 0.52,
    "balloon": 0.49, "rocket": 0.50, "bird": 0.37, "airplane": 0.37,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Actor:
    """One figure: its cycle of sprites, where it starts, and how it moves (pixels and seconds)."""

    cycle: tuple[Sprite, ...]
    cycle_seconds: float
    x: float
    y: float
    phase: float = 0.0
    speed: float = 0.0
    rise: float = 0.0
    wander: float = 0.0
    lift: float = 0.0
    lift_seconds: float = 3.4
    hop: float = 0.0
    scale: float = 1.0
    shadow: Sprite | None = None


@dataclass(frozen=True, eq=False)
class Acts:
    """All actors of a clip, far to near, and how fast the camera goes with them."""

    actors: tuple[Actor, ...] = ()
    camera_speed: float = 0.0


def cast(rng: np.random.Generator, stage: Stage, scene: Scene, colours: Palette, seconds: float) -> Acts:
    """Draw the subjects of `scene` and decide how each moves in a clip of `seconds`.

    What moves fast is followed by the camera; a static camera lets it cross the frame.
    """
    subjects = scene.subjects
    if not subjects and scene.unknown and scene.setting != "abstract":
        subjects = (Subject("orb"),)
    if not subjects:
        return Acts()
    side = scene.direction or (1 if rng.random() < 0.6 else -1)
    static = any(move.kind == "static" for move in scene.moves)
    speed = side * _SPEEDS[_action(scene, subjects[0])] * scene.pace * stage.unit
    if _from_the_ground(scene, subjects[0]):
        speed = 0.0
    follows = 0.0 if static or abs(speed) < 40 * stage.unit else speed
    if static and speed:
        speed = side * 0.72 * stage.width / seconds
    elif follows:
        # The figure gains a little on the camera, so that the picture isn't nailed down.
        speed = follows + side * 0.20 * stage.width / seconds
    passing = follows or sideways(scene, stage, seconds)
    actors: list[Actor] = []
    for order, subject in enumerate(subjects):
        rooted = subject.kind in ROOTED or _from_the_ground(scene, subject)
        own = 0.0 if rooted else speed
        # Halfway through the clip everyone is where the picture wants them.
        middle = stage.width / 2 - (own - passing) * seconds / 2
        if len(subjects) > 1:
            middle += side * (0.15 - 0.30 * order) * stage.width
        first = _actor(rng, stage, scene, colours, subject, side)
        first = replace(first, x=middle, speed=own)
        if _from_the_ground(scene, subject):
            first = replace(first, rise=0.62 * stage.height / seconds)
        spread = 0.72 if len(subjects) == 1 else 0.34
        actors += _flock(rng, stage, scene, colours, subject, side, first, spread)
    return Acts(tuple(sorted(actors, key=lambda actor: actor.y)), follows)


def play(frame: Image.Image, acts: Acts, stage: Stage, view: View, start: float, seconds: float) -> None:
    """Put every actor where it is `seconds` into the clip; `start` is where the camera began."""
    for actor in acts.actors:
        wander = actor.wander * math.sin(seconds * 0.9 + actor.phase * 6.3)
        lift = actor.lift * math.sin(2 * math.pi * (seconds / actor.lift_seconds + actor.phase))
        lift += actor.hop * abs(math.sin(math.pi * (seconds / 0.95 + actor.phase)))
        x, ground = on_frame(stage, view, start + actor.x + actor.speed * seconds + wander, actor.y, 1.0)
        number = int((seconds / actor.cycle_seconds + actor.phase) % 1 * len(actor.cycle))
        if actor.shadow:
            put(frame, actor.shadow, x, ground, actor.scale)
        put(frame, actor.cycle[number], x, ground - lift - actor.rise * seconds, actor.scale)


def _action(scene: Scene, subject: Subject) -> str:
    """What `subject` does: what the prompt asks, where it can, else what its kind does."""
    kind, asked = subject.kind, scene.action
    usual = _USUAL.get(kind, "walk")
    if kind in ROOTED or asked is None:
        return usual
    if asked == "rest":
        return "drift" if kind in FLYING | SWIMMING | {"boat"} else "rest"
    cannot = {
        "run": FLYING | SWIMMING | RIDING | {"boat", "rocket"},
        "walk": FLYING | SWIMMING | RIDING | {"boat", "rocket"},
        "fly": RIDING | {"boat"},
    }.get(asked, set())
    if (
        kind in cannot
        or (asked == "swim" and kind not in SWIMMING)
        or (asked == "drive" and kind not in RIDING)
    ):
        return usual
    return asked


def _from_the_ground(scene: Scene, subject: Subject) -> bool:
    """Whether `subject` is a rocket that starts from the earth."""
    return subject.kind == "rocket" and scene.setting != "space"


def _floats(scene: Scene, subject: Subject) -> bool:
    """Whether `subject` hangs in air, water or space rather than standing on something."""
    if subject.kind in FLYING | SWIMMING or scene.setting in ("space", "underwater"):
        return True
    return _action(scene, subject) == "fly"


def _gait(scene: Scene, subject: Subject) -> str:
    action = _action(scene, subject)
    if action in ("run", "jump", "dance"):
        return "run"
    return "walk" if action == "walk" else "rest"


def _size(stage: Stage, subject: Subject) -> float:
    crowd = 1.0 if subject.count == 1 else 0.84 if subject.count <= 3 else 0.74
    return stage.unit * UNITS.get(subject.kind, 70) * subject.size * crowd


def _actor(
    rng: np.random.Generator, stage: Stage, scene: Scene, colours: Palette, subject: Subject, side: int
) -> Actor:
    """The first of a subject, without its path."""
    kind, unit, action = subject.kind, _size(stage, subject), _action(scene, subject)
    floats = _floats(scene, subject) and not _from_the_ground(scene, subject)
    sprites, seconds = cycle(
        scene, subject, colours, _gait(scene, subject), unit, int(rng.integers(100)), side
    )
    actor = Actor(sprites, seconds, 0.0, _row(rng, stage, scene, subject))
    if floats:
        light = kind in ("butterfly", "ufo")
        actor = replace(
            actor,
            wander=(24 if kind == "butterfly" else 10) * stage.unit,
            lift=(15 if light else 9) * stage.unit,
            lift_seconds=1.6 if kind == "butterfly" else 3.4,
        )
    elif kind == "boat":
        actor = replace(actor, lift=3 * stage.unit)
    elif kind != "rocket":
        hop = {"jump": 34.0, "dance": 9.0}.get(action, 12.0 if kind == "rabbit" and action != "rest" else 0.0)
        actor = replace(actor, hop=hop * stage.unit, shadow=shadow(unit, subject, colours))
    return actor


def _row(rng: np.random.Generator, stage: Stage, scene: Scene, subject: Subject) -> float:
    """The frame row of the actor's anchor."""
    kind = subject.kind
    if kind == "boat":
        return stage.height * (0.855 if scene.setting == "sea" else 0.83)
    if _from_the_ground(scene, subject):
        return stage.height * 0.70
    if _floats(scene, subject):
        return stage.height * (_ROWS.get(kind, 0.66) + rng.uniform(-0.03, 0.03))
    road = kind in RIDING and scene.setting in ("street", "city")
    return stage.ground + (14 * stage.unit if road else 0)


def _flock(
    rng: np.random.Generator,
    stage: Stage,
    scene: Scene,
    colours: Palette,
    subject: Subject,
    side: int,
    first: Actor,
    spread: float,
) -> list[Actor]:
    """`first` alone, or as many as there are of its kind, at their own places, sizes and phases."""
    if subject.count == 1:
        return [first]
    actors = []
    looks = [first]
    if subject.kind in ("fish", "person"):
        looks += [_actor(rng, stage, scene, colours, subject, side) for _ in range(2)]
    floats = _floats(scene, subject)
    for number in range(subject.count):
        look = looks[number % len(looks)]
        place = (number / (subject.count - 1) - 0.5) * spread + rng.uniform(-0.05, 0.05)
        y = first.y + rng.uniform(*((-0.17, 0.17) if floats else (-0.05, 0.055))) * stage.height
        scale = rng.uniform(0.6, 1.0) if floats else 1 + (y - stage.ground) / stage.height
        actors.append(
            replace(
                first,
                cycle=look.cycle,
                x=first.x + place * stage.width,
                y=y,
                scale=scale,
                phase=float(rng.random()),
            )
        )
    return actors
