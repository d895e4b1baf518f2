"""Both readings of `days`, costs that appear late, and a planted history."""

from __future__ import annotations

from typing import Any

import pytest
from sandbox.doubles import Client

from reelbook.errors import SandboxError

DAY = 86_400
# NOON of the doubles is 08:00 UTC.
PAST = [
    {"days_ago": 0.1, "seconds": 10, "requests": 2, "usd": 0.5},
    {"days_ago": 0.9, "seconds": 20, "requests": 4, "usd": 1.0},
    {"days_ago": 3.5, "seconds": 40, "requests": 9, "usd": 2.0},
]


def usage(client: Client, days: int) -> tuple[int, float, float]:
    """Requests, seconds and USD of the last `days` days."""
    body = client.get(f"/api/v1/billing/usage?days={days}").json()
    return body["total_requests"], body["total_seconds"], body["total_cost_usd"]


def test_a_planted_past_is_in_the_usage_and_not_in_the_balance(client: Client) -> None:
    """It counts as spent, day by day; what is left to spend stays."""
    client.sandbox.plant_history(PAST)
    assert [usage(client, days) for days in (1, 3, 4)] == [(6, 30, 1.5), (6, 30, 1.5), (15, 70, 3.5)]
    assert client.get("/api/v1/billing/balance").json() == {"balance_usd": 25.0, "total_spent_usd": 3.5}


def test_calendar_days_begin_at_midnight_utc(client: Client) -> None:
    """Today is the first of them: at 08:00 what was used 0.9 days ago belongs to yesterday."""
    client.sandbox.plant_history(PAST)
    client.sandbox.settings(usage_days="calendar")
    assert [usage(client, days)[2] for days in (1, 2, 3, 4, 5)] == [0.5, 1.5, 1.5, 1.5, 3.5]
    client.sandbox.advance(16 * 3600)
    assert [usage(client, days)[2] for days in (1, 2, 3)] == [0.0, 0.5, 1.5]


def test_costs_appear_late_and_by_the_day_of_completion(client: Client) -> None:
    """Until then neither usage, nor balance, nor total spent tells of them; requests count at once."""
    client.sandbox.settings(posts_after_seconds=3600)
    request_id = client.submit(duration_seconds=10)
    client.sandbox.advance(11)
    client.wait(request_id)
    assert usage(client, 1) == (1, 0, 0)
    assert client.get("/api/v1/billing/balance").json() == {"balance_usd": 25.0, "total_spent_usd": 0.0}
    client.sandbox.advance(3600)
    assert usage(client, 1) == (1, 10, 0.5)
    assert client.get("/api/v1/billing/balance").json() == {"balance_usd": 24.5, "total_spent_usd": 0.5}


@pytest.mark.parametrize(
    "history",
    [
        [],
        [{"days_ago": 1}],
        [{"days_ago": -1, "seconds": 1, "requests": 1, "usd": 1}],
        [{"days_ago": 1, "seconds": 1, "requests": 1.5, "usd": 1}],
        [{"days_ago": 1, "seconds": True, "requests": 1, "usd": 1}],
    ],
)
def test_a_past_that_makes_no_sense_is_refused(client: Client, history: list[Any]) -> None:
    """Nothing of it is planted."""
    with pytest.raises(SandboxError, match="refused"):
        client.sandbox.plant_history(history)
    assert usage(client, 30) == (0, 0, 0)


@pytest.mark.parametrize("settings", [{"usage_days": "lunar"}, {"posts_after_seconds": -1}])
def test_a_reading_that_there_isnt_is_refused(client: Client, settings: dict[str, Any]) -> None:
    """As any other setting that makes no sense."""
    with pytest.raises(SandboxError, match="can't be"):
        client.sandbox.settings(**settings)
