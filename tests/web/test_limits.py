"""Requests per minute of each key, under each reading of the limit, and the headers that tell of them."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sandbox.doubles import Client, Open

from reelbook.sandbox.protocol import Settings
from reelbook.web.limits import LIFTED, Admission, Limits

BALANCE = "/api/v1/billing/balance"
REFUSED = Admission(False, 10, 0, 12)


def test_a_full_window_refuses_and_names_the_wait_in_whole_seconds() -> None:
    """Until the oldest request leaves the window, however often it is asked meanwhile. An hour back in time,
    the wait is still at most a minute. While limits are lifted nothing is refused or counted.
    """
    limits, lifted = Limits(), Settings(rate_limiting=False)
    assert limits.take("k", 2, now=100.0) == Admission(True, 2, 1, 60)
    assert limits.take("k", 2, now=110.0) == Admission(True, 2, 0, 50)
    assert {limits.take("k", 2, now=120.3) for _ in range(9)} == {Admission(False, 2, 0, 40)}
    assert {limits.take("k", 2, 130.0, lifted) for _ in range(20)} == {Admission(True, LIFTED, LIFTED, 0)}
    assert limits.take("k", 2, now=160.0) == Admission(True, 2, 0, 10)
    assert limits.take("k", 2, now=160.0 - 3600) == Admission(False, 2, 0, 60)


def test_a_fixed_window_opens_as_a_whole_at_the_clocks_next_minute() -> None:
    """However late in a minute its requests were sent, all of them are free again when it ends."""
    limits, fixed = Limits(), Settings(limit_window="fixed")
    assert limits.take("k", 2, now=659.0, settings=fixed) == Admission(True, 2, 1, 1)
    assert limits.take("k", 2, now=659.5, settings=fixed) == Admission(True, 2, 0, 1)
    assert limits.take("k", 2, now=659.9, settings=fixed) == Admission(False, 2, 0, 1)
    assert limits.take("k", 2, now=660.0, settings=fixed) == Admission(True, 2, 1, 60)
    assert limits.take("k", 2, now=661.0, settings=fixed) == Admission(True, 2, 0, 59)


def test_refused_requests_that_count_prolong_a_sliding_window() -> None:
    """Whoever keeps knocking is never let in; a minute of silence opens the window."""
    limits, strict = Limits(), Settings(count_refused=True)
    assert limits.take("k", 1, now=0.0, settings=strict).allowed
    assert not any(
        limits.take("k", 1, now=float(second), settings=strict).allowed for second in range(1, 300)
    )
    assert limits.take("k", 1, now=310.0, settings=strict) == Admission(False, 1, 0, 60)
    assert limits.take("k", 1, now=370.0, settings=strict).allowed


@given(
    settings=st.builds(
        Settings, limit_window=st.sampled_from(["sliding", "fixed"]), count_refused=st.booleans()
    ),
    pauses=st.lists(st.floats(0, 40), max_size=60),
    per_minute=st.integers(1, 12),
)
def test_whoever_waits_as_long_as_the_reset_says_is_let_in(
    settings: Settings, pauses: list[float], per_minute: int
) -> None:
    """After any history of requests, under each rule."""
    limits, now = Limits(), 1_000_000.0
    for pause in pauses:
        now += pause
        admission = limits.take("k", per_minute, now, settings)
        assert 0 <= admission.remaining <= per_minute
        assert 0 <= admission.reset_seconds <= 60
    wait = limits.take("k", per_minute, now, settings).reset_seconds
    assert limits.take("k", per_minute, now + wait, settings).allowed


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (Settings(), ("10", "0", "12")),
        (Settings(reset_unit="epoch"), ("10", "0", "1013")),
        (Settings(reset_unit="epoch_ms"), ("10", "0", "1012250")),
        (Settings(limit_headers="wrong"), ("100", "99", "0")),
    ],
)
def test_the_headers_follow_the_rules(settings: Settings, told: tuple[str, str, str]) -> None:
    """An epoch is never before the moment it tells of."""
    assert REFUSED.headers(Settings(limit_headers="none"), now=1000.0) == {}
    names = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
    assert REFUSED.headers(settings, now=1000.25) == dict(zip(names, told, strict=True))


def test_the_rules_are_set_from_outside(open_sandbox: Open, tmp_path: Path) -> None:
    """Each setting is shown by `state` and changes the answers from then on, also those that refuse."""

    def told(client: Client) -> dict[str, str]:
        headers = client.get(BALANCE).headers
        return {name: value for name, value in headers.items() if name.startswith("x-ratelimit")}

    with open_sandbox(tmp_path, rate_limiting=True, rate_limit=2) as client:
        client.sandbox.settings(reset_unit="epoch_ms", limit_window="sliding")
        assert time.time() < int(told(client)["x-ratelimit-reset"]) / 1000 < time.time() + 61
        client.sandbox.settings(limit_headers="wrong")
        assert told(client)["x-ratelimit-remaining"] == "99"
        client.sandbox.settings(limit_headers="none", count_refused=True)
        refused = client.get(BALANCE)
        assert (refused.status_code, told(client)) == (429, {})
        state = client.sandbox.state()
    names = ("limit_window", "count_refused", "reset_unit", "limit_headers")
    assert [state[name] for name in names] == ["sliding", True, "epoch_ms", "none"]
