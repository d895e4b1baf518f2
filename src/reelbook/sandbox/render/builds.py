"""The proportions of the four-legged animals and how they go: a row of numbers makes a fox a fox."""

from dataclasses import dataclass

from reelbook.sandbox.render.shapes import Point
from reelbook.sandbox.render.words import RGB


@dataclass(frozen=True)
class Build:
    """The proportions of one kind, in body lengths, and its usual coat."""

    coat: RGB
    leg: float = 0.50
    thick: float = 1.0
    waist: float = 0.80
    neck: Point = (0.20, 0.20)
    neck_width: float = 0.24
    head: float = 0.135
    snout: float = 0.24
    snout_width: float = 0.10
    ear: str = "point"
    ear_size: float = 0.17
    tail: str = "thin"
    leg_width: float = 0.10
    socks: float = 0.0
    belly: float = 0.45
    mane: bool = False
    stripes: bool = False
    spots: bool = False
    length: float = 1.0


BUILDS = {
    "fox": Build((214, 104, 42), leg=0.46, waist=0.76, neck=(0.17, 0.15), head=0.15, snout=0.29,
        snout_width=0.07, ear_size=0.22, tail="brush", leg_width=0.085, socks=0.75, belly=0.8),
    "dog": Build((176, 124, 76), leg=0.48, neck=(0.19, 0.26), head=0.155, snout=0.25, snout_width=0.12,
        ear="flop", tail="curl", leg_width=0.105),
    "cat": Build((92, 90, 104), leg=0.42, waist=0.92, neck=(0.14, 0.19), neck_width=0.22, head=0.165,
        snout=0.13, snout_width=0.11, ear_size=0.15, tail="long", leg_width=0.085, belly=0.25),
    "horse": Build((128, 80, 50), leg=0.66, thick=1.02, waist=0.92, neck=(0.30, 0.46), neck_width=0.26,
        head=0.12, snout=0.34, snout_width=0.13, ear_size=0.10, tail="hair", leg_width=0.085, socks=0.35,
        belly=0.1, mane=True, length=1.1),
    "wolf": Build((118, 124, 136), leg=0.53, neck=(0.20, 0.16), neck_width=0.30, head=0.15, snout=0.29,
        snout_width=0.09, ear_size=0.16, tail="brush", leg_width=0.10, belly=0.6),
    "deer": Build((164, 112, 70), leg=0.66, thick=0.86, waist=0.84, neck=(0.25, 0.42), neck_width=0.17,
        head=0.105, snout=0.22, snout_width=0.08, ear="side", ear_size=0.16, tail="stub", leg_width=0.06,
        belly=0.6, spots=True),
    "bear": Build((104, 72, 52), leg=0.40, thick=1.5, waist=1.02, neck=(0.22, 0.10), neck_width=0.42,
        head=0.19, snout=0.22, snout_width=0.13, ear="round", ear_size=0.085, tail="stub", leg_width=0.19,
        belly=0.1, length=1.1),
    "lion": Build((206, 160, 92), leg=0.46, thick=1.1, neck=(0.20, 0.20), neck_width=0.30, head=0.17,
        snout=0.2, snout_width=0.14, ear="round", ear_size=0.06, tail="tassel", leg_width=0.13, belly=0.4,
        length=1.1),
    "cow": Build((236, 230, 222), leg=0.44, thick=1.5, waist=1.05, neck=(0.24, 0.14), neck_width=0.30,
        head=0.15, snout=0.24, snout_width=0.15, ear="side", ear_size=0.15, tail="tassel", leg_width=0.11,
        belly=0.1, spots=True, length=1.1),
    "sheep": Build((238, 234, 224), leg=0.34, thick=1.6, waist=1.1, neck=(0.2, 0.14), neck_width=0.22,
        head=0.12, snout=0.2, snout_width=0.10, ear="side", ear_size=0.14, tail="stub", leg_width=0.07,
        socks=1.0, belly=0.0),
    "rabbit": Build((176, 158, 140), leg=0.28, thick=1.3, waist=1.1, neck=(0.14, 0.18), neck_width=0.24,
        head=0.165, snout=0.13, snout_width=0.11, ear="long", ear_size=0.36, tail="puff", leg_width=0.11,
        belly=0.5, length=0.8),
    "elephant": Build((132, 136, 148), leg=0.52, thick=1.9, waist=1.06, neck=(0.22, 0.16), neck_width=0.44,
        head=0.23, snout=0.0, ear="fan", ear_size=0.28, tail="tassel", leg_width=0.21, belly=0.0,
        length=1.25),
    "camel": Build((204, 160, 104), leg=0.68, thick=1.05, neck=(0.40, 0.36), neck_width=0.16, head=0.11,
        snout=0.22, snout_width=0.11, ear_size=0.06, tail="tassel", leg_width=0.085, belly=0.2, length=1.15),
}  # fmt: skip

# (phase of the near hind, far hind, near fore, far fore) leg, swing in radians, fold, seconds a cycle
GAITS = {
    "run": ((0.0, 0.10, 0.52, 0.62), 0.86, 1.25, 0.5),
    "walk": ((0.0, 0.5, 0.25, 0.75), 0.42, 0.62, 1.0),
    "rest": ((0.0, 0.0, 0.0, 0.0), 0.0, 0.0, 2.4),
}
