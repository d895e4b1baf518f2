"""The renderer's pictures as coarse mosaics, to be compared with those in `pictures.json`.

After a change that is meant to be seen, write them anew: `cd tests && python -m sandbox.render.pictures`.
"""

import base64
import json
from pathlib import Path

from PIL import Image

from reelbook.sandbox.render import vocabulary
from reelbook.sandbox.render.film import dice, film
from reelbook.sandbox.render.layers import Stage, View
from reelbook.sandbox.render.palette import palette
from reelbook.sandbox.render.subjects import cast, play
from reelbook.sandbox.render.words import scene

FILE = Path(__file__).with_suffix(".json")
SIZE = (192, 108)
SUBJECT_SIDE = 160
GROUND = (90, 120, 150)
TILES = (8, 6)
FRAME = 5  # of eight a second: what moves has begun to

# Each place, and among them each weather, hour and mood; the camera moves in some.
SCENES = (
    "snow at night, aurora, stars",
    "desert at noon, dust, pan right",
    "forest in autumn, leaves, foggy morning",
    "mountains at sunset, clouds, zoom in",
    "meadow in spring, petals, fireflies at dusk",
    "sea, storm, lightning, waves",
    "beach, golden hour, dreamy, tilt up",
    "lake at dawn, rain",
    "underwater, bubbles",
    "city at night, snowfall, orbit",
    "street, wind, handheld",
    "indoors, cozy evening, embers",
    "space",
    "abstract, neon",
)
SUBJECTS = sorted(set(vocabulary.SUBJECTS.values()))


def place(prompt: str) -> Image.Image:
    """One frame of a clip without a subject."""
    return [*film(prompt, 7, SIZE, FRAME + 1, 8)][FRAME]


def subject(kind: str) -> Image.Image:
    """A subject alone, on a plain ground."""
    words = scene(f"a {kind}, noon, static shot")
    stage = Stage(SUBJECT_SIDE, SUBJECT_SIDE)
    frame = Image.new("RGB", (SUBJECT_SIDE, SUBJECT_SIDE), GROUND)
    play(frame, cast(dice(kind, 7), stage, words, palette(words), 2.0), stage, View(), 0.0, 0.9)
    return frame


def mosaic(picture: Image.Image) -> bytes:
    """The mean colours of its tiles: the same on every machine but for a rounding here and there."""
    return picture.resize(TILES, Image.Resampling.BOX).tobytes()


def drawn(name: str) -> bytes:
    """The mosaic of a scene or of a subject, as it is drawn now."""
    return mosaic(subject(name) if name in SUBJECTS else place(name))


def kept() -> dict[str, bytes]:
    """The mosaics as they should be."""
    return {name: base64.b64decode(text) for name, text in json.loads(FILE.read_text()).items()}


if __name__ == "__main__":
    made = {name: base64.b64encode(drawn(name)).decode() for name in (*SCENES, *SUBJECTS)}
    FILE.write_text(json.dumps(made, indent=1) + "\n")
