"""A clip leaves the ledger's folder: as a file under a telling name, and as the call that made it."""

import shutil
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from reelbook.errors import InvalidInput, ReelbookError
from reelbook.session import Clip, JobRequest
from reelbook.session.clip import clip_file_name

FOX = JobRequest("text-to-video", 'a "red" fox,\nin snow', 5, "16:9", 7)


@pytest.fixture
def clip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clip:
    """A clip in the ledger's folder; the working folder is another one."""
    (tmp_path / "ledger").mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    file = tmp_path / "ledger" / "req-1.mp4"
    file.write_bytes(b"the clip")
    return Clip(path=file, request_id="req-1", request=FOX)


def test_a_clip_is_saved_under_a_telling_name(clip: Clip, tmp_path: Path) -> None:
    """Without a path: the working folder, named by prompt and seed; saved twice it is one file."""
    expected = tmp_path / "work" / "a-red-fox-in-snow-7.mp4"
    assert [expected, expected] == [clip.save(), clip.save()]
    assert expected.read_bytes() == b"the clip"
    assert {*expected.parent.iterdir()} == {expected, expected.with_suffix(".json")}


def test_a_file_in_the_way_is_replaced_only_when_told(clip: Clip, tmp_path: Path) -> None:
    """A named file that is something else stays, unless `overwrite=True`."""
    mine = tmp_path / "mine.mp4"
    mine.write_bytes(b"precious")
    with pytest.raises(InvalidInput, match="overwrite=True"):
        clip.save(mine)
    assert mine.read_bytes() == b"precious"
    assert clip.save(str(mine), overwrite=True) == mine
    assert mine.read_bytes() == b"the clip"


def test_where_nothing_can_be_written_it_is_said(clip: Clip, tmp_path: Path) -> None:
    """A folder that isn't there, a disk that refuses and a clip that is gone: what is safe is said."""
    with pytest.raises(InvalidInput, match="There is no folder"):
        clip.save(tmp_path / "nowhere" / "x.mp4")
    with pytest.raises(ReelbookError, match=r"It is safe in .*req-1\.mp4"):
        clip.save(tmp_path / ("x" * 300 + ".mp4"))
    clip.path.unlink()
    with pytest.raises(ReelbookError, match="no longer where it was"):
        clip.save()
    assert [file.name for file in tmp_path.rglob("*.part")] == []


def test_a_full_disk_leaves_nothing_half_written(
    clip: Clip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was paid for is safe, and the error says where."""

    def copyfile(_: Path, target: Path) -> None:
        target.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfile", copyfile)
    with pytest.raises(ReelbookError, match=f"No space left on device. It is safe in {clip.path}"):
        clip.save("fox.mp4")
    assert list((tmp_path / "work").iterdir()) == []


def test_in_colab_the_browser_downloads_it(clip: Clip, monkeypatch: pytest.MonkeyPatch) -> None:
    """Colab's disk vanishes; the browser is offered the copy."""
    offered: list[str] = []
    files: Any = ModuleType("google.colab.files")
    files.download = offered.append
    monkeypatch.setitem(sys.modules, "google.colab", ModuleType("google.colab"))
    monkeypatch.setitem(sys.modules, "google.colab.files", files)
    saved = clip.save()
    assert offered == [str(saved)]


def test_a_clip_knows_the_code_that_asks_for_it_again(clip: Clip) -> None:
    """Of a mere file nobody knows what made it: it is played."""
    assert "makes another clip, for about $0.25" in clip.as_code()
    code = replace(clip, request=None, request_id="").as_code()
    assert code == f'reelbook.Player("{clip.path}")'


@pytest.mark.parametrize(("seed", "name"), [(-5, "x-minus-5.mp4"), (5, "x-5.mp4"), (-1, "x.mp4")])
def test_a_seed_below_nought_has_no_second_dash(seed: int, name: str) -> None:
    """Any whole number is a seed; the name reads as one all the same."""
    assert clip_file_name(replace(FOX, prompt="x", seed=seed), "") == name


@pytest.mark.parametrize(
    ("request_id", "prompt", "seed"),
    [
        ("../../../x", "", None),
        ("A/../b", "…", 5),
        ("req-1", "fox", 10**300),
        ("req-1", "con", -1),
        ("", "狐" * 90, 7),
    ],
    ids=["above", "inside", "seed", "device", "wide"],
)
def test_any_clip_is_saved_in_the_folder_itself(
    request_id: str, prompt: str, seed: int | None, clip: Clip, tmp_path: Path
) -> None:
    """Neither an id nor a prompt or a seed leads out of the folder, or makes a name that no disk takes."""
    request = replace(FOX, prompt=prompt, seed=seed) if prompt else None
    odd = replace(clip, request=request, request_id=request_id or "req-1")
    saved = [odd.save(), odd.save()]
    (tmp_path / "ledger" / "req-2.mp4").write_bytes(b"another")
    saved.append(replace(odd, path=tmp_path / "ledger" / "req-2.mp4").save())
    assert {path.parent for path in saved} == {tmp_path / "work"}
    assert [path.read_bytes() for path in saved] == [b"the clip", b"the clip", b"another"]
    assert saved[0].stem.partition(".")[0] != "con"
    assert saved[2].stem.endswith("-2")  # a random seed gives equal names to different clips
