"""What the rate headers say, in every unit, and where they say nothing."""

from __future__ import annotations

from email.utils import formatdate

import pytest

from reelbook.client.rate_headers import RateHeaders, read, reset_seconds


@pytest.mark.parametrize("value", ["17", "1800000017", "1800000017000"])
def test_reset_is_read_in_every_unit(value: str) -> None:
    """Seconds to wait, epoch seconds and epoch milliseconds mean the same."""
    assert reset_seconds({"x-ratelimit-reset": value}, wall=1_800_000_000) == pytest.approx(17)


def test_an_epoch_is_read_against_the_services_own_clock() -> None:
    """A wrong clock on this machine doesn't matter where the answer has a date."""
    headers = {"x-ratelimit-reset": "1800000017", "date": formatdate(1_800_000_000, usegmt=True)}
    assert reset_seconds(headers, wall=5) == pytest.approx(17)


@pytest.mark.parametrize("value", ["", "soon", "-5", "4000", "nan", "inf"])
def test_a_reset_that_makes_no_sense_is_ignored(value: str) -> None:
    """A limit per minute can't take an hour to reset."""
    assert reset_seconds({"x-ratelimit-reset": value}, wall=0) is None


def test_what_is_missing_or_absurd_is_none() -> None:
    """No limit below one, no more left than the limit, and nothing made up."""
    nothing = RateHeaders(None, None, None, None)
    assert read({}) == nothing
    assert read({"x-ratelimit-limit": "0", "x-ratelimit-remaining": "-1"}) == nothing
    assert read({"x-ratelimit-limit": "10", "x-ratelimit-remaining": "11"}).remaining is None
    assert read({"retry-after": "7"}).retry_after == 7


@pytest.mark.parametrize("limit", ["1001", "1000000", "1e300"])
def test_a_quota_of_a_month_is_not_taken_for_that_of_a_minute(limit: str) -> None:
    """Counting what is used up of it would fill the memory, and what is left of it says nothing of now."""
    said = read({"x-ratelimit-limit": limit, "x-ratelimit-remaining": "3"})
    assert (said.limit, said.remaining) == (None, None)
    assert read({"x-ratelimit-limit": "1000", "x-ratelimit-remaining": "3"}).limit == 1000
