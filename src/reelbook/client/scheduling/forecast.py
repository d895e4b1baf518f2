"""How long clips will take under the key's limit, said before they are submitted: pure.

It takes each clip's time from what is believed of such times, and its two requests, the submission and the
one that finds it done, from the budget. Which of them go first when places are scarce is what `polling.py`
weighs; here both extremes are tried, and the truth lies in between.
"""

from __future__ import annotations

import copy
import heapq
import math
import random
from collections.abc import Sequence

from .budget import Budget
from .estimates import COMMON_SECONDS, Pace

RUNS = 25
EARLY, LATE = 0.15, 0.85
QUESTIONS_IN_VAIN = 1.1  # how much longer it takes who can't know when a clip is done (bench_polling.py)


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
        ends = [_whole_time(took, copy.deepcopy(budget), now, submit_first=each) for each in (True, False)]
        early.append(min(ends))
        likely.append(sum(ends) / 2)
        late.append(QUESTIONS_IN_VAIN * max(ends))
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


def _whole_time(took: Sequence[float], budget: Budget, began: float, *, submit_first: bool) -> float:
    """How long it takes until the last one is known done by who knows when that is."""
    waiting, ends, now = list(took), list[float](), began
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
            heapq.heappop(ends)
    return now - began
