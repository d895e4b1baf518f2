"""The requests that the kernels of one machine share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from ledger.doubles import KEY, Kernel, heard, tell

from reelbook.ledger import Account, Ledger

NOW = 1_800_000_000.0


class Fits:
    """Says yes or no, and keeps what it was asked about."""

    def __init__(self, answer: bool = True) -> None:
        self.answer = answer
        self.others: list[float] = []
        self.told: int | None = None

    def __call__(self, others: Sequence[float], told: int | None) -> bool:
        self.others = [moment - NOW for moment in others]
        self.told = told
        return self.answer


@pytest.fixture
def other(ledger: Ledger) -> Iterator[Ledger]:
    """The ledger of another kernel of the same home."""
    with Ledger.open(ledger._store.path.parent) as opened:
        yield opened


def test_a_kernel_sees_the_others_requests_and_not_its_own(
    ledger: Ledger, other: Ledger, account: Account
) -> None:
    """Its own are in its budget already, with all that their answers said."""
    fits = Fits()
    for second in (1, 2):
        number = ledger.requests.enter(account, NOW + second, fits)
        assert number is not None
        ledger.requests.answered(number, NOW + second)
    assert fits.others == []
    other.requests.enter(account, NOW + 3, fits)
    assert fits.others == [1, 2]


def test_what_does_not_fit_is_not_noted(ledger: Ledger, other: Ledger, account: Account) -> None:
    """A request that has to wait is nobody's."""
    assert ledger.requests.enter(account, NOW, Fits(answer=False)) is None
    other.requests.enter(account, NOW, fits := Fits())
    assert fits.others == []


def test_a_request_counts_from_its_answer(ledger: Ledger, other: Ledger, account: Account) -> None:
    """The service may have counted it as late as that; while it is under way it counts from now."""
    number = ledger.requests.enter(account, NOW, Fits())
    assert number is not None
    other.requests.enter(account, NOW + 4, fits := Fits())
    assert fits.others == [4]
    ledger.requests.answered(number, NOW + 5)
    other.requests.enter(account, NOW + 30, fits)
    assert fits.others == [5]


def test_the_limit_that_one_was_told_is_known_to_the_others(
    ledger: Ledger, other: Ledger, account: Account
) -> None:
    """The newest answer that said one counts."""
    for second, limit in ((0, 10), (1, 100), (2, None)):
        number = ledger.requests.enter(account, NOW + second, Fits())
        assert number is not None
        ledger.requests.answered(number, NOW + second, limit)
    other.requests.enter(account, NOW + 4, fits := Fits())
    assert fits.told == 100


def test_a_request_of_a_kernel_that_ended_counts_for_as_long_as_it_may_have_taken(
    ledger: Ledger, other: Ledger, account: Account
) -> None:
    """It was never answered: it counts from the last moment at which it can have arrived."""
    ledger.requests.enter(account, NOW, Fits())
    other.requests.enter(account, NOW + 100, fits := Fits())
    assert fits.others == [60]
    other.requests.enter(account, NOW + 121, fits)
    assert fits.others == []


def test_a_request_that_was_never_sent_does_not_count(
    ledger: Ledger, other: Ledger, account: Account
) -> None:
    """Its place is given back to all."""
    number = ledger.requests.enter(account, NOW, Fits())
    assert number is not None
    ledger.requests.give_back(number)
    other.requests.enter(account, NOW, fits := Fits())
    assert fits.others == []


def test_keys_have_budgets_of_their_own(ledger: Ledger, other: Ledger, account: Account) -> None:
    """Another account's requests don't count."""
    ledger.requests.enter(ledger.account("https://other.example", KEY), NOW, Fits())
    other.requests.enter(account, NOW, fits := Fits())
    assert fits.others == []


@pytest.mark.parametrize(("back_seconds", "counts"), [(30, True), (86_400, False)])
def test_a_clock_that_is_set_back_stops_nobody_for_long(
    ledger: Ledger, other: Ledger, account: Account, back_seconds: float, counts: bool
) -> None:
    """Times that lie in the future count within a window, and no further."""
    ledger.requests.enter(account, NOW, Fits())
    other.requests.enter(account, NOW - back_seconds, fits := Fits())
    assert bool(fits.others) == counts


def test_old_requests_are_forgotten(ledger: Ledger, account: Account) -> None:
    """The table doesn't grow with the years."""
    for minute in range(100):
        ledger.requests.enter(account, NOW + 60 * minute, Fits())
    rows = ledger._store.read(
        lambda connection: connection.execute("SELECT count(*) FROM requests").fetchone()
    )
    assert rows[0] == 6


def test_two_kernels_never_both_take_the_last_place(kernel: Kernel) -> None:
    """Both enter as fast as they can, each while its own and the others' are under ten: ten in all."""
    code = f"""
say("ready")
wait()
own = 0
for n in range(50):
    fits = lambda others, told: own + len(others) < 10
    own += ledger.requests.enter(account, {NOW} + n / 100, fits) is not None
say(own)
wait()
"""
    kernels = [kernel(code), kernel(code)]
    for each in kernels:
        assert heard(each) == "ready"
    for each in kernels:
        tell(each)
    assert sum(int(heard(each)) for each in kernels) == 10
