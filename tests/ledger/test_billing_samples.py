"""What the billing endpoints said, and when."""

from __future__ import annotations

from ledger.doubles import KEY, Clock, fox, intend

from reelbook.ledger import Ledger, Sample


def test_samples_are_listed_from_the_newest_on(ledger: Ledger, clock: Clock) -> None:
    """By time, not by the order of writing; a period is that of a usage."""
    balance = Sample(at=20, balance_usd=9.75, total_spent_usd=0.25)
    usage = Sample(at=10, total_requests=3, total_seconds=14.5, total_cost_usd=0.725, period_days=30)
    for sample in (balance, usage):
        ledger.samples.add(sample)
    assert ledger.samples.list() == ledger.samples.list(since=10) == [balance, usage]
    assert ledger.samples.list(limit=1) == [balance]
    assert ledger.samples.list(before=20) == [usage]
    assert ledger.samples.list(before=10) == []
    lost = intend(ledger, fox()).entry.id
    ledger.sending(lost)
    ledger.samples.add(Sample(at=clock.now + 10, total_requests=1, period_days=7))
    assert ledger.usage_days() == 7
    ledger.uncertain(lost, "no answer")  # which is judged by what was said before it
    assert ledger.usage_days() == 30


def test_accounts_have_samples_of_their_own(ledger: Ledger) -> None:
    """Another key's balance is not this one's."""
    ledger.samples.add(Sample(at=1, balance_usd=1))
    assert ledger.file.ledger("https://other.example", KEY).samples.list() == []
