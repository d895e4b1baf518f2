"""Posters that are drawn once."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from reelbook.widgets import poster_cache
from reelbook.widgets.poster_cache import PosterCache


def test_a_poster_is_drawn_once_for_each_state_of_its_file(tmp_path: Path) -> None:
    """A file that was replaced is drawn anew; one that isn't there has none."""
    posters, drawn = PosterCache(), list[str]()
    path = tmp_path / "a.mp4"

    def draw() -> bytes:
        drawn.append(path.read_text())
        return path.read_bytes()

    assert (posters.of(None, draw), posters.of(path, draw)) == (b"", b"")
    path.write_text("one")
    assert (posters.of(path, draw), posters.of(path, draw)) == (b"one", b"one")
    path.write_text("two")
    os.utime(path, (1, 1))
    assert posters.of(path, draw) == b"two"
    assert drawn == ["one", "two"]


def test_only_the_last_ones_used_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was looked at lately stays."""
    monkeypatch.setattr(poster_cache, "KEPT", 2)
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
