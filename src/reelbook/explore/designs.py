"""Which cells of the full grid are made, and in which order. A place is one index on each axis.

Only numbers go in and out; `sweep` knows what the axes are.
"""

import itertools
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from math import log10, prod
from typing import Any, Final, Literal, get_args

from ..errors import ConfigurationError, InvalidInput
from ..formatting import count as counted

Design = Literal["grid", "one-at-a-time", "sample", "pairs", "latin-hypercube"]
Place = tuple[int, ...]

DESIGNS: Final[tuple[Design, ...]] = get_args(Design)
MAX_CELLS: Final = 1000
_DRAWS: Final = 10_000
_READABLE: Final = 10**15


def grid(sizes: Sequence[int]) -> list[Place]:
    """Every combination."""
    _refuse_many(prod(sizes), "The full grid has")
    return list(itertools.product(*map(range, sizes)))


def one_at_a_time(sizes: Sequence[int], base: Place) -> list[Place]:
    """The base, and each other value of each axis with the rest as in the base."""
    _refuse_many(1 + sum(sizes) - len(sizes), "One thing at a time makes")
    return [base] + [
        (*base[:axis], index, *base[axis + 1 :])
        for axis, size in enumerate(sizes)
        for index in range(size)
        if index != base[axis]
    ]


def pairs(sizes: Sequence[int]) -> list[Place]:
    """A few cells in which any two values of different axes meet, as allpairspy finds them."""
    varied = [axis for axis, size in enumerate(sizes) if size > 1]
    if len(varied) < 2:
        return grid(sizes)
    _refuse_many(prod(sorted(sizes)[-2:]), "Every pair once makes at least")
    all_pairs = library("allpairspy", "Every pair once").AllPairs([range(sizes[axis]) for axis in varied])
    places = []
    for row in itertools.islice(all_pairs, MAX_CELLS + 1):
        place = [0] * len(sizes)
        for axis, index in zip(varied, row, strict=True):
            place[axis] = index
        places.append(tuple(place))
    _refuse_many(len(places), "Every pair once makes at least")
    return places


def latin_hypercube(sizes: Sequence[int], size: int, seed: int) -> list[Place]:
    """`size` points, spread evenly over each axis by scipy; those that fall into one cell become one."""
    _refuse_many(size, "The Latin hypercube has")
    qmc = library("scipy.stats", "A Latin hypercube").qmc
    rng = random.Random(seed).getrandbits(64)  # noqa: S311 - scipy's seeds can't be negative
    points = qmc.LatinHypercube(d=len(sizes), rng=rng).random(size).tolist()
    return list(
        dict.fromkeys(
            tuple(min(int(at * size), size - 1) for at, size in zip(point, sizes, strict=True))
            for point in points
        )
    )


def sample(
    sizes: Sequence[int],
    size: int,
    seed: int,
    *,
    draw_first: Callable[[random.Random], int],
    key: Callable[[Place], object],
) -> list[Place]:
    """`size` random cells with different keys, or all. `draw_first` draws the index on the first axis.

    Once nearly all the weight has been drawn, the rest is drawn evenly.
    """
    _refuse_many(size, "The sample has")
    rng = random.Random(seed)  # noqa: S311 - it keeps nothing secret
    rest, count = prod(sizes[1:]), prod(sizes)

    def numbers() -> Iterator[int]:
        yield from (draw_first(rng) * rest + rng.randrange(rest) for _ in range(_DRAWS))
        yield from rng.sample(range(min(count, sys.maxsize)), min(count, 2 * _DRAWS))

    found: dict[object, Place] = {}
    for number in numbers():
        indices = []
        for each in reversed(sizes):
            number, index = divmod(number, each)
            indices.append(index)
        place = tuple(reversed(indices))
        found.setdefault(key(place), place)
        if len(found) >= size:
            break
    return list(found.values())


def most_different_first(places: Sequence[Place]) -> list[Place]:
    """The first place, then always the one that has least in common with all before it.

    Each earlier place counts with the square of the number of values shared: sharing two values with one
    place is worse than sharing one with each of two. Equals keep their order.
    """
    import numpy as np

    table = np.array(places)
    shared = np.zeros(len(places))
    order = [0]
    while len(order) < len(places):
        shared += (table == table[order[-1]]).sum(axis=1) ** 2
        shared[order[-1]] = np.inf
        order.append(int(shared.argmin()))
    return [places[index] for index in order]


def _refuse_many(cells: int, said: str) -> None:
    if cells > MAX_CELLS:
        many = counted(cells, "cell") if cells < _READABLE else f"about 10^{round(log10(cells))} cells"
        raise InvalidInput(
            f"{said} {many}, and a sweep has at most {MAX_CELLS:,}. Vary less, or take a sample: sample=50."
        )


def library(module: str, design: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        name = module.partition(".")[0]
        raise ConfigurationError(
            f"{design} needs {name}, which isn't installed. Run: pip install {name}"
        ) from None
