"""A clip's figures, frames and damage are read from the file itself."""

from pathlib import Path

import av
import numpy as np
import pytest
from media.pictures import film
from support.fragments import cut, fragmented

from reelbook.errors import InvalidInput, NotAVideo
from reelbook.media import clips

FRAMES = 36


def make(path: Path, *, frames: int = FRAMES, dark: int = 0) -> Path:
    """A clip of 12 frames a second that brightens from frame to frame; the first `dark` are black."""
    noise = np.random.default_rng(3).integers(0, 60, (64, 96, 3))
    pictures = [((noise + i * 180 // frames) * (i >= dark)).astype(np.uint8) for i in range(frames)]
    return film(path, pictures, 12)


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    return make(tmp_path / "clip.mp4")


def test_the_figures_are_read(clip: Path) -> None:
    """Size, length, rate, frames and codec come from the file."""
    expected = clips.ClipInfo(96, 64, 3.0, 12.0, FRAMES, "h264", "yuv420p", clip.stat().st_size)
    assert expected == clips.probe(clip)
    assert expected == clips.probe(str(clip))


@pytest.mark.parametrize("share", [0.999, 0.9, 0.5, 0.1])
def test_a_truncated_clip_is_found(clip: Path, share: float) -> None:
    """A file cut off anywhere is no video, though its header promises the whole."""
    data = clip.read_bytes()
    clip.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(NotAVideo, match=r"clip\.mp4"):
        clips.probe(clip)


def test_a_file_is_read_once_as_long_as_it_stays_as_it_is(
    clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often it is asked for; what is damaged, put back or gone later is found all the same."""
    data, info = clip.read_bytes(), clips.probe(clip)
    with monkeypatch.context() as patched:
        patched.setattr("av.open", None)
        assert clips.probe(clip) == info
    clip.write_bytes(data[:-500])
    with pytest.raises(NotAVideo):
        clips.probe(clip)
    clip.write_bytes(data)
    assert clips.probe(clip) == info
    clip.unlink()
    with pytest.raises(NotAVideo, match="no file"):
        clips.probe(clip)


@pytest.mark.parametrize("claimed", [True, False])
def test_a_clip_in_fragments_is_as_long_as_what_is_there(claimed: bool, tmp_path: Path) -> None:
    """Its head may say a length, and the file end before it: it plays all the same."""
    path = tmp_path / "clip.mp4"
    for data, seconds in (
        (fragmented(2, claimed=claimed), 2.0),
        (cut(fragmented(2, claimed=claimed), 6), 1.2),
    ):
        path.write_bytes(data)
        assert clips.probe(path).duration_seconds == pytest.approx(seconds, abs=0.15)


def test_what_is_no_video(tmp_path: Path) -> None:
    """Text, nothing, a missing file and a playlist of addresses are refused; nothing else is opened."""
    playlist = b"#EXTM3U\n#EXTINF:9,\nhttp://127.0.0.1:9/x.ts\n"
    for name, data in (("a.mp4", b"not a video"), ("b.mp4", b""), ("c.m3u8", playlist)):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(NotAVideo):
            clips.probe(tmp_path / name)
    with pytest.raises(NotAVideo, match="no file"):
        clips.probe(tmp_path / "missing.mp4")


def test_sound_alone_is_no_video(tmp_path: Path) -> None:
    """A file with sound but no picture is refused."""
    path = tmp_path / "sound.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=44_100)
        sound = av.AudioFrame.from_ndarray(np.zeros((1, 4096), np.float32), format="fltp", layout="mono")
        sound.sample_rate = 44_100
        container.mux(stream.encode(sound))
        container.mux(stream.encode(None))
    with pytest.raises(NotAVideo, match="no video"):
        clips.probe(path)


def brightness(picture: object) -> float:
    return float(np.asarray(picture).mean())


def test_a_frame_is_the_one_on_show(clip: Path) -> None:
    """Later frames are the later pictures; before the start is the first, beyond the end the last."""
    tones = [brightness(clips.frame(clip, at)) for at in (0.0, 1.0, 2.0, 2.95)]
    assert sorted(tones) == tones
    assert len(set(tones)) == 4
    assert tones[0] == brightness(clips.frame(clip, -5))
    assert tones[-1] == brightness(clips.frame(clip, 500))
    # Frame 12 is on show from 1.0 s until frame 13 follows at 1.083 s.
    assert tones[1] == brightness(clips.frame(clip, 1.08))
    assert tones[1] != brightness(clips.frame(clip, 1.09))
    with pytest.raises(InvalidInput):
        clips.frame(clip, float("nan"))


def test_a_poster_is_telling(tmp_path: Path) -> None:
    """A later frame of a clip that begins black, in its own size; one that stays black has a poster too."""
    picture = clips.poster(make(tmp_path / "fade.mp4", dark=FRAMES * 3 // 5))
    assert picture.size == (96, 64)
    assert brightness(picture) > 40
    assert brightness(clips.poster(make(tmp_path / "black.mp4", dark=FRAMES))) < 20


def test_a_filmstrip_runs_through_the_clip(clip: Path, tmp_path: Path) -> None:
    """Tiles stand side by side in the clip's order and shape; a very short clip shows frames twice."""
    strip = clips.filmstrip(clip, 6, tile_height=32)
    assert strip.size == (6 * 48 + 5 * 2, 32)
    tones = [brightness(strip.crop((i * 50, 0, i * 50 + 48, 32))) for i in range(6)]
    assert sorted(tones) == tones
    assert len(set(tones)) == 6
    assert clips.filmstrip(clip, 6, tile_height=32, gap=0).size == (6 * 48, 32)
    short = make(tmp_path / "short.mp4", frames=3)
    assert clips.filmstrip(short, 12, tile_height=20).width == 12 * 30 + 11 * 2
    with pytest.raises(InvalidInput):
        clips.filmstrip(clip, 0)
    with pytest.raises(InvalidInput, match="1 to 200 tiles"):
        clips.filmstrip(clip, 10**6)


def test_hashes_tell_pictures_apart(clip: Path, tmp_path: Path) -> None:
    """There is one hash a frame; the same pictures give the same hashes in another file, others don't."""
    hashes = clips.frame_hashes(clip)
    assert FRAMES == len(hashes) == len(set(hashes))
    again = tmp_path / "again.mkv"
    with av.open(str(clip)) as source, av.open(str(again), "w") as target:
        copy = target.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(source.streams.video[0]):
            if packet.dts is not None:
                packet.stream = copy
                target.mux(packet)
    assert hashes == clips.frame_hashes(again)
    assert hashes != clips.frame_hashes(make(tmp_path / "other.mp4", dark=2))
