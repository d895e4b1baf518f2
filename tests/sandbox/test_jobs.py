"""A job's life as data."""

from __future__ import annotations

import statistics
from dataclasses import replace

import pytest

from reelbook.sandbox import jobs
from reelbook.sandbox.protocol import checked_pace

ASKED = {"prompt": "a fox", "duration_seconds": 5, "aspect_ratio": "16:9", "seed": 7}
JOB = jobs.SandboxJob("req_1", "pending", "text-to-video", ASKED, accepted_at=1000.0, planned_seconds=10.0)
RUNNING = replace(JOB, state="processing")


@pytest.mark.parametrize(
    ("job", "now", "state"),
    [
        (JOB, 1001.4, "pending"),
        (JOB, 1001.5, "processing"),
        (RUNNING, 1000.0, "processing"),  # a clock that was set back
        (RUNNING, 1099.0, "processing"),  # no clip yet
        (replace(RUNNING, video="x.mp4"), 1009.9, "processing"),
        (replace(RUNNING, video="x.mp4"), 1010.0, "completed"),
        (replace(JOB, video="x.mp4"), 1010.0, "completed"),
        (replace(RUNNING, failure="content policy"), 1009.9, "processing"),
        (replace(RUNNING, failure="content policy"), 1010.0, "failed"),
        (replace(JOB, state="completed", failure="no"), 9e9, "completed"),
        (replace(JOB, state="failed", video="x.mp4"), 9e9, "failed"),
    ],
)
def test_a_job_passes_its_states_as_its_time_passes(job: jobs.SandboxJob, now: float, state: str) -> None:
    """It ends when its time is up and there is something to end with; nothing goes back or leaves an end."""
    assert jobs.state_at(job, now) == state


def test_a_state_is_a_row_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """One more, between two others, is passed as they are; all that a row tells is known."""
    queued = jobs.Phase("queued", 0.05, ("estimated_cost_usd",))
    life = (jobs.LIFE[0], queued, *jobs.LIFE[1:])
    monkeypatch.setattr(jobs, "LIFE", life)
    monkeypatch.setattr(jobs, "_ORDER", {phase.state: number for number, phase in enumerate(life)})
    assert [jobs.state_at(JOB, 1000.0 + after) for after in (0, 0.5)] == ["pending", "queued"]
    assert jobs.state_at(JOB, 1001.5) == "processing"
    waiting = {"request_id": "req_1", "status": "queued", "estimated_cost_usd": 0.25}
    assert jobs.status_body(replace(JOB, state="queued"), 1001.0, None) == waiting
    assert {name for phase in life for name in phase.tells} == set(jobs.TOLD)


def test_progress_rises_to_99_and_waits_there_for_the_clip() -> None:
    """From 0 when it starts to 99 at the end of the planned time, never back, never 100."""
    seen = [jobs.progress(RUNNING, 1001.5 + tenth / 10) for tenth in range(300)]
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
def test_each_state_tells_exactly_its_own_fields(job: jobs.SandboxJob, body: dict[str, object]) -> None:
    """The fields per state are those of the interface's table, no more and no less."""
    assert jobs.status_body(job, 1005.0, "http://here/x") == body


def test_the_time_a_job_takes_is_repeatable() -> None:
    """The same id takes the same time, another one another."""
    assert jobs.planned_seconds("lifelike", "a") == jobs.planned_seconds("lifelike", "a")
    assert jobs.planned_seconds("lifelike", "a") != jobs.planned_seconds("lifelike", "b")


def test_lifelike_jobs_take_tens_of_seconds() -> None:
    """Lognormal around 40 seconds with the spread of 0.35 that it promises."""
    times = [jobs.planned_seconds("lifelike", str(number)) for number in range(2000)]
    assert statistics.median(times) == pytest.approx(40, rel=0.05)
    logarithms = statistics.quantiles(times, n=100)
    assert logarithms[83] / logarithms[49] == pytest.approx(2.718281828**0.35, rel=0.08)


@pytest.mark.parametrize(("pace", "seconds"), [("at once", 0), (0, 0), (3, 3), (2.5, 2.5)])
def test_a_pace_in_seconds_is_taken_exactly(pace: str | float, seconds: float) -> None:
    """Given as a number, the pace has no spread."""
    assert jobs.planned_seconds(checked_pace(pace), "any") == seconds


@pytest.mark.parametrize("pace", ["slow", "", -1, True, None, float("nan"), float("inf"), [], "8"])
def test_what_is_no_pace_is_refused(pace: object) -> None:
    """Unknown words, negative and endless times are errors."""
    with pytest.raises(ValueError, match="at once"):
        checked_pace(pace)
