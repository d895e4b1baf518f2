"""How long clips will take under the key's limit: the scheduler itself, run ahead of time. Pure."""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Sequence

from .budget import Budget
from .estimates import COMMON_SECONDS, Belief, Pace
from .polling import Submit, Wait, decide

RUNS, FEWEST_RUNS = 15, 5
CLIPS_IN_ALL = 400  # of all runs together, so that a person doesn't wait for the answer
EARLY, LATE = 0.15, 0.85


def forecast(
    paces: Sequence[Pace], budget: Budget, now: float, *, seed: int = 0
) -> tuple[float, float, float]:
    """When all of them will be known done, in seconds from now: early, likely and late.

    Each clip has its `Pace`; those of one kind share one. Two of three runs end between early and late.
    Nothing that is given is changed.
    """
    if not paces:
        return (0.0, 0.0, 0.0)
    rng = random.Random(seed)  # noqa: S311 - nothing secret
    runs = max(FEWEST_RUNS, min(RUNS, CLIPS_IN_ALL // len(paces)))
    took = sorted(_run(paces, copy.deepcopy(budget), now, rng) for _ in range(runs))
    early, likely, late = (took[round(share * (runs - 1))] for share in (EARLY, 0.5, LATE))
    return early, likely, late


def _run(paces: Sequence[Pace], budget: Budget, began: float, rng: random.Random) -> float:
    """One run with times as they are believed to be: how long it took."""
    learnt = {id(pace): copy.deepcopy(pace) for pace in paces}
    # How long such clips usually take is in doubt for all of them alike.
    usual = {key: _usual(pace, rng) for key, pace in learnt.items()}
    waiting = [id(pace) for pace in reversed(paces)]
    beliefs: dict[str, Belief] = {}
    ends: dict[str, float] = {}
    now = began
    while waiting or beliefs:
        decision = decide(beliefs, len(waiting), budget, now)
        if isinstance(decision, Wait):
            now = decision.until
            continue
        budget.sent()
        budget.answered(200, {}, now)
        if isinstance(decision, Submit):
            kind, name = waiting.pop(), str(len(ends))
            log_median, spread = usual[kind]
            beliefs[name] = Belief(learnt[kind], now)
            ends[name] = now + rng.lognormvariate(log_median, spread)
            continue
        belief = beliefs[decision.job]
        belief.asked(now)
        if ends[decision.job] <= now:
            belief.ended(now)
            del beliefs[decision.job]
        else:
            belief.told(None, now)
    return now - began


def _usual(pace: Pace, rng: random.Random) -> tuple[float, float]:
    """One of the ways in which such clips may take their time: the median's logarithm, and the spread."""
    parts = pace.parts
    if not pace.informed:
        shortest, longest = map(math.log, COMMON_SECONDS)
        parts = [each for each in parts if shortest <= each[1] <= longest]
    _, log_median, spread = rng.choices(parts, [weight for weight, _, _ in parts])[0]
    return log_median, spread
