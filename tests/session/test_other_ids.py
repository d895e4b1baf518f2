"""Services whose answers about a job carry another id than the one that was asked about."""

import itertools
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from support.live import connected
from support.raw_server import Exchange, raw_server
from support.waiting import until

import reelbook as rb
from reelbook.errors import SubmissionUncertain
from reelbook.media.clips import probe
from reelbook.sandbox.render import Spec, render

Answers = Callable[[str, int], dict[str, Any]]

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture(scope="module")
def clips() -> dict[str, bytes]:
    """A clip of one second and one of two."""
    return {f"req_{n}": render(Spec("a boat", n, "1:1", 7)).mp4 for n in (1, 2)}


@contextmanager
def two_jobs(clips: dict[str, bytes], about: Answers) -> Iterator[tuple[rb.Job, rb.Job]]:
    """Two jobs, of one and of two seconds; `about` is what is said of each, by how often it was asked for."""
    ids, asked = itertools.count(1), dict.fromkeys(clips, 0)

    def handle(exchange: Exchange) -> None:
        name = exchange.first_line.split()[1].rpartition("/")[2]
        if exchange.first_line.startswith("POST"):
            body = {"request_id": f"req_{next(ids)}", "status": "pending"}
            return exchange.answer(200, json.dumps(body).encode())
        if name in asked:
            asked[name] += 1
            said = about(name, asked[name])
            if "clip" in said:
                said = {"status": "completed", "video_url": f"{service.url}/{said.pop('clip')}.mp4", **said}
            return exchange.answer(200, json.dumps(said).encode())
        data = clips.get(name.removesuffix(".mp4"))
        return exchange.answer(404) if data is None else exchange.answer(200, data)

    with raw_server(handle) as service:
        with connected(service) as session:
            first = session.text_to_video("a boat", duration_seconds=1)
            first.result(20)
            yield first, session.text_to_video("a boat", duration_seconds=2)


def lengths(*jobs: rb.Job) -> list[float]:
    """How long each job's clip is, as it lies on the disk under that job's own id."""
    for job in jobs:
        clip = job.result(20)
        assert (clip.request_id, clip.path.name) == (job.request_id, f"{job.request_id}.mp4")
    return [probe(job.result(0).path).duration_seconds for job in jobs]


def test_a_service_that_repeats_an_id_gives_each_job_its_own_clip(
    clips: dict[str, bytes], caplog: pytest.LogCaptureFixture
) -> None:
    """The id that was asked about is the job's; that another one was said is told once."""
    with two_jobs(clips, lambda job, _: {"request_id": "the same for all", "clip": job}) as jobs:
        assert lengths(*jobs) == [1.0, 2.0]
    assert sum("another id" in message for message in caplog.messages) == 1


@pytest.mark.parametrize("end", [{"clip": "req_1"}, {"status": "failed", "error": "policy"}])
def test_another_jobs_end_is_never_believed_however_often_it_comes(
    clips: dict[str, bytes], end: dict[str, Any]
) -> None:
    """The watch goes on, its card says why, and the clip comes once the service has it right."""

    def mixed_up(job: str, times: int) -> dict[str, Any]:
        if job == "req_2" and times < 4:
            return {"request_id": "req_1", **end}
        return {"request_id": job, "clip": job}

    with two_jobs(clips, mixed_up) as jobs:
        notes = set()
        jobs[1].subscribe(lambda job: notes.add(str(job.error)))
        assert lengths(*jobs) == [1.0, 2.0]
    assert "answered about “req_1”" in str(notes)


def test_one_id_for_two_submissions_is_said_and_the_second_is_uncertain(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It doesn't show the first one's clip: card, log and receipt say so, and its money is uncertain."""
    answer = json.dumps({"request_id": "req_same", "status": "pending"}).encode()
    with raw_server(lambda exchange: exchange.answer(200, answer)) as service:
        with connected(service) as session:
            first = session.text_to_video("a boat", duration_seconds=1)
            until(lambda: first.request_id)
        with connected(service) as session:  # which knows that id by the ledger alone
            second = session.text_to_video("a ship", duration_seconds=2)
            with pytest.raises(SubmissionUncertain, match="the id of another job, req_same, “a boat”"):
                second.result(20)
            assert (second.state, second.request_id) == ("uncertain", None)
            assert "can't be told apart" in rb.JobCard(second).face["note"]
            assert session.spending().of_key.uncertain_usd == pytest.approx(0.10)
            [note] = [row.note for row in session.receipt().rows if row.prompt == "a ship"]
            assert "the id of another job" in note
    assert sum("the id of another job" in message for message in caplog.messages) == 1
