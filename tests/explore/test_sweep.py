"""Sweeps: what they check, and the cells that come of them."""

from __future__ import annotations

import json

import pytest

import reelbook as rb
from reelbook.errors import InvalidInput
from reelbook.explore import Sweep


def test_a_grid_has_every_combination_once() -> None:
    """Each value of each axis meets each of the others."""
    sweep = rb.Sweep("a {animal} in {place}", animal=["fox", "heron"], place=["snow", "fog"], seed=[1, 2])

    assert len(sweep.cells) == 8
    assert len({cell.place for cell in sweep.cells}) == 8
    assert {cell.request.prompt for cell in sweep.cells} == {
        f"a {animal} in {place}" for animal in ("fox", "heron") for place in ("snow", "fog")
    }


def test_a_sweep_comes_back_from_its_record() -> None:
    """As JSON, with the same cells."""
    sweep = Sweep("a {animal}", animal=["fox", "heron"], seed=[1, 2], duration_seconds=2)
    again = Sweep.from_record(json.loads(json.dumps(sweep.to_record())))

    assert (again.axes, again.cells) == (sweep.axes, sweep.cells)


def test_a_slot_without_values_is_an_error() -> None:
    """It never becomes the word itself."""
    with pytest.raises(InvalidInput, match=r"Nothing fills \{place\}"):
        Sweep("a {animal} in {place}", animal=["fox"])
