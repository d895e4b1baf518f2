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

`informed` and `informed_early` are no bounds but plans: what can be reached by somebody who knows the
distribution and the windows.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from itertools import accumulate, count
from statistics import fmean

from benchmarks.simulated_service import WINDOW_SECONDS, World

FIRST_STEPS, STEPS = 400, 20
SPARE_WINDOWS = 8
FIRST_PRICE = 0.6  # seconds, for each job


def time_to_all(world: World) -> float:
    """No scheduler knows all jobs to be done before this moment (seconds)."""
    jobs = len(world.took)
    last_lot = world.window_begins((2 * jobs - 1) // world.limit)
    return max(last_lot, *(world.window_begins(i // world.limit) + took for i, took in enumerate(world.took)))


def informed(world: World, age: float) -> tuple[float, float]:
    """The mean and the last time until known, of one who knows all about the service but no job's end.

    For twice as many jobs as the limit allows requests, so that none is to spare: they are submitted with the
    first two lots, half of them are asked about with the third when they reach that `age`, the others with
    the fourth. Who failed is asked about again with the next lot, and where that has some to spare, the ends
    count as known. Waiting longer within the fourth lot doesn't pay.
    """
    lots = [world.window_begins(k) for k in range(4 + len(world.took))]
    ends = [lots[number // world.limit] + took for number, took in enumerate(world.took)]
    first = min(max(age, lots[2]), lots[3])
    known = {number: first for number in range(world.limit) if ends[number] <= first}
    for lot in lots[3:]:
        left = [number for number in range(len(ends)) if number not in known]
        if len(left) < world.limit:
            known |= {number: max(lot, ends[number]) for number in left}
        else:
            known |= {number: lot for number in left[: world.limit] if ends[number] <= lot}
    return fmean(known.values()), max(known.values())


@dataclass(frozen=True)
class Early:
    """A plan for jobs that are shorter than a window: how many to submit when, and when to ask.

    `first` and `second` count the submissions at the start of the first two windows; the others go out with
    the third. A job is asked about at `age` seconds, and `again` that much later as often as it takes.
    """

    age: float
    again: float
    first: int
    second: int


def informed_early(world: World, plan: Early) -> float:
    """The mean time until known, of one who knows all about the service but no job's end.

    Questions that are due go first. What a window has left in its last moment is for submissions, then for
    the jobs that wait for a question.
    """
    jobs, began, known = len(world.took), list[float](), dict[int, float]()
    due: list[tuple[float, int]] = []
    for window in count():
        begins, ends, left = world.window_begins(window), world.window_begins(window + 1), world.limit
        due = [(max(at, begins), job) for at, job in due]
        heapq.heapify(due)
        fresh = (plan.first, plan.second)[window] if window < 2 else jobs
        fresh = min(fresh, jobs - len(began), left - sum(at == begins for at, _ in due))
        for _ in range(max(0, fresh)):
            heapq.heappush(due, (begins + plan.age, len(began)))
            began.append(begins)
            left -= 1
        while due and left and due[0][0] < ends:
            at, job = heapq.heappop(due)
            left -= 1
            if began[job] + world.took[job] <= at:
                known[job] = at
            else:
                heapq.heappush(due, (at + plan.again, job))
        late = min(left, jobs - len(began))
        started = len(began)
        for _ in range(late):
            heapq.heappush(due, (ends + plan.age, len(began)))
            began.append(ends)
        for at, job in sorted((at, job) for at, job in due if job < started)[: left - late]:
            if began[job] + world.took[job] <= ends:
                due.remove((at, job))
                known[job] = ends
        if len(known) == jobs:
            break
    return fmean(known.values())


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
