"""When to ask: the scheduler against ten lines, and against one that knows the future.

`PYTHONPATH=src:tests python -m benchmarks.bench_polling [--runs 40] [--only WORD …]`

A virtual clock and a service that enforces its limit with 429. In the first round the scheduler knows nothing
of the service: neither its limit nor its kind of window nor how long jobs take. The second round is of the
same kind, with a full budget, and knows from the ledger how long the jobs of the first one took; "untaught"
is the second round's very jobs without that, so it shows what the knowledge is worth. "Ten lines" are the
honest baseline: submit first, then ask whom was asked longest ago, each at most every max(2, n·60/limit)
seconds. "mean" is the mean time until a job is known done, in seconds and over a bound below the optimum of a
scheduler that knows the future (`polling_bound.py` says how it is computed). Prints figures, asserts none.

`--only` takes words of the tables' names, such as "sliding", "60", "changes" or "resumed".
"""

import random
import time
from bisect import bisect_left
from collections.abc import Sequence
from statistics import fmean, median

from benchmarks.command import options_of
from benchmarks.polling_bound import MeanBound
from benchmarks.polling_runs import Decide, Outcome, resumed, scheduled, ten_lines
from benchmarks.simulated_service import DISTRIBUTIONS, WINDOW_SECONDS, World, draw

from reelbook.client.scheduling.estimates import Took
from reelbook.client.scheduling.polling import decide

JOBS = (1, 4, 12, 20, 50)
ROUNDS = 2
LEDGER_KEEPS = 50  # the newest times of a kind, as the ledger hands them out
POLICIES: dict[str, Decide] = {"scheduler": decide, "ten lines": ten_lines}


def most_a_minute(outcomes: Sequence[Outcome]) -> int:
    return max(
        bisect_left(outcome.service.sent_at, at + WINDOW_SECONDS) - i
        for outcome in outcomes
        for i, at in enumerate(outcome.service.sent_at)
    )


def in_rounds(drawn: Sequence[Sequence[World]], policy: Decide) -> list[list[Outcome]]:
    """The outcomes by round; the rounds of one run share a ledger."""
    played: list[list[Outcome]] = [[] for _ in range(ROUNDS)]
    for worlds in drawn:
        ledger: list[Took] = []
        for outcomes, world in zip(played, worlds, strict=True):
            outcomes.append(scheduled(world, policy, ledger))
            ledger = [*ledger, *outcomes[-1].took][-LEDGER_KEEPS:]
    return played


def measure_rounds(distribution: str, runs: int, *, fixed: bool) -> None:
    print(f"\n{distribution}, 10/min, {'fixed' if fixed else 'sliding'}, {runs} runs each")
    print(
        "  jobs progress who        mean s: 1      2  untaught  of the bound: 1     2"
        "  requests/job  most/min  429  lag"
    )
    for jobs in JOBS:
        for progress in (False, True):
            drawn = [
                [draw(rng, distribution, jobs, 10, fixed=fixed, progress=progress) for _ in range(ROUNDS)]
                for rng in map(random.Random, range(runs))
            ]
            by_round = [MeanBound() for _ in range(ROUNDS)]
            bounds = [[bound.of(worlds[number]) for worlds in drawn] for number, bound in enumerate(by_round)]
            for name, policy in POLICIES.items():
                played = in_rounds(drawn, policy)
                every = [outcome for outcomes in played for outcome in outcomes]
                untaught = [scheduled(worlds[-1], policy) for worlds in drawn]
                means = [
                    fmean(outcome.mean_known_at for outcome in outcomes) for outcomes in (*played, untaught)
                ]
                ratios = [
                    fmean(o.mean_known_at / best for o, best in zip(outcomes, bound, strict=True))
                    for outcomes, bound in zip(played, bounds, strict=True)
                ]
                print(
                    f"{jobs:6} {'yes' if progress else 'no':8} {name:9}"
                    f"{means[0]:12.1f}{means[1]:7.1f}{means[2]:10.1f}{ratios[0]:17.2f}{ratios[1]:6.2f}"
                    f"{sum(len(o.service.sent_at) for o in every) / jobs / len(every):14.2f}"
                    f"{most_a_minute(every):10}{sum(o.service.refused for o in every):5}"
                    f"{median([lag for o in every for lag in o.lags]):7.1f}",
                    flush=True,
                )


def measure_changes() -> None:
    print("\nSix jobs of 40 s, then four of 1 s that know it from the ledger: mean lag of the four")
    for name, policy in POLICIES.items():
        for limit in (10, 100, 900):
            first = scheduled(World(limit, [40.0] * 6), policy)
            lags = scheduled(World(limit, [1.0] * 4), policy, first.took).lags
            print(f"  {name:9} {limit:4}/min {fmean(lags):6.1f} s", flush=True)


def measure_resumed() -> None:
    print("\n18 jobs that ended are resumed so long after their submission, 900/min: when they are known")
    for age in (2.0, 10.0, 60.0, 3600.0):
        known_at = resumed(18, age, 900)
        print(f"  {age:6.0f} s: the first after {known_at[0]:.1f} s, the last after {known_at[-1]:.1f} s")


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--only", nargs="*", default=[], help="words that a table's name must hold")
    given = parser.parse_args()
    began = time.perf_counter()

    def asked_for(name: str) -> bool:
        return all(word in name for word in given.only)

    for distribution in DISTRIBUTIONS:
        for fixed in (False, True):
            if asked_for(f"{distribution} {'fixed' if fixed else 'sliding'}"):
                measure_rounds(distribution, given.runs, fixed=fixed)
    if asked_for("changes"):
        measure_changes()
    if asked_for("resumed"):
        measure_resumed()
    print(f"\n{time.perf_counter() - began:.0f} s in all")


if __name__ == "__main__":
    main()
