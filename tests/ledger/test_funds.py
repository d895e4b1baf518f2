"""What the billing endpoints said, and what is left of the balance: what is subtracted, and until when."""

from pathlib import Path

import pytest
from ledger.doubles import KEY, Clock, fox, intend, opened, submitted, uncertain
from support.ledgers import told

from reelbook.ledger import Ledger, Sample
from reelbook.ledger.money import PATIENCE_SECONDS, Funds
from reelbook.wire import DAY_SECONDS


class Balance:
    """The account's balance, and the answers to those who ask for it."""

    def __init__(self, ledger: Ledger, clock: Clock) -> None:
        self._ledger, self._clock = ledger, clock
        self.usd = 10.0

    def ask(self) -> None:
        """Asked now and answered a second later."""
        asked_at = self._clock.now
        self._clock.now += 1
        self._ledger.samples.add(Sample(self._clock.now, balance_usd=self.usd, asked_at=asked_at))
        self._clock.now += 1

    @property
    def left_usd(self) -> float:
        found = self._ledger.funds()
        assert found is not None
        return found.left_usd


@pytest.fixture
def balance(ledger: Ledger, clock: Clock) -> Balance:
    return Balance(ledger, clock)


def accepted(ledger: Ledger, clock: Clock) -> int:
    """The number of a clip for 0.25 USD, accepted a second ago."""
    entry = submitted(ledger)
    clock.now += 1
    return entry


def test_the_newest_balance_counts_with_its_time(ledger: Ledger, clock: Clock) -> None:
    """Whoever heard it, from either endpoint; an answer without one, or one too old, doesn't count."""
    ledger.samples.add(Sample(clock.now - 3601, balance_usd=6.0))
    assert ledger.funds() is None
    for ago, usd in ((4.0, 9.0), (2.0, 7.0), (3.0, 8.0)):
        ledger.samples.add(Sample(clock.now - ago, balance_usd=usd))
    ledger.samples.add(Sample(clock.now - 1, total_requests=1))
    ledger.samples.add(Sample(clock.now + 3600, balance_usd=5.0))  # by a clock that was ahead
    assert ledger.funds() == Funds(7.0, clock.now - 2, 0.0)


def test_a_watched_clip_comes_off_until_a_later_balance_holds_it(
    ledger: Ledger, clock: Clock, balance: Balance
) -> None:
    """From its intent on, whatever others spend; a balance asked for after its end includes it."""
    balance.ask()
    intended = intend(ledger, fox()).entry.id
    assert balance.left_usd == 9.75
    ledger.cancelled(intended)
    entry = accepted(ledger, clock)
    assert balance.left_usd == 9.75
    balance.usd -= 0.25  # somebody else's, or a service that charges what it accepts
    balance.ask()
    assert balance.left_usd == 9.5
    ledger.status(entry, told("completed", cost_usd=0.2))
    assert balance.left_usd == 9.55
    balance.usd -= 0.2
    clock.now += 1
    balance.ask()
    assert balance.left_usd == balance.usd


def test_a_question_that_was_out_while_a_clip_ended_may_not_hold_it(
    ledger: Ledger, clock: Clock, balance: Balance
) -> None:
    """What counts is when it was asked for."""
    entry = accepted(ledger, clock)
    asked_at = clock.now
    clock.now += 1
    ledger.status(entry, told("completed", cost_usd=0.25))
    clock.now += 1
    ledger.samples.add(Sample(clock.now, balance_usd=10.0, asked_at=asked_at))
    assert balance.left_usd == 9.75


@pytest.mark.parametrize("watched_by", ["a kernel that is gone", "nobody, as the service doesn't know it"])
def test_an_unwatched_clip_comes_off_for_an_hour(
    folder: Path, ledger: Ledger, clock: Clock, balance: Balance, watched_by: str
) -> None:
    """It may be charged at any time until then, by which every clip has ended."""
    if watched_by == "a kernel that is gone":
        with opened(folder, clock=clock) as other:
            accepted(other, clock)
    else:
        ledger.abandoned(accepted(ledger, clock), "404")
    balance.ask()
    assert balance.left_usd == 9.75
    clock.now += PATIENCE_SECONDS
    balance.ask()
    assert balance.left_usd == 10.0


def test_what_was_never_answered_comes_off_until_it_is_found_out(
    ledger: Ledger, clock: Clock, balance: Balance
) -> None:
    """Or for an hour; what wasn't accepted, refused or taken back costs nothing."""
    entries = [uncertain(ledger) for _ in range(3)]
    clock.now += 60
    balance.ask()
    assert balance.left_usd == 9.25
    ledger.settle(entries[0], accepted=False)
    ledger.settle(entries[1], accepted=True)  # as the figures show
    assert balance.left_usd == 9.75
    clock.now += PATIENCE_SECONDS
    balance.ask()
    assert balance.left_usd == 10.0


def test_what_ended_by_a_clock_that_was_ahead_comes_off_no_longer(
    ledger: Ledger, clock: Clock, balance: Balance
) -> None:
    """It has been set right since, and the balance includes the clips."""
    clock.now += DAY_SECONDS
    ledger.status(accepted(ledger, clock), told("completed", cost_usd=0.25))
    uncertain(ledger)
    ledger.abandoned(accepted(ledger, clock), "404")
    clock.now -= DAY_SECONDS
    balance.ask()
    assert balance.left_usd == balance.usd


def test_no_more_comes_off_than_there_is(ledger: Ledger, clock: Clock, balance: Balance) -> None:
    """What is left and what is subtracted make up the balance."""
    balance.usd = 0.4
    for _ in range(2):
        submitted(ledger)
    clock.now += 1
    balance.ask()
    assert ledger.funds() == Funds(0.4, clock.now - 1, 0.4)


def test_samples_are_listed_from_the_newest_on(ledger: Ledger) -> None:
    """By time, not by the order of writing. Another account has its own."""
    balance = Sample(at=20, balance_usd=9.75, total_spent_usd=0.25)
    usage = Sample(at=10, total_requests=3, total_seconds=14.5, total_cost_usd=0.725, period_days=30)
    for sample in (balance, usage):
        ledger.samples.add(sample)
    assert ledger.samples.list() == ledger.samples.list(since=10) == [balance, usage]
    assert ledger.samples.list(limit=1) == [balance]
    assert ledger.samples.list(before=20) == [usage]
    assert ledger.samples.list(before=10) == []
    assert ledger.file.ledger("https://other.example", KEY).samples.list() == []
