"""When clips will be known done under the key's limit, for a person to see: pure.

Each clip takes a submission, and a question that finds it done. `scheduling/polling.py` weighs which goes
first when requests are scarce; the forecast sends all submissions first.
"""

import heapq
import math
import random
import statistics
from collections.abc import Mapping, Sequence
from typing import TypeVar

from .scheduling.budget import BACK_SECONDS, BudgetView
from .scheduling.estimates import USUAL_SECONDS, Pace

J = TypeVar("J")

RUNS = 50  # with random times: enough for a range that a person reads


def forecast(paces: Sequence[Pace], budget: BudgetView, now: float) -> tuple[float, float, float]:
    """When all of them will be known done, in seconds from now: early, likely and late.

    Each clip has its `Pace`; those of one kind share one. Two of three runs end between early and late.
    """
    rng = random.Random(0)  # noqa: S311 - nothing secret
    drawn = [_times(paces, rng) for _ in range(RUNS)]
    early, _, likely, *_ = statistics.quantiles((_whole_seconds(each, budget, now) for each in drawn), n=6)
    *_, late = statistics.quantiles((_whole_seconds(each, budget, now, in_vain=True) for each in drawn), n=6)
    return early, likely, late


def known_at(budget: BudgetView, ends_at: Mapping[J, float], waiting: int) -> dict[J, float]:
    """About when each job in progress will be known done: only a question notices its end.

    The first of `ends_at` is asked about first, as soon as the key has a request for it; the `waiting`
    submissions take the requests that are free before that.
    """
    free, known = list(budget.free_at), dict[J, float]()
    for job, ends in sorted(ends_at.items(), key=lambda each: each[1]):
        while waiting and free[0] < ends:
            heapq.heapreplace(free, free[0] + BACK_SECONDS)
            waiting -= 1
        known[job] = max(ends, free[0])
        heapq.heapreplace(free, known[job] + BACK_SECONDS)
    return known


def _times(paces: Sequence[Pace], rng: random.Random) -> list[float]:
    """A time for each clip. How long its kind usually takes is drawn once, for all clips of that kind."""
    usual: dict[Pace, tuple[float, float]] = {}
    for pace in paces:
        if pace not in usual:
            shortest, longest = map(math.log, USUAL_SECONDS)
            parts = [each for each in pace.parts if pace.informed or shortest <= each.log_median <= longest]
            _, log_median, spread = rng.choices(parts, [each.weight for each in parts])[0]
            usual[pace] = log_median, spread
    return [rng.lognormvariate(*usual[pace]) for pace in paces]


def _whole_seconds(took: Sequence[float], budget: BudgetView, now: float, *, in_vain: bool = False) -> float:
    """How long it takes until all are known done; with `in_vain`, each is asked about once before its end."""
    free, known = list(budget.free_at), now
    ends = sorted(heapq.heapreplace(free, free[0] + BACK_SECONDS) + seconds for seconds in took)
    for end in ends:
        if in_vain:
            heapq.heapreplace(free, free[0] + BACK_SECONDS)
        known = max(end, free[0])
        heapq.heapreplace(free, known + BACK_SECONDS)
    return known - now
