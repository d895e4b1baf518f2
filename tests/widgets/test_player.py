"""The player."""

from io import BytesIO
from pathlib import Path
from typing import Any, get_args

import pytest
import traitlets
from PIL import Image
from widgets.doubles import asks, clip, clip_file

import reelbook as rb
from reelbook.errors import InvalidInput, NotAVideo
from reelbook.session.request_code import CodeKind
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
    assert (player.face["prompt"], player.face["money"], player.face["mark"]) == ("mine.mp4", "", "")
    assert asks(player, "chunk", index=0)["buffers"] == [(tmp_path / "mine.mp4").read_bytes()]


def test_a_clip_is_saved_with_what_made_it(tmp_path: Path) -> None:
    """What plays is the file as it came; what the page saves has the passport. A file alone has none."""
    made = clip(tmp_path / "c.mp4")
    player = Player(made)
    assert asks(player, "chunk", index=0)["buffers"] == [made.path.read_bytes()]
    (saved,) = asks(player, "chunk", index=0, passport=True)["buffers"]
    (tmp_path / "saved.mp4").write_bytes(saved)
    assert rb.passport(tmp_path / "saved.mp4").request == made.request
    alone = Player(clip_file(tmp_path / "mine.mp4"))
    assert asks(alone, "chunk", index=0, passport=True) == asks(alone, "chunk", index=0)


def test_what_is_no_clip_is_refused(tmp_path: Path) -> None:
    """The error comes from the call, not from the page."""
    file = tmp_path / "x.mp4"
    file.write_text("no video")
    with pytest.raises(NotAVideo):
        Player(file)
    job: Any = object()  # such as one whose clip wasn't awaited
    with pytest.raises(InvalidInput, match=r"Player takes a clip or a file, not object\. `await job` gives"):
        Player(job)


def test_what_is_no_range_is_refused(tmp_path: Path) -> None:
    """A loop's ends come in order; the page's list is a range too, and None is the whole clip."""
    player = Player(clip_file(tmp_path / "a.mp4"), loop_range=(0.2, 0.6))
    player.set_state({"loop_range": [0.1, 0.5]})
    assert player.loop_range == (0.1, 0.5)
    for wrong in [(0.5, 0.5), (-1.0, 0.5), (float("nan"), 1.0)]:
        with pytest.raises(traitlets.TraitError, match="the earlier one first"):
            player.loop_range = wrong
    player.loop_range = None
    assert player.loop_range is None


def test_the_page_gets_pictures_when_it_asks(tmp_path: Path) -> None:
    """The poster in full, and a filmstrip of so many tiles; neither is a part of the panel's state."""
    player = Player(clip(tmp_path / "c.mp4"))
    answers = [asks(player, "picture", of="poster"), asks(player, "picture", of="filmstrip", tiles=16)]
    sizes = [Image.open(BytesIO(answer["buffers"][0])).size for answer in answers]
    assert sizes == [(64, 36), (16 * 160, 90)]
    for tiles in (None, 0, 10_000, "16"):  # the page can't make the kernel work without end
        assert asks(player, "picture", of="filmstrip", tiles=tiles) == {}
        assert "filmstrip" in player.message["text"]


def test_the_code_that_made_a_clip_can_be_copied(tmp_path: Path) -> None:
    """Of each kind. A file of which nothing else is known has none."""
    shown = clip(tmp_path / "c.mp4")
    player = Player(shown)
    assert ["code", "Copy as code"] in player.face["actions"]
    for kind in get_args(CodeKind):
        assert asks(player, "code", kind=kind) == {"text": shown.as_code(kind)}
    assert ["code", "Copy as code"] not in Player(shown.path).face["actions"]
