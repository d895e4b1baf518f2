"""What submissions cost, and the limit before each."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from ledger.doubles import Clock, Kernel, fox, heard, tell

from reelbook.errors import SpendLimitReached
from reelbook.ledger import Account, Ledger, Place, Spend


def test_every_state_counts_as_what_it_may_cost(ledger: Ledger, account: Account) -> None:
    """Billed, on its way, or uncertain: failed and abandoned ones are uncertain until the bill is known."""
    ids = [entry.id for entry, _ in ledger.intend_many(account, [fox()] * 9)]
    for entry_id in ids[1:]:
        ledger.sending(entry_id)
    for entry_id in ids[4:]:
        ledger.accepted(entry_id, f"req-{entry_id}")
    ledger.refused(ids[1], "402")
    ledger.uncertain(ids[2], "no answer")
    ledger.status(ids[5], "completed", cost_usd=0.2012)
    ledger.status(ids[6], "failed", error="policy")
    ledger.status(ids[7], "rendering hard")
    ledger.abandoned(ids[8], "404")
    assert ledger.spend(account) == Spend(spent_usd=0.2012, reserved_usd=1.0, uncertain_usd=0.75)
    ledger.billed(ids[6], 0.0)
    ledger.settle(ids[2], accepted=True)
    ledger.cancelled(ids[0])
    known = ledger.spend(account)
    assert known == Spend(spent_usd=0.4512, reserved_usd=0.75, uncertain_usd=0.25)
    assert known.committed_usd == 1.4512


def test_spend_can_be_asked_from_a_moment_on(ledger: Ledger, account: Account, clock: Clock) -> None:
    """What was intended before doesn't count, neither in the sum nor against the limit."""
    ledger.intend(account, fox())
    clock.now += 10
    since = clock.now
    ledger.intend(account, fox(), limit_usd=0.25, limit_since=since)
    assert ledger.spend(account, since=since).reserved_usd == 0.25
    assert ledger.spend(account).reserved_usd == 0.5


def test_the_sums_are_those_of_one_moment(ledger: Ledger, account: Account, folder: Path) -> None:
    """A clip that another kernel sees finished while they are added up is in one of them."""
    left = [entry.id for entry, _ in ledger.intend_many(account, [fox()] * 8)]
    for entry_id in left:
        ledger.accepted(entry_id, f"req-{entry_id}")
    with Ledger.open(folder) as other:

        def meanwhile() -> None:
            if left:
                other.status(left.pop(), "completed", cost_usd=0.25)

        ledger._store.read(lambda connection: connection.set_progress_handler(meanwhile, 20))
        known = ledger.spend(account)
        ledger._store.read(lambda connection: connection.set_progress_handler(None, 0))
    assert len(left) < 8
    assert known.committed_usd == 2.0


def test_the_limit_may_be_reached_and_not_passed(ledger: Ledger, account: Account) -> None:
    """To the cent, without the errors of binary fractions; and what it refuses isn't written down."""
    for _ in range(3):
        ledger.intend(account, fox(estimated_cost_usd=0.1), limit_usd=0.3)
    with pytest.raises(SpendLimitReached) as caught:
        ledger.intend(account, fox(estimated_cost_usd=0.05), limit_usd=0.3)
    assert len(ledger.find()) == 3
    assert caught.value.committed_usd == pytest.approx(0.3)
    assert (caught.value.limit_usd, caught.value.needed_usd) == (0.3, 0.05)
    assert str(caught.value) == (
        "This clip for about $0.05 would pass the spending limit of $0.30: $0.30 reserved for clips on their "
        "way so far. Nothing was sent. Raise the limit, or ask for less."
    )
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), vars(again)) == (str(caught.value), vars(caught.value))


def test_what_is_free_is_never_refused(ledger: Ledger, account: Account) -> None:
    """Giving back the clip of an earlier run costs nothing, so a limit that is used up doesn't forbid it."""
    placed = fox(place=Place("cell"))
    first = ledger.intend(account, placed, limit_usd=0.25)
    assert ledger.intend(account, placed, limit_usd=0.25).entry == first.entry


def test_a_batch_is_checked_as_a_whole(ledger: Ledger, account: Account) -> None:
    """Five clips where four fit: none is written down; four are, with the earlier run's clip beside them."""
    ledger.intend(account, fox(place=Place("cell")))
    with pytest.raises(SpendLimitReached, match=r"These 5 clips for about \$1\.25 would pass .* \$1\.25"):
        ledger.intend_many(account, [fox()] * 5, limit_usd=1.25)
    assert len(ledger.find()) == 1
    intended = ledger.intend_many(account, [fox(place=Place("cell")), *[fox()] * 4], limit_usd=1.25)
    assert [each.new for each in intended] == [False, True, True, True, True]


def test_two_kernels_cannot_pass_the_limit_together(ledger: Ledger, account: Account, kernel: Kernel) -> None:
    """Both submit as fast as they can: together they are let through ten times at a limit of ten clips."""
    code = """
say("ready")
wait()
bought = 0
for _ in range(20):
    try:
        ledger.intend(account, fox(), limit_usd=2.5)
        bought += 1
    except SpendLimitReached:
        pass
say(bought)
wait()
"""
    kernels = [kernel(code), kernel(code)]
    for each in kernels:
        assert heard(each) == "ready"
    for each in kernels:
        tell(each)
    assert sum(int(heard(each)) for each in kernels) == 10
    assert ledger.spend(account).reserved_usd == 2.5


@pytest.mark.parametrize("amount", [1e300, float("inf"), -1e14])
def test_an_amount_that_nobody_can_mean_loses_no_id(ledger: Ledger, account: Account, amount: float) -> None:
    """The file's integers end somewhere; what the service said beside the amount is kept all the same."""
    entry = ledger.intend(account, fox()).entry
    ledger.sending(entry.id)
    ledger.accepted(entry.id, "req_1", estimated_cost_usd=amount)
    found = ledger.by_request_id(account, "req_1")
    assert found is not None
    assert abs(found.estimated_cost_usd) == 1e9
    assert abs(ledger.spend(account).reserved_usd) == 1e9
