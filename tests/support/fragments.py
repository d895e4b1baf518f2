"""An MP4 in fragments: it plays to wherever it ends, so that a part of it passes for a whole one."""

import io

import av
import numpy as np


def fragmented(seconds: int, *, claimed: bool = False) -> bytes:
    """One with a fragment each 0.2 s. With `claimed` its head says how long it is; else nothing does."""
    file = io.BytesIO()
    options = {"movflags": "frag_keyframe+empty_moov+default_base_moof"}
    with av.open(file, "w", format="mp4", options=options) as container:
        stream = container.add_stream("libx264", rate=10, options={"g": "2"})
        assert isinstance(stream, av.VideoStream)
        stream.width, stream.height, stream.pix_fmt = 64, 64, "yuv420p"
        for number in range(seconds * 10):
            shade = np.full((64, 64, 3), number * 5, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(shade)))
        container.mux(stream.encode(None))
    data = bytearray(file.getvalue())
    if claimed:
        times = data.index(b"mdhd") + 16  # ticks a second, then how many (ISO/IEC 14496-12, 8.4.2)
        ticks = int.from_bytes(data[times : times + 4])
        data[times + 4 : times + 8] = (seconds * ticks).to_bytes(4)
    return bytes(data)


def cut(data: bytes, fragments: int) -> bytes:
    """The first fragments of it."""
    at = 0
    for _ in range(fragments + 1):
        at = data.index(b"moof", at + 1)
    return data[: at - 4]
