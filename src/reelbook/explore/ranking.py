"""Which clips are better, by votes on pairs of them, and how certain that is.

The Bradley–Terry model: each clip has a strength, and the odds that it beats another are the exponential of
the difference. The certainty follows from the joint distribution of the strengths, which choix finds by
expectation propagation; its 90 % intervals hold the truth nine times out of ten, even after few votes.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Final, NamedTuple

from ..lazy_module import LazyModule
from .designs import library

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = LazyModule("numpy")

# How much clips of one sweep differ before anybody has voted: of two, the better one wins about 5 votes of 7.
_PRECISION: Final = 0.5
_LEVEL: Final = 0.90
_NORMAL: Final = NormalDist()
_SMALLEST: Final = 0.2  # telling closer strengths apart takes more votes than anybody gives
_MEDIAN: Final = 0.67  # half of a normal distribution is further off than so many standard deviations
MANY: Final = 100
_STEPS: Final = 8
_EQUAL: Final = 1e-9


class Vote(NamedTuple):
    """`better` was preferred to `worse`, by their numbers; with `tied` the voter couldn't say."""

    better: int
    worse: int
    tied: bool = False


@dataclass(frozen=True)
class Odds:
    """How likely one is to beat another: `chance`, with a 90 % interval from `low` to `high`.

    `votes` compared them directly. `more` is about how many more it takes to tell them apart, at most `MANY`,
    and 0 once they can be told apart.
    """

    chance: float
    low: float
    high: float
    votes: int
    more: int


class Ranking:
    """The strengths of `items` clips, numbered from 0, by votes on pairs of them.

    Raises ConfigurationError if choix isn't installed.
    """

    def __init__(self, items: int, votes: Iterable[Vote]) -> None:
        self.votes = tuple(votes)
        self._mean, self._covariance = _strengths(items, self.votes)

    def order(self) -> list[int]:
        """The clips, strongest first."""
        return [int(item) for item in (-self._mean).argsort(kind="stable")]

    def won(self, item: int) -> tuple[int, int]:
        """How many votes it has won, and how many it took part in."""
        shown = [vote for vote in self.votes if item in (vote.better, vote.worse)]
        return sum(vote.better == item and not vote.tied for vote in shown), len(shown)

    def against_the_others(self, item: int) -> Odds:
        """The odds that a clip beats the average of the others."""
        return self.between([item], [other for other in range(len(self._mean)) if other != item])

    def between(self, ones: Collection[int], others: Collection[int], *, comparisons: int = 1) -> Odds:
        """The odds that the average of `ones` beats that of `others`.

        The more `comparisons` are made, the more certainty each takes, as some will differ by chance.
        """
        weights = np.zeros(len(self._mean))
        weights[[*ones]] += 1 / len(ones)
        weights[[*others]] -= 1 / len(others)
        middle = float(weights @ self._mean)
        spread = math.sqrt(weights @ self._covariance @ weights)
        reach = _NORMAL.inv_cdf((1 + _LEVEL) / 2) * spread
        votes = sum(
            (vote.better in ones and vote.worse in others) or (vote.better in others and vote.worse in ones)
            for vote in self.votes
        )
        spreads = _NORMAL.inv_cdf(1 - (1 - _LEVEL) / 2 / comparisons)
        chance, low, high = map(_logistic, (middle, middle - reach, middle + reach))
        return Odds(chance, low, high, votes, self._missing(votes, abs(middle), spread, spreads))

    def _missing(self, compared: int, distance: float, spread: float, spreads: float) -> int:
        """About how many more votes, on any pairs, until the distance is so many spreads from zero.

        The spread shrinks with the root of the number of votes. While it is large, the distance may be, too.
        """
        if compared and distance >= spreads * spread:
            return 0
        likely = max(distance, _MEDIAN * spread, _SMALLEST)
        return max(1, min(MANY, round(max(len(self.votes), 4) * ((spreads * spread / likely) ** 2 - 1))))


def next_pair(items: int, votes: Iterable[Vote], draw: random.Random) -> tuple[int, int]:
    """The pair whose vote teaches most: how far they differ is uncertain, and so is the answer.

    Among equals, and which clip is shown first, chance decides. Earlier votes are only weighed roughly, as
    this runs between one vote and the next.
    """
    wins = np.zeros((items, items))
    for vote in votes:
        wins[vote.better, vote.worse] += 0.5 if vote.tied else 1
        wins[vote.worse, vote.better] += 0.5 if vote.tied else 0
    shown, strengths = wins + wins.T, np.zeros(items)
    for _ in range(_STEPS):  # Newton's steps, to the likeliest strengths
        chances = 1 / (1 + np.exp(strengths - strengths[:, None]))
        told = shown * chances * (1 - chances)
        curvature = np.diag(told.sum(axis=1) + _PRECISION) - told
        slope = (wins - shown * chances).sum(axis=1) - _PRECISION * strengths
        strengths = strengths + np.linalg.solve(curvature, slope)
    doubt = np.linalg.inv(curvature)
    variance = np.diag(doubt) + np.diag(doubt)[:, None] - 2 * doubt
    teaches = np.triu(variance * chances * (1 - chances), 1)
    best = np.argwhere(teaches >= teaches.max() - _EQUAL).tolist()
    one, other = draw.sample(draw.choice(best), 2)
    return one, other


def _strengths(items: int, votes: Sequence[Vote]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    outcomes, ties = [], Counter[tuple[int, int]]()
    for vote in votes:
        pair = (min(vote[:2]), max(vote[:2])) if vote.tied else (vote.better, vote.worse)
        if vote.tied:
            # One observation that favours nobody: each of the two gets every other of their ties.
            ties[pair] += 1
            pair = pair if ties[pair] % 2 else pair[::-1]
        outcomes.append(pair)
    if not outcomes:  # scipy as Colab ships it refuses an empty one
        return np.zeros(items), np.eye(items) / _PRECISION
    choix = library("choix", "A study's ranking")
    state = np.random.get_state()  # choix draws an order from the generator that belongs to the user's code
    try:
        np.random.seed(0)
        mean, covariance = choix.ep_pairwise(items, outcomes, _PRECISION)
    finally:
        np.random.set_state(state)
    return mean, covariance


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value))
