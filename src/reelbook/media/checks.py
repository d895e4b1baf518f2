"""What can be measured in a clip's pictures: black and frozen stretches, cuts, how far its ends are apart.

A fade begins black and a portrait may stand still: whether that is good isn't judged here.
"""

import io
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ..errors import NotAVideo
from .clips import ClipPath, _open

Frame = NDArray[np.int16]

WIDTH, HEIGHT = 160, 90  # of the pictures that are measured
_DARK: Final = 32  # as in ffmpeg's blackdetect: a picture is black if 98 of 100 pixels are darker than this
_DARK_SHARE: Final = 0.98
_STILL: Final = 3  # the greatest difference that an encoder leaves between two equal pictures
_SHORTEST_SECONDS: Final = 0.2
_CUT: Final = 12.0  # least mean difference at a cut, which is also
_CUT_TIMES: Final = 3.0  # so many times the usual one around it
_AROUND: Final = 4

Stretch = tuple[float, float]


@dataclass(frozen=True)
class ClipChecks:
    """What was measured in a clip. Times in seconds, distances from 0 (the same picture) to 1.

    `black` and `frozen` are stretches, from and to, of at least 0.2 s; what is black isn't frozen. `cuts` are
    when a new shot begins. `loop_gap` is how far the first frame is from the last, `still_gap` from the image
    that the clip was made from (None: made from text).
    """

    black: tuple[Stretch, ...]
    frozen: tuple[Stretch, ...]
    cuts: tuple[float, ...]
    loop_gap: float
    still_gap: float | None = None

    @property
    def black_seconds(self) -> float:
        return _length(self.black)

    @property
    def frozen_seconds(self) -> float:
        return _length(self.frozen)

    def __str__(self) -> str:
        facts = [
            f"black for {self.black_seconds:.1f} s" if self.black else "",
            f"still for {self.frozen_seconds:.1f} s" if self.frozen else "",
            f"cut at {', '.join(f'{at:.1f}' for at in self.cuts)} s" if self.cuts else "",
            f"ends {100 * self.loop_gap:.0f} % from its beginning",
            "" if self.still_gap is None else f"begins {100 * self.still_gap:.0f} % from its image",
        ]
        return " · ".join(filter(None, facts))


def check(path: ClipPath, still: bytes | None = None) -> ClipChecks:
    """Measures the whole clip at `path`; `still` is the image that it was made from. Raises NotAVideo."""
    times, frames = _frames(path)
    steps = [np.abs(after - before) for before, after in itertools.pairwise(frames)]
    moved = np.array([step.mean() for step in steps])
    black = [float((frame.max(axis=2) < _DARK).mean()) >= _DARK_SHARE for frame in frames[:-1]]
    frozen = [int(step.max()) <= _STILL and not dark for step, dark in zip(steps, black, strict=True)]
    return ClipChecks(
        black=_stretches(times, black),
        frozen=_stretches(times, frozen),
        cuts=tuple(times[place + 1] for place in range(len(moved)) if _is_cut(moved, place)),
        loop_gap=_distance(frames[0], frames[-1]),
        still_gap=None if still is None else _distance(frames[0], _still(still)),
    )


def _frames(path: ClipPath) -> tuple[list[float], list[Frame]]:
    times, frames = [], []
    with _open(path) as (container, stream):
        for each in container.decode(stream):
            small = each.reformat(width=WIDTH, height=HEIGHT, format="rgb24", interpolation="AREA")
            frames.append(small.to_ndarray().astype(np.int16))
            times.append(each.time or 0.0)
    if not frames:
        raise NotAVideo(f"{Path(path).name} holds no frame that can be decoded.")
    return times, frames


def _still(image: bytes) -> Frame:
    with Image.open(io.BytesIO(image)) as picture:
        small = picture.convert("RGB").resize((WIDTH, HEIGHT), Image.Resampling.BOX)
    return np.asarray(small).astype(np.int16)


def _distance(one: Frame, other: Frame) -> float:
    return round(float(np.abs(one - other).mean()) / 255, 4)


def _stretches(times: Sequence[float], so: Sequence[bool]) -> tuple[Stretch, ...]:
    """From and to of what lasts long enough to be seen, from each frame to the next."""
    found = []
    for is_so, group in itertools.groupby(range(len(so)), key=so.__getitem__):
        places = list(group)
        begin, end = times[places[0]], times[places[-1] + 1]
        if is_so and end - begin >= _SHORTEST_SECONDS:
            found.append((round(begin, 3), round(end, 3)))
    return tuple(found)


def _is_cut(moved: NDArray[np.float64], place: int) -> bool:
    around = np.delete(moved[max(0, place - _AROUND) : place + _AROUND + 1], min(place, _AROUND))
    usual = float(np.median(around)) if len(around) else 0.0
    return bool(moved[place] >= max(_CUT, _CUT_TIMES * usual))


def _length(stretches: Sequence[Stretch]) -> float:
    return round(sum(end - begin for begin, end in stretches), 3)
