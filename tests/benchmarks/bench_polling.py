"""When to ask: the scheduler against one that knows the future, and against other clients' loops.

`PYTHONPATH=src:tests python -m benchmarks.bench_polling [--runs 200] [--only WORD …]`

A virtual clock and a service that enforces its limit with 429. In the first round the scheduler knows nothing
of the service: neither its limit nor its kind of window nor how long jobs take. The later rounds are of the
same kind, each with a full budget, and know from the ledger what was seen of the rounds before: the jobs'
times, and whether windows are fixed. "mean" and
"all" are the times until a job and until all jobs are known done, over the bounds below the optimum of a
scheduler that knows the future (`polling_bound.py` says how they are computed). Prints figures, asserts none.

`--only` takes words of the tables' names, such as "sliding", "exactly", "pace", "informed", "early" or
"loops".

Nobody reaches the bounds without knowing the future. 20 jobs at 10/min have 40 requests in four lots; one
question too early costs a fifth lot, a minute of three, and even someone who knows the distribution exactly
comes to 1.10. Four jobs have two questions to spare in their first minute, and a job that needs a third waits
for the second minute: someone who knows the distribution comes to about 1.5. With exponential times the ends
lie so wide apart that "surely ended" comes late. In fixed windows the bound lets two lots go out within
moments; the scheduler has to find the window's end first, and one that comes after five to seven seconds
can't be told from a bucket's, so a part of its places is lost.

The table "informed" shows what somebody reaches who knows the distribution and the windows, with 20 jobs of
60 s. In sliding windows that is 1.18 for the mean and 1.10 for all. In fixed windows it is a choice: a mean
of 1.20 costs 1.24 for all, a mean of 1.25 costs 1.13, and 1.10 for all costs a mean of 1.29.

The table "early" is for 12 short jobs in fixed windows: how near the scheduler's third round comes to the
best plan of a family, chosen for each end of the first window by somebody who knows that end, the kind of
window and the distribution. A question in vain puts a job off to a later window: he too is above the bound.
"""

from __future__ import annotations

import argparse
import random
import time
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from statistics import fmean, median

from benchmarks.polling_bound import Early, MeanBound, informed, informed_early, time_to_all
from benchmarks.polling_runs import Outcome, looped, scheduled
from benchmarks.simulated_service import DISTRIBUTIONS, WINDOW_SECONDS, World, draw

from reelbook.client.scheduling.budget import Budget
from reelbook.client.scheduling.estimates import Belief, Pace, Took
from reelbook.client.scheduling.polling import Decision, decide

JOBS = (1, 4, 12, 20, 50)
ROUNDS = 4
LEDGER_KEEPS = 50  # the newest times of a kind, as the ledger hands them out
LOOPS = ((0.1, 0.0), (0.5, 0.0), (1.0, 0.0), (5.0, 0.0), (6.0, 1.5), (10.0, 0.0))
LOOPS_KIND = "lognormal(60 s, 0.35)"
FIRST_AGES = (60, 80, 90, 100, 105, 110, 115, 120, 125, 130, 140, 150)
EARLY_KINDS = {"exactly 5 s": 5, **{f"lognormal({median} s, 0.35)": median for median in (5, 8, 20)}}
EARLY_JOBS = 12
EARLY_AGES = (1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.3)  # in medians, and so the next
EARLY_AGAIN = (0.15, 0.3, 0.6)
FIRST_ENDS = (4, 7, 10, 15, 20, 25, 30, 40, 50, 60)
CHANGES = ((5, 6), (60, 8), (5, 8))  # seconds that jobs take, and how many of them


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


def most_a_minute(outcomes: Sequence[Outcome]) -> int:
    return max(
        bisect_left(outcome.service.sent_at, at + WINDOW_SECONDS) - i
        for outcome in outcomes
        for i, at in enumerate(outcome.service.sent_at)
    )


def in_rounds(
    distribution: str, jobs: int, limit: int, runs: int, watch: Stopwatch, *, fixed: bool, progress: bool
) -> list[list[tuple[World, Outcome]]]:
    """`ROUNDS` rounds of `runs` runs; those of one number share a ledger."""
    rounds: list[list[tuple[World, Outcome]]] = [[] for _ in range(ROUNDS)]
    for run in range(runs):
        rng, ledger, fixed_windows = random.Random(run), list[Took](), False
        for played in rounds:
            world = draw(rng, distribution, jobs, limit, fixed=fixed, progress=progress)
            outcome = scheduled(world, watch.decide, ledger, fixed_windows=fixed_windows)
            if outcome.fixed_windows is not None:
                fixed_windows = outcome.fixed_windows
            ledger = [*ledger, *outcome.took][-LEDGER_KEEPS:]
            played.append((world, outcome))
    return rounds


def measure_rounds(distribution: str, limit: int, runs: int, watch: Stopwatch, *, fixed: bool) -> None:
    print(f"\n{distribution}, {limit}/min, {'fixed' if fixed else 'sliding'}, {runs} runs each")
    print(
        "  jobs progress"
        + "".join(f"   round {number}: mean   all" for number in range(1, ROUNDS + 1))
        + "   mean s  requests/job  most/min  429  lag median"
    )
    for jobs in JOBS:
        bounds: list[list[tuple[float, float]]] = []
        for progress in (False, True):
            rounds = in_rounds(distribution, jobs, limit, runs, watch, fixed=fixed, progress=progress)
            if not bounds:  # progress changes nothing for those who know the future
                by_round = [MeanBound() for _ in rounds]
                bounds = [
                    [(mean.of(world), time_to_all(world)) for world, _ in played]
                    for mean, played in zip(by_round, rounds, strict=True)
                ]
            print(f"{jobs:6} {'yes' if progress else 'no':8}", end="")
            for played, bound in zip(rounds, bounds, strict=True):
                compared = [(o, *best) for (_, o), best in zip(played, bound, strict=True)]
                print(
                    f"{fmean(o.mean_known_at / mean for o, mean, _ in compared):16.2f}"
                    f"{fmean(o.all_known_at / last for o, _, last in compared):6.2f}",
                    end="",
                )
            last = [outcome for _, outcome in rounds[-1]]
            every = [outcome for played in rounds for _, outcome in played]
            print(
                f"{fmean(o.mean_known_at for o in last):9.1f}"
                f"{fmean(len(o.service.sent_at) for o in last) / jobs:14.2f}"
                f"{most_a_minute(every):10}"
                f"{sum(o.service.refused for o in every):5}"
                f"{median([lag for o in last for lag in o.lags]):10.1f} s",
                flush=True,
            )


def measure_change(jobs: int) -> None:
    """One ledger, batches of jobs whose time changes all at once: what is believed, and what it costs."""
    print(f"\nA change of pace, {jobs} at a time: seconds that jobs take > believed before, mean lag after")
    ledger: list[Took] = []
    for seconds, batches in CHANGES:
        said = []
        for _ in range(batches):
            believed = Pace(ledger).outlook.typical_seconds
            outcome = scheduled(World(10, [float(seconds)] * jobs), took=ledger)
            ledger = [*ledger, *outcome.took][-LEDGER_KEEPS:]
            said.append(f"{believed:.0f} s, {fmean(outcome.lags):.1f} s")
        print(f"{seconds:5} s > " + "; ".join(said), flush=True)


def measure_queues(runs: int) -> None:
    """Two queues of different pace, jobs one by one, in no order."""
    print(f"\nTwo queues, 5 s and 60 s in no order, one job at a time, the second 20 of 40, {runs} runs")
    for share in (0.2, 0.5, 0.8):
        lags: dict[float, list[float]] = {5.0: [], 60.0: []}
        for run in range(runs):
            rng, ledger = random.Random(run), list[Took]()
            for number in range(40):
                seconds = 5.0 if rng.random() < share else 60.0
                outcome = scheduled(World(10, [seconds]), took=ledger)
                ledger = [*ledger, *outcome.took][-LEDGER_KEEPS:]
                if number >= 20:
                    lags[seconds] += outcome.lags
        print(
            f"  {share:4.0%} of 5 s: mean lag "
            + ", ".join(f"{fmean(found):.1f} s after {seconds:g} s" for seconds, found in lags.items()),
            flush=True,
        )


def measure_informed(runs: int) -> None:
    """What one can have who knows the distribution and the windows, by the age of the first question."""
    for fixed in (False, True):
        drawn = [
            draw(random.Random(run), LOOPS_KIND, 20, 10, fixed=fixed, progress=False) for run in range(runs)
        ]
        mean_bound = MeanBound()
        bounds = [(mean_bound.of(world), time_to_all(world)) for world in drawn]
        print(f"\nInformed: {LOOPS_KIND}, 10/min, {'fixed' if fixed else 'sliding'}, 20 jobs, {runs} runs")
        for age in FIRST_AGES:
            reached = [informed(world, age) for world in drawn]
            mean = fmean(one[0] / bound[0] for one, bound in zip(reached, bounds, strict=True))
            last = fmean(one[1] / bound[1] for one, bound in zip(reached, bounds, strict=True))
            print(f"  first half asked about at {age:3} s: mean {mean:.2f}, all {last:.2f}", flush=True)


def measure_early(runs: int) -> None:
    """Short jobs in fixed windows: the third round against the best plan, by the first window's end."""
    for kind, typical in EARLY_KINDS.items():
        played = in_rounds(kind, EARLY_JOBS, 10, runs, Stopwatch(), fixed=True, progress=False)[2]
        mean_bound = MeanBound()
        compared = [(world, mean_bound.of(world), outcome.mean_known_at) for world, outcome in played]
        print(
            f"\nEarly: {kind}, 10/min, fixed, {EARLY_JOBS} jobs, {runs} runs: mean until known, of the bound"
        )
        plans = [
            Early(age * typical, again * typical, first, second)
            for age, again, first, second in product(EARLY_AGES, EARLY_AGAIN, range(3, 11), range(7))
        ]
        sums, least = [0.0, 0.0], 0.0
        for ends in FIRST_ENDS:
            alike = [
                (world, bound, ours)
                for world, bound, ours in compared
                if world.phase is not None and least < world.phase <= ends
            ]
            least = ends
            if not alike:
                continue
            best = min(
                sum(informed_early(world, plan) / bound for world, bound, _ in alike) for plan in plans
            )
            ours = sum(ours / bound for _, bound, ours in alike)
            sums = [sums[0] + best, sums[1] + ours]
            print(
                f"  first window ends by {ends:2} s ({len(alike):3} runs): "
                f"informed {best / len(alike):.2f}, scheduler {ours / len(alike):.2f}",
                flush=True,
            )
        print(f"  all: informed {sums[0] / runs:.3f}, scheduler {sums[1] / runs:.3f}", flush=True)


def measure_loops(distribution: str, limit: int, runs: int) -> None:
    print(f"\nOther clients' loops: {distribution}, {limit}/min, sliding, {runs} runs each")
    print("Jobs brought home by loops that a 429 ends; by patient ones (again after 1 s, doubled up to 30 s)")
    print("within an hour where refused requests count; and the patient ones where they don't count.")
    print("  jobs  every          ended   counting        all    mean  requests/job  429/job")
    for jobs in JOBS:
        drawn = [
            draw(random.Random(run), distribution, jobs, limit, fixed=False, progress=False)
            for run in range(runs)
        ]
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
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--only", nargs="*", default=[], help="words that a table's name must hold")
    given = parser.parse_args()
    runs, watch, began = given.runs, Stopwatch(), time.perf_counter()

    def asked_for(name: str) -> bool:
        return all(word in name for word in given.only)

    for limit in (10, 100):
        for distribution in DISTRIBUTIONS:
            for fixed in (False, True):
                if asked_for(f"{distribution} {limit}/min {'fixed' if fixed else 'sliding'}"):
                    measure_rounds(distribution, limit, runs, watch, fixed=fixed)
    if asked_for("change of pace"):
        measure_change(1)
        measure_change(4)
    if asked_for("pace of two queues"):
        measure_queues(max(1, runs // 20))
    if asked_for("informed"):
        measure_informed(runs)
    if asked_for("early"):
        measure_early(runs)
    if asked_for("loops"):
        measure_loops(LOOPS_KIND, 10, max(20, runs // 4))
    if watch.decisions:
        print(f"\n{1e6 * watch.seconds / watch.decisions:.0f} µs a decision, {watch.decisions} decisions")
    print(f"{time.perf_counter() - began:.0f} s in all")


if __name__ == "__main__":
    main()
