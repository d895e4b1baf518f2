"""How long clips will take: what is said beforehand, against what the scheduler then needs."""

import math
import random

from benchmarks.polling_runs import scheduled
from benchmarks.simulated_service import World

from reelbook.client.forecast import forecast, known_at
from reelbook.client.scheduling.budget import Budget
from reelbook.client.scheduling.estimates import Pace, Took


def used(budget: Budget, requests: int, at: float) -> Budget:
    for _ in range(requests):
        budget.sent()
        budget.answered(200, {}, at)
    return budget


def test_the_forecast_holds_what_comes_of_it() -> None:
    """Real runs of clips, whose times are known from earlier ones, mostly end in the range."""
    rng = random.Random(1)
    earlier = [
        Took(took - 1, took + 1) for took in (rng.lognormvariate(math.log(20), 0.3) for _ in range(50))
    ]
    early, likely, late = forecast([Pace(earlier)] * 18, Budget().view(0.0), 0.0)
    real = []
    for _ in range(20):
        world = World(10, [rng.lognormvariate(math.log(20), 0.3) for _ in range(18)])
        real.append(scheduled(world, took=earlier).all_known_at)
    assert early <= likely <= late
    assert sum(early <= each <= late for each in real) >= 14, (early, late, sorted(real))


def test_a_used_budget_takes_longer_and_nothing_takes_no_time() -> None:
    """What was sent within the last minute is counted."""
    pace, budget = Pace([Took(4, 6)] * 5), Budget()
    fresh = forecast([pace] * 4, budget.view(100.0), 100.0)
    used(budget, 10, 99.0)
    assert forecast([pace] * 4, budget.view(100.0), 100.0)[0] > fresh[2]
    assert budget.opens_at(100.0) > 150
    assert forecast([], budget.view(100.0), 100.0) == (0.0, 0.0, 0.0)


def test_no_job_is_known_before_the_key_may_ask() -> None:
    """Twelve jobs that end soon, with no requests left for 50 s: ten then, and two a minute later."""
    budget = used(Budget(), 10, 90.0)
    known = known_at(budget.view(100.0), {job: 101.0 + job for job in range(12)}, 0)
    assert min(known.values()) == budget.opens_at(100.0) > 150
    assert [round(known[job]) for job in range(12)] == [150] * 10 + [210] * 2


def test_a_job_that_ends_later_is_known_at_its_end() -> None:
    """Requests that are there by then put nothing off, whoever else is asked about before."""
    budget = used(Budget(), 8, 90.0)
    known = known_at(budget.view(100.0), {"late": 400.0, "soon": 105.0}, 0)
    assert known == {"soon": 105.0, "late": 400.0}


def test_submissions_take_the_requests_that_are_free_before() -> None:
    """Three places are free and three clips wait to be sent: the job is asked about when one comes back."""
    budget = used(Budget(), 7, 90.0)
    assert known_at(budget.view(100.0), {"soon": 105.0}, 2) == {"soon": 105.0}
    assert round(known_at(budget.view(100.0), {"soon": 105.0}, 3)["soon"]) == 150
