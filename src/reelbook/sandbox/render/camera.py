"""Where the camera is in every frame, by the moves that the prompt asks for."""

from __future__ import annotations

import math
from dataclasses import dataclass

from reelbook.sandbox.render.layers import Stage, View
from reelbook.sandbox.render.words import Move, Scene


@dataclass(frozen=True)
class Shot:
    """How one clip is filmed. `follows` is how fast the camera goes with its subject, in pixels a second."""

    moves: tuple[Move, ...]
    seconds: float
    start: float
    drift: float
    follows: float = 0.0


def view(shot: Shot, stage: Stage, seconds: float) -> View:
    """The camera's place `seconds` into the clip."""
    x = shot.start + (shot.drift + shot.follows) * seconds
    y, zoom, orbit = 0.0, 1.0, 0.0
    share = min(1.0, seconds / max(shot.seconds, 1e-6))
    for move in shot.moves:
        if move.kind == "pan" and not shot.follows:
            x += move.sign * 62 * move.pace * stage.unit * seconds
        elif move.kind == "tilt":
            y += move.sign * stage.margin * 0.9 * (2 * smooth(share) - 1)
        elif move.kind == "dolly":
            reach = 0.30 * min(1.25, 0.55 + 0.45 * move.pace)
            zoom += reach * (smooth(share) if move.sign > 0 else 1 - smooth(share))
        elif move.kind == "orbit":
            orbit += move.sign * 74 * move.pace * stage.unit * seconds
        elif move.kind == "handheld":
            x += stage.unit * tremble(seconds, 0.0) * 5
            y += stage.unit * tremble(seconds, 4.2) * 3.4
            zoom = max(zoom, 1.0)
    return View(x, y, zoom, orbit, shot.drift + shot.follows)


def drift_of(scene: Scene, stage: Stage, side: int) -> float:
    """A slow glide where the prompt asks for no move at all, so that no picture stands dead."""
    if any(move.kind in ("pan", "static", "orbit") for move in scene.moves):
        return 0.0
    return side * (9 if scene.moves else 15) * stage.unit


def smooth(share: float) -> float:
    """From 0 to 1 without a jerk at either end."""
    return share * share * (3 - 2 * share)


def tremble(seconds: float, phase: float) -> float:
    """The unrest of a hand, about -1 to 1."""
    slow = math.sin(seconds * 1.9 + phase) + 0.6 * math.sin(seconds * 3.7 + phase * 1.7)
    return (slow + 0.35 * math.sin(seconds * 8.3 + phase * 2.3)) / 1.6
