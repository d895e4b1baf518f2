"""Kills kernels at random moments of a batch of 10, resumes, and prints what was lost: nothing may be.

`PYTHONPATH=src:tests python -m benchmarks.bench_kills --times 100`, about 6 minutes on two cores. `--seed`
repeats the moments, as shares of a batch's length, which is measured first.
"""

import random
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from queue import SimpleQueue
from statistics import fmean
from typing import TypeVar

from benchmarks.command import options_of, verdict, with_seed
from session.aftermath import PHASES, Aftermath
from session.killing import (
    ANSWER_STEP_SECONDS,
    BROKEN_DOWNLOADS,
    DOWNLOAD_SECONDS,
    JOBS,
    PACE_SECONDS,
    WAYS,
    Length,
    Outside,
    after,
    dies,
    once_gone,
    outside,
    round_of,
)

T = TypeVar("T")
R = TypeVar("R")

WORKERS = 3
# The part of the batch over which moments are spread evenly, for how many of ten kills.
FIRST, ANSWERS, WHOLE = "until the first POST", "until the last answer", "the whole batch"
PARTS = (*[FIRST] * 2, *[ANSWERS] * 3, *[WHOLE] * 5)

# Steps of the books, and which one of them: the kernel ends just before it is on the disk, and just after.
STEPS = {"intend": (1,), "sending": (1, 6), "accepted": (1, 5), "status": (4,), "downloaded": (1, 6)}
WORST = [(step, nth, before) for step in STEPS for nth in STEPS[step] for before in (True, False)]


@dataclass(frozen=True)
class Plan:
    """One kill: how the batch is submitted, and when in which part of it the kernel is killed."""

    number: int
    way: int
    part: str
    share: float

    def seconds(self, length: Length) -> float:
        """The moment in a batch of that length."""
        ends = {FIRST: length.first_sent, ANSWERS: length.answered, WHOLE: length.whole}
        return self.share * ends[self.part]


def plans(times: int, seed: int) -> list[Plan]:
    """The kills, half of them among the submissions; how the batch is submitted is left to chance too."""
    rng = random.Random(seed)
    parts = [PARTS[number % len(PARTS)] for number in range(times)]
    return [Plan(number, rng.randrange(len(WAYS)), part, rng.random()) for number, part in enumerate(parts)]


def measured(service: Outside, way: int) -> Length:
    """A batch that nobody kills."""
    with round_of(service) as batch:
        return batch.measured(WAYS[way])


def killed(service: Outside, plan: Plan, lengths: Sequence[Length]) -> Aftermath:
    """One kill."""
    with round_of(service, plan.number) as batch:
        return batch.killed(after(plan.seconds(lengths[plan.way])), way=WAYS[plan.way])


def killed_in_step(service: Outside, step: tuple[str, int, bool]) -> Aftermath:
    """One kill at a moment that chance hardly ever finds."""
    name, nth, before = step
    with round_of(service, sabotage=dies(name, nth, before=before)) as batch:
        return batch.killed(once_gone)


def typical(lengths: Sequence[Length]) -> Length:
    """The mean of several batches; of the first POST the earliest, or moments would fall behind it."""
    return Length(
        min(each.first_sent for each in lengths),
        fmean(each.answered for each in lengths),
        fmean(each.whole for each in lengths),
    )


def table(found: Sequence[Aftermath]) -> None:
    """Prints the kills by the phase into which they fell."""
    columns: dict[str, Callable[[Aftermath], int]] = {
        "kills": lambda _: 1,
        "ids received": lambda each: len(each.received),
        "ids lost": lambda each: len(each.lost),
        "POSTs arrived": lambda each: each.posts,
        "jobs made": lambda each: len(each.made),
        "made, unknown": lambda each: len(each.unknown),
        "uncertain": lambda each: len(each.uncertain),
        "unexplained": lambda each: len(each.unexplained),
        "parts of files": lambda each: each.parts,
        "resumed": lambda each: each.resumed,
        "clips whole": lambda each: sum(one.whole for one in each.after),
        "not whole": lambda each: len(each.broken),
    }
    print(f"\n{'killed':<26}" + "".join(f"{name:>{len(name) + 2}}" for name in columns))
    for phase in (*PHASES, "all"):
        rows = [each for each in found if phase in (each.phase, "all")]
        cells = ((name, sum(map(count, rows))) for name, count in columns.items())
        print(f"{phase:<26}" + "".join(f"{number:>{len(name) + 2}}" for name, number in cells))


def billed_verdict(found: Sequence[Aftermath], account_usd: float, began: float) -> int:
    """Prints the money and every promise that was broken; 1 if there is one."""
    spent = sum(each.spend.spent_usd for each in found)
    uncertain = sum(each.spend.uncertain_usd for each in found)
    billed = sum(each.billed_usd for each in found)
    unknown = sum(one.cost_micro for each in found for one in each.unknown) / 1e6
    print(f"\nmost jobs for one submission: {max(each.most_for_one for each in found)}")
    print(f"ledgers: spent ${spent:.2f}, uncertain ${uncertain:.2f}")
    print(
        f"sandbox: billed ${billed:.2f}, of that ${unknown:.2f} for jobs whose id was never received; "
        f"its accounts say ${account_usd:.2f}"
    )
    broken = [f"{each.phase}, {each.at_seconds:.3f} s: {fault}" for each in found for fault in each.faults()]
    if round(1e6 * (account_usd - billed)) != 0:
        broken.append("the sandboxes billed something that isn't a job of these batches")
    return verdict(broken, began)


class Workshop:
    """Several sandboxes, each for one kernel at a time."""

    def __init__(self, services: Sequence[Outside], pool: ThreadPoolExecutor) -> None:
        self._services = services
        self._pool = pool
        self._free: SimpleQueue[Outside] = SimpleQueue()
        for each in services:
            self._free.put(each)

    def all(self, work: Callable[[Outside, T], R], items: Iterable[T]) -> list[R]:
        """Does `work` for all of them, each with a sandbox that nobody else uses meanwhile."""

        def one(item: T) -> R:
            service = self._free.get()
            try:
                return work(service, item)
            finally:
                self._free.put(service)

        return list(self._pool.map(one, items))

    def lengths(self) -> list[Length]:
        """How long a batch takes, by the way in which it is submitted."""
        # As many at a time as there will be, or the lengths would be those of an idle machine.
        several = [self.all(measured, [way] * len(self._services)) for way in range(len(WAYS))]
        return [typical(each) for each in several]

    def billed_usd(self) -> float:
        """What all accounts paid so far."""
        return float(sum(each.sandbox.state()["total_spent_usd"] for each in self._services))


def conditions(lengths: Sequence[Length]) -> None:
    """Prints how the moments are chosen."""
    for name, each in zip(("at once", "one by one"), lengths, strict=True):
        print(
            f"submitted {name}: first POST after {each.first_sent:.3f} s, last answer {each.answered:.2f} s, "
            f"last clip {each.whole:.2f} s"
        )
    shares = ", ".join(f"{PARTS.count(part)} of {len(PARTS)} in {part}" for part in dict.fromkeys(PARTS))
    print(f"Moments are spread evenly: {shares}.", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Kills, prints, and returns 1 if a promise was broken."""
    parser = with_seed(options_of(__doc__))
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--workers", type=int, default=WORKERS, help="sandboxes, each with a kernel")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    print(
        f"seed {options.seed}. Batches of {JOBS}, each in a kernel and a home of its own; {options.workers} "
        f"at a time.\nThe n-th answer to a POST comes n × {ANSWER_STEP_SECONDS:g} s after it was accepted; "
        f"a job takes {PACE_SECONDS:g} s and its drawing;\na download {DOWNLOAD_SECONDS:g} s more than it "
        f"needs, and {len(BROKEN_DOWNLOADS)} of them break off."
    )
    with ExitStack() as stack, ThreadPoolExecutor(options.workers) as pool:
        services = [stack.enter_context(outside()) for _ in range(options.workers)]
        workshop = Workshop(services, pool)
        lengths = workshop.lengths()
        conditions(lengths)
        paid = workshop.billed_usd()
        printing = threading.Lock()

        def kill(service: Outside, plan: Plan) -> Aftermath:
            found = killed(service, plan, lengths)
            said = "; ".join(found.faults()) or "nothing lost"
            with printing:
                print(f"{plan.number:>4} {found.at_seconds:7.3f} s  {found.phase:<26} {said}", flush=True)
            return found

        found = workshop.all(kill, plans(options.times, options.seed))
        in_steps = workshop.all(killed_in_step, WORST)
        account_usd = workshop.billed_usd() - paid
    table(found)
    print(f"\nbesides, {len(WORST)} kills just before and just after a step is on the disk:", end="")
    table(in_steps)
    return billed_verdict([*found, *in_steps], account_usd, began)


if __name__ == "__main__":
    sys.exit(main())
