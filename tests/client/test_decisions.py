"""The pure decisions: progress, when to ask, what may be sent again."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reelbook import errors
from reelbook.client import retries
from reelbook.client.scheduling.estimates import Progress
from reelbook.errors import Answer


@given(st.lists(st.floats(-50, 500) | st.none(), max_size=30))
def test_progress_never_goes_backwards_and_never_over_full(figures: list[float | None]) -> None:
    """Whatever a service reports, the bar only grows and isn't full before the end."""
    progress, last = Progress(), 0.0
    for raw in figures:
        progress.tell(raw)
        if progress.fraction is not None:
            assert last <= progress.fraction < 1
            last = progress.fraction


def test_percent_and_fractions_are_told_apart() -> None:
    """A figure between nought and one shows a service that counts to one."""
    percent, fraction = Progress(), Progress()
    percent.tell(40)
    fraction.tell(0.4)
    assert (percent.fraction, fraction.fraction) == (0.4, 0.4)


FAULTS: list[tuple[errors.ReelbookError, bool, bool, bool]] = [
    # error, a GET may go again, a paid POST may go again, a paid POST is uncertain
    (errors.ServiceUnreachable("x"), True, True, False),
    (errors.RateLimited("x", answer=Answer(429)), True, True, False),
    (errors.SendInterrupted("x"), True, False, False),
    (errors.AnswerLost("x"), True, False, True),
    (errors.DeadlineExceeded("x"), True, False, True),
    (errors.ServerError("x", answer=Answer(500)), True, False, True),
    (errors.UnexpectedAnswer("x", answer=Answer(200)), False, False, True),
    (errors.BadRequest("x", answer=Answer(400)), False, False, False),
    (errors.AuthenticationError("x", answer=Answer(401)), False, False, False),
    (errors.InsufficientBalance("x", answer=Answer(402)), False, False, False),
    (errors.PayloadTooLarge("x", answer=Answer(413)), False, False, False),
]


@pytest.mark.parametrize(("error", "get", "post", "uncertain"), FAULTS, ids=lambda v: type(v).__name__)
def test_a_paid_request_goes_again_only_where_it_had_no_effect(
    error: errors.ReelbookError, get: bool, post: bool, uncertain: bool
) -> None:
    """After anything that may have been accepted, a paid POST isn't sent again."""
    decided = (
        retries.may_send_again(error, paid=False),
        retries.may_send_again(error, paid=True),
        retries.is_uncertain(error),
    )
    assert (get, post, uncertain) == decided


@pytest.mark.parametrize(("error", "get", "post", "uncertain"), FAULTS, ids=lambda v: type(v).__name__)
def test_who_takes_the_risk_repeats_a_paid_request_as_a_question(
    error: errors.ReelbookError, get: bool, post: bool, uncertain: bool
) -> None:
    """`retry_uncertain` goes no further than a GET's repetitions."""
    assert retries.may_send_again(error, paid=True, retry_uncertain=True) == get


def test_backoff_doubles_to_thirty_seconds_with_full_jitter() -> None:
    """The pause lies anywhere between nothing and the doubled bound."""
    rng = random.Random(1)
    for attempt, bound in [(1, 1), (2, 2), (5, 16), (9, 30)]:
        pauses = [retries.delay_seconds(attempt, errors.AnswerLost("x"), rng) for _ in range(300)]
        assert 0.9 * bound < max(pauses) <= bound
        assert min(pauses) < 0.1 * bound


def drained(error: errors.ReelbookError, quota: retries.RetryQuota, at_most: int = 1000) -> int:
    """How many repetitions after `error` the quota allows in a row."""
    return next((n for n in range(at_most) if not quota.take(error)), at_most)


def test_a_service_that_only_fails_is_left_alone_after_ten_repetitions() -> None:
    """However many calls there are, failures don't add up to a load."""
    assert drained(errors.AnswerLost("x"), retries.RetryQuota()) == 10


def test_a_refused_request_of_the_rate_limit_costs_no_quota() -> None:
    """A 429 is paced by the key's budget."""
    assert drained(errors.RateLimited("x", answer=Answer(429)), retries.RetryQuota()) == 1000


@given(st.lists(st.integers(0, 3), max_size=50))
def test_successes_fill_the_quota_and_never_over_its_measure(taken: list[int]) -> None:
    """What a call's own repetitions took comes back with its answer, and no more is ever saved up."""
    quota = retries.RetryQuota()
    for repetitions in taken:
        before = quota.left
        for _ in range(repetitions):
            assert quota.take(errors.AnswerLost("x"))
        quota.succeeded(repetitions)
        assert before <= quota.left <= retries.QUOTA
    assert quota.left == retries.QUOTA


def test_six_successes_make_up_for_a_call_that_failed_to_its_last_attempt() -> None:
    """A service that fails now and then never loses its repetitions."""
    quota = retries.RetryQuota()
    for _ in range(100):
        for _ in range(retries.MAX_ATTEMPTS - 1):
            assert quota.take(errors.ServerError("x", answer=Answer(500)))
        for _ in range(6):
            quota.succeeded()
