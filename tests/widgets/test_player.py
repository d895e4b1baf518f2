"""The player."""

from __future__ import annotations

from pathlib import Path

import pytest
import traitlets
from widgets.doubles import clip, clip_file, heard, page_sends

from reelbook.errors import NotAVideo
from reelbook.widgets.player import Player


def test_a_clip_is_shown_with_its_figures(tmp_path: Path) -> None:
    """Caption, cost, mark and poster come with the clip."""
    player = Player(clip(tmp_path / "c.mp4"))
    assert (player.face["money"], player.face["mark"], player.face["shape"]) == ("$0.25", "sandbox", [64, 36])
    assert "1.0 s · 64 × 36 · seed 7" in player.still()[1]
    assert 0 < len(player.poster) <= 10_000


def test_a_file_plays_without_a_job(tmp_path: Path) -> None:
    """A path is enough, and what isn't known isn't said."""
    player = Player(clip_file(tmp_path / "mine.mp4"))
    messages = heard(player)
    page_sends(player, {"name": "chunk", "id": "v", "index": 0})
    assert (player.face["prompt"], player.face["money"], player.face["mark"]) == ("mine.mp4", "", "")
    assert messages[0][1] == [(tmp_path / "mine.mp4").read_bytes()]


def test_what_is_no_video_is_refused(tmp_path: Path) -> None:
    """The error comes from the call, not from the page."""
    file = tmp_path / "x.mp4"
    file.write_text("no video")
    with pytest.raises(NotAVideo):
        Player(file)


def test_the_time_is_told_only_to_who_listens(tmp_path: Path) -> None:
    """Without a listener in the kernel the page reports no time; a link counts as one."""
    player, other = Player(clip_file(tmp_path / "a.mp4")), Player(clip_file(tmp_path / "b.mp4"))
    player.observe(print, "playing")
    assert player.tells_time is False
    traitlets.link((player, "time"), (other, "time"))
    player.time = 0.5
    assert (player.tells_time, other.time) == (True, 0.5)
