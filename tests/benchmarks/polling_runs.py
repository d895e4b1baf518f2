"""Who is compared in the polling benchmark: batches that are watched by the scheduler, or by ten lines."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from benchmarks.simulated_service import WINDOW_SECONDS, SimulatedService, World

from reelbook.client.scheduling.budget import Budget
from reelbook.client.scheduling.estimates import Belief, Pace, Took
from reelbook.client.scheduling.polling import Ask, Decision, Submit, Wait, decide

Decide = Callable[[list[Belief], int, Budget, float], Decision]


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
    watched: dict[Belief, int] = {}
    known_at: dict[int, float] = {}
    seen: dict[int, Took] = {}
    waiting = len(world.took)
    while len(known_at) < len(world.took):
        decision = choose(list(watched), waiting, budget, now)
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
                watched[Belief(pace, now)] = len(service.submitted_at) - 1
            continue
        belief, job = decision.belief, watched[decision.belief]
        belief.asked(now)
        status, headers, ended, progress = service.ask(job, now)
        budget.answered(status, headers, now)
        if status != 200:
            belief.failed(now)
        elif ended:
            del watched[belief]
            seen[job], known_at[job] = belief.ended(now), now
        else:
            belief.told(progress, now)
    return Outcome(service, known_at, [seen[job] for job in sorted(seen)])


def ten_lines(beliefs: list[Belief], waiting: int, budget: Budget, now: float) -> Decision:
    """Submit first, then ask whom was asked longest ago, each at most every max(2, n·60/limit) seconds."""
    opens_at = budget.opens_at(now)
    if opens_at > now:
        return Wait(opens_at)
    if waiting:
        return Submit()
    idle = [belief for belief in beliefs if not belief.under_way]
    if not idle:
        return Wait(math.inf)
    longest_ago = min(idle, key=lambda belief: belief.known_at)
    asks_at = longest_ago.known_at + max(2.0, len(beliefs) * WINDOW_SECONDS / budget.limit)
    return Ask(longest_ago) if asks_at <= now else Wait(asks_at)


def resumed(jobs: int, age: float, limit: int, took: Sequence[Took] = ()) -> list[float]:
    """When jobs that have ended are known done by a session that takes them up at that age (seconds)."""
    budget, pace, now, known_at = Budget(), Pace(took), 0.0, list[float]()
    beliefs = [Belief(pace, -age) for _ in range(jobs)]
    while beliefs:
        decision = decide(beliefs, 0, budget, now)
        if isinstance(decision, Ask):
            budget.sent()
            decision.belief.asked(now)
            left = limit - len(known_at) - 1
            headers = {"x-ratelimit-limit": str(limit), "x-ratelimit-remaining": str(left)}
            budget.answered(200, {**headers, "x-ratelimit-reset": "60"}, now)
            beliefs.remove(decision.belief)
            decision.belief.ended(now)
            known_at.append(now)
        elif isinstance(decision, Wait):
            now = decision.until
    return known_at
