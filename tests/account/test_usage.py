"""What totals say about each day, how many questions that takes, and how a service counts days."""

import itertools
from dataclasses import replace

import pytest
from account.usage_service import AFTERNOON, DAY, Service, assert_right, busy, refine
from hypothesis import given, settings
from hypothesis import strategies as st

from reelbook.account.usage import KnownUsage, Reading, Totals, infer_reading, spans

BOTH = pytest.mark.parametrize("reading", ["rolling", "calendar"])


@BOTH
@pytest.mark.parametrize("days", [7, 30, 90])
def test_every_span_equals_the_truth(reading: Reading, days: int) -> None:
    """At each step on the way, without a gap, and to the last day in the end: USD, seconds and requests."""
    for seed in range(450 // days):
        service = Service(busy(seed, days, 1 / 3), reading)
        known, count = refine(service, AFTERNOON, days=days)
        for steps in range(1, count + 1):
            found = spans(replace(known, answers=known.answers[:steps]))
            assert all(a.to_at == b.from_at for a, b in itertools.pairwise(found))
            assert sum(span.usd for span in found) == pytest.approx(service.answers[0].usd)
            assert None not in {span.seconds for span in found} | {span.requests for span in found}
            assert_right(service, replace(known, answers=known.answers[:steps]))
        assert all(span.split for span in spans(known))


@BOTH
def test_thirty_days_take_few_questions(reading: Reading) -> None:
    """With a third of the days busy, scattered at random: 24 on average; alone they would be 30. Of an empty
    account one is enough.
    """
    counts = [refine(Service(busy(seed, 30, 1 / 3), reading), AFTERNOON)[1] for seed in range(100)]
    assert sum(counts) / len(counts) <= 24
    assert max(counts) < 30
    known, count = refine(Service([], reading), AFTERNOON)
    assert (count, [(span.usd, span.split) for span in spans(known)]) == (1, [(0.0, True)])


@BOTH
@pytest.mark.parametrize("hours", [-13, -6, 0, 9])
def test_the_next_day_takes_three_questions(reading: Reading, hours: int) -> None:
    """What was learnt yesterday isn't asked again, at whatever time of the day, and its figures are told."""
    lengths: list[float | None] = []
    for seed in range(20):
        service = Service([*busy(seed, 30, 1 / 3), (AFTERNOON + 7200, 3.0)], reading)
        refine(service, AFTERNOON)
        now = AFTERNOON + DAY + hours * 3600
        known, count = refine(service, now, kept=tuple(service.answers))
        assert count <= 3
        assert_right(service, known)
        lengths += [span.seconds for span in spans(known) if span.usd]
    assert lengths.count(None) < 0.12 * len(lengths)


@BOTH
def test_costs_posted_an_hour_late_are_told_right_when_they_are_there(reading: Reading) -> None:
    """The days that are over stay true; the next day's questions repair what was asked too soon."""
    early = AFTERNOON - 13.5 * 3600  # half past midnight: last evening's clips aren't posted yet
    service = Service([*busy(3, 20, 1 / 2, early), (early - 2700, 4.0)], reading, late=3600)
    refine(service, early)
    known, _ = refine(service, early + DAY, kept=tuple(service.answers))
    assert_right(service, known)


@BOTH
@pytest.mark.parametrize("tells_spent", [True, False])
def test_what_is_spent_meanwhile_belongs_to_the_present(reading: Reading, tells_spent: bool) -> None:
    """Past days keep their sums, also by differences alone, if a service tells no total spent."""
    running = [(AFTERNOON + each, 0.25) for each in range(3, 120, 10)] if tells_spent else []
    service = Service([*busy(2, 30, 1 / 3), *running], reading, tells_spent=tells_spent)
    known, _ = refine(service, AFTERNOON)
    assert_right(service, known)


def test_totals_that_contradict_each_other_are_one_span() -> None:
    """A longer period can't cost less: the older answer is left out, and no span is negative."""
    now = AFTERNOON
    answers = (
        Totals(now, 30, 5.0, 100, 10, 50.0),
        Totals(now + 6, 7, 6.0, 120, 12, 50.0),
        Totals(now + 12, 1, 1.0, 20, 2, 50.0),
    )
    found = spans(KnownUsage(30, now, answers))
    assert [(round(span.days, 1), span.usd) for span in found] == [(29.0, 4.0), (1.0, 1.0)]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0, 40), st.integers(1, 400)), max_size=60),
    st.sampled_from(["rolling", "calendar"]),
    st.sampled_from([7, 30]),
    st.floats(0, 3),
)
def test_any_history_is_told_right(
    events: list[tuple[float, int]], reading: Reading, days: int, later: float
) -> None:
    """Whatever happened, and whenever it is opened again: spans are true, within a question a day."""
    service = Service([(AFTERNOON - ago * DAY, part / 20) for ago, part in events], reading)
    for now in (AFTERNOON, AFTERNOON + later * DAY):
        known, count = refine(service, now, days=days, kept=tuple(service.answers))
        assert count <= days
        assert_right(service, known)


@BOTH
def test_the_reading_shows_once_money_was_spent_between(reading: Reading) -> None:
    """An answer of last evening and today's tell the two apart."""
    noon = AFTERNOON - 2 * 3600
    events = [(noon - 20 * 3600, 1.0), (noon - 14 * 3600, 2.0)]
    service = Service(events, reading)
    answers = [service.usage(30, noon - 15 * 3600), service.usage(1, noon)]
    assert infer_reading(answers) == reading


@BOTH
def test_a_reading_is_neither_claimed_without_reason_nor_wrong(reading: Reading) -> None:
    """One round of questions can't tell, and three days at odd times with late costs don't tell the other."""
    for seed in range(20):
        service = Service(busy(seed, 33, 1 / 2, AFTERNOON + 3 * DAY), reading, late=3600)
        for hours in (0, 22, 53, 70):
            refine(service, AFTERNOON + hours * 3600, kept=tuple(service.answers))
            assert infer_reading(service.answers) in ((reading, None) if hours else (None,))
