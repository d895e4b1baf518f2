"""The sliding window of a key's requests."""

from __future__ import annotations

from reelbook.sandbox.limits import Limits, Verdict


def test_requests_within_the_limit_are_allowed_and_counted() -> None:
    """Each request takes one from what remains, and the wait is that of the oldest."""
    limits = Limits()
    assert limits.take("k", 2, now=100.0) == Verdict(True, 2, 1, 60)
    assert limits.take("k", 2, now=110.5) == Verdict(True, 2, 0, 50)


def test_a_full_window_refuses_and_names_the_wait_in_whole_seconds() -> None:
    """The third request of a limit of two is refused until the first leaves the window."""
    limits = Limits()
    limits.take("k", 2, now=100.0)
    limits.take("k", 2, now=110.0)
    assert limits.take("k", 2, now=120.3) == Verdict(False, 2, 0, 40)
    assert limits.take("k", 2, now=160.0) == Verdict(True, 2, 0, 10)


def test_refused_requests_are_not_counted() -> None:
    """Hammering a full window doesn't prolong the wait."""
    limits = Limits()
    limits.take("k", 1, now=0.0)
    assert not any(limits.take("k", 1, now=float(second)).allowed for second in range(1, 60))
    assert limits.take("k", 1, now=60.0).allowed


def test_no_minute_holds_more_than_the_limit() -> None:
    """Over any 60 seconds, at most `per_minute` requests are allowed."""
    limits = Limits()
    allowed = [now for now in (n / 4 for n in range(1200)) if limits.take("k", 10, now).allowed]
    assert len(allowed) == 50
    assert all(later - earlier >= 60 for earlier, later in zip(allowed, allowed[10:], strict=False))


def test_each_key_has_its_own_window() -> None:
    """A full window of one key leaves another's alone."""
    limits = Limits()
    limits.take("one", 1, now=0.0)
    assert limits.take("other", 1, now=0.0).allowed


def test_lifted_limits_refuse_nothing() -> None:
    """While lifted, all of the largest limit remains; afterwards counting starts where it was."""
    limits = Limits()
    limits.lifted = True
    assert {limits.take("k", 1, now=0.0) for _ in range(20)} == {Verdict(True, 100, 100, 0)}
    limits.lifted = False
    assert limits.take("k", 1, now=0.0).allowed


def test_a_clock_set_back_never_makes_the_wait_longer_than_the_window() -> None:
    """An hour back in time, the wait is still at most a minute."""
    limits = Limits()
    limits.take("k", 1, now=5000.0)
    assert limits.take("k", 1, now=1400.0) == Verdict(False, 1, 0, 60)


def test_the_headers_carry_whole_numbers() -> None:
    """The three headers of the interface, as text."""
    assert Verdict(True, 10, 9, 60).headers() == {
        "X-RateLimit-Limit": "10",
        "X-RateLimit-Remaining": "9",
        "X-RateLimit-Reset": "60",
    }
