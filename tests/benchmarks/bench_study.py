"""How often a study's 90 % intervals hold the truth, and how often it names a winner among equals.

`python tests/benchmarks/bench_study.py [--sets 1000]`, with votes that are drawn from known strengths.
"""

from __future__ import annotations

import argparse
import math
import random

from reelbook.explore.ranking import Ranking, Vote, next_pair


def voted(strengths: list[float], votes: int, draw: random.Random) -> list[Vote]:
    """What people with these tastes say of the pairs that they are shown."""
    said: list[Vote] = []
    for _ in range(votes):
        one, other = next_pair(len(strengths), said, draw)
        chance = 1 / (1 + math.exp(strengths[other] - strengths[one]))
        said.append(Vote(one, other) if draw.random() < chance else Vote(other, one))
    return said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    draw = random.Random(wanted.seed)
    held, pairs_held, winners = [], [], 0
    for _ in range(wanted.sets):
        size, votes = draw.randint(2, 8), draw.randint(5, 60)
        truth = [draw.gauss(0, 2**0.5) for _ in range(size)]
        ranking = Ranking(size, voted(truth, votes, draw))
        for item, strength in enumerate(truth):
            rest = (sum(truth) - strength) / (size - 1)
            odds = ranking.against_the_others(item)
            held.append(odds.low <= 1 / (1 + math.exp(rest - strength)) <= odds.high)
        pairs = [(one, other) for one in range(size) for other in range(one)]
        for one, other in pairs:
            odds = ranking.between([one], [other])
            pairs_held.append(odds.low <= 1 / (1 + math.exp(truth[other] - truth[one])) <= odds.high)
        equals = Ranking(size, voted([0.0] * size, votes, draw))
        winners += any(not equals.between([a], [b], comparisons=len(pairs)).more for a, b in pairs)
    print(f"{wanted.sets} sets of 5 to 60 votes on 2 to 8 clips")
    print(f"90 % intervals that hold the truth: clips {sum(held) / len(held):.1%}, ", end="")
    print(f"pairs {sum(pairs_held) / len(pairs_held):.1%}")
    print(f"sets of equals with a winner: {winners / wanted.sets:.1%}")


if __name__ == "__main__":
    main()
