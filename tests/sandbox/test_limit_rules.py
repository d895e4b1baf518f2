"""What the interface leaves open about the rate limit, each reading of it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sandbox.doubles import Client, Open

from reelbook.sandbox.limits import Limits, Rules, Verdict

BALANCE = "/api/v1/billing/balance"
REFUSED = Verdict(False, 10, 0, 12)


def _limits(rules: Rules) -> Limits:
    limits = Limits()
    limits.rules = rules
    return limits


def test_a_fixed_window_opens_as_a_whole_at_the_clocks_next_minute() -> None:
    """However late in a minute its requests were sent, all of them are free again when it ends."""
    limits = _limits(Rules(limit_window="fixed"))
    assert limits.take("k", 2, now=659.0) == Verdict(True, 2, 1, 1)
    assert limits.take("k", 2, now=659.5) == Verdict(True, 2, 0, 1)
    assert limits.take("k", 2, now=659.9) == Verdict(False, 2, 0, 1)
    assert limits.take("k", 2, now=660.0) == Verdict(True, 2, 1, 60)
    assert limits.take("k", 2, now=661.0) == Verdict(True, 2, 0, 59)


def test_refused_requests_that_count_prolong_a_sliding_window() -> None:
    """Whoever keeps knocking is never let in; a minute of silence opens the window."""
    limits = _limits(Rules(count_refused=True))
    assert limits.take("k", 1, now=0.0).allowed
    assert not any(limits.take("k", 1, now=float(second)).allowed for second in range(1, 300))
    assert limits.take("k", 1, now=310.0) == Verdict(False, 1, 0, 60)
    assert limits.take("k", 1, now=370.0).allowed


@given(
    rules=st.builds(Rules, st.sampled_from(["sliding", "fixed"]), st.booleans()),
    pauses=st.lists(st.floats(0, 40), max_size=60),
    per_minute=st.integers(1, 12),
)
def test_whoever_waits_as_long_as_the_reset_says_is_let_in(
    rules: Rules, pauses: list[float], per_minute: int
) -> None:
    """After any history of requests, under each rule."""
    limits, now = _limits(rules), 1_000_000.0
    for pause in pauses:
        now += pause
        verdict = limits.take("k", per_minute, now)
        assert 0 <= verdict.remaining <= per_minute
        assert 0 <= verdict.reset_seconds <= 60
    assert limits.take("k", per_minute, now + limits.take("k", per_minute, now).reset_seconds).allowed


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        (Rules(), ("10", "0", "12")),
        (Rules(reset_unit="epoch"), ("10", "0", "1013")),
        (Rules(reset_unit="epoch_ms"), ("10", "0", "1012250")),
        (Rules(limit_headers="wrong"), ("100", "99", "0")),
    ],
)
def test_the_headers_follow_the_rules(rules: Rules, told: tuple[str, str, str]) -> None:
    """An epoch is never before the moment it tells of."""
    names = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
    assert REFUSED.headers(rules, now=1000.25) == dict(zip(names, told, strict=True))


def test_headers_can_be_left_out() -> None:
    """No header tells of the limit."""
    assert REFUSED.headers(Rules(limit_headers="none"), now=1000.0) == {}


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
