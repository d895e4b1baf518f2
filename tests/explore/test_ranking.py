"""Votes on pairs become a ranking that says how sure it is."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from reelbook.errors import InvalidInput
from reelbook.explore.ranking import Ranking, Vote, next_pair


def voted(strengths: list[float], votes: int, draw: random.Random) -> list[Vote]:
    """What people with these tastes say of the pairs that they are shown."""
    said: list[Vote] = []
    for _ in range(votes):
        one, other = next_pair(len(strengths), said, draw)
        chance = 1 / (1 + math.exp(strengths[other] - strengths[one]))
        said.append(Vote(one, other) if draw.random() < chance else Vote(other, one))
    return said


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """Nine times of ten, whatever the number of clips and votes (1,000 sets: benchmarks.bench_study)."""
    draw = random.Random(1)
    held = []
    for _ in range(60):
        truth = [draw.gauss(0, 2**0.5) for _ in range(draw.randint(2, 6))]
        ranking = Ranking(len(truth), voted(truth, draw.randint(5, 25), draw))
        for item, strength in enumerate(truth):
            rest = [each for other, each in enumerate(truth) if other != item]
            odds = ranking.against_the_others(item)
            held.append(odds.low <= 1 / (1 + math.exp(sum(rest) / len(rest) - strength)) <= odds.high)
    assert 0.85 <= sum(held) / len(held) <= 0.95


def test_among_equals_nobody_wins() -> None:
    """However many pairs are looked at, one in ten sets at most seems to have a difference."""
    draw = random.Random(2)
    named = 0
    for _ in range(50):
        ranking = Ranking(4, voted([0.0] * 4, 24, draw))
        pairs = [(one, other) for one in range(4) for other in range(one)]
        named += any(not ranking.between([a], [b], comparisons=len(pairs)).more for a, b in pairs)
    assert named <= 5


def test_a_clear_winner_is_told_after_few_votes() -> None:
    """The order, who won how many, the odds of a group of clips against another."""
    votes = [Vote(0, 1), Vote(0, 2), Vote(1, 2)] * 5
    ranking = Ranking(3, votes)
    assert ranking.order() == [0, 1, 2]
    assert [ranking.won(item) for item in range(3)] == [(10, 10), (5, 10), (0, 10)]
    odds = ranking.between([0], [1, 2])
    assert (odds.votes, odds.more) == (10, 0)
    assert 0.5 < odds.low < odds.chance < odds.high < 1
    back = ranking.between([1, 2], [0])
    assert back.high == pytest.approx(1 - odds.low)


def test_too_few_votes_are_told_with_how_many_are_missing() -> None:
    """The nearer two are, the more it takes."""
    near = Ranking(2, [Vote(0, 1), Vote(1, 0)] * 4 + [Vote(0, 1)]).between([0], [1])
    far = Ranking(2, [Vote(0, 1)] * 3).between([0], [1])
    none = Ranking(2, []).between([0], [1])
    assert near.more > far.more > 0
    assert none.more > 0
    assert (none.chance, none.votes) == (0.5, 0)


def test_who_cannot_say_favours_nobody() -> None:
    """Ties make it surer that two are alike."""
    tied = Ranking(2, [Vote(0, 1, tied=True), Vote(1, 0, tied=True)] * 10).between([0], [1])
    assert tied.chance == pytest.approx(0.5, abs=0.01)
    assert tied.high - tied.low < 0.4
    assert Ranking(2, [Vote(0, 1, tied=True)]).won(0) == (0, 1)


def test_the_pair_that_teaches_most_is_asked_for() -> None:
    """What was never shown comes first, what is settled comes last; who stands left is drawn by lot."""
    draw = random.Random(4)
    first = [next_pair(4, [Vote(0, 1)], draw) for _ in range(40)]
    assert {frozenset(pair) for pair in first} == {frozenset((2, 3))}
    assert 10 < first.count((2, 3)) < 30
    settled = [Vote(0, 2), Vote(1, 2), Vote(0, 2), Vote(1, 2), Vote(0, 1), Vote(1, 0)] * 4
    assert {frozenset(next_pair(3, settled, draw)) for _ in range(10)} == {frozenset((0, 1))}


def test_it_draws_nothing_from_the_users_generator() -> None:
    """A notebook that set a seed gets the numbers that it would have got."""
    np.random.seed(5)
    expected = np.random.random()
    np.random.seed(5)
    Ranking(2, [Vote(0, 1)])
    assert np.random.random() == expected


def test_one_clip_has_no_rank() -> None:
    """Two are needed."""
    with pytest.raises(InvalidInput, match="two clips"):
        Ranking(1, [])
