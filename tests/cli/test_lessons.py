"""Copying the lessons beside a person's work."""

from __future__ import annotations

from pathlib import Path

import pytest

from reelbook.cli import lessons
from reelbook.errors import ReelbookError


def test_the_lessons_are_there_in_their_order() -> None:
    """The first lesson comes first."""
    assert [path.name for path in lessons.shipped()][:2] == ["01-first-video.ipynb", "02-from-an-image.ipynb"]


def test_copies_are_made_where_there_are_none(tmp_path: Path) -> None:
    """A new folder gets every lesson as it ships, and none differs."""
    folder = tmp_path / "a" / "b"
    assert lessons.copy(lessons.shipped(), folder) == []
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        path.name: path.read_bytes() for path in lessons.shipped()
    }


def test_a_person_s_copy_is_never_written_over(tmp_path: Path) -> None:
    """A lesson that was worked in stays as it is and is named; the missing ones are copied."""
    theirs = tmp_path / "01-first-video.ipynb"
    theirs.write_text("my work")
    assert lessons.copy(lessons.shipped(), tmp_path) == [theirs]
    assert theirs.read_text() == "my work"
    assert (tmp_path / "02-from-an-image.ipynb").exists()
    assert lessons.copy(lessons.shipped(), tmp_path) == [theirs]


def test_a_folder_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    """A file in the folder's place is an error that says what to do."""
    (tmp_path / "taken").touch()
    with pytest.raises(ReelbookError, match="Choose another folder"):
        lessons.copy(lessons.shipped(), tmp_path / "taken")
