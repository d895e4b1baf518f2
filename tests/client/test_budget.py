"""One key's requests as a budget, on a clock of numbers."""

from __future__ import annotations

from email.utils import formatdate

import pytest

from reelbook.client.budget import Budget, reset_seconds


def spend(budget: Budget, at: float, status: int = 200, **headers: str) -> None:
    budget.sent()
    budget.answered(status, {f"x-ratelimit-{name}": value for name, value in headers.items()}, at)


def test_ten_requests_go_at_once_and_the_eleventh_waits_for_the_first() -> None:
    """Without headers the documented default limit holds."""
    budget = Budget()
    for second in range(10):
        assert budget.wait_seconds(second) == 0
        spend(budget, second)
    assert budget.wait_seconds(10) == pytest.approx(50, abs=0.2)
    assert budget.wait_seconds(60.1) == 0


def test_a_higher_limit_is_learnt_from_the_headers() -> None:
    """The limit named by the service replaces the default."""
    budget = Budget()
    spend(budget, 0, limit="100", remaining="99")
    assert (budget.view(0).limit, budget.view(0).left) == (100, 99)


def test_others_on_the_same_key_are_counted() -> None:
    """What is missing from the remaining was used by somebody else."""
    budget = Budget()
    spend(budget, 0, limit="10", remaining="3")
    assert budget.view(0).left == 3


def test_a_fixed_window_that_began_anew_is_noticed() -> None:
    """More left than we counted means that older requests no longer count."""
    budget = Budget()
    for second in range(9):
        spend(budget, second, limit="10", remaining=str(9 - second))
    spend(budget, 20, limit="10", remaining="9")
    assert budget.view(20).left == 9


def test_requests_under_way_count() -> None:
    """Ten requests in flight leave no room for an eleventh."""
    budget = Budget()
    for _ in range(10):
        budget.sent()
    assert budget.wait_seconds(0) > 0


def test_what_never_arrived_isnt_counted() -> None:
    """A refused connection gives its place back."""
    budget = Budget()
    budget.sent()
    budget.unsent()
    assert budget.view(0).left == 10


@pytest.mark.parametrize("headers", [{"retry-after": "30"}, {"x-ratelimit-reset": "30"}])
def test_a_429_closes_the_door_for_as_long_as_it_asks(headers: dict[str, str]) -> None:
    """Nothing goes out before the service wants it."""
    budget = Budget()
    budget.sent()
    budget.answered(429, headers, 0)
    assert budget.wait_seconds(0) == pytest.approx(30, abs=0.2)


def test_after_a_429_the_reset_says_when_to_go_on() -> None:
    """An empty budget in a refusal isn't taken for a minute's worth of somebody else's requests."""
    budget = Budget()
    spend(budget, 0, status=429, limit="10", remaining="0", reset="3")
    assert budget.wait_seconds(0) == pytest.approx(3, abs=0.2)


def test_an_exhausted_fixed_window_opens_at_its_reset() -> None:
    """With nothing left, the reset tells when the next request fits, if it is earlier than our own count."""
    budget = Budget()
    for second in range(10):
        spend(budget, 50 + second, limit="10", remaining=str(9 - second), reset=str(10 - second))
    assert budget.wait_seconds(59) == pytest.approx(1, abs=0.2)


@pytest.mark.parametrize("value", ["17", "1800000017", "1800000017000"])
def test_reset_is_read_in_every_unit(value: str) -> None:
    """Seconds to wait, epoch seconds and epoch milliseconds mean the same."""
    assert reset_seconds({"x-ratelimit-reset": value}, wall=1_800_000_000) == pytest.approx(17)


def test_an_epoch_is_read_against_the_services_own_clock() -> None:
    """A wrong clock on this machine doesn't matter where the answer has a date."""
    headers = {"x-ratelimit-reset": "1800000017", "date": formatdate(1_800_000_000, usegmt=True)}
    assert reset_seconds(headers, wall=5) == pytest.approx(17)


@pytest.mark.parametrize("value", ["", "soon", "-5", "4000", "nan"])
def test_a_reset_that_makes_no_sense_is_ignored(value: str) -> None:
    """A limit per minute can't take an hour to reset."""
    assert reset_seconds({"x-ratelimit-reset": value}, wall=0) is None
