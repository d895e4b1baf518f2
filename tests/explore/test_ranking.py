"""Votes on pairs become a ranking that says how certain it is."""

import random

import numpy as np
import pytest

from reelbook.explore.ranking import Ranking, Vote, next_pair


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
    """The closer two are, the more it takes."""
    near = Ranking(2, [Vote(0, 1), Vote(1, 0)] * 4 + [Vote(0, 1)]).between([0], [1])
    far = Ranking(2, [Vote(0, 1)] * 3).between([0], [1])
    none = Ranking(2, []).between([0], [1])
    assert near.more > far.more > 0
    assert none.more > 0
    assert (none.chance, none.votes) == (0.5, 0)


def test_who_cannot_say_favours_nobody() -> None:
    """Ties make it more certain that two are alike."""
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
