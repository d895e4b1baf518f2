"""The request budget that the kernels of one machine share."""

from __future__ import annotations

import pytest
from ledger.doubles import KEY, Kernel, heard, tell

from reelbook.ledger import Account, Ledger

NOW = 1_800_000_000.0


def test_a_request_is_noted_while_one_more_fits(ledger: Ledger, account: Account) -> None:
    """Ten in any minute: the eleventh is told when the oldest leaves the window, and is not noted."""
    for second in range(10):
        slot = ledger.requests.reserve(account, NOW + second, limit=10, window_seconds=60, purpose="poll")
        assert slot.id is not None
    late = ledger.requests.reserve(account, NOW + 20, limit=10, window_seconds=60)
    assert late == (None, 40.0)
    assert ledger.requests.recent(account, NOW) == [NOW + second for second in range(1, 10)]
    assert ledger.requests.reserve(account, NOW + 60, limit=10, window_seconds=60).id is not None


def test_a_smaller_limit_waits_for_as_many_as_are_too_many(ledger: Ledger, account: Account) -> None:
    """A key whose limit turns out to be 2 waits until only one of its four requests is in the window."""
    for second in range(4):
        ledger.requests.note(account, NOW + second)
    assert ledger.requests.reserve(account, NOW + 10, limit=2, window_seconds=60).wait_seconds == 52


def test_a_request_counts_from_its_answer(ledger: Ledger, account: Account) -> None:
    """The service may have counted it as late as that; one that was never sent doesn't count."""
    slow = ledger.requests.reserve(account, NOW, limit=1, window_seconds=60)
    ledger.requests.answered(slow, NOW + 5)
    assert ledger.requests.reserve(account, NOW + 61, limit=1, window_seconds=60).wait_seconds == 4
    ledger.requests.give_back(slow)
    assert ledger.requests.reserve(account, NOW + 61, limit=1, window_seconds=60).id is not None


def test_keys_have_budgets_of_their_own(ledger: Ledger, account: Account) -> None:
    """Another account's requests don't count."""
    ledger.requests.note(account, NOW)
    other = ledger.account("https://other.example", KEY)
    assert ledger.requests.reserve(other, NOW, limit=1, window_seconds=60).id is not None


@pytest.mark.parametrize("back_seconds", [30, 86_400])
def test_a_clock_that_is_set_back_stops_nobody_for_long(
    ledger: Ledger, account: Account, back_seconds: float
) -> None:
    """Times that lie in the future count within a window, and no further."""
    ledger.requests.note(account, NOW)
    wait = ledger.requests.reserve(account, NOW - back_seconds, limit=1, window_seconds=60).wait_seconds
    assert wait == (90 if back_seconds == 30 else 0)


def test_old_requests_are_forgotten(ledger: Ledger, account: Account) -> None:
    """The table doesn't grow with the years."""
    for minute in range(100):
        ledger.requests.note(account, NOW + 60 * minute)
    assert len(ledger.requests.recent(account, 0)) == 6


def test_two_kernels_stay_within_the_limit_together(kernel: Kernel) -> None:
    """Both reserve as fast as they can: ten requests in all are let through."""
    code = f"""
say("ready")
wait()
slots = [ledger.requests.reserve(account, {NOW} + n / 100, limit=10, window_seconds=60) for n in range(50)]
say(sum(slot.id is not None for slot in slots))
wait()
"""
    kernels = [kernel(code), kernel(code)]
    for each in kernels:
        assert heard(each) == "ready"
    for each in kernels:
        tell(each)
    assert sum(int(heard(each)) for each in kernels) == 10
