"""Designs: which cells of a grid are made, and in which order."""

import itertools
import random
import sys
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reelbook.errors import ConfigurationError, InvalidInput
from reelbook.explore import designs

SIZES = st.lists(st.integers(1, 5), min_size=1, max_size=5).filter(lambda sizes: prod(sizes) <= 400)


def met(places: list[designs.Place]) -> set[tuple[int, int, int, int]]:
    """Every two values of two axes that occur together."""
    axes = range(len(places[0]))
    return {(a, b, place[a], place[b]) for place in places for a, b in itertools.combinations(axes, 2)}


@settings(max_examples=50)
@given(SIZES)
def test_every_pair_is_there(sizes: list[int]) -> None:
    """Every two values of different axes meet, no cell is bought twice, and there are never more than all."""
    places = designs.pairs(sizes)

    assert met(places) == met(designs.grid(sizes))
    assert len(places) == len(set(places)) <= prod(sizes)


def test_a_latin_hypercube_has_each_value_equally_often() -> None:
    """Of 12 points on axes of 12, 4 and 3 values."""
    places = designs.latin_hypercube([12, 4, 3], 12, 7)

    for axis, size in enumerate([12, 4, 3]):
        assert sorted(place[axis] for place in places) == sorted(list(range(size)) * (12 // size))


def drawn(sizes: list[int], size: int, seed: int) -> list[designs.Place]:
    return designs.sample(
        sizes, size, seed, draw_first=lambda rng: rng.randrange(sizes[0]), key=lambda place: place
    )


@given(SIZES, st.integers(1, 500), st.integers())
def test_a_sample_repeats_nothing_and_ends(sizes: list[int], size: int, seed: int) -> None:
    """It has as many places as were asked for, or all there are; the same ones for the same seed."""
    places = drawn(sizes, size, seed)

    assert places == drawn(sizes, size, seed)
    assert len(places) == len(set(places)) == min(size, prod(sizes))


def test_seeds_give_different_samples() -> None:
    """Another seed, other cells."""
    assert drawn([100, 100], 20, 1) != drawn([100, 100], 20, 2)


@given(SIZES, st.randoms(use_true_random=False))
def test_the_order_loses_nothing_and_starts_with_what_differs(sizes: list[int], rng: random.Random) -> None:
    """All places are there, and the first ones share no value for as long as there are new ones."""
    places = designs.grid(sizes)
    rng.shuffle(places)
    ordered = designs.most_different_first(places)

    assert sorted(ordered) == sorted(places)
    first = ordered[: min(sizes)]
    assert all(len({place[axis] for place in first}) == len(first) for axis in range(len(sizes)))


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: designs.grid([11, 100]), "The full grid has 1,100 cells"),
        (lambda: designs.grid([10**40, 7]), "about 10.41 cells"),
        (lambda: designs.pairs([40, 40, 2]), "Every pair once makes at least 1,600 cells"),
        (lambda: designs.one_at_a_time([600, 600], (0, 0)), "One thing at a time makes 1,199 cells"),
        (lambda: drawn([10**12], 1001, 0), "The sample has 1,001 cells"),
        (lambda: designs.latin_hypercube([9], 5000, 0), "The Latin hypercube has 5,000 cells"),
    ],
    ids=["grid", "immense", "pairs", "one at a time", "sample", "hypercube"],
)
def test_too_many_cells_are_refused_before_they_are_made(make: object, told: str) -> None:
    """The error says how many there would be."""
    assert callable(make)
    with pytest.raises(InvalidInput, match=told):
        make()


@pytest.mark.parametrize("library", ["allpairspy", "scipy.stats"])
def test_a_missing_library_is_named(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to install; the other designs need nothing."""
    monkeypatch.setitem(sys.modules, library, None)

    with pytest.raises(ConfigurationError, match=f"pip install {library.partition('.')[0]}"):
        designs.pairs([2, 2]) if library == "allpairspy" else designs.latin_hypercube([2, 2], 2, 0)
    assert len(designs.grid([2, 2])) == len(drawn([2, 2], 4, 0)) == 4
