"""What is believed about one job, on a clock of numbers."""

import math
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reelbook.client.scheduling.estimates import Belief, Outlook, Pace, Took

RECORDS = [Took(seconds, seconds) for seconds in (50.0, 55.0, 58.0, 60.0, 62.0, 66.0, 72.0)]


def outlook(pace: Pace) -> Outlook:
    """What is believed of a job before anything is known of it."""
    return Belief(pace, 0.0).outlook


def typical(pace: Pace) -> float:
    return math.exp(sum(weight * log_median for weight, log_median, _ in pace.parts))


def answer(belief: Belief, at: float, progress: float | None = None) -> None:
    belief.asked(at)
    belief.told(progress, at)


@given(
    st.lists(st.tuples(st.floats(0.1, 200), st.none() | st.floats(-5, 300)), max_size=12),
    st.lists(st.floats(0, 2000), min_size=2, max_size=6),
)
@settings(deadline=None)
def test_the_chance_is_a_chance_and_only_grows_with_silence(
    answers: list[tuple[float, float | None]], later: list[float]
) -> None:
    """Whatever was answered, the chance lies between 0 and 1, begins at 0 and never falls."""
    belief, now = Belief(Pace(), 0.0), 0.0
    for pause, progress in answers:
        now += pause
        answer(belief, now, progress)
    chances = [belief.chance_ended(now + seconds) for seconds in [0.0, *sorted(later)]]
    assert chances[0] == pytest.approx(0, abs=1e-6)
    assert all(0 <= chance <= 1 for chance in chances)
    assert all(one <= other + 1e-9 for one, other in pairwise(chances))


def test_records_tell_when_to_expect_the_end() -> None:
    """With times of like jobs the end is unlikely well before them and likely well after."""
    belief = Belief(Pace(RECORDS), 100.0)
    assert belief.chance_ended(130) < 0.05
    assert belief.chance_ended(160) == pytest.approx(0.5, abs=0.15)
    assert belief.chance_ended(220) > 0.9
    assert belief.remaining_seconds(110) == pytest.approx(50, rel=0.2)


def test_what_one_job_shows_is_believed_of_those_like_it() -> None:
    """A job that still runs at 40 s makes it less likely that another one has ended by then."""
    pace = Pace()
    one, other = Belief(pace, 0.0), Belief(pace, 0.0)
    before = other.chance_ended(40)
    answer(one, 40)
    assert other.chance_ended(40) < 0.7 * before


def test_a_failed_job_teaches_nothing_about_times() -> None:
    """A prompt that is refused at once doesn't make people expect clips at once."""
    pace = Pace()
    before = typical(pace)
    Belief(pace, 0.0).ended(1.0, completed=False)
    assert typical(pace) == before
    Belief(pace, 0.0).ended(1.0)
    assert typical(pace) < before


@pytest.mark.parametrize("unit", [1.0, 100.0])
def test_progress_outweighs_what_like_jobs_took(unit: float) -> None:
    """From 20 % at 40 s to 60 % at 80 s it ends at about 120 s, in percent or as a share of one."""
    belief = Belief(Pace(RECORDS), 0.0)
    answer(belief, 40, 0.2 * unit)
    answer(belief, 80, 0.6 * unit)
    assert belief.remaining_seconds(80) == pytest.approx(40, rel=0.05)
    assert belief.chance_ended(95) < 0.3 < 0.7 < belief.chance_ended(140)


@pytest.mark.parametrize("least", [5e-324, 1e-200, 1e-9])
def test_the_least_progress_is_no_certainty(least: float) -> None:
    """Next to none after ten seconds makes a job likely to take long, but it may still end before."""
    belief = Belief(Pace(), 0.0)
    answer(belief, 10, least)
    assert 0 < belief.chance_ended(60) < 1
    assert belief.chance_ended(60) < belief.chance_ended(600)


def test_progress_that_stands_still_is_not_trusted_for_ever() -> None:
    """A job at 99 % for minutes isn't expected to end within the next second any more."""
    belief = Belief(Pace(), 0.0)
    for at, progress in ((10, 20), (30, 60), (50, 99)):
        answer(belief, at, progress)
    at_first = belief.chance_ended(53)
    for at in (60, 100, 200, 400):
        answer(belief, at, 99)
    assert at_first > 0.4
    assert belief.chance_ended(403) < 0.1


def test_progress_that_crawls_may_be_wrong() -> None:
    """A job that has reached 2 % after half a minute may still end as soon as others of its kind."""
    belief = Belief(Pace(RECORDS), 0.0)
    answer(belief, 10, 1)
    answer(belief, 30, 2)
    assert belief.chance_ended(100) == pytest.approx(0.15, abs=0.02)


def test_a_job_that_is_put_back_into_the_queue_begins_anew() -> None:
    """The progress that it had says nothing about the attempt that comes."""
    belief = Belief(Pace(RECORDS), 0.0)
    answer(belief, 50.0, 0.5)
    belief.asked(200.0)
    belief.queued(None, 200.0)
    assert belief.progress is None
    assert belief.remaining_seconds(200.0) == pytest.approx(60, abs=6)
    answer(belief, 220.0, 0.25)
    assert belief.remaining_seconds(220.0) == pytest.approx(60, abs=30)


def test_the_waiting_is_the_time_since_the_end_on_average() -> None:
    """For a job surely ended long ago it is nearly the whole time since; for a fresh one it is nothing."""
    belief = Belief(Pace(RECORDS), 0.0)
    assert belief.waited_seconds(10, belief.chance_ended(10)) == pytest.approx(0, abs=0.1)
    assert belief.waited_seconds(600, belief.chance_ended(600)) == pytest.approx(540, rel=0.1)


def test_a_job_takes_no_more_than_its_requests_a_minute() -> None:
    """The submission is one of them; the next question waits until the oldest is a minute old."""
    belief = Belief(Pace(), 0.0)
    for second in range(8):
        answer(belief, 5.0 + second)
    assert belief.may_be_asked_at(10) <= 12
    assert belief.may_be_asked_at(9) == 60
    assert belief.may_be_asked_at(8) == 65


def test_unusable_answers_are_followed_by_ever_longer_pauses() -> None:
    """The pause doubles up to a minute, and one good answer ends that."""
    belief, pauses = Belief(Pace(), 0.0), []
    for minute in range(1, 9):
        belief.asked(60.0 * minute)
        belief.failed(60.0 * minute)
        pauses.append(belief.may_be_asked_at(100) - 60.0 * minute)
    assert pauses[:6] == [4, 8, 16, 32, 60, 60]
    answer(belief, 600.0)
    belief.asked(700.0)
    belief.failed(700.0)
    assert belief.may_be_asked_at(100) == 704


def finish(pace: Pace, low: float, high: float) -> None:
    pace.begun()
    pace.still_running(0.0, low)
    pace.ended(Took(low, high))


@pytest.mark.parametrize("truth", [3.0, 20.0, 60.0, 200.0, 900.0])
def test_a_few_finished_jobs_teach_the_typical_time(truth: float) -> None:
    """Eight jobs around the truth move the belief there, wherever it is."""
    pace = Pace()
    for factor in (0.7, 0.8, 0.9, 1.0, 1.0, 1.1, 1.2, 1.4):
        finish(pace, 0.95 * factor * truth, 1.05 * factor * truth)
    assert typical(pace) == pytest.approx(truth, rel=0.25)


def test_jobs_that_still_run_lengthen_the_typical_time() -> None:
    """Each answer that a job still runs makes longer times more likely."""
    pace = Pace()
    seen = [typical(pace)]
    for age in (5.0, 20.0, 80.0, 320.0):
        pace.still_running(0.0 if age == 5 else age / 4, age)
        seen.append(typical(pace))
    assert seen == sorted(seen)
    assert seen[-1] > 320


def test_an_estimate_is_a_hint_that_finished_jobs_outvote() -> None:
    """The service's estimate moves the belief at first, what jobs really took moves it more."""
    expected = [Belief(Pace(), 0.0, estimate).outlook.typical_seconds for estimate in (None, 200.0)]
    assert abs(expected[1] - 200) < abs(expected[0] - 200)
    wrong = Pace([Took(55, 65, estimated=5.0)] * 4)
    assert Belief(wrong, 0.0, 5.0).outlook.typical_seconds == pytest.approx(60, rel=0.2)


def test_estimates_that_proved_right_are_believed_of_the_next_job() -> None:
    """Where each job took what was estimated for it, a job with another estimate is expected to take that."""
    right = Pace([Took(0.95 * seconds, 1.05 * seconds, seconds) for seconds in (20.0, 90.0, 30.0, 60.0)])
    belief = Belief(right, 0.0, 200.0)
    assert belief.remaining_seconds(0.0) == pytest.approx(200, rel=0.1)
    assert belief.chance_ended(110) < 0.1


def test_a_late_notice_is_no_reason_to_ask_later() -> None:
    """A job that had ended by 20 s may have taken 5: the next one isn't expected to take 20 or more."""
    late = Pace([Took(0, 20.0)] * 4)
    assert typical(late) < 15
    assert Belief(late, 0.0).chance_ended(20) > 0.8
    rows_of_before = Pace([Took(0, 60.0)] * 12)
    assert typical(rows_of_before) < typical(Pace([Took(50.0, 60.0)] * 12))


def test_two_jobs_that_were_seen_to_run_and_to_end_are_enough() -> None:
    """The doubt shrinks with every interval, and the typical time lies within them."""
    pace, doubts = Pace(), []
    for _ in range(3):
        doubts.append(outlook(pace).spread)
        finish(pace, 4.5, 5.5)
    assert doubts == sorted(doubts, reverse=True)
    assert typical(pace) == pytest.approx(5, rel=0.1)
    assert outlook(pace).spread < 0.25 < doubts[0]


@pytest.mark.parametrize(("before", "after"), [(5.0, 60.0), (60.0, 5.0), (20.0, 40.0)])
def test_a_change_of_pace_is_followed_within_a_few_jobs(before: float, after: float) -> None:
    """In both directions, however long the old pace was the only one."""
    old = [Took(0.9 * before, 1.1 * before)] * 24
    new = [Took(0.9 * after, 1.1 * after)] * 3
    assert typical(Pace([*old, *new])) == pytest.approx(after, rel=0.2)


def test_the_longest_jobs_of_a_batch_are_no_change_of_pace() -> None:
    """That they end last, while nothing was submitted in between, says nothing of the others."""
    pace = Pace(RECORDS)
    batch = [Belief(pace, 0.0) for _ in range(10)]
    for belief, took in zip(batch, [60.0] * 7 + [120.0] * 3, strict=True):
        answer(belief, 0.9 * took)
        belief.ended(took)
    assert typical(pace) == pytest.approx(62, rel=0.1)


def test_two_queues_are_both_expected() -> None:
    """Where jobs take 5 s or 60 s in no order, the next one may well have ended soon, and well later."""
    short, long = Took(4.5, 5.5), Took(54.0, 66.0)
    belief = Belief(Pace([short, long, long, short, long, short, short, long] * 3), 0.0)
    assert 0.1 < belief.chance_ended(8) < 0.9
    assert 0.1 < 1 - belief.chance_ended(50) < 0.9


def test_what_jobs_share_is_told_from_what_is_their_own() -> None:
    """With nothing known nearly all doubt is shared; with many records of spread times little is."""
    assert outlook(Pace()).shared > 0.8
    spread = Pace([Took(s, s) for s in (30.0, 50.0, 60.0, 70.0, 110.0, 45.0, 80.0, 60.0)] * 3)
    assert outlook(spread).shared < 0.2
    progressed = Belief(Pace(), 0.0)
    answer(progressed, 10.0, 20.0)
    assert progressed.outlook.shared == 0


@given(st.lists(st.tuples(st.floats(0, 4000), st.floats(0.01, 4000), st.booleans()), max_size=30))
@example([(0.0, 1.0, True)] * 2 + [(0.0, 3000.0, False)] * 3 + [(0.0, 1.0, True)])
@example([(0.0, 1.0, True)] * 30 + [(0.0, 4000.0, False)] * 30)
@settings(deadline=None)
def test_the_belief_stays_a_belief_whatever_is_told(answers: list[tuple[float, float, bool]]) -> None:
    """Answers that contradict each other never break it: the weights always add up to one."""
    pace = Pace()
    for known, more, ended in answers:
        pace.begun()
        pace.still_running(0.0, known)
        if ended:
            pace.ended(Took(known, known + more))
        else:
            pace.still_running(known, known + more)
    assert sum(weight for weight, _, _ in pace.parts) == pytest.approx(1)
    assert typical(pace) > 0


@given(
    st.lists(st.tuples(st.floats(0, 4000), st.floats(0, 4000), st.none() | st.floats(-5, 4000)), max_size=30)
)
@settings(deadline=None)
def test_whatever_a_ledger_holds_is_a_belief(rows: list[tuple[float, float, float | None]]) -> None:
    """Intervals of no length or turned round, times of nought, wrong estimates: none breaks it."""
    pace = Pace([Took(*row) for row in rows])
    assert sum(weight for weight, _, _ in pace.parts) == pytest.approx(1)
    assert 0 <= pace.trust <= 1
    assert 0 <= Belief(pace, 0.0, 40.0).chance_ended(60.0) <= 1


@given(st.lists(st.floats(-50, 500) | st.none(), max_size=30))
@settings(deadline=None)
def test_progress_never_goes_backwards_and_never_over_full(figures: list[float | None]) -> None:
    """Whatever a service reports, the bar only grows and isn't full before the end."""
    belief, last = Belief(Pace(), 0.0), 0.0
    for second, raw in enumerate(figures):
        answer(belief, 1.0 + second, raw)
        assert last <= (belief.progress or 0.0) < 1
        last = belief.progress or 0.0
