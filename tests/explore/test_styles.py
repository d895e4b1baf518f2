"""The pieces of prompt that a person keeps in one text file."""

from __future__ import annotations

from pathlib import Path

import pytest

from reelbook.errors import InvalidInput, ReelbookError
from reelbook.explore import Styles, Sweep


def test_what_is_kept_is_there_for_the_next_one(tmp_path: Path) -> None:
    """Each once, on a line of its own, whatever blanks stood in it."""
    styles = Styles(tmp_path)
    assert list(styles) == []
    for each in ("film grain,\n 35 mm", "at dawn", "film grain, 35 mm"):
        styles.add(each)
    assert list(Styles(tmp_path)) == ["film grain, 35 mm", "at dawn"]
    assert repr(styles) == f"<2 styles in {tmp_path / 'styles.txt'}>"


def test_a_file_that_somebody_wrote_is_taken_as_it_is(tmp_path: Path) -> None:
    """Comments and empty lines aren't styles, and stay when one is added or removed."""
    file = tmp_path / "styles.txt"
    file.write_text("# of the class\n\nfilm grain\nat dawn", "utf-8")
    styles = Styles(tmp_path)
    styles.add("in fog")
    styles.remove("film grain")
    assert list(styles) == ["at dawn", "in fog"]
    assert file.read_text("utf-8") == "# of the class\n\nat dawn\nin fog\n"


def test_styles_are_values_of_a_wildcard(tmp_path: Path) -> None:
    """As they are, and as the file of a folder."""
    styles = Styles(tmp_path)
    styles.add("film grain")
    styles.add("at dawn")
    for wildcards in ({"styles": styles}, tmp_path):
        sweep = Sweep("a fox, __styles__", wildcards=wildcards)
        assert {cell.request.prompt for cell in sweep.cells} == {"a fox, film grain", "a fox, at dawn"}


@pytest.mark.parametrize("text", ["", "  \n", "# a comment"])
def test_what_would_be_no_style_is_refused(tmp_path: Path, text: str) -> None:
    """It would vanish among the comments."""
    with pytest.raises(InvalidInput, match="Nothing was kept"):
        Styles(tmp_path).add(text)
    assert not (tmp_path / "styles.txt").exists()


def test_a_file_that_is_none_of_ours_is_named(tmp_path: Path) -> None:
    """One that can't be read or written is an error with its path, and nothing half written stays."""
    (tmp_path / "styles.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput, match=r"styles\.txt can't be read"):
        list(Styles(tmp_path))
    (tmp_path / "file").write_text("")
    with pytest.raises(ReelbookError, match="can't be written"):
        Styles(tmp_path / "file").add("film grain")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["file", "styles.txt"]
