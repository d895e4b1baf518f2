"""Where the sandbox keeps its things, and files that are whole or not there."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from reelbook.errors import SandboxError
from reelbook.sandbox.places import Places, write_whole


def test_everything_lies_in_one_folder_of_the_home(tmp_path: Path) -> None:
    """Each thing has a place of its own; naming them creates nothing."""
    places = Places.under(tmp_path)
    files = [
        *(places.database, places.access, places.server, places.port, places.log),
        *(places.start_lock, places.running_lock, places.videos, places.images),
    ]
    assert len(set(files)) == 9
    assert {file.parent for file in files} == {tmp_path / "sandbox"}
    assert list(tmp_path.iterdir()) == []


def test_the_folders_are_their_owners_only(tmp_path: Path) -> None:
    """Made once, and left alone after that."""
    places = Places.under(tmp_path)
    places.create()
    (places.videos / "a.mp4").write_bytes(b"clip")
    places.create()
    assert (places.videos / "a.mp4").exists()
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in (places.folder, places.images)] == [0o700] * 2


def test_a_home_that_is_no_folder_is_named(tmp_path: Path) -> None:
    """With another way out."""
    (tmp_path / "home").write_text("a file")
    with pytest.raises(SandboxError, match=r"can't write in .*home.*REELBOOK_HOME"):
        Places.under(tmp_path / "home").create()


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
