"""Small drawn things, put on a frame; strips of scenery are tried by the pictures that they make."""

import numpy as np
from PIL import Image

from reelbook.sandbox.render.layers import Sprite, put


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
