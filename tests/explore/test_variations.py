"""What can be varied in a clip."""

import pytest

from reelbook.explore import Sweep
from reelbook.explore.sweep import SweptCell
from reelbook.explore.variations import variations
from reelbook.requests import JobRequest, options


def test_a_clip_is_varied_in_its_seed_its_length_or_its_shape() -> None:
    """One thing at a time; the rest stays as it was, and braces in the prompt stay text."""
    found = variations(JobRequest.from_text("a {red} fox", duration_seconds=2, seed=7))
    assert found.template == r"a \{red\} fox"
    one = {"seed": "7-10", "duration_seconds": "2", "aspect_ratio": "16:9"}
    assert found.axes("seed") == {name: str(about.default) for name, about in options().items()} | one
    assert found.axes("duration_seconds")["duration_seconds"] == "1, 2, 4"
    assert found.axes("aspect_ratio")["aspect_ratio"] == "16:9, 9:16, 1:1"
    assert variations(JobRequest.from_text("a fox", duration_seconds=10)).several["seed"] == "1-4"


@pytest.mark.parametrize("number", [1, 2, 5])
def test_a_clip_of_a_sweep_is_varied_in_one_slot(number: int) -> None:
    """The other slots keep its values, its choices are made, and it is among its own variations."""
    sweep = Sweep(
        "a {animal} in {snow|fog} at {time}",
        animal=["fox", "a heron, wading"],
        time=["dawn", "noon"],
        seed=[3],
        duration_seconds=2,
    )
    cell = sweep.cells[number]
    found = variations(cell.request, SweptCell(sweep, cell))
    assert list(found.several) == ["animal", "time", *options()]
    for name, many in (("animal", 2), ("time", 2), ("seed", 4)):
        varied = Sweep(found.template, **found.axes(name))  # type: ignore[arg-type] # these are axes
        assert len(varied.cells) == many
        assert cell.request in [each.request for each in varied.cells]


def test_a_template_that_makes_another_prompt_is_left() -> None:
    """A wildcard's value that isn't known any more doesn't change what the clip asked for."""
    sweep = Sweep("a __colour__ {animal}", wildcards={"colour": ["red"]}, animal=["fox"])
    [cell] = sweep.cells
    found = variations(cell.request, SweptCell(sweep, cell))
    assert (found.template, "animal" in found.several) == ("a red fox", False)
