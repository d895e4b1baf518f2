"""A clip's pieces and posters, as the page asks for them."""

import os
from pathlib import Path
from typing import Any

import pytest
import traitlets
from PIL import Image
from widgets.doubles import asks, clip_file

import reelbook as rb
from reelbook.widgets import clip_serving
from reelbook.widgets.bundle import packed
from reelbook.widgets.clip_serving import Plays, ServesClips
from reelbook.widgets.static_html import POSTER_BYTES


class Folder(ServesClips):
    """Serves the clips of a folder by their names."""

    _esm = packed("hint")

    def __init__(self, folder: Path, **traits: Any) -> None:
        self.folder = folder
        super().__init__(**traits)

    def clip_path(self, key: str) -> Path | None:
        return self.folder / f"{key}.mp4" if key.isalpha() else None


@pytest.fixture
def panel(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_pieces_put_together_are_the_file(panel: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each with its place, in messages under 1 MiB; one beyond the end is the last."""
    assert clip_serving.PIECE_BYTES < 1 << 20
    monkeypatch.setattr(clip_serving, "PIECE_BYTES", 1000)
    data = bytes(range(250)) * 10
    (panel.folder / "a.mp4").write_bytes(data)
    answers = [asks(panel, "chunk", key="a", index=index) for index in range(3)]
    assert b"".join(answer["buffers"][0] for answer in answers) == data
    assert {answer["total"] for answer in answers} == {3}
    assert asks(panel, "chunk", key="a", index=9) == answers[2]


@pytest.mark.parametrize("key", ["gone", "../a", ""])
def test_no_other_file_can_be_asked_for(panel: Folder, key: str) -> None:
    """The page names clips by keys, never by a path; a file that is gone is said to be."""
    answer = asks(panel, "chunk", key=key, index=0)
    assert answer == {"problem": "The file is no longer where it was."}


def test_each_panel_gives_its_clips_by_keys_of_its_own(session: rb.Session, tmp_path: Path) -> None:
    """The page learns no path, and another key gives nothing."""
    files = [clip_file(tmp_path / f"{name}.mp4", seconds=at) for at, name in enumerate("ab", 1)]
    run = rb.Sweep("a {animal}", animal="fox, owl", duration_seconds=1).run(session)
    first, judge = run.results(30)[0].path, rb.Judge(files, session)
    for panel, file in ((rb.Compare(files), files[1]), (judge, files[1]), (rb.Matrix(run), first)):
        assert asks(panel, "chunk", key="1", index=0)["buffers"] == [file.read_bytes()]
        assert "no longer" in asks(panel, "chunk", key="9", index=0)["problem"]
        posters = asks(panel, "posters", keys=["1", "9", "x"])["buffers"]
        assert [bool(poster) for poster in posters] == [True, False, False]
        assert str(file.parent) not in str(panel.get_state())


def test_posters_are_small_and_empty_where_there_is_no_clip(panel: Folder) -> None:
    """Asked for many at a time, at most fifty."""
    clip_file(panel.folder / "a.mp4", size=(640, 360))
    (panel.folder / "damaged.mp4").write_bytes(b"cut off")
    posters = asks(panel, "posters", keys=["a", "gone", "damaged"])["buffers"]
    assert posters[0].startswith(b"\xff\xd8\xff")
    assert (len(posters[0]) <= POSTER_BYTES, posters[1:]) == (True, [b"", b""])
    assert len(asks(panel, "posters", keys=["gone"] * 99)["buffers"]) == 50


def test_a_poster_is_drawn_once_for_each_state_of_its_file(
    panel: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that was replaced is drawn anew."""
    path = clip_file(panel.folder / "a.mp4")
    drawn = panel.clip_poster("a")
    monkeypatch.setattr("reelbook.media.clips.poster", lambda _: Image.new("RGB", (9, 9)))
    assert panel.clip_poster("a") == drawn
    os.utime(path, (1, 1))
    assert panel.clip_poster("a") not in (drawn, b"")


def test_time_is_reported_only_where_somebody_asks() -> None:
    """A message every quarter of a second would keep the kernel busy."""

    class Clock(Plays):
        time = traitlets.Float()
        word = traitlets.Unicode()

    clock, seen = Clock(), list[float]()
    clock.observe(lambda change: None, "word")
    assert not clock.reports_time
    clock.observe(lambda change: seen.append(change["new"]), ["time"])
    clock.time = 1.5
    assert (clock.reports_time, seen) == (True, [1.5])
