"""The colours of an hour, a mood and a distance."""

import pytest

from reelbook.sandbox.render import vocabulary
from reelbook.sandbox.render.palette import HOURS, brightness, palette
from reelbook.sandbox.render.words import scene

GREY = (128, 128, 128)


def test_every_hour_and_mood_has_its_colours() -> None:
    """Those that the words can name."""
    assert set(HOURS) == set(vocabulary.TIMES.values())
    plain = palette(scene("a meadow at noon")).tone(GREY)
    moods = {mood: palette(scene(f"a meadow at noon, {mood}")) for mood in set(vocabulary.MOODS.values())}
    assert len({colours.tone((200, 80, 60)) for colours in moods.values()}) > len(moods) / 2
    assert brightness(plain) == pytest.approx(128, abs=2)
