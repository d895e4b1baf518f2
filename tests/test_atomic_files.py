"""A file is replaced by a whole one, or stays as it was."""

import stat
from pathlib import Path

import pytest

from reelbook.atomic_files import atomic_write, write_whole


def test_a_whole_file_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    """Nobody sees the new file before it is whole, and nothing is left beside it."""
    path = tmp_path / "grid.html"
    path.write_text("before")
    with atomic_write(path) as part:
        part.write_text("after")
        assert part.suffix == ".html"
        assert path.read_text() == "before"
    assert path.read_text() == "after"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_one_that_fails_half_way_leaves_what_was_there(tmp_path: Path, error: type[BaseException]) -> None:
    """An error and Stop alike."""
    path = tmp_path / "styles.txt"
    path.write_text("before")

    def fail_half_way() -> None:
        with atomic_write(path) as part:
            part.write_text("af")
            raise error

    with pytest.raises(error):
        fail_half_way()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    """Nothing half written stays, also where the writing fails; only its owner can read it."""
    path = tmp_path / "notice"
    write_whole(path, b"one")
    write_whole(path, b"two")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"two", 0o600)
    (tmp_path / "folder" / "inside").mkdir(parents=True)
    with pytest.raises(OSError, match="folder"):
        write_whole(tmp_path / "folder", b"three")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["folder", "notice"]
