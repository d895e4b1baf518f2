"""What no scheduler can beat, not even one that knows the future: bounds below its optimum.

Both let the future be known and hold the scheduler to three things only: submissions go out in their order;
each job costs two requests, its submission and one question after its end; and by the end of the k-th window
at most k lots of requests have been sent. Real windows hold it to more (a sliding window doesn't let requests
be saved up), so the true optimum lies at or above these bounds.

Time until all are known: the last of 2 N requests can't go out before its lot, and no job ends before its own
submission's lot and its time.

Mean time until known: each request of a window gets a price, and the scheduler pays for what it uses and gets
back what the limit allows. For prices of 0 or more the cheapest plan then costs at most what the best allowed
plan costs (weak duality), and without the limit the cheapest plan is easy: every job chooses its window and
the cheapest question after its end, in order, by dynamic programming. The bound holds for any prices;
subgradient steps raise it, starting from the prices of the run before.
"""

import math
from itertools import accumulate

from benchmarks.simulated_service import WINDOW_SECONDS, World

FIRST_STEPS, STEPS = 400, 20
SPARE_WINDOWS = 8
FIRST_PRICE = 0.6  # seconds, for each job


def time_to_all(world: World) -> float:
    """No scheduler knows all jobs to be done before this moment (seconds)."""
    jobs = len(world.took)
    last_lot = world.window_begins((2 * jobs - 1) // world.limit)
    return max(last_lot, *(world.window_begins(i // world.limit) + took for i, took in enumerate(world.took)))


class MeanBound:
    """The bound for the mean time until known, of runs that are alike but for their random numbers."""

    def __init__(self) -> None:
        self._prices: list[float] | None = None

    def of(self, world: World) -> float:
        """No scheduler has a smaller mean time until known (seconds)."""
        jobs = len(world.took)
        if 2 * jobs <= world.limit:
            return sum(world.took) / jobs
        steps = STEPS
        prices = self._prices
        if prices is None:
            steps, used = FIRST_STEPS, math.ceil(2 * jobs / world.limit)
            prices = [FIRST_PRICE * jobs] * used + [0.0] * SPARE_WINDOWS
        best, allowed = -math.inf, _alternating(world)
        for step in range(steps):
            value, excess = _cheapest(world, prices)
            if value > best:
                best, self._prices = value, prices
            hoped = best + (allowed - best) * (1 - step / steps) ** 2
            if steps == STEPS:
                hoped = best + 0.2 * (hoped - best)
            # A price of nought that would have to fall stays where it is.
            moved = sum(e * e for price, e in zip(prices, excess, strict=True) if price or e > 0)
            length = (hoped - value) / (moved or 1)
            prices = [max(0.0, price + length * e) for price, e in zip(prices, excess, strict=True)]
        return best / jobs


def _alternating(world: World) -> float:
    """What a plan costs that keeps to the limit: each window takes up jobs with half of its requests."""
    lot = max(1, world.limit // 2)
    return sum(world.window_begins(i // lot) + took for i, took in enumerate(world.took))


def _cheapest(world: World, prices: list[float]) -> tuple[float, list[int]]:
    """The cheapest plan's cost at these prices less what the limit gives back; and its requests beyond that.

    `prices[k]` is for a request in the windows 0 to k, since the limit counts all up to the window's end.
    """
    windows = len(prices)
    begins = [world.window_begins(k) for k in range(windows + 1)]
    pays = [*list(accumulate(reversed(prices)))[::-1], 0.0]
    later = [(begins[windows], windows)] * (
        windows + 2
    )  # the cheapest question in a window that begins later
    for k in range(windows - 1, -1, -1):
        later[k] = min((begins[k] + pays[k], k), later[k + 1])
    best = [0.0] * (windows + 1)
    choices: list[list[tuple[int, int]]] = []
    for number, took in enumerate(world.took):
        row, chosen, before = [], [], (math.inf, 0)
        for k in range(windows + 1):
            before = min(before, (best[k], k)) if number else (0.0, k)
            ends = begins[k] + took
            in_window = 0 if ends < begins[1] else min(windows, int((ends - begins[1]) // WINDOW_SECONDS) + 1)
            at_once = (max(ends, begins[in_window]) + pays[in_window], in_window)
            question = at_once if in_window == windows else min(at_once, later[in_window + 1])
            row.append(before[0] + question[0] + pays[k])
            chosen.append((before[1], question[1]))
        best = row
        choices.append(chosen)
    used = [0] * (windows + 1)
    k = best.index(min(best))
    for chosen in reversed(choices):
        before_k, asked_in = chosen[k]
        used[k] += 1
        used[asked_in] += 1
        k = before_k
    allowed = [world.limit * (k + 1) for k in range(windows)]
    back = sum(price * lot for price, lot in zip(prices, allowed, strict=True))
    return min(best) - back, [sent - lot for sent, lot in zip(accumulate(used), allowed, strict=False)]
