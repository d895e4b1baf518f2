"""The requests that the kernels of one machine share."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pytest
from ledger.doubles import KEY, Kernel, opened, race

from reelbook.ledger import Ledger
from reelbook.ledger.request_log import Instant


def at(second: float, *, set_by: float = 0.0) -> Instant:
    """A moment on this machine, whose epoch clock was set forward or back by so many seconds."""
    return {"steady": 5000.0 + second, "epoch": 1_800_000_000.0 + second + set_by, "boot": "this machine"}


def elsewhere(second: float, *, set_by: float = 0.0) -> Instant:
    """The same moment on another machine, which was started at another time."""
    return {"steady": 70.0 + second, "epoch": 1_800_000_000.0 + second + set_by, "boot": "another machine"}


class Asked(NamedTuple):
    """A request that was entered: its number, and what it heard of the others' requests."""

    number: int | None
    others: list[float]  # how long ago they count from
    told: int | None


def asked(ledger: Ledger, moment: Instant, *, fits: bool = True) -> Asked:
    """What becomes of a request at that moment, whether it `fits` or not."""
    heard: list[tuple[list[float], int | None]] = []

    def look(others: Sequence[float], told: int | None) -> bool:
        heard.append(([-each for each in others], told))
        return fits

    ledger.requests._now = lambda: moment
    return Asked(ledger.requests.enter(0.0, look), *heard[0])


def answered(ledger: Ledger, moment: Instant, place: int | None, limit: int | None = None) -> None:
    """The request was answered at that moment."""
    assert place is not None
    ledger.requests._now = lambda: moment
    ledger.requests.answered(place, limit)


@pytest.fixture
def other(ledger: Ledger) -> Iterator[Ledger]:
    """The ledger of another kernel of the same home."""
    with opened(ledger.store.path.parent) as kernel:
        yield kernel


def test_a_kernel_sees_the_others_requests_and_not_its_own(ledger: Ledger, other: Ledger) -> None:
    """Its own are in its budget already, with all that their answers said. The others' count from their
    answer, as the service may have counted them as late as that, and from now while they are under way.
    """
    for second in (1, 2):
        mine = asked(ledger, at(second))
        assert mine.others == []
        answered(ledger, at(second), mine.number)
    assert asked(other, at(3)).others == [2, 1]
    number = asked(ledger, at(4)).number
    assert asked(other, at(8)).others == [7, 6, 0]
    answered(ledger, at(9), number)
    assert asked(other, at(30)).others == [29, 28, 21]


def test_only_what_fits_the_key_is_noted(ledger: Ledger, other: Ledger) -> None:
    """One that has to wait doesn't count, one never sent gives its place back; keys are counted apart."""
    assert asked(ledger, at(0), fits=False).number is None
    number = asked(ledger, at(0)).number
    assert number is not None
    ledger.requests.give_back(number)
    asked(ledger.file.ledger("https://other.example", KEY), at(0))
    assert asked(other, at(0)).others == []


def test_the_limit_that_one_was_told_is_known_to_the_others(ledger: Ledger, other: Ledger) -> None:
    """The newest that was told counts."""
    for second, limit in ((0, 10), (1, 100), (2, None)):
        answered(ledger, at(second), asked(ledger, at(second)).number, limit)
    assert asked(other, at(4)).told == 100


def test_a_request_of_a_kernel_that_ended_counts_for_as_long_as_it_may_have_taken(
    ledger: Ledger, other: Ledger
) -> None:
    """It was never answered: it counts from the last moment at which it can have arrived."""
    asked(ledger, at(0))
    assert [asked(other, at(second)).others for second in (100, 121)] == [[40], []]


@pytest.mark.parametrize("step", [3600.0, -3600.0, 90.0, -30.0])
def test_a_clock_that_is_set_changes_nothing(ledger: Ledger, other: Ledger, step: float) -> None:
    """Forward or back: a request counts for the minute after its answer."""
    number = asked(ledger, at(0)).number
    assert asked(other, at(1, set_by=step)).others == [0]
    answered(ledger, at(2, set_by=step), number)
    assert asked(other, at(3, set_by=2 * step)).others == [1]
    assert asked(other, at(62.5)).others == []


@pytest.mark.parametrize(
    ("set_by", "counts"), [(0.0, [10]), (-20.0, [30]), (30.0, [0]), (3600.0, []), (-3600.0, [])]
)
def test_machines_that_share_a_folder_go_by_the_clock_of_the_epoch(
    ledger: Ledger, other: Ledger, set_by: float, counts: list[float]
) -> None:
    """They share no other clock; one that is wrong by an hour stops nobody."""
    there = elsewhere(0, set_by=set_by)
    answered(ledger, there, asked(ledger, there).number)
    assert asked(other, at(10)).others == counts


def test_old_requests_are_forgotten(ledger: Ledger) -> None:
    """The table doesn't grow with the years."""
    for minute in range(100):
        asked(ledger, at(60 * minute))
    assert ledger.store.rows("SELECT count(*) FROM requests")[0][0] == 6


def test_two_kernels_never_both_take_the_last_place(kernel: Kernel) -> None:
    """Both enter as fast as they can, each while its own and the others' are under ten: ten in all."""
    code = """
own = 0
for n in range(50):
    fits = lambda others, told: own + len(others) < 10
    own += ledger.requests.enter(0.0, fits) is not None
say(own)
"""
    assert sum(map(int, race(kernel, code))) == 10
