"""Jobs that outlive the server, and what is kept of them."""

from __future__ import annotations

from concurrent.futures import CancelledError, Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import httpx
import pytest
from sandbox.doubles import CLIP, NOON, Client, InstantExecutor, Open

from reelbook.sandbox.clock import Clock
from reelbook.sandbox.render_pool import WorkerKilled


class FailingExecutor(InstantExecutor):
    """Fails as many drawings as it is told to, with the error it is given."""

    def __init__(self, error: Exception, times: int) -> None:
        super().__init__()
        self.error = error
        self.times = times

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """The drawn clip, or the error."""
        future = super().submit(fn, *args, **kwargs)
        if self.times == 0:
            return future
        self.times -= 1
        failed: Future[Any] = Future()
        if isinstance(self.error, CancelledError):
            failed.cancel()
        else:
            failed.set_exception(self.error)
        return failed


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
        answer = client.http.post(
            "/api/v1/generate/image-to-video", files={"image": ("f", image)}, data={"prompt": "it sways"}
        )
        moving = answer.json()["request_id"]
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
    """Clips are kept for 7 days; files that belong to no job go at once."""
    videos, images = tmp_path / "sandbox" / "videos", tmp_path / "sandbox" / "images"
    with open_sandbox(tmp_path, clock=Clock(NOON)) as client:
        old = client.wait(client.submit())
        client.sandbox.advance(6 * 86_400)
        young = client.wait(client.submit())
    (videos / "stray.mp4").write_bytes(b"x")
    (images / "req_stray").write_bytes(b"x")
    with open_sandbox(tmp_path, clock=Clock(NOON + 8 * 86_400)) as client:
        assert [file.name for file in videos.iterdir()] == [young["video_url"].rpartition("/")[2]]
        assert list(images.iterdir()) == []
        gone = client.get(f"/videos/{old['video_url'].rpartition('/')[2]}")
        assert (gone.status_code, list(gone.json())) == (404, ["detail"])
        assert client.status(old["request_id"])["status"] == "completed"


def test_a_refused_job_leaves_no_image(client: Client, still: Any, tmp_path: Path) -> None:
    """A 402 keeps nothing of what was sent."""
    client.sandbox.settings(balance_usd=0)
    answer = client.http.post(
        "/api/v1/generate/image-to-video", files={"image": ("f", still())}, data={"prompt": "it sways"}
    )
    assert answer.status_code == 402
    assert list((tmp_path / "sandbox" / "images").iterdir()) == []


@pytest.mark.parametrize(
    "error",
    [BrokenProcessPool("died"), WorkerKilled("died"), CancelledError()],
    ids=lambda error: type(error).__name__,
)
def test_a_worker_that_dies_costs_one_more_attempt(
    open_sandbox: Open, tmp_path: Path, error: Exception
) -> None:
    """The person sees a completed job, also where the executor only drops what it was given."""
    executor = FailingExecutor(error, times=1)
    with open_sandbox(tmp_path, executor=executor) as client:
        assert client.wait(client.submit())["status"] == "completed"
    assert len(executor.specs) == 2


@pytest.mark.parametrize(
    ("error", "times", "text"),
    [
        (WorkerKilled("died"), 2, "The clip could not be drawn: the drawing process ended twice."),
        (BrokenProcessPool("died"), 2, "The clip could not be drawn: the drawing process ended twice."),
        (ValueError("in the middle"), 1, "The clip could not be drawn: ValueError."),
    ],
)
def test_a_clip_that_cant_be_drawn_is_a_failed_job(
    open_sandbox: Open, tmp_path: Path, error: Exception, times: int, text: str
) -> None:
    """In plain words, at no cost, and the next one is drawn."""
    with open_sandbox(tmp_path, executor=FailingExecutor(error, times)) as client:
        failed = client.submit()
        assert client.wait(failed) == {"request_id": failed, "status": "failed", "error": text}
        assert client.get("/api/v1/billing/balance").json()["total_spent_usd"] == 0
        assert client.wait(client.submit())["status"] == "completed"
