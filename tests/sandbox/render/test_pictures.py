"""The renderer's pictures are those that were drawn before: every place, weather and subject."""

import pytest
from sandbox.render.pictures import SCENES, SUBJECTS, drawn, kept

from reelbook.sandbox.render import vocabulary
from reelbook.sandbox.render.words import scene

# One unit is a rounding of another processor or library; whatever is drawn otherwise is many.
TOLERANCE = 3
KEPT = kept()


@pytest.mark.parametrize("name", [*SCENES, *SUBJECTS])
def test_a_picture_is_as_it_was(name: str) -> None:
    """No tile of its mosaic has another colour."""
    differences = [abs(one - other) for one, other in zip(drawn(name), KEPT[name], strict=True)]
    assert max(differences) <= TOLERANCE


def test_every_place_and_weather_is_among_them() -> None:
    """A new one needs a picture too."""
    scenes = [scene(prompt) for prompt in SCENES]
    assert {each.setting for each in scenes} == set(vocabulary.SETTINGS.values())
    assert set().union(*(each.weather for each in scenes)) >= set(vocabulary.WEATHER.values()) - {"clear"}
    assert KEPT.keys() == {*SCENES, *SUBJECTS}
