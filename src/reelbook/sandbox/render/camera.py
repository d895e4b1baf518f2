"""Where the camera is in every frame, by the moves that the prompt asks for."""

import math
from dataclasses import dataclass

import numpy as np

from reelbook.sandbox.render.layers import Stage, View
from reelbook.sandbox.render.words import Move, Scene


@dataclass(frozen=True)
class Shot:
    """How one clip is filmed: its moves, where the camera begins, and how fast it goes sideways (pixels)."""

    moves: tuple[Move, ...]
    seconds: float
    start: float = 0.0
    speed: float = 0.0


def shot(rng: np.random.Generator, stage: Stage, scene: Scene, seconds: float, follows: float) -> Shot:
    """The way to film `scene`; `follows` is the speed of a subject that the camera goes along with, or 0."""
    start = rng.uniform(0, stage.period)
    return Shot(scene.moves, seconds, start, follows or sideways(scene, stage, seconds))


def sideways(scene: Scene, stage: Stage, seconds: float) -> float:
    """How fast the camera goes to the right, in pixels a second, when it follows nothing.

    A pan past a subject ends before the subject is lost. Where the prompt asks for no move at all there is a
    slow glide, so that no picture stands dead.
    """
    for move in scene.moves:
        if move.kind == "pan":
            most = 0.55 * stage.width / seconds if scene.subjects else math.inf
            return move.sign * min(62 * move.pace * stage.unit, most)
    if any(move.kind in ("static", "orbit") for move in scene.moves):
        return 0.0
    return (9 if scene.moves else 15) * stage.unit * (scene.direction or 1)


def view(filming: Shot, stage: Stage, seconds: float) -> View:
    """The camera's place `seconds` into the clip."""
    x = filming.start + filming.speed * seconds
    y, zoom, orbit = 0.0, 1.0, 0.0
    share = smooth(min(1.0, seconds / filming.seconds))
    for move in filming.moves:
        if move.kind == "tilt":
            y += move.sign * stage.margin * 0.9 * (2 * share - 1)
        elif move.kind == "dolly":
            reach = 0.30 * min(1.25, 0.55 + 0.45 * move.pace)
            zoom += reach * (share if move.sign > 0 else 1 - share)
        elif move.kind == "orbit":
            orbit += move.sign * 74 * move.pace * stage.unit * seconds
        elif move.kind == "handheld":
            x += stage.unit * tremble(seconds, 0.0) * 5
            y += stage.unit * tremble(seconds, 4.2) * 3.4
    return View(x, y, zoom, orbit, filming.speed)


def smooth(share: float) -> float:
    """From 0 to 1 without a jerk at either end."""
    return share * share * (3 - 2 * share)


def tremble(seconds: float, phase: float) -> float:
    """The unrest of a hand, about -1 to 1."""
    slow = math.sin(seconds * 1.9 + phase) + 0.6 * math.sin(seconds * 3.7 + phase * 1.7)
    return (slow + 0.35 * math.sin(seconds * 8.3 + phase * 2.3)) / 1.6
