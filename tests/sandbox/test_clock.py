"""The sandbox's time."""

from __future__ import annotations

import time

import pytest

from reelbook.sandbox.clock import Clock, iso


def test_the_clock_is_the_machines_until_it_is_moved() -> None:
    """Untouched it tells the time; moved on, it stands where it was moved to."""
    clock = Clock()
    assert clock.now() == pytest.approx(time.time(), abs=5)
    clock.advance(3600)
    stands = clock.now()
    assert stands == pytest.approx(time.time() + 3600, abs=5)
    assert clock.now() == stands
    clock.advance(60)
    assert clock.now() == stands + 60


def test_times_are_written_in_utc() -> None:
    """ISO 8601 with milliseconds and a Z."""
    assert iso(1_800_000_000.25) == "2027-01-15T08:00:00.250Z"
