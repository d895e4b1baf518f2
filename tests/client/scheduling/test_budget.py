"""One key's requests as a budget, on a clock of numbers, against services of every kind."""

from collections import deque
from dataclasses import dataclass, field

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reelbook.client.scheduling.budget import Budget, Purpose


def spend(budget: Budget, at: float, status: int = 200, **headers: object) -> None:
    named = {"retry_after": "retry-after"}
    budget.sent()
    budget.answered(status, {named.get(k, f"x-ratelimit-{k}"): str(v) for k, v in headers.items()}, at)


def wait_seconds(budget: Budget, now: float) -> float:
    return budget.opens_at(now) - now


@dataclass
class Service:
    """A limit a minute, sliding or in fixed windows, told in headers or not."""

    phase: float | None = None
    speaks: bool = True
    counts_refused: bool = False
    limit: int = 10
    first_reset: float | None = None  # where it is worked out before the request counts
    counted: deque[float] = field(default_factory=deque)
    refused: int = 0

    def answer(self, now: float) -> tuple[int, dict[str, str]]:
        begins = now - 60 + 1e-9 if self.phase is None else self.phase + (now - self.phase) // 60 * 60
        while self.counted and self.counted[0] < begins:
            self.counted.popleft()
        allowed = len(self.counted) < self.limit
        fresh = not self.counted
        self.refused += not allowed
        if allowed or self.counts_refused:
            self.counted.append(now)
        first = self.counted[0] if self.phase is None else begins
        reset = self.first_reset if fresh and self.first_reset is not None else int(first + 60 - now)
        headers = {
            "x-ratelimit-limit": str(self.limit),
            "x-ratelimit-remaining": str(max(0, self.limit - len(self.counted))),
            "x-ratelimit-reset": str(reset),
        }
        return 200 if allowed else 429, headers if self.speaks else {}


def greedy(service: Service, until: float, pauses: list[float]) -> list[float]:
    """Sends whatever the budget allows, with pauses in between; returns when it sent."""
    budget, now, sent = Budget(service.limit), 0.0, []
    steps = iter(pauses)
    while now < until:
        opens = budget.opens_at(now)
        if opens > now:
            now = opens
            continue
        budget.sent()
        sent.append(now)
        budget.answered(*service.answer(now), now)
        now += next(steps, 0.0)
    return sent


@given(st.lists(st.floats(0, 40), max_size=60), st.booleans(), st.none() | st.floats(0.01, 60))
@example([4.2895202879048], True, 4.2895202879048)
def test_no_service_is_ever_asked_too_often(rests: list[float], speaks: bool, phase: float | None) -> None:
    """Whatever the rhythm and the headers, sliding or fixed wherever it begins, nothing is refused."""
    service = Service(phase=phase, speaks=speaks)
    sent = greedy(service, 400, rests)
    assert service.refused == 0
    assert phase or all(later - earlier > 59.999 for earlier, later in zip(sent, sent[10:], strict=False))


@pytest.mark.parametrize("limit", [1, 2, 5, 10])
@pytest.mark.parametrize("first_reset", [0.0, 0.4, 1.0, 30.0, 60.0])
def test_no_first_reset_of_a_sliding_window_leads_to_a_refusal(limit: int, first_reset: float) -> None:
    """The service may work it out before it counts the request: then it comes at once, or at any time."""
    service = Service(limit=limit, first_reset=first_reset)
    sent = greedy(service, 200, [])
    assert (service.refused, len(sent)) == (0, 4 * limit)


def test_a_fixed_window_is_used_as_soon_as_it_begins_anew() -> None:
    """One request shows it, and ten go out at the beginning of each window."""
    sent = greedy(Service(phase=25.0), 150, [])
    assert [sum(begin <= at < begin + 3 for at in sent) for begin in (0.0, 25.0, 85.0, 145.0)] == [10] * 4


def test_a_bucket_is_used_as_it_fills_up() -> None:
    """A place comes back every six seconds, each time in answer to the reset that was told."""
    budget, now, sent = Budget(), 0.0, list[float]()
    while now < 40:
        left = 10 + int(now / 6) - len(sent) - 1
        sent.append(now)
        spend(budget, now, limit=10, remaining=left, reset=6)
        now = budget.opens_at(now)
    assert len(sent) == 15


@pytest.mark.parametrize(("limit", "remaining"), [(10, 3), (100, 99)])
def test_limit_and_use_are_learnt_from_the_headers(limit: int, remaining: int) -> None:
    """The limit named replaces the default; what is missing from the remaining, somebody else used."""
    budget = Budget()
    spend(budget, 0, limit=limit, remaining=remaining)
    assert (budget.view(0).limit, budget.view(0).left) == (limit, remaining)


@pytest.mark.parametrize(("named", "wait"), [({"retry_after": 30}, 30), ({"reset": 30}, 31)])
def test_a_429_closes_the_door_for_as_long_as_it_asks(named: dict[str, int], wait: float) -> None:
    """Nothing goes out before the service wants it; a reset may have been rounded down."""
    budget = Budget()
    spend(budget, 0, status=429, **named)
    assert wait_seconds(budget, 0) == pytest.approx(wait, abs=0.2)


def test_429s_without_a_word_back_off_ever_longer() -> None:
    """The pause doubles with each refusal in a row, up to a window, and starts anew after a success."""
    budget, now, waits = Budget(), 0.0, []
    for _ in range(6):
        spend(budget, now, status=429)
        waits.append(round(wait_seconds(budget, now)))
        now = budget.opens_at(now)
    assert waits == [4, 8, 16, 32, 60, 60]
    spend(budget, now + 100)
    spend(budget, now + 101, status=429)
    assert wait_seconds(budget, now + 101) == pytest.approx(4, abs=0.2)


def test_a_lower_limit_is_learnt_from_refusals_and_doubted_later() -> None:
    """Without headers a 429 after five requests means five a minute; five minutes later it's tried again."""
    budget = Budget()
    for second in range(5):
        spend(budget, second)
    spend(budget, 5, status=429)
    assert budget.limit == 5
    budget.opens_at(310)
    assert budget.limit == 10


@pytest.mark.parametrize("counts", [False, True])
def test_refused_requests_may_count_or_not(counts: bool) -> None:
    """After others have used the key up, both kinds of service are met with patience."""
    service = Service(counts_refused=counts)
    service.counted.extend([0.0] * 10)
    sent = greedy(service, 300, [])
    assert service.refused == 1
    assert len(sent) > 30


@dataclass
class Liar(Service):
    """Its headers always say the same."""

    lies: dict[str, str] = field(default_factory=dict)

    def answer(self, now: float) -> tuple[int, dict[str, str]]:
        return super().answer(now)[0], self.lies


@pytest.mark.parametrize(("limit", "remaining"), [("10", "9"), ("100", "99"), ("10", "0")])
def test_headers_that_are_wrong_are_not_believed_for_long(limit: str, remaining: str) -> None:
    """Headers that promise too much cost one 429; from then on our own count holds."""
    lies = {"x-ratelimit-limit": limit, "x-ratelimit-remaining": remaining, "x-ratelimit-reset": "0"}
    service = Liar(lies=lies)
    sent = greedy(service, 300, [0.5] * 600)
    assert service.refused <= 1
    assert len(sent) - service.refused >= 40


def test_headers_of_overtaken_answers_free_nothing() -> None:
    """Where requests overlap, an answer that shows fewer of them than were sent is only an older one."""
    budget = Budget()
    for _ in range(5):
        budget.sent()
    for remaining in (5, 6, 7, 8, 9):
        budget.answered(200, {"x-ratelimit-limit": "10", "x-ratelimit-remaining": str(remaining)}, 1.0)
    assert budget.view(1).left == 5


def test_an_announced_reset_waits_for_what_is_in_flight() -> None:
    """A request that is slow to arrive may take the one place that comes back."""
    budget = Budget()
    for _ in range(10):
        budget.sent()
    for remaining in range(8, -1, -1):
        budget.answered(200, {"x-ratelimit-remaining": str(remaining), "x-ratelimit-reset": "5"}, 1.0)
    assert wait_seconds(budget, 10) > 50
    budget.answered(200, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "5"}, 10.0)
    assert wait_seconds(budget, 10) == pytest.approx(6, abs=0.1)


def test_requests_under_way_or_lost_count_and_unsent_ones_dont() -> None:
    """Ten in flight leave no room; a lost answer keeps its place, a refused connection gives it back."""
    budget = Budget()
    for _ in range(10):
        budget.sent()
    assert wait_seconds(budget, 0) > 0
    budget.unsent()
    assert wait_seconds(budget, 0) == 0
    budget.lost(0)
    assert (budget.view(0).left, wait_seconds(budget, 0)) == (1, 0)


def test_polling_leaves_places_for_a_persons_click_while_jobs_are_few() -> None:
    """With one job two of ten places stay free for what is more important; with twenty none do."""
    budget = Budget()
    keep = budget.kept_free(Purpose.POLL, 1)
    for _ in range(8):
        spend(budget, 0)
    assert (keep, budget.opens_at(0, keep) > 0, budget.opens_at(0)) == (2, True, 0)
    assert [budget.kept_free(purpose, 1) for purpose in Purpose] == [0, 0, 0, 2, 2]
    assert budget.kept_free(Purpose.POLL, 20) == 0


def test_the_view_tells_when_each_place_is_free() -> None:
    """Those that are left now, those used when they come back; after a lower limit only the last of them.

    Looking changes nothing.
    """
    budget = Budget(limit=4)
    assert budget.view(0).back_in_seconds is None
    for second in (1, 2, 3):
        spend(budget, second)
    assert budget.view(10).free_at == pytest.approx((10, 61, 62, 63), abs=0.1)
    budget.limit = 2
    assert (budget.view(10).left, budget.view(10)) == (0, budget.view(10))
    assert budget.view(10).free_at == pytest.approx((62, 63), abs=0.1)
    assert budget.view(10).back_in_seconds == pytest.approx(wait_seconds(budget, 10))
