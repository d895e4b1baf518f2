"""The interface as data."""

import pytest

from reelbook import wire


@pytest.mark.parametrize("hostile", ["../keys", "a/b", "..", ".", "a?b#c", "ü"])
def test_no_id_can_name_another_endpoint(hostile: str) -> None:
    """Whatever stands in an id is one segment of the path."""
    path = wire.path_of(wire.STATUS, hostile)
    rest = path.removeprefix(wire.STATUS + "/")
    assert not set("/?#") & set(rest)
    assert rest.strip(".") != ""
