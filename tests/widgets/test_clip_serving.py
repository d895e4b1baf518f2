"""A clip's pieces and posters, as the page asks for them."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest
import traitlets
from widgets.doubles import clip_file, heard, page_sends

from reelbook.widgets import clip_serving
from reelbook.widgets.base import Panel
from reelbook.widgets.bundle import module, style
from reelbook.widgets.clip_serving import Plays, PosterCache, ServesClips
from reelbook.widgets.static_html import POSTER_BYTES


class Folder(ServesClips):
    """Serves the clips of a folder by their names."""

    _esm, _css = module("hint"), style("hint")

    def __init__(self, folder: Path, **traits: Any) -> None:
        self.folder = folder
        super().__init__(**traits)

    def clip_path(self, key: str) -> Path | None:
        return self.folder / f"{key}.mp4" if key.isalpha() else None


@pytest.fixture
def panel(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def ask(panel: Panel, **content: Any) -> tuple[dict[str, Any], list[bytes]]:
    """The one answer to a message of the page."""
    sent = heard(panel)
    page_sends(panel, content)
    (answer,) = sent
    return answer


def test_pieces_put_together_are_the_file(panel: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each with its place; one beyond the end is the last."""
    monkeypatch.setattr(clip_serving, "PIECE_BYTES", 1000)
    data = bytes(range(250)) * 10
    (panel.folder / "a.mp4").write_bytes(data)
    answers = [ask(panel, name="chunk", key="a", id="t", index=index) for index in range(3)]
    assert b"".join(piece for _, (piece,) in answers) == data
    assert answers[0][0] == {"name": "chunk", "id": "t", "index": 0, "total": 3}
    assert ask(panel, name="chunk", key="a", id="t", index=9)[1] == answers[2][1]


@pytest.mark.parametrize("key", ["gone", "../a", ""])
def test_no_other_file_can_be_asked_for(panel: Folder, key: str) -> None:
    """The page names clips by keys, never by a path; a file that is gone is said to be."""
    answer, pieces = ask(panel, name="chunk", key=key, id="t", index=0)
    assert (answer["problem"], pieces) == ("The clip's file is no longer where it was.", [])


def test_posters_are_small_and_empty_where_there_is_no_clip(panel: Folder) -> None:
    """Asked for many at a time, at most fifty."""
    clip_file(panel.folder / "a.mp4", size=(640, 360))
    _, posters = ask(panel, name="posters", keys=["a", "gone", "7"])
    assert posters[0].startswith(b"\xff\xd8\xff")
    assert (len(posters[0]) <= POSTER_BYTES, posters[1:]) == (True, [b"", b""])
    assert len(ask(panel, name="posters", keys=["gone"] * 99)[1]) == 50


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


def test_a_poster_is_drawn_once_for_each_state_of_its_file(tmp_path: Path) -> None:
    """A file that was replaced is drawn anew; one that isn't there has none."""
    posters, drawn = PosterCache(), list[str]()
    path = tmp_path / "a.mp4"

    def draw() -> bytes:
        drawn.append(path.read_text())
        return path.read_bytes()

    assert posters.of(path, draw) == b""
    path.write_text("one")
    assert (posters.of(path, draw), posters.of(path, draw)) == (b"one", b"one")
    path.write_text("two")
    os.utime(path, (1, 1))
    assert posters.of(path, draw) == b"two"
    assert drawn == ["one", "two"]


def test_only_the_last_ones_used_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was looked at lately stays."""
    monkeypatch.setattr(clip_serving, "POSTERS_KEPT", 2)
    posters, drawn = PosterCache(), list[str]()
    for name in "abc":
        (tmp_path / name).touch()
    for name in "abacab":
        path = tmp_path / name
        posters.of(path, lambda name=name: drawn.append(name) or b"x")  # type: ignore[func-returns-value, misc]  # notes it
    assert drawn == ["a", "b", "c", "b"]


def test_two_threads_draw_one_poster(tmp_path: Path) -> None:
    """The second one waits for it."""
    posters, drawn = PosterCache(), list[int]()
    path = tmp_path / "a.mp4"
    path.touch()
    both = threading.Barrier(2, timeout=60)

    def draw() -> bytes:
        drawn.append(1)
        return b"x"

    def look() -> None:
        both.wait()
        posters.of(path, draw)

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert drawn == [1]
