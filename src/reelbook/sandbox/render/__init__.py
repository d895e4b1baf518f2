"""From a prompt or a still image to a real MP4: a pure function, run in worker processes.

`words` reads the prompt, `film` draws text-to-video, `motion` moves an image, `encode` makes the file.
"""

from dataclasses import dataclass

FRAMES_PER_SECOND = 24
SIZES = {"16:9": (640, 360), "9:16": (360, 640), "1:1": (480, 480)}


@dataclass(frozen=True)
class Spec:
    """What to draw; the same spec gives the same frames. `image` (JPEG or PNG bytes) is moved if given."""

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
    """Draw and encode `spec`. Raises what Pillow raises for an image that can't be read."""
    # Imported here: whoever only names a job must not load the drawing libraries.
    from reelbook.sandbox.render import encode, film, motion

    count, size = spec.seconds * FRAMES_PER_SECOND, SIZES[spec.aspect_ratio]
    if spec.image is None:
        frames = film.film(spec.prompt, spec.seed, size, count, FRAMES_PER_SECOND)
    else:
        picture = motion.upright(spec.image)
        frames = motion.moved(picture, spec.prompt, spec.seed, size, count, FRAMES_PER_SECOND)
    return Rendered(encode.encode(frames, size, FRAMES_PER_SECOND), count / FRAMES_PER_SECOND)
