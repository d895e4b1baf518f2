"""Wildcards: where their values come from, and the styles that people keep."""

from pathlib import Path

import pytest

from reelbook.errors import InvalidInput, InvalidTemplate, ReelbookError
from reelbook.explore import Styles, Sweep
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


def test_what_is_kept_is_there_for_the_next_one(tmp_path: Path) -> None:
    """Each once, on a line of its own, whatever its blanks were."""
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
    for given in ({"styles": styles}, tmp_path):
        sweep = Sweep("a fox, __styles__", wildcards=given)
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
    with pytest.raises(ReelbookError, match="could not be written"):
        Styles(tmp_path / "file").add("film grain")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["file", "styles.txt"]
