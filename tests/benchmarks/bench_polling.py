"""When to ask: the scheduler against one that knows the future, and against other clients' loops.

`PYTHONPATH=src:tests python -m benchmarks.bench_polling [--quick]`

A virtual clock and a service that enforces its limit with 429. The scheduler knows nothing of the service
beforehand: neither its limit nor its kind of window nor how long jobs take. "all" and "mean" are the times
until all jobs and until a job is known done, over the bounds below the optimum of a scheduler that knows the
future (`polling_bound.py` says how they are computed). Prints figures, asserts none.

Nobody reaches the bounds without knowing the future. 20 jobs at 10/min have 40 requests in four lots; one
question too early costs a fifth lot, a minute of three, and even someone who knows the distribution exactly
comes to 1.10. With exponential times the ends lie so wide apart that "surely ended" comes late. In fixed
windows the bound lets two lots go out within moments; the scheduler has to find the window's end first.
"""

from __future__ import annotations

import argparse
import random
import time
from bisect import bisect_left
from dataclasses import replace
from statistics import fmean, median

from benchmarks.polling_bound import MeanBound, time_to_all
from benchmarks.polling_runs import Outcome, looped, scheduled
from benchmarks.simulated_service import DISTRIBUTIONS, WINDOW_SECONDS, World, draw

from reelbook.client.scheduling.budget import Budget
from reelbook.client.scheduling.estimates import Belief
from reelbook.client.scheduling.polling import Decision, decide

JOBS = (1, 4, 20, 50)
LOOPS = ((0.1, 0.0), (0.5, 0.0), (1.0, 0.0), (5.0, 0.0), (6.0, 1.5), (10.0, 0.0))
HEADING = "  jobs  window   progress    all   mean   requests/job   most/min   429   lag median"


class Stopwatch:
    """Times the decisions themselves."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.decisions = 0

    def decide(self, beliefs: dict[str, Belief], waiting: int, budget: Budget, now: float) -> Decision:
        began = time.perf_counter()
        decision = decide(beliefs, waiting, budget, now)
        self.seconds += time.perf_counter() - began
        self.decisions += 1
        return decision


def most_a_minute(outcome: Outcome) -> int:
    sent = outcome.service.sent_at
    return max(bisect_left(sent, at + WINDOW_SECONDS) - i for i, at in enumerate(sent))


def worlds(
    distribution: str, jobs: int, limit: int, runs: int, *, fixed: bool, progress: bool
) -> list[World]:
    return [
        draw(random.Random(run), distribution, jobs, limit, fixed=fixed, progress=progress)
        for run in range(runs)
    ]


def measure_scheduler(distribution: str, limit: int, runs: int, watch: Stopwatch) -> None:
    print(f"\n{distribution}, {limit}/min, {runs} runs each\n{HEADING}")
    for jobs in JOBS:
        for fixed in (False, True):
            bounds: list[tuple[float, float]] = []
            for progress in (False, True):
                drawn = worlds(distribution, jobs, limit, runs, fixed=fixed, progress=progress)
                if not bounds:  # progress changes nothing for those who know the future
                    mean_bound = MeanBound()
                    bounds = [(time_to_all(world), mean_bound.of(world)) for world in drawn]
                outcomes = [scheduled(world, watch.decide) for world in drawn]
                compared = list(zip(outcomes, bounds, strict=True))
                print(
                    f"{jobs:6}  {'fixed' if fixed else 'sliding':7}  {'yes' if progress else 'no':8}"
                    f"{fmean(o.all_known_at / first for o, (first, _) in compared):7.3f}"
                    f"{fmean(o.mean_known_at / mean for o, (_, mean) in compared):7.3f}"
                    f"{fmean(len(o.service.sent_at) for o in outcomes) / jobs:15.2f}"
                    f"{max(map(most_a_minute, outcomes)):11}"
                    f"{sum(o.service.refused for o in outcomes):6}"
                    f"{median([lag for o in outcomes for lag in o.lags]):11.1f} s",
                    flush=True,
                )


def measure_loops(distribution: str, limit: int, runs: int) -> None:
    print(f"\nOther clients' loops: {distribution}, {limit}/min, sliding, {runs} runs each")
    print("Jobs brought home by loops that a 429 ends; by patient ones (again after 1 s, doubled up to 30 s)")
    print("within an hour where refused requests count; and the patient ones where they don't count.")
    print("  jobs  every          ended   counting        all    mean  requests/job  429/job")
    for jobs in JOBS:
        drawn = worlds(distribution, jobs, limit, runs, fixed=False, progress=False)
        mean_bound = MeanBound()
        bounds = [(time_to_all(world), mean_bound.of(world)) for world in drawn]
        for seconds, jitter in LOOPS:
            rng = random.Random(1)
            hasty = [looped(world, seconds, jitter, patient=False, rng=rng) for world in drawn]
            patient = [looped(world, seconds, jitter, patient=True, rng=rng) for world in drawn]
            counting = [
                looped(replace(world, counts_refused=True), seconds, jitter, patient=True, rng=rng)
                for world in drawn[: max(1, runs // 10)]
            ]
            home, counted_home = (fmean(len(o.known_at) for o in outcomes) for outcomes in (hasty, counting))
            compared = list(zip(patient, bounds, strict=True))
            every = f"{seconds:g}" + (f" ± {jitter:g}" if jitter else "")
            print(
                f"{jobs:6}  {every + ' s':13} {home:6.1f}{counted_home:15.1f}"
                f"{fmean(o.all_known_at / first for o, (first, _) in compared):13.2f}"
                f"{fmean(o.mean_known_at / mean for o, (_, mean) in compared):8.2f}"
                f"{fmean(len(o.service.sent_at) for o in patient) / jobs:12.1f}"
                f"{fmean(o.service.refused for o in patient) / jobs:12.1f}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="20 runs each instead of 200")
    runs = 20 if parser.parse_args().quick else 200
    watch, began = Stopwatch(), time.perf_counter()
    for distribution in DISTRIBUTIONS:
        for limit in (10, 100):
            measure_scheduler(distribution, limit, runs, watch)
    first = next(iter(DISTRIBUTIONS))
    measure_loops(first, 10, max(20, runs // 4))
    print(f"\n{1e6 * watch.seconds / watch.decisions:.0f} µs a decision, {watch.decisions} decisions")
    print(f"{time.perf_counter() - began:.0f} s in all")


if __name__ == "__main__":
    main()
