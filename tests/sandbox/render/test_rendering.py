"""A spec becomes a real, repeatable MP4 in which the words can be seen."""

import hashlib
import subprocess
import sys
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from reelbook.sandbox.render import FRAMES_PER_SECOND, SIZES, Rendered, Spec, render
from reelbook.sandbox.render import vocabulary as known
from reelbook.sandbox.render.film import dice, film, shoot
from reelbook.sandbox.render.layers import Stage, View
from reelbook.sandbox.render.mark import mark, stamp
from reelbook.sandbox.render.palette import palette
from reelbook.sandbox.render.setting import setting
from reelbook.sandbox.render.subjects import Acts, cast, play
from reelbook.sandbox.render.weather import weather
from reelbook.sandbox.render.words import Scene, scene


def stills(prompt: str, seed: int = 7, ratio: str = "16:9", *, count: int = 3) -> list[np.ndarray]:
    """A few frames straight from the drawing, a third of a second apart."""
    frames = film(prompt, seed, SIZES[ratio], count, 3)
    return [np.asarray(frame).astype(int) for frame in frames]


def difference(a: np.ndarray, b: np.ndarray) -> float:
    """The mean difference of two pictures, from 0 to 255."""
    return float(np.abs(a.astype(int) - b.astype(int)).mean())


@pytest.fixture(scope="module")
def fox() -> Rendered:
    return render(Spec("a red fox runs through snow at night, slow pan left", 2, "16:9", 7))


def test_the_file_is_what_browsers_play(fox: Rendered) -> None:
    """H.264, yuv420p, 24 frames a second, exactly as long as asked, its index before its pictures."""
    with av.open(BytesIO(fox.mp4)) as container:
        stream = container.streams.video[0]
        assert stream.codec_context.name == "h264"
        assert stream.codec_context.pix_fmt == "yuv420p"
        assert stream.average_rate == FRAMES_PER_SECOND
        assert stream.frames == 48
        assert float((stream.duration or 0) * (stream.time_base or 0)) == 2.0
    assert fox.seconds == 2.0
    assert 0 < fox.mp4.index(b"moov") < fox.mp4.index(b"mdat")


def test_the_same_seed_gives_the_same_bytes(fox: Rendered) -> None:
    """A prompt and seed repeated give the same file, byte for byte, in another process too."""
    code = (
        "import hashlib, sys; from reelbook.sandbox.render import Spec, render;"
        "print(hashlib.sha256(render(Spec(sys.argv[1], 2, '16:9', 7)).mp4).hexdigest())"
    )
    prompt = "a red fox runs through snow at night, slow pan left"
    done = subprocess.run([sys.executable, "-c", code, prompt], capture_output=True, text=True, check=True)
    assert hashlib.sha256(fox.mp4).hexdigest() == done.stdout.strip()


@pytest.mark.parametrize("seed", [0, -7, 8, 2**80])
def test_another_seed_gives_other_frames(seed: int) -> None:
    """Any other whole number lays out the same scene visibly differently."""
    assert difference(stills("meadow", 7, count=1)[0], stills("meadow", seed, count=1)[0]) > 3


def test_the_words_can_be_seen() -> None:
    """A desert at noon is bright and warm below, snow at night dark and blue; they are clearly unlike."""
    desert, snow = stills("noon desert", count=1)[0], stills("night snow", count=1)[0]
    ground = slice(300, 340)
    assert difference(desert, snow) > 60
    assert desert[ground, :500, 0].mean() > desert[ground, :500, 2].mean() + 50
    assert snow[ground, :500, 2].mean() > snow[ground, :500, 0].mean() + 20
    assert desert[:100].mean() > 2 * snow[:100].mean()


def test_a_subject_has_its_colour() -> None:
    """A red car is red and a blue one blue, at the same place."""
    red, blue = (
        stills(f"a {name} car in the snow, noon, static shot", 3, count=2)[1] for name in ("red", "blue")
    )
    redness, blueness = (frame[250:340, :500, 0] - frame[250:340, :500, 2] for frame in (red, blue))
    assert (redness > 80).sum() > 500 > (blueness > 80).sum()
    assert (blueness < -80).sum() > 500 > (redness < -80).sum()


def test_a_pan_moves_the_picture_its_way() -> None:
    """Panning right moves what is near to the left, panning left moves it right."""

    def shift(prompt: str) -> int:
        first, second = (frame[250:330, :, 1] for frame in stills(prompt, 5, count=2))
        scores = {
            by: np.abs(first[:, 60:500] - second[:, 60 + by : 500 + by]).mean() for by in range(-50, 51)
        }
        return min(scores, key=lambda by: scores[by])

    assert shift("a city at noon, pan right") < -8
    assert shift("a city at noon, pan left") > 8


@pytest.mark.parametrize("kind", sorted(set(known.SUBJECTS.values())))
def test_every_subject_moves(kind: str) -> None:
    """Every kind of subject is drawn, and is another picture a moment later."""
    words = scene(f"a {kind}, static shot")
    stage, colours = Stage(360, 360), palette(words)
    acts = cast(dice(kind, 1), stage, words, colours, 2.0)
    shown = []
    for seconds in (0.9, 1.1):
        frame = Image.new("RGB", (360, 360), (1, 2, 3))
        play(frame, acts, stage, View(), 0.0, seconds)
        shown.append(np.asarray(frame).astype(int))
    assert (shown[0] != (1, 2, 3)).any(axis=2).sum() > 300
    assert (shown[0] != shown[1]).any(axis=2).sum() > 30


@pytest.mark.parametrize("place", sorted(set(known.SETTINGS.values())))
@pytest.mark.parametrize(
    ("ratio", "move"),
    [
        ("16:9", "tilt down, zoom in, handheld"),
        ("9:16", "tilt up, orbit"),
        ("1:1", "tilt down, zoom out, pan left"),
    ],
)
def test_every_setting_fits_every_shape(place: str, ratio: str, move: str) -> None:
    """Every place fills every shape wholly, also while the camera tilts, zooms and shakes."""
    for frame in stills(f"{place}, {move}", 4, ratio, count=2):
        assert (SIZES[ratio][1], SIZES[ratio][0], 3) == frame.shape
        # A hole would show the black that a frame starts as.
        assert (frame[:, : frame.shape[1] // 2].sum(axis=2) == 0).mean() < 0.01


@pytest.mark.parametrize("kind", sorted(set(known.WEATHER.values()) - {"clear", "lightning"}))
def test_every_weather_can_be_seen(kind: str) -> None:
    """Every weather changes the picture that the same words without it give."""
    time = "night" if kind in ("aurora", "fireflies", "embers") else "dusk" if kind == "stars" else "noon"
    words = scene(f"mountains, {time}, static shot")
    shown = [_frame(replace(words, weather=frozenset(extra))) for extra in ((), (kind,))]
    assert difference(*shown) > 0.04


def _frame(words: Scene) -> np.ndarray:
    stage, colours, rng = Stage(*SIZES["1:1"]), palette(words), dice("a place", 1)
    place = setting(rng, stage, words, colours)
    air = weather(dice("its weather", 1), stage, words, colours)
    return np.asarray(shoot(stage, colours, place, air, View(), 0.6, Acts())).astype(int)


def test_lightning_flashes() -> None:
    """A thunderstorm has moments far brighter than the rest."""
    frames = film("storm at sea, lightning", 7, SIZES["16:9"], 48, FRAMES_PER_SECOND)
    bright = [float(np.asarray(frame)[:200].mean()) for frame in frames]
    assert max(bright) > 1.2 * float(np.median(bright))


@pytest.mark.parametrize("ratio", SIZES)
def test_every_frame_is_marked(ratio: str) -> None:
    """The sandbox mark stands in the lower right corner of every frame, readable on white and on black."""
    for ground in ("white", "black"):
        frame = Image.new("RGB", SIZES[ratio], ground)
        stamp(frame, mark(min(SIZES[ratio])))
        corner = np.asarray(frame.convert("L")).astype(int)[-30:, -90:]
        assert corner.max() - corner.min() > 70
    width, height = SIZES[ratio]
    bright = [
        frame[height - 24 : height - 8, width - 80 : width - 8].max() for frame in stills("night", 1, ratio)
    ]
    assert min(bright) > 200


def test_unknown_words_make_a_difference() -> None:
    """Two prompts of unknown words look unlike each other, and neither is empty."""
    first, second = stills("qwertz", 1, count=1)[0], stills("asdf jkl", 1, count=1)[0]
    assert difference(first, second) > 8
    assert first.std() > 10


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rendering leaves no file in the temporary folder."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    render(Spec("dawn", 1, "1:1", 1))
    assert list(tmp_path.iterdir()) == []
