"""Who is compared in the polling benchmark: the scheduler, and loops as other clients publish them."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from benchmarks.simulated_service import SimulatedService, World

from reelbook.client.scheduling.budget import Budget
from reelbook.client.scheduling.estimates import Belief, Pace, Took
from reelbook.client.scheduling.polling import Decision, Submit, Wait, decide

MOST_SECONDS = 3600.0

Decide = Callable[[dict[str, Belief], int, Budget, float], Decision]


@dataclass(frozen=True)
class Outcome:
    """One run: when each job was known done (those never known are absent), and what it took.

    `took` is what a ledger would keep of it, in the order of the submissions, and so is `fixed_windows`.
    """

    service: SimulatedService
    known_at: dict[int, float]
    took: Sequence[Took] = ()
    fixed_windows: bool | None = None

    @property
    def all_known_at(self) -> float:
        return max(self.known_at.values())

    @property
    def mean_known_at(self) -> float:
        return fmean(self.known_at.values())

    @property
    def lags(self) -> list[float]:
        return [at - self.service.ended_at(job) for job, at in self.known_at.items()]


def scheduled(
    world: World, choose: Decide = decide, took: Sequence[Took] = (), *, fixed_windows: bool = False
) -> Outcome:
    """A batch watched by the scheduler.

    It knows of the service only what earlier jobs `took`, and whether `fixed_windows` were found.
    """
    service, budget, pace, now = SimulatedService(world), Budget(), Pace(took), 0.0
    budget.elsewhere([], fixed_windows=fixed_windows)
    beliefs: dict[str, Belief] = {}
    known_at: dict[int, float] = {}
    seen: dict[int, Took] = {}
    waiting = len(world.took)
    while len(known_at) < len(world.took):
        decision = choose(beliefs, waiting, budget, now)
        if isinstance(decision, Wait):
            assert decision.until > now
            now = decision.until
            continue
        budget.sent()
        if isinstance(decision, Submit):
            status, headers = service.submit(now)
            budget.answered(status, headers, now)
            if status == 200:
                waiting -= 1
                beliefs[str(len(service.submitted_at) - 1)] = Belief(pace, now)
            continue
        job = decision.job
        beliefs[job].asked(now)
        status, headers, ended, progress = service.ask(int(job), now)
        budget.answered(status, headers, now)
        if status != 200:
            beliefs[job].failed(now)
        elif ended:
            seen[int(job)] = beliefs.pop(job).ended(now)
            known_at[int(job)] = now
        else:
            beliefs[job].told(progress, now)
    return Outcome(service, known_at, [seen[job] for job in sorted(seen)], budget.fixed_windows)


def looped(world: World, seconds: float, jitter: float, *, patient: bool, rng: random.Random) -> Outcome:
    """All jobs submitted at once, each then asked about every `seconds` ± `jitter`.

    A loop ends at its first 429; where it is `patient`, it tries again after 1 s, doubled each time up to
    30 s. All end after an hour.
    """
    service = SimulatedService(world)
    known_at: dict[int, float] = {}
    # moment, tie-breaker, the job's number or None before it is submitted, refusals in a row
    agenda: list[tuple[float, int, int | None, int]] = [(0.0, i, None, 0) for i in range(len(world.took))]
    order = len(agenda)
    while agenda and agenda[0][0] < MOST_SECONDS:
        now, _, job, refusals = heapq.heappop(agenda)
        if job is None:
            status, _ = service.submit(now)
            ended, number = False, len(service.submitted_at) - 1 if status == 200 else None
        else:
            (status, _, ended, _), number = service.ask(job, now), job
        if status == 429:
            if not patient:
                continue
            pause = min(30.0, 2.0**refusals)
            refusals += 1
        elif ended and job is not None:
            known_at[job] = now
            continue
        else:
            pause, refusals = seconds + rng.uniform(-jitter, jitter), 0
        order += 1
        heapq.heappush(agenda, (now + pause, order, number, refusals))
    return Outcome(service, known_at)
