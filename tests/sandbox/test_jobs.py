"""A job's life as data."""

from __future__ import annotations

import statistics
from dataclasses import replace

import pytest

from reelbook.sandbox.jobs import MOVES, Job, checked_pace, next_move, planned_seconds, progress, status_body

JOB = Job(
    "req_1", "pending", "text-to-video", "a fox", 5, "16:9", 7, accepted_at=1000.0, planned_seconds=10.0
)
RUNNING = replace(JOB, state="processing")


def test_a_job_waits_for_a_short_share_of_its_time() -> None:
    """Of ten seconds, it is pending for one and a half."""
    assert next_move(JOB, 1001.4) is None
    assert next_move(JOB, 1001.5) == "processing"


def test_a_job_completes_when_its_time_is_up_and_its_clip_is_there() -> None:
    """Neither the time nor the clip alone is enough."""
    drawn = replace(RUNNING, video="x.mp4")
    assert next_move(drawn, 1009.9) is None
    assert next_move(RUNNING, 1099.0) is None
    assert next_move(drawn, 1010.0) == "completed"


def test_a_job_that_is_to_fail_does_so_when_its_time_is_up() -> None:
    """The failure keeps the pace."""
    failing = replace(RUNNING, failure="content policy")
    assert next_move(failing, 1009.9) is None
    assert next_move(failing, 1010.0) == "failed"


@pytest.mark.parametrize("state", [state for state, after in MOVES.items() if not after])
def test_finished_states_are_left_by_nothing(state: str) -> None:
    """A completed or failed job never moves again."""
    assert next_move(replace(JOB, state=state, video="x.mp4", failure="no"), 9e9) is None


def test_progress_rises_to_99_and_waits_there_for_the_clip() -> None:
    """From 0 when it starts to 99 at the end of the planned time, never back, never 100."""
    seen = [progress(RUNNING, 1001.5 + tenth / 10) for tenth in range(300)]
    assert (seen[0], seen[-1]) == (0, 99)
    assert seen == sorted(seen)


@pytest.mark.parametrize(
    ("job", "body"),
    [
        (JOB, {"request_id": "req_1", "status": "pending", "estimated_cost_usd": 0.25}),
        (
            RUNNING,
            {"request_id": "req_1", "status": "processing", "estimated_cost_usd": 0.25, "progress": 41},
        ),
        (
            replace(JOB, state="completed", rendered_seconds=4.5, cost_micro=225_000, video="x.mp4"),
            {
                "request_id": "req_1",
                "status": "completed",
                "video_url": "http://here/x",
                "duration_seconds": 4.5,
                "cost_usd": 0.225,
            },
        ),
        (
            replace(JOB, state="failed", failure="content policy"),
            {"request_id": "req_1", "status": "failed", "error": "content policy"},
        ),
    ],
)
def test_each_state_tells_exactly_its_own_fields(job: Job, body: dict[str, object]) -> None:
    """The fields per state are those of the interface's table, no more and no less."""
    assert status_body(job, 1005.0, "http://here/x") == body


def test_the_time_a_job_takes_is_repeatable() -> None:
    """The same id takes the same time, another one another."""
    assert planned_seconds("lifelike", "a") == planned_seconds("lifelike", "a")
    assert planned_seconds("lifelike", "a") != planned_seconds("lifelike", "b")


def test_lifelike_jobs_take_tens_of_seconds() -> None:
    """Lognormal around 40 seconds with the spread of 0.35 that it promises."""
    times = [planned_seconds("lifelike", str(number)) for number in range(2000)]
    assert statistics.median(times) == pytest.approx(40, rel=0.05)
    logarithms = statistics.quantiles(times, n=100)
    assert logarithms[83] / logarithms[49] == pytest.approx(2.718281828**0.35, rel=0.08)


@pytest.mark.parametrize(("pace", "seconds"), [("at once", 0), (0, 0), (3, 3), (2.5, 2.5)])
def test_a_pace_in_seconds_is_taken_exactly(pace: str | float, seconds: float) -> None:
    """Given as a number, the pace has no spread."""
    assert planned_seconds(checked_pace(pace), "any") == seconds


@pytest.mark.parametrize("pace", ["slow", "", -1, True, None, float("nan"), float("inf"), [], "8"])
def test_what_is_no_pace_is_refused(pace: object) -> None:
    """Unknown words, negative and endless times are errors."""
    with pytest.raises(ValueError, match="at once"):
        checked_pace(pace)
