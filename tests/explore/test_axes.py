"""The notation in which axes are typed."""

from __future__ import annotations

import pytest

from reelbook.explore.axes import parsed


@pytest.mark.parametrize(("typed", "values"), [("fox, heron", ("fox", "heron"))])
def test_an_axis_is_read_as_typed(typed: str, values: tuple[object, ...]) -> None:
    """Values stand between commas."""
    assert parsed(typed) == values
