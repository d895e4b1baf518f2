"""A matrix as one file: which files there are, and the page that plays by itself."""

import base64
import re
from pathlib import Path
from unittest.mock import Mock

import pytest
from widgets.doubles import clip_file

from reelbook.errors import NotAVideo, ReelbookError
from reelbook.media.clips import probe
from reelbook.media.grid import Grid, Page
from reelbook.widgets.pages import grid_html, write_grid

PNG = b"\x89PNG"


def grid(folder: Path, *, label: str = "fox") -> Grid:
    clip = clip_file(folder / "clip.mp4")
    return Grid("foxes", (Page("", ("snow", "dunes"), ((label, (clip, "Failed")),)),))


def test_the_ending_says_what_is_written(tmp_path: Path) -> None:
    """A video, a picture, or a page."""
    for name in ("grid.mp4", "grid.png", "grid.HTML"):
        assert write_grid(grid(tmp_path), tmp_path / name, by="time", overwrite=False) == tmp_path / name
        write_grid(grid(tmp_path), tmp_path / name, by="part", overwrite=True)
    assert probe(tmp_path / "grid.mp4").duration_seconds == pytest.approx(1.0, abs=0.1)
    assert (tmp_path / "grid.png").read_bytes().startswith(PNG)
    assert (tmp_path / "grid.HTML").read_text("utf-8").startswith("<!doctype html>")


def test_the_page_carries_its_clips_and_asks_nobody(tmp_path: Path) -> None:
    """The clip is in it byte for byte; it may load nothing from elsewhere; text in it stays text."""
    page = "".join(grid_html(grid(tmp_path, label="</script><b>fox")))
    [data] = re.findall(r'data-clip="data:video/mp4;base64,([^"]+)"', page)
    assert base64.b64decode(data) == (tmp_path / "clip.mp4").read_bytes()
    assert "default-src 'none'" in page
    assert "<b>fox" not in page
    assert not re.search(r'(src|href)="(?!data:)', page)


@pytest.mark.parametrize("kind", ["mp4", "png", "html"])
def test_nothing_half_written_stays(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither after a broken clip nor where the disk refuses."""
    broken = grid(tmp_path)
    (tmp_path / "clip.mp4").write_bytes(b"no video")
    with pytest.raises(NotAVideo):
        write_grid(broken, tmp_path / f"grid.{kind}", by="time", overwrite=False)
    whole = grid(tmp_path)

    monkeypatch.setattr("os.replace", Mock(side_effect=OSError("No space left on device")))
    with pytest.raises(ReelbookError, match="No space left"):
        write_grid(whole, tmp_path / f"grid.{kind}", by="time", overwrite=False)
    assert [path.name for path in tmp_path.iterdir()] == ["clip.mp4"]
