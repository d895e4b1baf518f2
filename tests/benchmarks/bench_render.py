"""How long the sandbox takes to draw and encode a 5 s clip on one core. Prints figures, asserts none.

Run it pinned: `taskset -c 0 python tests/benchmarks/bench_render.py`.
"""

import statistics
import sys
import time
from io import BytesIO

from PIL import Image

from reelbook.sandbox.render import SIZES, Spec, render

PROMPTS = (
    "a red fox runs through snow at night, slow pan left",
    "noon desert",
    "night snow",
    "a small boat in a storm at sea, lightning",
    "city street in the rain at dusk, neon, dolly in",
    "a blue bird flies over a green meadow at sunrise",
    "a rocket in space, zoom out",
    "fish swim underwater",
    "an old man walks in an autumn forest, fog",
    "abstract thoughts of jealousy",
)
MOTIONS = ("slow zoom in, gentle sway", "pan left", "ripple", "parallax")


def main() -> None:
    seconds = 5
    render(Spec("warm up", 1, "1:1", 1))
    took: list[float] = []
    for ratio in SIZES:
        for prompt in PROMPTS:
            took.append(_measured(Spec(prompt, seconds, ratio, 7), f"{ratio:>5}  {prompt}"))
    still = _still()
    for motion in MOTIONS:
        took.append(_measured(Spec(motion, seconds, "16:9", 7, still), f"image  {motion}"))
    print(
        f"\n{seconds} s clips, processor time: median {statistics.median(took):.2f}, worst {max(took):.2f} s"
    )


def _measured(spec: Spec, label: str) -> float:
    # Processor time: other work on the machine isn't the renderer's.
    start, wall = time.process_time(), time.perf_counter()
    clip = render(spec)
    took = time.process_time() - start
    print(
        f"{took:5.2f} s  ({time.perf_counter() - wall:5.2f} s wall)  {len(clip.mp4) / 1000:6.0f} kB  {label}"
    )
    sys.stdout.flush()
    return took


def _still() -> bytes:
    """A picture of 2048 × 1152 as a camera would give it: a JPEG."""
    from reelbook.sandbox.render.film import film

    drawn = next(film("a forest in autumn", 3, (640, 360), 1, 24))
    file = BytesIO()
    drawn.resize((2048, 1152), Image.Resampling.BICUBIC).save(file, "JPEG", quality=92)
    return file.getvalue()


if __name__ == "__main__":
    main()
