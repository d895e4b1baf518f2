"""How long jobs of one kind take, learnt while they run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reelbook.client.pace import Pace, survival


def finish(pace: Pace, low: float, high: float) -> None:
    pace.still_running(0.0, low)
    pace.ended_between(low, high)


def test_half_of_the_jobs_take_longer_than_the_median() -> None:
    """The survival function is that of a lognormal time."""
    assert survival(60, 4.0943446, 0.35) == pytest.approx(0.5)
    assert survival(0, 4.0, 0.35) == 1.0
    assert survival(6000, 4.0, 0.35) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("truth", [3.0, 20.0, 60.0, 200.0, 900.0])
def test_a_few_finished_jobs_teach_the_typical_time(truth: float) -> None:
    """Eight jobs around the truth move the belief there, wherever it is."""
    pace = Pace()
    for factor in (0.7, 0.8, 0.9, 1.0, 1.0, 1.1, 1.2, 1.4):
        finish(pace, 0.95 * factor * truth, 1.05 * factor * truth)
    assert pace.typical_seconds == pytest.approx(truth, rel=0.25)


def test_jobs_that_still_run_lengthen_the_typical_time() -> None:
    """Each answer that a job still runs makes longer times more likely."""
    pace = Pace()
    seen = [pace.typical_seconds]
    for age in (5.0, 20.0, 80.0, 320.0):
        pace.still_running(0.0 if age == 5 else age / 4, age)
        seen.append(pace.typical_seconds)
    assert seen == sorted(seen)
    assert seen[-1] > 320


def test_an_estimate_is_a_hint_that_finished_jobs_outvote() -> None:
    """The service's estimate moves the belief at first, what jobs really took moves it more."""
    assert abs(Pace(hint_seconds=200).typical_seconds - 200) < abs(Pace().typical_seconds - 200)
    pace = Pace(hint_seconds=5)
    for _ in range(4):
        finish(pace, 55, 65)
    assert pace.typical_seconds == pytest.approx(60, rel=0.2)


def test_records_of_finished_jobs_are_heard_from_the_start() -> None:
    """With the ledger's times the belief is near them before the first answer."""
    assert Pace(took_seconds=[58, 70, 61, 49]).typical_seconds == pytest.approx(60, rel=0.2)


@given(st.lists(st.tuples(st.floats(0, 4000), st.floats(0.01, 4000), st.booleans()), max_size=30))
def test_the_belief_stays_a_belief_whatever_is_told(answers: list[tuple[float, float, bool]]) -> None:
    """Answers that contradict each other never break it: the weights always add up to one."""
    pace = Pace()
    for known, more, ended in answers:
        (pace.ended_between if ended else pace.still_running)(known, known + more)
    assert sum(weight for weight, _, _ in pace.parts) == pytest.approx(1)
    assert pace.typical_seconds > 0


def test_what_changes_nothing_makes_nobody_look_again() -> None:
    """Once much is known, another answer of the same kind leaves the version as it is."""
    pace = Pace()
    for _ in range(60):
        finish(pace, 50, 70)
    before = pace.version
    finish(pace, 50, 70)
    assert pace.version == before
