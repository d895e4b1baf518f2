"""What submissions cost, and the limit before each."""

import os
import pickle
from pathlib import Path

import pytest
from ledger.doubles import (
    Clock,
    Kernel,
    find,
    fox,
    intend,
    intend_many,
    known,
    opened,
    race,
    submitted,
)
from support.ledgers import told

from reelbook import states
from reelbook.errors import SpendLimitReached
from reelbook.executions import Place
from reelbook.ledger import Ledger, Spend


def test_every_state_counts_as_what_it_may_cost(ledger: Ledger) -> None:
    """Billed, on its way, or uncertain: failed and abandoned ones are uncertain until the bill is known."""
    ids = [entry.id for entry, _ in intend_many(ledger, [fox()] * 9)]
    for entry_id in ids[1:]:
        ledger.sending(entry_id)
    for entry_id in ids[4:]:
        ledger.accepted(entry_id, f"req-{entry_id}")
    ledger.ended(ids[1], states.REFUSED, "402")
    ledger.ended(ids[2], states.UNCERTAIN, "no answer")
    ledger.status(ids[5], told("completed", cost_usd=0.2012, duration_seconds=4.024))
    ledger.status(ids[6], told("failed", error="policy"))
    ledger.status(ids[7], told("rendering hard"))
    ledger.abandoned(ids[8], "404")
    assert ledger.spend() == Spend(spent_usd=0.2012, reserved_usd=1.0, uncertain_usd=0.75)
    ledger.status(ids[6], told("failed", cost_usd=0.0))
    ledger.settle(ids[2], accepted=True)
    ledger.cancelled(ids[0])
    spend = ledger.spend()
    assert spend == Spend(spent_usd=0.4512, reserved_usd=0.75, uncertain_usd=0.25)
    assert spend.committed_usd == 1.4512


def test_what_another_process_submits_is_not_this_sessions(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even if that one's number begins alike."""
    intend(ledger, fox())
    assert ledger.spend(here=True) == Spend(0.0, 0.25, 0.0)
    for other in (os.getpid() + 1, os.getpid() // 10):
        monkeypatch.setattr("os.getpid", lambda number=other: number)
        assert ledger.spend(here=True) == Spend(0.0, 0.0, 0.0)


def test_a_sessions_spending_outlasts_a_step_of_the_clock(ledger: Ledger, clock: Clock) -> None:
    """What was submitted before and after counts, whichever way the computer's clock was set."""
    for step in (0, -7200, 7200, 3600):
        clock.now += step
        intend(ledger, fox())
        assert ledger.spend(here=True) == ledger.spend()


def test_the_sums_are_those_of_one_moment(ledger: Ledger, folder: Path) -> None:
    """A clip that ends in another kernel while they are added up is in exactly one of them."""
    left = [submitted(ledger) for _ in range(8)]
    with opened(folder) as other:

        def meanwhile() -> None:
            if left:
                other.status(left.pop(), told("completed", cost_usd=0.25))

        ledger.store.read(lambda connection: connection.set_progress_handler(meanwhile, 20))
        spend = ledger.spend()
        ledger.store.read(lambda connection: connection.set_progress_handler(None, 0))
    assert len(left) < 8
    assert spend.committed_usd == 2.0


def test_the_limit_may_be_reached_and_not_passed(ledger: Ledger) -> None:
    """To the cent, without the errors of binary fractions; what it refuses isn't recorded."""
    for _ in range(3):
        intend(ledger, fox(duration_seconds=2), limit_usd=0.3)
    with pytest.raises(SpendLimitReached) as caught:
        intend(ledger, fox(duration_seconds=1), limit_usd=0.3)
    assert len(find(ledger)) == 3
    assert caught.value.committed_usd == pytest.approx(0.3)
    assert (caught.value.limit_usd, caught.value.needed_usd) == (0.3, 0.05)
    assert "$0.05 would pass the spending limit of $0.30: $0.30 reserved" in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), vars(again)) == (str(caught.value), vars(caught.value))


def test_a_batch_is_checked_as_a_whole(ledger: Ledger) -> None:
    """Of five clips where four fit none is recorded; four are, beside the earlier run's clip."""
    intend(ledger, fox(place=Place("cell")))
    with pytest.raises(SpendLimitReached, match=r"These 5 clips for about \$1\.25 would pass .* \$1\.25"):
        intend_many(ledger, [fox()] * 5, limit_usd=1.25)
    assert len(find(ledger)) == 1
    intended = intend_many(ledger, [fox(place=Place("cell")), *[fox()] * 4], limit_usd=1.25)
    assert [each.new for each in intended] == [False, True, True, True, True]
    again = intend(ledger, fox(place=Place("cell")), limit_usd=1.25)  # which costs nothing
    assert again.entry.id == intended[0].entry.id


def test_two_kernels_cannot_pass_the_limit_together(ledger: Ledger, kernel: Kernel) -> None:
    """Both submit as fast as they can: together they are let through ten times at a limit of ten clips."""
    code = """
bought = 0
for _ in range(20):
    try:
        intend(ledger, fox(), limit_usd=2.5)
        bought += 1
    except SpendLimitReached:
        pass
say(bought)
"""
    assert sum(map(int, race(kernel, code))) == 10
    assert ledger.spend().reserved_usd == 2.5


@pytest.mark.parametrize("amount", [1e300, float("inf"), -1e14])
def test_an_amount_that_nobody_can_mean_loses_no_id(ledger: Ledger, amount: float) -> None:
    """The file's integers end somewhere; what the service said beside the amount is kept all the same."""
    entry = intend(ledger, fox()).entry
    ledger.sending(entry.id)
    ledger.accepted(entry.id, "req_1", estimated_cost_usd=amount)
    assert abs(known(ledger, entry.id).estimated_cost_usd) == 1e9
    assert abs(ledger.spend().reserved_usd) == 1e9
    assert ledger.spend().committed_usd >= 0.25


@pytest.mark.parametrize(
    ("cost", "seconds", "uncertain"),
    [
        (0.0, None, 0.25),
        (0.0, 5.0, 0.25),
        (0.0, 4.0, 0.2),
        (0.15, 3.0, 0.0),
        (0.2, 4.04, 0.0),
        (0.3, 5.0, 0.0),
        (0.0, 0.0, 0.25),
        (0.0, 0.001, 0.25),
        (0.0, -5.0, 0.25),
        (0.25, 5000.0, 0.0),
        (None, 4.0, 0.0),
    ],
)
def test_what_a_cost_is_short_of_the_price_counts_as_uncertain(
    ledger: Ledger, cost: float | None, seconds: float | None, uncertain: float
) -> None:
    """By the delivered length if that is plausible, else by the one asked for; cents may be rounded."""
    entry_id = submitted(ledger)
    ledger.status(entry_id, told("completed", cost_usd=cost, duration_seconds=seconds))
    spend = ledger.spend()
    assert (spend.spent_usd, spend.uncertain_usd) == (0.25 if cost is None else cost, uncertain)
    assert known(ledger, entry_id).cost_usd == cost


@pytest.mark.parametrize("estimate", [0.01, 0.0, -5.0, 1e-9, None])
def test_no_low_figure_makes_room_in_the_limit(ledger: Ledger, estimate: float | None) -> None:
    """Four clips for 0.25 USD are a dollar, whatever estimate is said; without one, whatever final cost."""
    for number in range(4):
        entry_id = intend(ledger, fox(), limit_usd=1.0).entry.id
        ledger.accepted(entry_id, f"req-{number}", estimated_cost_usd=estimate)
        if estimate is None:
            ledger.status(entry_id, told("completed", cost_usd=0.0))
    assert ledger.spend().committed_usd == 1.0
    with pytest.raises(SpendLimitReached):
        intend(ledger, fox(), limit_usd=1.0)


def test_a_job_that_was_never_made_is_short_of_nothing(ledger: Ledger) -> None:
    """Neither one that was refused nor a failed one that is known to have cost nothing."""
    refused, failed = (intend(ledger, fox()).entry.id for _ in range(2))
    for entry_id in (refused, failed):
        ledger.accepted(entry_id, f"req-{entry_id}", estimated_cost_usd=0.01)
    assert ledger.spend() == Spend(0.0, 0.02, 0.48)
    ledger.ended(refused, states.REFUSED, "400")
    ledger.status(failed, told("failed"))
    assert ledger.spend() == Spend(0.0, 0.0, 0.25)
    ledger.status(failed, told("failed", cost_usd=0.0))
    assert ledger.spend() == Spend(0.0, 0.0, 0.0)
