"""What the billing endpoints said, and when."""

from __future__ import annotations

from ledger.doubles import KEY

from reelbook.ledger import Ledger, Sample


def test_the_last_sample_is_the_newest_before_a_moment(ledger: Ledger) -> None:
    """By time, not by the order of writing; one that lacks the figure asked for is passed over."""
    balance = Sample(at=20, balance_usd=9.75, total_spent_usd=0.25)
    usage = Sample(at=10, total_requests=3, total_seconds=14.5, total_cost_usd=0.725, period_days=30)
    for sample in (balance, usage):
        ledger.samples.add(sample)
    assert ledger.samples.last() == balance
    assert ledger.samples.last(before=20) == usage
    assert ledger.samples.last(having="total_requests") == usage
    assert ledger.samples.last(before=10) is None
    assert ledger.samples.list(since=10) == [balance, usage]


def test_accounts_have_samples_of_their_own(ledger: Ledger) -> None:
    """Another key's balance is not this one's."""
    ledger.samples.add(Sample(at=1, balance_usd=1))
    assert ledger.file.ledger("https://other.example", KEY).samples.last() is None
