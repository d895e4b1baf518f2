"""What is measured in clips made for it."""

import io
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from media.pictures import film
from numpy.typing import NDArray

from reelbook.errors import NotAVideo
from reelbook.media.checks import check
from reelbook.session import Clip, JobRequest

RATE = 24
WIDTH, HEIGHT = 320, 180
BLACK = np.zeros((HEIGHT, WIDTH, 3), np.uint8)


def moving(frames: int, *, seed: int = 1, speed: int = 1) -> list[NDArray[np.uint8]]:
    """Coloured squares that pass by, the same for the same seed; after 320 pixels they are back."""
    squares = np.random.default_rng(seed).integers(0, 255, (9, 16, 3), np.uint8)
    picture = squares.repeat(20, axis=0).repeat(20, axis=1)
    return [np.roll(picture, number * speed, axis=1) for number in range(frames)]


clip = partial(film, rate=RATE)


def test_what_only_moves_has_nothing(tmp_path: Path) -> None:
    """No stretch, no cut."""
    found = check(clip(tmp_path / "a.mp4", moving(48)))
    assert (found.black, found.frozen, found.cuts, found.still_gap) == ((), (), (), None)
    assert str(found) == f"ends {100 * found.loop_gap:.0f} % from its beginning"


def test_black_stretches(tmp_path: Path) -> None:
    """From and to; black doesn't also count as frozen, and a single black frame is no stretch."""
    found = check(clip(tmp_path / "a.mp4", [*[BLACK] * 24, *moving(24), BLACK, *moving(12, seed=2)]))
    assert found.black == ((0.0, 1.0),)
    assert (found.black_seconds, found.frozen) == (1.0, ())
    assert str(found).startswith("black for 1.0 s · cut at 1.0, ")


def test_frozen_stretches(tmp_path: Path) -> None:
    """Where the same picture stays; one that creeps on isn't frozen."""
    beginning = moving(24)
    found = check(clip(tmp_path / "a.mp4", [*beginning, *[beginning[-1]] * 36, *moving(12)]))
    [(begin, end)] = found.frozen
    assert begin == pytest.approx(23 / RATE, abs=0.01)
    assert end == pytest.approx(59 / RATE, abs=0.01)


def test_a_cut_is_no_fast_pan(tmp_path: Path) -> None:
    """A new picture is a cut; pictures that all differ much from each other are not."""
    found = check(clip(tmp_path / "a.mp4", [*moving(30), *moving(30, seed=2)]))
    assert found.cuts == (30 / RATE,)
    assert check(clip(tmp_path / "b.mp4", moving(30, speed=19))).cuts == ()


def test_a_loop_that_closes_has_no_gap(tmp_path: Path) -> None:
    """The last frame beside the first."""
    closed = check(clip(tmp_path / "a.mp4", moving(33, speed=10)))
    open_ = check(clip(tmp_path / "b.mp4", moving(17, speed=10)))
    assert closed.loop_gap < 0.01 < 0.1 < open_.loop_gap


def test_how_far_a_clip_begins_from_its_image(tmp_path: Path) -> None:
    """The image as it was sent, whatever its size; measured once for a clip."""
    from PIL import Image

    picture = Image.fromarray(moving(1)[0])
    path = clip(tmp_path / "a.mp4", moving(12))
    sent = JobRequest.from_image(picture.resize((640, 360)), "it moves")
    made = Clip(path=path, request_id="req-1", request=sent)
    assert made.checks.still_gap is not None
    assert made.checks.still_gap < 0.03
    assert made.checks is made.checks
    other = io.BytesIO()
    Image.new("RGB", (64, 36), "white").save(other, "PNG")
    far = check(path, other.getvalue())
    assert far.still_gap is not None
    assert far.still_gap > 0.3
    assert str(far).endswith(f"begins {100 * far.still_gap:.0f} % from its image")


def test_what_is_no_video_is_refused(tmp_path: Path) -> None:
    """As everywhere."""
    (tmp_path / "a.mp4").write_text("no video")
    with pytest.raises(NotAVideo):
        check(tmp_path / "a.mp4")
