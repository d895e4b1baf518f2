"""From a prompt or a still image to a real MP4: a pure function, run in worker processes."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

FRAMES_PER_SECOND = 24
SIZES = {"16:9": (640, 360), "9:16": (360, 640), "1:1": (480, 480)}


@dataclass(frozen=True)
class Spec:
    """What to draw. The same spec always gives the same frames. `image` (JPEG or PNG bytes) is moved if given."""

    prompt: str
    seconds: int
    aspect_ratio: str
    seed: int
    image: bytes | None = None


@dataclass(frozen=True)
class Rendered:
    """A finished clip: the MP4's bytes and its real length in seconds."""

    mp4: bytes
    seconds: float


def render(spec: Spec) -> Rendered:
    """Draw and encode `spec`."""
    import av
    import numpy as np

    width, height = SIZES[spec.aspect_ratio]
    with tempfile.TemporaryDirectory(prefix="reelbook-render-") as folder:
        path = Path(folder) / "clip.mp4"
        with av.open(str(path), "w", options={"movflags": "faststart"}) as out:
            stream = out.add_stream("libx264", rate=FRAMES_PER_SECOND)
            stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
            count = spec.seconds * FRAMES_PER_SECOND
            for i in range(count):
                frame = np.full((height, width, 3), (i * 255 // count, spec.seed % 256, len(spec.prompt)), np.uint8)
                out.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
            out.mux(stream.encode(None))
        return Rendered(path.read_bytes(), count / FRAMES_PER_SECOND)
