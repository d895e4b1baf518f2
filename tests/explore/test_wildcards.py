"""Wildcards: where their values come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from reelbook.errors import InvalidInput, InvalidTemplate
from reelbook.explore import wildcards
from reelbook.explore.templates import Template


def test_wildcards_are_read_from_a_folder(tmp_path: Path) -> None:
    """One file a name, in folders too; empty lines and comments are no values."""
    (tmp_path / "colours").mkdir()
    (tmp_path / "colours" / "warm.txt").write_text("\ufeff# warm ones\nred\n\n{light|dark} orange\n", "utf-8")
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")

    template = Template("__colours/warm__", tmp_path)

    assert [template.expand(number) for number in range(3)] == ["red", "light orange", "dark orange"]
    assert template.wildcards == {"colours/warm": ("red", "{light|dark} orange")}
    with pytest.raises(InvalidTemplate, match="no wildcard cold"):
        Template("__cold__", tmp_path)
    with pytest.raises(InvalidInput, match=r"latin.txt can't be read as UTF-8"):
        Template("__latin__", tmp_path)
    with pytest.raises(InvalidInput, match="There is no folder"):
        Template("a", tmp_path / "none")


def test_lines_of_a_text_are_values_as_a_list_is() -> None:
    """A text is read as a file is; what a list holds is taken as it is."""
    assert wildcards.lines("fox\n\n# none\n  hen  ") == ("fox", "hen")
    assert wildcards.lines(["fox", "", 3]) == ("fox", "", "3")
