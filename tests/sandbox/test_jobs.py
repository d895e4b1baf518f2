"""A job's life as data."""

import sqlite3
import statistics
from collections.abc import Iterator
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from sandbox.doubles import CLIP, NOON, Client, InstantExecutor, Open
from support.waiting import until

from reelbook.sandbox import jobs
from reelbook.sandbox.clock import Clock
from reelbook.sandbox.protocol import is_pace
from reelbook.sandbox.render_pool import WorkerKilled
from reelbook.web.database import SqliteFile

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
        (replace(JOB, state="completed", failure="no", finished_at=1010.0), 9e9, "completed"),
        (replace(JOB, state="failed", video="x.mp4", finished_at=1010.0), 9e9, "failed"),
    ],
)
def test_a_job_passes_its_states_as_its_time_passes(job: jobs.SandboxJob, now: float, state: str) -> None:
    """It ends when its time is up and there is something to end with; nothing goes back or leaves an end."""
    assert jobs.state_at(job, now) == state


def test_progress_rises_to_99_and_waits_there_for_the_clip() -> None:
    """From 0 when it starts to 99 at the end of the planned time, never back, never 100."""
    seen = [jobs.progress(RUNNING, 1001.5 + tenth / 10) for tenth in range(300)]
    assert (seen[0], seen[-1]) == (0, 99)
    assert seen == sorted(seen)


def test_lifelike_jobs_take_tens_of_seconds() -> None:
    """Lognormal around 40 seconds with a spread of 0.35, the same for the same id."""
    times, again = ([jobs.planned_seconds("lifelike", str(id_)) for id_ in range(2000)] for _ in range(2))
    assert times == again
    assert statistics.median(times) == pytest.approx(40, rel=0.05)
    logarithms = statistics.quantiles(times, n=100)
    assert logarithms[83] / logarithms[49] == pytest.approx(2.718281828**0.35, rel=0.08)


@pytest.mark.parametrize(("pace", "seconds"), [("at once", 0), (0, 0), (3, 3), (2.5, 2.5)])
def test_a_pace_in_seconds_is_taken_exactly(pace: str | float, seconds: float) -> None:
    """Given as a number, the pace has no spread."""
    assert is_pace(pace)
    assert jobs.planned_seconds(pace, "any") == seconds


@pytest.mark.parametrize("pace", ["slow", "", -1, True, None, float("nan"), float("inf"), [], "8"])
def test_what_is_no_pace_is_refused(pace: object) -> None:
    """Unknown words, negative and endless times."""
    assert not is_pace(pace)


@pytest.mark.parametrize(
    ("prompt", "outcome"),
    [
        ("a fox", (None, None)),
        ("a fox [fail: policy]", (None, "The prompt was refused by the content policy.")),
        ("[Fail: no such fox] a fox", (None, "no such fox")),
        ("a fox [fail]", (None, "The prompt asked for a failure.")),
        ("a fox [ slow : 60 ]", (60, None)),
        ("a fox [slow: 60] [fail: policy]", (60, "The prompt was refused by the content policy.")),
        ("a fox [slow: soon] [slowly] [fail", (None, None)),
        ("a fox [stuck]", (jobs.STUCK_SECONDS, "It was stuck for a day.")),
    ],
)
def test_a_prompt_says_what_is_to_become_of_its_job(
    prompt: str, outcome: tuple[float | None, str | None]
) -> None:
    """In brackets, whatever the case; anything else in brackets is text."""
    assert jobs.outcome_in(prompt) == outcome


def test_outcomes_need_no_control(client: Client) -> None:
    """A job fails at once or late, takes its own time, or moves no more, beside one that goes its way."""
    fails, slow, stuck, usual = (
        client.submit(f"a fox {mark}") for mark in ("[fail: policy]", "[slow: 60]", "[stuck]", "")
    )
    client.sandbox.advance(11)
    assert client.wait(fails)["error"] == "The prompt was refused by the content policy."
    assert client.wait(usual)["status"] == "completed"
    client.sandbox.advance(50)
    assert client.wait(slow)["status"] == "completed"
    client.sandbox.advance(3600)
    assert client.status(stuck)["status"] == "pending"
    assert client.sandbox.state()["balance_usd"] == 24.5


def test_a_restarted_server_goes_on_with_its_jobs(open_sandbox: Open, tmp_path: Path, still: Any) -> None:
    """What was pending is drawn again, image and all, and completes; what was completed is found."""
    executor = InstantExecutor()
    image = still()
    with open_sandbox(tmp_path, pace=10, clock=Clock(NOON), executor=executor) as client:
        done = client.submit(seed=1)
        client.sandbox.advance(10)
        before = client.wait(done)
        executor.holding = True
        unfinished = client.submit(seed=2)
        moving = client.submit_image(image).json()["request_id"]
        client.sandbox.advance(5)
        assert client.status(unfinished)["status"] == "processing"
    drawn = executor.specs[1:]

    again = InstantExecutor()
    with open_sandbox(tmp_path, pace=10, clock=Clock(NOON + 100), executor=again) as client:
        completed = [client.wait(unfinished), client.wait(moving)]
        assert [body["status"] for body in completed] == ["completed", "completed"]
        found = client.status(done)
        assert httpx.get(found["video_url"], trust_env=False).content == CLIP
        assert client.get("/api/v1/billing/balance").json()["total_spent_usd"] == 0.75
    redrawn = {spec.prompt: spec for spec in again.specs}  # they may begin in any order
    assert redrawn == {spec.prompt: spec for spec in drawn}
    assert len(again.specs) == len(redrawn) == 2
    assert redrawn["it sways"].image == image
    assert found | {"video_url": ""} == before | {"video_url": ""}
    assert list((tmp_path / "sandbox" / "images").iterdir()) == []


def test_a_clip_that_was_drawn_is_not_drawn_again(open_sandbox: Open, tmp_path: Path) -> None:
    """Between the drawing and the end of a job's time, a restart keeps the clip."""
    with open_sandbox(tmp_path, pace=10, clock=Clock(NOON)) as client:
        request_id = client.submit()
        while not list((tmp_path / "sandbox" / "videos").glob("*.mp4")):
            client.sandbox.state()
        client.sandbox.state()
    again = InstantExecutor()
    with open_sandbox(tmp_path, pace=10, clock=Clock(NOON + 100), executor=again) as client:
        assert client.wait(request_id)["status"] == "completed"
    assert again.specs == []


def test_a_clock_that_was_moved_on_holds_no_job_back(open_sandbox: Open, tmp_path: Path) -> None:
    """A job accepted a year ahead of the machine's time goes on after a restart."""
    with open_sandbox(tmp_path, pace=10, clock=Clock(NOON + 366 * 86_400)) as client:
        request_id = client.submit()
    with open_sandbox(tmp_path, clock=Clock(NOON)) as client:
        client.sandbox.advance(10)
        assert client.wait(request_id)["status"] == "completed"


def test_old_clips_and_stray_files_are_removed_at_a_start(open_sandbox: Open, tmp_path: Path) -> None:
    """Clips are kept for 7 days; files that belong to no job go at once. A person's folder is left alone."""
    videos, images = tmp_path / "sandbox" / "videos", tmp_path / "sandbox" / "images"
    with open_sandbox(tmp_path, clock=Clock(NOON)) as client:
        old = client.wait(client.submit())
        client.sandbox.advance(6 * 86_400)
        young = client.wait(client.submit())
    (videos / "stray.mp4").write_bytes(b"x")
    (images / "req_stray").write_bytes(b"x")
    (videos / "mine").mkdir()
    with open_sandbox(tmp_path, clock=Clock(NOON + 8 * 86_400)) as client:
        assert {file.name for file in videos.iterdir()} == {young["video_url"].rpartition("/")[2], "mine"}
        assert list(images.iterdir()) == []
        gone = client.get(f"/videos/{old['video_url'].rpartition('/')[2]}")
        assert (gone.status_code, list(gone.json())) == (404, ["detail"])
        assert client.status(old["request_id"])["status"] == "completed"


def test_a_new_clip_takes_the_place_of_old_ones(client: Client, tmp_path: Path) -> None:
    """In a sandbox that runs for weeks clips are kept for 7 days, too."""
    for seconds in (8 * 86_400, 10):
        request_id = client.submit()
        client.sandbox.advance(seconds)
        young = client.wait(request_id)["video_url"].rpartition("/")[2]
    until(lambda: [file.name for file in (tmp_path / "sandbox" / "videos").iterdir()] == [young])


def test_a_refused_job_leaves_no_image(client: Client, still: Any, tmp_path: Path) -> None:
    """A 402 keeps nothing of what was sent."""
    client.sandbox.settings(balance_usd=0)
    assert client.submit_image(still()).status_code == 402
    assert list((tmp_path / "sandbox" / "images").iterdir()) == []


@pytest.mark.parametrize(
    "error",
    [BrokenProcessPool("died"), WorkerKilled("died"), CancelledError()],
    ids=lambda error: type(error).__name__,
)
def test_a_worker_that_dies_costs_one_more_attempt(
    open_sandbox: Open, executor: InstantExecutor, tmp_path: Path, error: Exception
) -> None:
    """The person sees a completed job, also where the executor only drops what it was given."""
    executor.errors = [error]
    with open_sandbox(tmp_path) as client:
        assert client.wait(client.submit())["status"] == "completed"
    assert len(executor.specs) == 2


@pytest.mark.parametrize(
    ("errors", "why"),
    [
        ([WorkerKilled("died")] * 2, "the drawing process ended twice"),
        ([BrokenProcessPool("died")] * 2, "the drawing process ended twice"),
        ([ValueError("in the middle")], "ValueError"),
        ([OSError(28, "No space left on device")], "No space left on device"),
    ],
)
def test_a_clip_that_cant_be_drawn_is_a_failed_job(
    open_sandbox: Open, executor: InstantExecutor, tmp_path: Path, errors: list[Exception], why: str
) -> None:
    """In plain words, at no cost, and the next one is drawn."""
    executor.errors = [*errors]
    with open_sandbox(tmp_path) as client:
        assert client.wait(client.submit())["error"] == f"The clip could not be drawn: {why}."
        assert client.get("/api/v1/billing/balance").json()["total_spent_usd"] == 0
        assert client.wait(client.submit())["status"] == "completed"


def test_a_full_disk_delays_the_end_of_a_job_and_no_more(
    open_sandbox: Open, executor: InstantExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clip that was drawn meanwhile is there as soon as the disk takes it, drawn and billed once."""

    @contextmanager
    def full(store: SqliteFile) -> Iterator[Any]:
        raise sqlite3.OperationalError("database or disk is full")
        yield

    executor.holding = True
    with open_sandbox(tmp_path) as client:
        request_id = client.submit()
        until(lambda: executor.held)
        with monkeypatch.context() as disk:
            disk.setattr(SqliteFile, "transaction", full)
            executor.held.pop()()
            until(lambda: list((tmp_path / "sandbox" / "videos").glob("*.mp4")))
            assert client.get(f"/api/v1/status/{request_id}").status_code == 500
        assert client.wait(request_id)["status"] == "completed"
        assert client.get("/api/v1/billing/balance").json()["total_spent_usd"] == 0.25
    assert len(executor.specs) == 1


def test_each_key_has_its_turn(open_sandbox: Open, tmp_path: Path) -> None:
    """However many clips one orders, whoever comes anew is drawn as soon as a worker is free."""
    executor = InstantExecutor()
    executor.at_once = 2  # type: ignore[attr-defined]  # as a pool of workers says
    executor.holding = True
    with open_sandbox(tmp_path, pace=0, executor=executor) as client:
        client.sandbox.settings(rate_limiting=False)
        flood = [client.submit(f"flood {number}") for number in range(6)]
        others = []
        for name in ("Ada", "Grace"):
            key = client.http.post("/api/v1/keys", json={"name": name}).json()["api_key"]
            theirs = {"Authorization": f"Bearer {key}"}
            for number in (0, 1):
                asked = {"prompt": f"{name} {number}"}
                answer = client.http.post("/api/v1/generate/text-to-video", json=asked, headers=theirs)
                others.append(answer.json()["request_id"])
        for _ in (*flood, *others):
            until(lambda: executor.held)
            executor.held.pop(0)()
        assert {client.wait(job)["status"] for job in (*flood, *others)} == {"completed"}
    begun = [spec.prompt for spec in executor.specs]
    assert sorted(begun[:2]) == ["flood 0", "flood 1"]
    assert begun[2:] == [
        *("Ada 0", "Grace 0", "flood 2", "Ada 1", "Grace 1", "flood 3", "flood 4", "flood 5"),
    ]
