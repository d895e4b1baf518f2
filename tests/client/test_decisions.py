"""The pure decisions: progress, when to ask, what may be sent again."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reelbook import errors
from reelbook.client import polling, retries
from reelbook.client.progress import Progress
from reelbook.errors import Answer


@given(st.lists(st.floats(-50, 500) | st.none(), max_size=30))
def test_progress_never_goes_backwards_and_never_over_full(figures: list[float | None]) -> None:
    """Whatever a service reports, the bar only grows and isn't full before the end."""
    progress, last = Progress(), 0.0
    for at, raw in enumerate(figures):
        progress.tell(raw, float(at))
        if progress.fraction is not None:
            assert last <= progress.fraction < 1
            last = progress.fraction


def test_percent_and_fractions_are_told_apart() -> None:
    """A figure between nought and one shows a service that counts to one."""
    percent, fraction = Progress(), Progress()
    percent.tell(40, 0)
    fraction.tell(0.4, 0)
    assert (percent.fraction, fraction.fraction) == (0.4, 0.4)


def test_the_time_left_follows_the_pace_seen() -> None:
    """From 20 % to 60 % in 4 s: 4 s more."""
    progress = Progress()
    progress.tell(20, 10)
    assert progress.remaining_seconds(10) is None
    progress.tell(60, 14)
    assert progress.remaining_seconds(14) == pytest.approx(4)
    assert progress.remaining_seconds(16) == pytest.approx(2)


@pytest.mark.parametrize("guess", [None, "right", "always soon"])
def test_one_job_is_asked_about_at_most_eight_times_in_any_minute(guess: str | None) -> None:
    """A person's click finds room in the key's ten requests, however wrong the guesses are."""
    now, asks = 0.0, []  # type: tuple[float, list[float]]
    while now < 600:
        remaining = {None: None, "right": 600 - now, "always soon": 0.5}[guess]
        now += polling.next_ask_seconds(asks, now, remaining)
        asks.append(now)
    assert all(later - earlier >= 60 for earlier, later in zip(asks, asks[8:], strict=False))
    assert max(later - earlier for earlier, later in pairwise(asks)) < 45


def test_a_short_job_is_noticed_soon_after_its_expected_end() -> None:
    """The question comes just after the end that progress foretells."""
    assert polling.next_ask_seconds([1.5, 4.5], 4.5, 3.0) == pytest.approx(3.3)


def test_a_silent_job_is_asked_ever_more_rarely_but_never_forgotten() -> None:
    """After ten minutes the pauses grow, up to a minute."""
    pauses = [polling.next_ask_seconds([], elapsed, None) for elapsed in (601.0, 1200.0, 90000.0)]
    assert pauses == sorted(pauses)
    assert pauses[-1] == 60


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


def test_backoff_doubles_to_thirty_seconds_with_full_jitter() -> None:
    """The pause lies anywhere between nothing and the doubled bound."""
    rng = random.Random(1)
    for attempt, bound in [(1, 1), (2, 2), (5, 16), (9, 30)]:
        pauses = [retries.delay_seconds(attempt, errors.AnswerLost("x"), rng) for _ in range(300)]
        assert 0.9 * bound < max(pauses) <= bound
        assert min(pauses) < 0.1 * bound
