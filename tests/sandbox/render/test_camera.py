"""Where the camera is in every frame."""

import numpy as np
import pytest

from reelbook.sandbox.render.camera import shot, sideways, view
from reelbook.sandbox.render.layers import Stage, View
from reelbook.sandbox.render.words import scene

STAGE = Stage(640, 360)


def seen(prompt: str, seconds: float, *, follows: float = 0.0) -> View:
    """The camera's place in a clip of four seconds, from where it began."""
    filming = shot(np.random.default_rng(7), STAGE, scene(prompt), 4.0, follows)
    now = view(filming, STAGE, seconds)
    return View(now.x - filming.start, now.y, now.zoom, now.orbit, now.speed)


def test_a_still_camera_stays_and_any_other_glides() -> None:
    """So that no picture stands dead where nothing was asked for."""
    assert seen("a meadow, static shot", 3) == View()
    assert seen("a meadow", 3).x == pytest.approx(45)
    assert sideways(scene("a meadow, zoom in"), STAGE, 4) == 9


@pytest.mark.parametrize(("way", "sign"), [("right", 1), ("left", -1)])
def test_a_pan_goes_its_way_and_not_past_the_subject(way: str, sign: int) -> None:
    """At its pace where there is nothing to lose."""
    assert seen(f"a meadow, pan {way}", 1).x == pytest.approx(sign * 62)
    past = sideways(scene(f"a fox in a meadow, fast pan {way}"), STAGE, 10)
    assert past * sign == pytest.approx(0.55 * 640 / 10)


def test_each_move_changes_its_own_figure() -> None:
    """Tilt, zoom and orbit begin and end smoothly; a hand trembles."""
    assert seen("sea, tilt up", 4).y == -seen("sea, tilt up", 0).y != 0
    assert seen("sea, tilt up", 4).y == -seen("sea, tilt down", 4).y
    assert (seen("sea, zoom in", 0).zoom, seen("sea, zoom out", 4).zoom) == (1, 1)
    assert seen("sea, zoom in", 4).zoom == seen("sea, zoom out", 0).zoom > 1.2
    assert seen("sea, orbit", 2).orbit == pytest.approx(2 * seen("sea, orbit", 1).orbit)
    assert seen("sea, handheld", 1).y != seen("sea, handheld", 1.1).y


def test_what_is_followed_sets_the_pace() -> None:
    """However the prompt moves the camera."""
    assert seen("a fox, pan left", 2, follows=30.0).x == pytest.approx(60)
