"""A service on a virtual clock for the scheduler's benchmark: jobs, progress, and a limit enforced with 429.

No network and no latency: both would be the same for everybody who is compared.
"""

import math
import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

WINDOW_SECONDS = 60.0
PENDING_SHARE = 0.15

Distribution = Callable[[random.Random], float]


def lognormal(median: float, spread: float) -> Distribution:
    """Times in seconds whose logarithm is normal; `spread` is its standard deviation."""
    return lambda rng: rng.lognormvariate(math.log(median), spread)


DISTRIBUTIONS: dict[str, Distribution] = {
    "exactly 5 s": lambda rng: 5.0,
    **{f"lognormal({median} s, 0.35)": lognormal(median, 0.35) for median in (5, 8, 20, 60, 180)},
    "5 s + exponential(60 s)": lambda rng: 5 + rng.expovariate(1 / 60),
    "lognormal(180 s, 0.5)": lognormal(180, 0.5),
}


@dataclass(frozen=True)
class World:
    """One run's truth: how long the k-th accepted job takes, and when the key's windows begin anew.

    `phase` is None for a sliding window, else the moment (seconds) of the first new fixed window. `bends` are
    the exponents of the jobs' progress over time, None where the service reports no progress. The interface
    doesn't say whether a refused request counts against the limit.
    """

    limit: int
    took: Sequence[float]
    phase: float | None = None
    bends: Sequence[float] | None = None

    def window_begins(self, number: int) -> float:
        """When the limit allows its `number`-th lot of requests (from 0), if all before were used at once."""
        if self.phase is None or number == 0:
            return number * WINDOW_SECONDS
        return self.phase + (number - 1) * WINDOW_SECONDS


def draw(
    rng: random.Random, distribution: str, jobs: int, limit: int, *, fixed: bool, progress: bool
) -> World:
    """A run at random: progress is bent a little, and fixed windows begin at any moment."""
    took = [DISTRIBUTIONS[distribution](rng) for _ in range(jobs)]
    bends = [rng.lognormvariate(0, 0.12) for _ in range(jobs)]
    phase = rng.uniform(0.5, WINDOW_SECONDS)
    return World(limit, took, phase if fixed else None, bends if progress else None)


@dataclass
class SimulatedService:
    """Answers with a status, headers, and for a job under way its progress."""

    world: World
    submitted_at: list[float] = field(default_factory=list)
    sent_at: list[float] = field(default_factory=list)
    refused: int = 0
    _counted: deque[float] = field(default_factory=deque)

    def submit(self, now: float) -> tuple[int, dict[str, str]]:
        """Accept one more job; its number is the count of those before."""
        status, headers = self._take(now)
        if status == 200:
            self.submitted_at.append(now)
        return status, headers

    def ask(self, job: int, now: float) -> tuple[int, dict[str, str], bool, float | None]:
        """Status, headers, whether the job has ended, and its progress."""
        status, headers = self._take(now)
        return status, headers, now >= self.ended_at(job), self._progress(job, now)

    def ended_at(self, job: int) -> float:
        return self.submitted_at[job] + self.world.took[job]

    def _progress(self, job: int, now: float) -> float | None:
        if self.world.bends is None:
            return None
        share = (now - self.submitted_at[job]) / self.world.took[job]
        running = (share - PENDING_SHARE) / (1 - PENDING_SHARE)
        return None if running < 0 else float(min(99, int(100 * running ** self.world.bends[job])))

    def _take(self, now: float) -> tuple[int, dict[str, str]]:
        self.sent_at.append(now)
        begins = self._window_begins(now)
        while self._counted and self._counted[0] < begins:
            self._counted.popleft()
        allowed = len(self._counted) < self.world.limit
        self.refused += not allowed
        if allowed:
            self._counted.append(now)
        oldest = self._counted[0] if self.world.phase is None else begins
        headers = {
            "x-ratelimit-limit": str(self.world.limit),
            "x-ratelimit-remaining": str(max(0, self.world.limit - len(self._counted))),
            "x-ratelimit-reset": str(math.ceil(oldest + WINDOW_SECONDS - now)),
        }
        return (200 if allowed else 429), headers

    def _window_begins(self, now: float) -> float:
        if self.world.phase is None:
            return math.nextafter(now - WINDOW_SECONDS, math.inf)
        return self.world.phase + math.floor((now - self.world.phase) / WINDOW_SECONDS) * WINDOW_SECONDS
