"""The file that a clip goes to."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from cli.doubles import tiny_mp4

from reelbook.cli.saving import Target, figures
from reelbook.errors import InvalidInput, ReelbookError
from reelbook.session import Clip


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    """A finished clip in the home folder."""
    path = tmp_path / "req_1.mp4"
    path.write_bytes(tiny_mp4(1))
    return path


def test_a_file_that_is_there_is_refused(folder: Path) -> None:
    """Without --force a person's file is safe, and they learn it before anything is sent."""
    (folder / "fox.mp4").write_bytes(b"mine")
    with pytest.raises(InvalidInput, match=r"fox\.mp4 is there already"):
        Target.checked(Path("fox.mp4"), "a.mp4", force=False)


def test_force_replaces_it(folder: Path, clip: Path) -> None:
    """With --force the clip takes the file's place."""
    (folder / "fox.mp4").write_bytes(b"mine")
    Target.checked(Path("fox.mp4"), "a.mp4", force=True).save(clip)
    assert (folder / "fox.mp4").read_bytes() == clip.read_bytes()


def test_a_name_by_default_is_numbered_when_it_is_taken(folder: Path) -> None:
    """The same prompt again doesn't stop at the first clip's file."""
    (folder / "a-fox-7.mp4").touch()
    (folder / "a-fox-7-2.mp4").touch()
    assert Target.checked(None, "a-fox-7.mp4", force=False).path == Path("a-fox-7-3.mp4")


@pytest.mark.parametrize(("output", "words"), [("missing/fox.mp4", "no folder"), (".", "is a folder")])
def test_a_place_that_cannot_be_written_is_refused(folder: Path, output: str, words: str) -> None:
    """A missing folder, or a folder in the file's place, is said before anything is sent."""
    with pytest.raises(InvalidInput, match=words):
        Target.checked(Path(output), "a.mp4", force=False)


@pytest.mark.parametrize("output", ["fox.gif", "fox.WEBM", "fox.png"])
def test_a_name_of_another_kind_of_file_is_refused(folder: Path, output: str) -> None:
    """A clip is an MP4, and no other program would open it by that name."""
    with pytest.raises(InvalidInput, match=rf"Name it fox\.mp4, not {output}\."):
        Target.checked(Path(output), "a.mp4", force=False)


def test_a_folder_that_forbids_writing_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder without the right to write is said before anything is sent."""
    # Root may write everywhere, so the system's answer is stood in for.
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InvalidInput, match="can't be written to"):
        Target.checked(Path("fox.mp4"), "a.mp4", force=False)


def test_a_full_disk_leaves_nothing_half_written_and_says_where_the_clip_is(
    folder: Path, clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was paid for is safe, and the error says where."""

    def copyfile(_: Path, target: Path) -> None:
        target.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfile", copyfile)
    with pytest.raises(ReelbookError, match=f"No space left on device. It is safe in {clip}"):
        Target.checked(Path("fox.mp4"), "a.mp4", force=False).save(clip)
    assert list(folder.iterdir()) == []


def test_a_file_that_came_meanwhile_is_kept(folder: Path, clip: Path) -> None:
    """A file made while the job ran isn't replaced, and the clip stays safe."""
    target = Target.checked(Path("fox.mp4"), "a.mp4", force=False)
    (folder / "fox.mp4").write_bytes(b"mine")
    with pytest.raises(ReelbookError, match="It is safe in"):
        target.save(clip)
    assert (folder / "fox.mp4").read_bytes() == b"mine"


def test_the_figures_name_length_size_bytes_and_cost(clip: Path) -> None:
    """Everything a person wants to know of the file, in one line."""
    said = figures(Clip(clip, "req_1", cost_usd=0.05, sandbox=True)).split(", ")
    assert [*said[:2], *said[3:]] == ["1.0 s", "64 × 36", "$0.05", "sandbox"]
    assert said[2] == f"{round(clip.stat().st_size / 1000)} kB"
