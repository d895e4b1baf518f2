"""Image-to-video: the person's own picture, moved by the words of the prompt.

A plain move (zoom, pan, tilt) only crops; what bends the picture (sway, ripple, parallax) warps it through a
mesh. The picture is always larger than the frame, so that no edge ever shows.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO

import numpy as np
from PIL import Image, ImageOps

from reelbook.sandbox.render.camera import smooth, tremble
from reelbook.sandbox.render.film import dice
from reelbook.sandbox.render.mark import mark, stamp
from reelbook.sandbox.render.words import Move, camera_moves

_MAX_PIXELS = 64_000_000
_BENDS = {
    "sway": r"sway\w*|swing\w*|rock(?:s|ing)?|float\w*|drift\w*|danc\w+|lean\w*|"
    r"breez\w*|wind\w*|turn\w*|nod\w*|mov(?:e|es|ing)",
    "ripple": r"rippl\w*|wav(?:e|es|ing|y)|water\w*|shimmer\w*|flow(?:s|ing)?|heat|underwater|"
    r"liquid|melt\w*|swim\w*",
    "parallax": r"parallax|3d|depth|orbit\w*|perspective|dimension\w*",
    "pulse": r"puls\w+|breath\w*|heartbeat|throb\w*|beat\w*",
    "roll": r"rotat\w+|spin\w*|roll\w*|twist\w*|tilt(?:s|ed)? (?:its|his|her|the) head",
}
# How much larger than the frame the picture must be for each move to stay within it.
_ROOM = {
    "pan": 0.20,
    "tilt": 0.20,
    "handheld": 0.06,
    "sway": 0.09,
    "ripple": 0.04,
    "parallax": 0.11,
    "roll": 0.16,
    "orbit": 0.11,
}


@dataclass(frozen=True)
class Pose:
    """How the picture lies in one frame. Shares of the picture's own size, angles in radians."""

    zoom: float
    x: float = 0.0
    y: float = 0.0
    angle: float = 0.0
    ripple: float = 0.0
    lean: float = 0.0


@dataclass(frozen=True)
class Choreography:
    """The moves of one clip, their pace, and the phase that chance gave them."""

    moves: tuple[Move, ...]
    bends: frozenset[str]
    pace: float
    phase: float

    @property
    def room(self) -> float:
        """The smallest zoom that leaves space for all the moves."""
        return 1 + max(
            [0.0, *(_ROOM.get(name, 0.0) for name in (*(m.kind for m in self.moves), *self.bends))]
        )


def upright(data: bytes) -> Image.Image:
    """The picture in `data` as RGB, the way up that its camera says; transparent parts become white.

    Raises what Pillow raises for what it can't read, and ValueError for too many pixels to be opened safely.
    """
    picture: Image.Image = Image.open(BytesIO(data))
    if picture.width * picture.height > _MAX_PIXELS:
        raise ValueError(f"The image has more than {_MAX_PIXELS // 1_000_000} million pixels.")
    # Frames are small: a JPEG needn't be decoded at full size.
    picture.draft("RGB", (1600, 1600))
    picture = ImageOps.exif_transpose(picture)
    if picture.mode.startswith("I"):
        # 16-bit grey: Pillow's own conversion would make all but the darkest tones white.
        picture = Image.fromarray((np.asarray(picture).astype(np.int64) >> 8).clip(0, 255).astype(np.uint8))
    if picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info:
        clear = picture.convert("RGBA")
        picture = Image.new("RGB", clear.size, "white")
        picture.paste(clear, mask=clear.getchannel("A"))
    return picture.convert("RGB")


def choreography(prompt: str, seed: int) -> Choreography:
    """The moves that `prompt` asks for; a slow zoom in if it names none."""
    moves, rest = camera_moves(prompt.lower())
    bends = frozenset(name for name, words in _BENDS.items() if re.search(rf"\b(?:{words})\b", rest))
    slow = re.search(r"\b(slow|slowly|gentle|gently|soft|softly|subtle)\b", prompt.lower())
    fast = re.search(r"\b(fast|quick|quickly|rapid|strong|wild|wildly)\b", prompt.lower())
    if not moves and not bends & {"pulse", "roll"}:
        moves = (Move("dolly", 1, 0.45),)
    chance = dice(prompt, seed)
    return Choreography(moves, bends, 0.75 if slow else 1.6 if fast else 1.0, float(chance.random()))


def pose(dance: Choreography, seconds: float, length: float) -> Pose:
    """How the picture lies `seconds` into a clip of `length` seconds."""
    share = smooth(min(1.0, seconds / length))
    zoom, x, y, angle, ripple, lean = dance.room, 0.0, 0.0, 0.0, 0.0, 0.0
    turn = 2 * math.pi * (seconds * 0.22 * dance.pace + dance.phase)
    for move in dance.moves:
        if move.kind == "dolly":
            reach = 0.30 * min(1.2, 0.4 + 0.6 * move.pace)
            zoom *= 1 + reach * (share if move.sign > 0 else 1 - share)
        elif move.kind == "pan":
            x += move.sign * (2 * share - 1) * 0.085
        elif move.kind == "tilt":
            y -= move.sign * (2 * share - 1) * 0.085
        elif move.kind == "orbit":
            lean += move.sign * 0.045 * (2 * share - 1)
            x += move.sign * 0.02 * (2 * share - 1)
        elif move.kind == "handheld":
            x += 0.009 * tremble(seconds, dance.phase * 6)
            y += 0.009 * tremble(seconds, dance.phase * 6 + 4)
            angle += 0.004 * tremble(seconds, dance.phase * 6 + 2)
        elif move.kind == "static":
            zoom *= 1 + 0.015 * share
    if "sway" in dance.bends:
        x += 0.014 * math.sin(turn)
        angle += 0.018 * math.sin(turn + 0.5)
        lean += 0.012 * math.sin(turn)
    if "parallax" in dance.bends:
        lean += 0.042 * math.sin(turn)
        y += 0.008 * math.cos(turn)
    if "ripple" in dance.bends:
        ripple = 0.008
    if "pulse" in dance.bends:
        zoom *= 1.03 + 0.03 * math.sin(2 * math.pi * (seconds * 0.5 * dance.pace + dance.phase))
    if "roll" in dance.bends:
        angle += 0.06 * (2 * share - 1)
    return Pose(zoom, x, y, angle, ripple, lean)


def moved(
    picture: Image.Image, prompt: str, seed: int, size: tuple[int, int], count: int, frames_per_second: int
) -> Iterator[Image.Image]:
    """The `count` frames of `picture` moved as `prompt` asks."""
    dance = choreography(prompt, seed)
    length = count / frames_per_second
    # Working at the size of the closest view keeps it sharp there, and cheap everywhere else.
    closest = max(pose(dance, length * i / 8, length).zoom for i in range(9))
    work = ImageOps.fit(
        picture,
        (math.ceil(size[0] * min(closest, 1.6)), math.ceil(size[1] * min(closest, 1.6))),
        Image.Resampling.LANCZOS,
    )
    pill = mark(min(size))
    for number in range(count):
        seconds = number / frames_per_second
        frame = _frame(work, pose(dance, seconds, length), size, seconds * dance.pace)
        stamp(frame, pill)
        yield frame


def _frame(work: Image.Image, lying: Pose, size: tuple[int, int], seconds: float) -> Image.Image:
    free = (1 - 1 / lying.zoom) / 2
    x, y = (min(max(offset, -free), free) for offset in (lying.x, lying.y))
    if lying.angle or lying.ripple or lying.lean:
        return work.transform(
            size, Image.Transform.MESH, _mesh(work, lying, x, y, size, seconds), Image.Resampling.BILINEAR
        )
    box = [
        (0.5 + x - 0.5 / lying.zoom) * work.width,
        (0.5 + y - 0.5 / lying.zoom) * work.height,
        (0.5 + x + 0.5 / lying.zoom) * work.width,
        (0.5 + y + 0.5 / lying.zoom) * work.height,
    ]
    inside = (max(0.0, box[0]), max(0.0, box[1]), min(work.width, box[2]), min(work.height, box[3]))
    return work.resize(size, Image.Resampling.BILINEAR, box=inside)


Quad = tuple[float, float, float, float, float, float, float, float]


def _mesh(
    work: Image.Image, lying: Pose, x: float, y: float, size: tuple[int, int], seconds: float
) -> list[tuple[tuple[int, int, int, int], Quad]]:
    """The frame in cells, each with the corners of the part of the picture that it shows."""
    columns, rows = (14, 14) if lying.ripple else (1, 12) if lying.lean else (1, 1)
    sin, cos = math.sin(lying.angle), math.cos(lying.angle)
    shape = size[0] / size[1]

    def source(u: float, v: float) -> tuple[float, float]:
        a, b = (u - 0.5) * shape, v - 0.5
        px = 0.5 + x + (a * cos - b * sin) / shape / lying.zoom
        py = 0.5 + y + (a * sin + b * cos) / lying.zoom
        # What is low in a picture is near as a rule, and near things move more.
        px += lying.lean * (v - 0.35)
        if lying.ripple:
            px += lying.ripple * math.sin(v * 19 + seconds * 3.1) * (0.35 + 0.65 * v)
            py += lying.ripple * 0.8 * math.sin(u * 15 + seconds * 2.3) * (0.35 + 0.65 * v)
        return min(max(px, 0.0), 1.0) * work.width, min(max(py, 0.0), 1.0) * work.height

    xs = [round(size[0] * i / columns) for i in range(columns + 1)]
    ys = [round(size[1] * i / rows) for i in range(rows + 1)]
    corners = [[source(px / size[0], py / size[1]) for px in xs] for py in ys]
    return [
        (
            (xs[i], ys[j], xs[i + 1], ys[j + 1]),
            (*corners[j][i], *corners[j + 1][i], *corners[j + 1][i + 1], *corners[j][i + 1]),
        )
        for j in range(rows)
        for i in range(columns)
    ]
