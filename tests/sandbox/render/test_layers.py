"""Strips of scenery and small drawn things, put on a frame."""

import numpy as np
from PIL import Image

from reelbook.sandbox.render.layers import Layer, Sprite, Stage, View, lay, on_frame, put, wrapped, zoomed

STAGE = Stage(100, 60)


def striped(depth: float, **more: float) -> Layer:
    """A layer with one white column of each period, at its beginning."""
    strip = Image.new("RGB", (STAGE.period, 60))
    strip.paste((255, 255, 255), (10, 0, 11, 60))
    return Layer(wrapped(strip, STAGE), None, 0, depth, STAGE.period, **more)  # type: ignore[arg-type]  # by name


def column(layer: Layer, view: View, seconds: float = 0.0) -> float:
    """Where the white column lies on a frame."""
    frame = Image.new("RGB", (100, 60))
    lay(frame, layer, view, seconds)
    ink = np.asarray(frame.convert("L"), float)[30]
    return float((ink * np.arange(100)).sum() / ink.sum())


def test_a_stage_keeps_its_proportions() -> None:
    """Horizon above the ground, both within the frame, in every shape."""
    for size in ((640, 360), (360, 640), (360, 360)):
        stage = Stage(*size)
        assert 0 < stage.horizon < stage.ground < stage.height
        assert (stage.unit, stage.period > stage.width, stage.margin > 0) == (1.0, True, True)


def test_near_layers_run_past_faster_than_far_ones() -> None:
    """What is at infinity stands still; slow ones move by parts of a pixel."""
    assert column(striped(0.0), View(x=5)) == 10
    assert column(striped(1.0), View(x=5)) == 5
    assert 7.4 < column(striped(0.5), View(x=5)) < 7.6
    assert column(striped(0.0, drift=2.0), View(), 3.0) == 4
    assert column(striped(1.0), View(x=STAGE.period)) == 10


def test_a_cover_lets_what_is_behind_shine_through() -> None:
    """From its solid row on it covers wholly."""
    colour = Image.new("RGB", (STAGE.period, 60), (255, 0, 0))
    cover = Image.new("L", colour.size, 0)
    layer = Layer(wrapped(colour, STAGE), wrapped(cover, STAGE), 0, 1.0, STAGE.period, solid=40)
    frame = Image.new("RGB", (100, 60), (0, 0, 255))
    lay(frame, layer, View(), 0.0)
    assert (frame.getpixel((50, 20)), frame.getpixel((50, 50))) == ((0, 0, 255), (255, 0, 0))


def test_a_zoom_enlarges_about_its_row() -> None:
    """The middle of that row stays where it is."""
    frame = Image.new("RGB", (100, 60))
    frame.paste((255, 255, 255), (48, 28, 52, 32))
    assert zoomed(frame, View(), 30) is frame
    seen = np.asarray(zoomed(frame, View(zoom=2.0), 30).convert("L")) > 128
    rows, columns = np.nonzero(seen)
    assert (rows.mean(), columns.mean()) == (29.5, 49.5)
    assert 50 < seen.sum() < 80


def test_a_sprite_stands_with_its_anchor_where_it_is_put() -> None:
    """Moved by parts of a pixel and scaled; beyond the frame nothing is drawn."""
    colour, cover = Image.new("RGB", (20, 20), (255, 255, 255)), Image.new("L", (20, 20))
    cover.paste(255, (8, 8, 12, 12))
    sprite = Sprite(colour, cover, (10, 10))
    for scale in (1.0, 2.0):
        frame = Image.new("RGB", (100, 60))
        put(frame, sprite, 40.5, 30, scale)
        ink = np.asarray(frame.convert("L"), float)
        assert abs((ink.sum(axis=0) * np.arange(100)).sum() / ink.sum() - 40) < 0.6
        assert abs(ink.sum() / 255 - 16 * scale**2) < 3
    frame = Image.new("RGB", (100, 60))
    put(frame, sprite, -40, 30)
    assert frame.getbbox() is None


def test_a_point_of_the_world_moves_as_its_layer_does() -> None:
    """At the subject's depth by the camera's own way."""
    assert on_frame(STAGE, View(x=5, y=3), 50, 40, 1.0) == (45, 43)
    assert on_frame(STAGE, View(x=5), 50, 40, 0.0) == (50, 40)
