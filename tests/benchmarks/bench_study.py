"""How often a study's 90 % intervals hold the truth, and how often it names a winner among equals.

`PYTHONPATH=tests python -m benchmarks.bench_study [--sets 1000]`: each set is a study that asks about the
pairs which teach it most, with answers drawn from known strengths.
"""

import math
import random
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from types import SimpleNamespace
from typing import Any, NamedTuple

from benchmarks.command import options_of
from support.ledgers import ledger_in
from widgets.doubles import clip_file

from reelbook.explore import Study
from reelbook.secret import Secret
from reelbook.session import Clip

MOST_CLIPS = 8


class Simulated(NamedTuple):
    """What came of a set: how often intervals held the truth, of clips and of pairs, and whether one won."""

    clips: list[bool]
    pairs: list[bool]
    winner: bool


def simulate(study: Study, strengths: list[float], votes: int, draw: random.Random) -> Simulated:
    """Asks people with these tastes, and compares what the study says with them."""
    study._draw = draw
    truth = dict(zip(study.clips, strengths, strict=True))
    for _ in range(votes):
        pair = study.pair()
        left = draw.random() < _chance(truth[pair.left] - truth[pair.right])
        study.vote(pair, "left" if left else "right")
    result, ranking = study.result(), study.ranking()
    held = []
    for each in result.standing:
        rest = (sum(strengths) - truth[each.clip]) / (len(strengths) - 1)
        held.append(each.odds.low <= _chance(truth[each.clip] - rest) <= each.odds.high)
    pairs = []
    for one in range(len(strengths)):
        for other in range(one):
            odds = ranking.between([one], [other])
            pairs.append(odds.low <= _chance(strengths[one] - strengths[other]) <= odds.high)
    return Simulated(held, pairs, result.winner is not None)


@contextmanager
def studies(folder: Path) -> Iterator[Callable[[int, str], Study]]:
    """Makes studies of so many clips, each with a question of its own, in one ledger."""
    file = clip_file(folder / "clip.mp4")
    clips = [Clip(path=file, request_id=f"req-{number}") for number in range(MOST_CLIPS)]
    with ledger_in(folder / "home", "bench", Secret("sk-bench")) as ledger:
        session: Any = SimpleNamespace(_ledger=ledger)
        yield lambda few, question: Study(clips[:few], session, question=question)


def _chance(difference: float) -> float:
    return 1 / (1 + math.exp(-difference))


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    draw = random.Random(wanted.seed)
    clips, pairs, winners = list[bool](), list[bool](), 0
    with tempfile.TemporaryDirectory() as folder, studies(Path(folder)) as study:
        for number in range(wanted.sets):
            size, votes = draw.randint(2, MOST_CLIPS), draw.randint(5, 60)
            truth = [draw.gauss(0, 2**0.5) for _ in range(size)]
            found = simulate(study(size, f"{number}?"), truth, votes, draw)
            clips += found.clips
            pairs += found.pairs
            winners += simulate(study(size, f"{number}, of equals?"), [0.0] * size, votes, draw).winner
    right = [f"{name} {fmean(held):.1%}" for name, held in (("clips", clips), ("pairs", pairs))]
    print(f"{wanted.sets} studies of 5 to 60 votes on 2 to {MOST_CLIPS} clips")
    print(f"90 % intervals that hold the truth: {', '.join(right)}")
    print(f"studies of equals with a winner: {winners / wanted.sets:.1%}")


if __name__ == "__main__":
    main()
