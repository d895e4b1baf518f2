"""Who is compared in the polling benchmark: batches that are watched by the scheduler, or by ten lines."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from benchmarks.simulated_service import WINDOW_SECONDS, SimulatedService, World

from reelbook.client.scheduling.budget import Budget
from reelbook.client.scheduling.estimates import Belief, Pace, Took
from reelbook.client.scheduling.polling import Ask, Decision, Submit, Wait, decide

Decide = Callable[[dict[str, Belief], int, Budget, float], Decision]


@dataclass(frozen=True)
class Outcome:
    """One run: when each job was known done, and what it took.

    `took` is what a ledger would keep of it, in the order of the submissions.
    """

    service: SimulatedService
    known_at: dict[int, float]
    took: Sequence[Took] = ()

    @property
    def all_known_at(self) -> float:
        return max(self.known_at.values())

    @property
    def mean_known_at(self) -> float:
        return fmean(self.known_at.values())

    @property
    def lags(self) -> list[float]:
        return [at - self.service.ended_at(job) for job, at in self.known_at.items()]


def scheduled(world: World, choose: Decide = decide, took: Sequence[Took] = ()) -> Outcome:
    """A batch watched by the scheduler, which knows of the service only what earlier jobs `took`."""
    service, budget, pace, now = SimulatedService(world), Budget(), Pace(took), 0.0
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
    return Outcome(service, known_at, [seen[job] for job in sorted(seen)])


def ten_lines(beliefs: dict[str, Belief], waiting: int, budget: Budget, now: float) -> Decision:
    """Submit first, then ask whom was asked longest ago, each at most every max(2, n·60/limit) seconds."""
    opens_at = budget.opens_at(now)
    if opens_at > now:
        return Wait(opens_at)
    if waiting:
        return Submit()
    idle = [job for job, belief in beliefs.items() if not belief.under_way]
    if not idle:
        return Wait(math.inf)
    longest_ago = min(idle, key=lambda job: beliefs[job].known_at)
    asks_at = beliefs[longest_ago].known_at + max(2.0, len(beliefs) * WINDOW_SECONDS / budget.limit)
    return Ask(longest_ago) if asks_at <= now else Wait(asks_at)


def resumed(jobs: int, age: float, limit: int, took: Sequence[Took] = ()) -> list[float]:
    """When jobs that have ended are known done by a session that takes them up at that age (seconds)."""
    budget, pace, now, known_at = Budget(), Pace(took), 0.0, list[float]()
    beliefs = {str(number): Belief(pace, -age) for number in range(jobs)}
    while beliefs:
        decision = decide(beliefs, 0, budget, now)
        if isinstance(decision, Ask):
            budget.sent()
            beliefs[decision.job].asked(now)
            left = limit - len(known_at) - 1
            headers = {"x-ratelimit-limit": str(limit), "x-ratelimit-remaining": str(left)}
            budget.answered(200, {**headers, "x-ratelimit-reset": "60"}, now)
            beliefs.pop(decision.job).ended(now)
            known_at.append(now)
        elif isinstance(decision, Wait):
            now = decision.until
    return known_at
