"""How long clips take under the key's limit: pure.

`known_at` says it of jobs under way, `forecast` before anything is submitted. The forecast takes each clip's
time from what is believed of such times, and its requests from the budget: the submission, the question that
finds it done, and for the late end some in vain. Which of them go first when places are scarce is what
`polling.py` weighs; here both extremes are tried, and the truth lies in between.
"""

from __future__ import annotations

import copy
import heapq
import math
import random
from collections.abc import Mapping, Sequence
from typing import TypeVar

from ... import wire
from .budget import Budget, BudgetView
from .estimates import COMMON_SECONDS, Pace

RUNS = 25
EARLY, LATE = 0.15, 0.85
# Where it goes slowly, by what bench_polling.py shows:
IN_VAIN = 0.25  # questions for each clip that find it still running
LAG = 1.1  # by how much a clip is known done later than it is

J = TypeVar("J")


def known_at(ends_at: Mapping[J, float], budget: BudgetView, waiting: int) -> dict[J, float]:
    """About when each job under way will be known done: its end is only noticed by a question.

    `ends_at` is when a question may find it done. The first to end is asked about first, as soon as the key
    has a request for it; the `waiting` submissions take those that are free before that.
    """
    free, known = list(budget.free_at), dict[J, float]()
    for job, ends in sorted(ends_at.items(), key=lambda each: each[1]):
        while waiting and free[0] < ends:
            heapq.heapreplace(free, free[0] + wire.RATE_WINDOW_SECONDS)
            waiting -= 1
        known[job] = max(ends, free[0])
        heapq.heapreplace(free, known[job] + wire.RATE_WINDOW_SECONDS)
    return known


def forecast(
    paces: Sequence[Pace], budget: Budget, now: float, *, seed: int = 0
) -> tuple[float, float, float]:
    """When all of them will be known done, in seconds from now: early, likely and late.

    Each clip has its `Pace`; those of one kind share one. Most runs end between early and late. Nothing that
    is given is changed.
    """
    rng = random.Random(seed)  # noqa: S311 - nothing secret
    early, likely, late = [], [], []
    for _ in range(RUNS):
        took = _times(paces, rng)
        soon, slow = (
            [
                _whole_time(took, copy.deepcopy(budget), now, submit_first, in_vain)
                for submit_first in (True, False)
            ]
            for in_vain in (0.0, IN_VAIN)
        )
        early.append(min(soon))
        likely.append(sum(soon) / 2)
        late.append(LAG * max(slow))
    return _share(early, EARLY), _share(likely, 0.5), _share(late, LATE)


def _share(seconds: list[float], share: float) -> float:
    return sorted(seconds)[round(share * (len(seconds) - 1))]


def _times(paces: Sequence[Pace], rng: random.Random) -> list[float]:
    """A time for each clip. How long such clips usually take is in doubt for all of a kind alike."""
    usual: dict[int, tuple[float, float]] = {}
    for pace in paces:
        if id(pace) not in usual:
            parts = pace.parts
            if not pace.informed:
                shortest, longest = map(math.log, COMMON_SECONDS)
                parts = [each for each in parts if shortest <= each[1] <= longest] or parts
            _, log_median, spread = rng.choices(parts, [weight for weight, _, _ in parts])[0]
            usual[id(pace)] = log_median, spread
    return [rng.lognormvariate(*usual[id(pace)]) for pace in paces]


def _whole_time(
    took: Sequence[float], budget: Budget, began: float, submit_first: bool, in_vain: float
) -> float:
    """How long it takes until all are known done by who asks only then, and `in_vain` times before."""
    waiting, ends, now, owed = list(took), list[float](), began, 0.0
    while waiting or ends:
        now = budget.opens_at(now)
        over = bool(ends) and ends[0] <= now
        if not waiting and not over:
            now = ends[0]
            continue
        budget.sent()
        budget.answered(200, {}, now)
        if waiting and (submit_first or not over):
            heapq.heappush(ends, now + waiting.pop())
        else:
            if owed < 1:
                heapq.heappop(ends)
                owed += in_vain
            else:
                owed -= 1
    return now - began
