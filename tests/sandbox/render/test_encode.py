"""Frames to an MP4."""

from io import BytesIO

import av
import numpy as np
from PIL import Image

from reelbook.sandbox.render.encode import encode

COLOURS = ((220, 40, 40), (40, 200, 40), (40, 40, 220))


def test_every_frame_is_in_it_in_order() -> None:
    """At the pace asked for; what browsers need of the file is tried on a whole clip."""
    clip = encode((Image.new("RGB", (64, 36), colour) for colour in COLOURS), (64, 36), 8)
    with av.open(BytesIO(clip), "r") as container:
        assert container.streams.video[0].average_rate == 8
        means = [frame.to_ndarray(format="rgb24").mean(axis=(0, 1)) for frame in container.decode(video=0)]
    assert [int(np.argmax(mean)) for mean in means] == [0, 1, 2]
