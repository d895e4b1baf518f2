"""Frames to an MP4."""

from __future__ import annotations

from io import BytesIO

import av
import numpy as np
from PIL import Image

from reelbook.sandbox.render.encode import encode

COLOURS = ((220, 40, 40), (40, 200, 40), (40, 40, 220))


def clip() -> bytes:
    return encode((Image.new("RGB", (64, 36), colour) for colour in COLOURS), (64, 36), 8)


def test_every_frame_is_in_it_in_order() -> None:
    """H.264 that browsers play, at the pace asked for."""
    with av.open(BytesIO(clip()), "r") as container:
        stream = container.streams.video[0]
        assert (stream.codec_context.name, stream.codec_context.pix_fmt) == ("h264", "yuv420p")
        assert stream.average_rate == 8
        means = [frame.to_ndarray(format="rgb24").mean(axis=(0, 1)) for frame in container.decode(video=0)]
    assert [int(np.argmax(mean)) for mean in means] == [0, 1, 2]


def test_the_same_frames_give_the_same_bytes_with_the_index_first() -> None:
    """A browser begins to play before all of it is there."""
    made = clip()
    assert made == clip()
    assert 0 < made.index(b"moov") < made.index(b"mdat")
