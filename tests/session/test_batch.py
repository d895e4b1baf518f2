"""Batches of a session on a sandbox in a thread."""

import asyncio
import concurrent.futures
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from support.live import KEY, session_of
from support.raw_server import Exchange
from support.waiting import until

import reelbook as rb
from reelbook import errors
from reelbook.ledger.search import Filter
from reelbook.sandbox.handle import Sandbox


def use_up(session: rb.Session, sandbox: Sandbox, requests: int) -> None:
    """The key has so many requests less for the next minute."""
    sandbox.settings(rate_limiting=True)
    for _ in range(requests):
        session.balance()


@pytest.fixture
def pair(session: rb.Session, sandbox: Sandbox, slow: rb.Job) -> rb.Batch:
    """Two jobs: the slow one, and one that ends at once."""
    sandbox.settings(pace=0)
    batch = session.submit_many(["slow", "quick"], duration_seconds=1, once="pair")
    assert batch[0] is slow
    return batch


def sent(sandbox: Sandbox) -> dict[str, int]:
    requests: dict[str, int] = sandbox.state()["requests"]
    return requests


WRONG: list[tuple[Any, type[errors.InvalidInput], str]] = [
    ("  ", errors.InvalidPrompt, "empty"),
    ({"prompt": "a fox", "duration_seconds": 11}, errors.InvalidDuration, "1 to 10"),
    ({"prompt": "a fox", "aspect_ratio": "4:3"}, errors.InvalidAspectRatio, "web app"),
    ({"prompt": "a fox", "seed": "x"}, errors.InvalidSeed, "whole number"),
    ({"prompt": "a fox", "image": b"no image"}, errors.InvalidImage, ""),
    ({"prompt": "a fox", "image": "a.png", "seed": 7}, errors.InvalidInput, "takes no seed"),
    ({"prompt": "a fox", "lenght": 3}, errors.InvalidInput, "takes no lenght"),
    ({"duration_seconds": 3}, errors.InvalidInput, "no prompt"),
    (7, errors.InvalidInput, "not int"),
    (rb.JobRequest("image-to-video", "a fox", 5), errors.InvalidInput, "image"),
]


@pytest.mark.parametrize(("wrong", "kind", "said"), WRONG)
def test_one_wrong_request_keeps_the_whole_batch_from_being_sent(
    session: rb.Session, sandbox: Sandbox, wrong: Any, kind: type[errors.InvalidInput], said: str
) -> None:
    """The error has the type that fits and names the request; nothing is written down or sent."""
    with pytest.raises(kind, match=rf"Request 7 of 10: .*{said}.*Nothing of the batch was sent") as raised:
        session.submit_many([*["a fox"] * 6, wrong, *["a fox"] * 3])
    assert type(raised.value) is kind
    assert (session.jobs(), sent(sandbox)) == ((), {})


@pytest.mark.parametrize("single", ["a fox", b"a fox", {"prompt": "a fox"}, 5])
def test_a_single_request_is_no_batch(session: rb.Session, sandbox: Sandbox, single: Any) -> None:
    """A text isn't taken for a list of letters, each a clip."""
    with pytest.raises(errors.InvalidInput, match="brackets"):
        session.submit_many(single)
    assert (session.jobs(), sent(sandbox)) == ((), {})


def test_a_batch_that_would_pass_the_limit_as_a_whole_is_not_begun(sandbox: Sandbox) -> None:
    """Three of four would fit; none is written down or sent, and what fits goes through."""
    with rb.connect("sandbox", max_spend=0.17) as session:
        with pytest.raises(errors.SpendLimitReached) as limited:
            session.submit_many(["a fox"] * 4, duration_seconds=1)
        assert (limited.value.needed_usd, session.jobs(), sent(sandbox)) == (0.2, (), {})
        with pytest.warns(errors.SpendingWarning):
            batch = session.submit_many(["a fox"] * 3, duration_seconds=1)
        assert len(batch.results(30)) == 3


def test_prompts_mappings_images_and_requests_make_a_batch(session: rb.Session, tmp_path: Path) -> None:
    """What a request leaves out is filled in; an open file serves all requests that name it."""
    Image.new("RGB", (90, 160), "teal").save(tmp_path / "still.png")
    with (tmp_path / "still.png").open("rb") as still:
        batch = session.submit_many(
            [
                "a fox",
                {"prompt": "a hen", "aspect_ratio": "1:1"},
                {"prompt": "zoom in", "image": still, "duration_seconds": 1},
                {"prompt": "zoom out", "image": still},
                rb.JobRequest("text-to-video", "an owl", 3, aspect_ratio="16:9", seed=9),
            ],
            duration_seconds=2,
            aspect_ratio="9:16",
            seed=7,
        )
    asked = [job.request for job in batch if job.request is not None]
    assert [(r.mode, r.duration_seconds, r.aspect_ratio, r.seed) for r in asked] == [
        ("text-to-video", 2, "9:16", 7),
        ("text-to-video", 2, "1:1", 7),
        ("image-to-video", 1, None, None),
        ("image-to-video", 2, None, None),
        ("text-to-video", 3, "16:9", 9),
    ]
    assert asked[2].image is asked[3].image is not None
    assert batch.estimated_cost_usd == 0.5
    clips = batch.results(60)
    assert [clip.request for clip in clips] == asked
    assert repr(batch) == "<Batch of 5: 5 completed, about $0.50>"


def test_a_batch_is_a_sequence_of_its_jobs(session: rb.Session, sandbox: Sandbox) -> None:
    """Length, index, slice and iteration follow the requests; none is a batch too."""
    sandbox.settings(pace=3600)
    batch = session.submit_many(["a fox", "a hen", "an owl"])
    assert [job.prompt for job in batch] == ["a fox", "a hen", "an owl"]
    assert (len(batch), batch[-1], batch[1:]) == (3, list(batch)[2], tuple(batch)[1:])
    assert session.submit_many([]).results(1) == []
    until(lambda: all(job.state == "pending" for job in batch))
    assert repr(batch) == "<Batch of 3: 3 pending, about $0.75>"


def test_jobs_come_as_they_end_and_clips_in_the_order_of_the_requests(
    sandbox: Sandbox, pair: rb.Batch
) -> None:
    """The quick one comes first although it was asked for last; a job of an earlier call is a part of it."""
    ends = pair.as_completed(60)
    assert next(ends) is pair[1]
    sandbox.advance(3601)
    assert list(ends) == [pair[0]]
    assert [clip.request and clip.request.prompt for clip in pair.results(60)] == ["slow", "quick"]
    assert list(pair.as_completed(0)) == [pair[1], pair[0]]


def test_two_can_wait_for_a_batch_at_a_time(sandbox: Sandbox, pair: rb.Batch) -> None:
    """A thread and two tasks in another loop each get all jobs in the same order; `await` gives the clips."""

    async def collected() -> list[rb.Job]:
        return [job async for job in pair]

    async def cell() -> list[list[rb.Job]]:
        return list(await asyncio.gather(collected(), collected()))

    def end_the_slow_one() -> None:
        next(pair.as_completed(60))
        sandbox.advance(3601)

    with concurrent.futures.ThreadPoolExecutor(2) as others:
        thread = others.submit(lambda: list(pair.as_completed(60)))
        others.submit(end_the_slow_one)
        assert [*asyncio.run(cell()), thread.result(60)] == [[pair[1], pair[0]]] * 3
    assert asyncio.run(awaited(pair)) == [pair[0].clip, pair[1].clip]


def test_a_failed_job_ends_neither_the_batch_nor_its_iteration(
    session: rb.Session, sandbox: Sandbox, slow: rb.Job
) -> None:
    """Iterating gives the failed job too; `results` raises its error, but only when all have ended."""
    sandbox.settings(pace=0, fail_next="content policy")
    batch = session.submit_many(["a crowd", "slow"], duration_seconds=1, once="pair")
    failed = next(batch.as_completed(30))
    assert (failed, str(failed.error).count("content policy")) == (batch[0], 1)
    with pytest.raises(errors.WaitTimeout, match=r"1 of 2 jobs haven't ended after 0\.1 s"):
        batch.results(0.1)
    sandbox.advance(3601)
    with pytest.raises(errors.JobFailed, match="1 of 2 clips are there"):
        batch.results(60)
    assert slow.clip is not None
    assert batch.stopped is None


async def awaited(batch: rb.Batch) -> list[rb.Clip]:
    return await batch


@pytest.mark.usefixtures("real_time")
def test_402_stops_the_rest_and_the_numbers_are_the_services(session: rb.Session, sandbox: Sandbox) -> None:
    """What isn't sent is taken back, what was accepted goes on, and each request is one of the two."""
    use_up(session, sandbox, 6)
    sandbox.settings(balance_usd=0.12, pace=3600)
    batch = session.submit_many([f"fox {n}" for n in range(8)], duration_seconds=1)
    until(lambda: sum(job.state == "pending" for job in batch) == 2 and len(batch.unpaid) == 6)
    assert sandbox.state()["jobs_under_way"] == 2
    assert sent(sandbox)["text-to-video"] <= 4
    assert session.spending().of_key.committed_usd == batch.estimated_cost_usd == 0.1
    assert "2 of 8 clips went through; 6 did not, and nothing was paid for those" in str(batch.stopped)
    taken_back = [job for job in batch if isinstance(job.error, errors.SubmissionCancelled)]
    assert len(taken_back) >= 4
    assert all("the balance ran out. Nothing was paid. Add credits" in str(job.error) for job in taken_back)
    assert list(batch.unpaid) == [job.request for job in batch if job.request_id is None]


def test_what_402_left_can_be_submitted_once_there_is_money(session: rb.Session, sandbox: Sandbox) -> None:
    """`unpaid` is a batch again; waiting for the first one raises the refusal with what became of it."""
    sandbox.settings(balance_usd=0.12)
    batch = session.submit_many(["a", "b", "c", "d"], duration_seconds=1)
    with pytest.raises(errors.InsufficientBalance, match="2 of 4 clips went through; 2 did not"):
        batch.results(30)
    assert sum(job.clip is not None for job in batch) == 2
    sandbox.settings(balance_usd=1)
    rest = session.submit_many(batch.unpaid).results(30)
    assert {clip.request for clip in rest} == set(batch.unpaid)
    assert sandbox.state()["balance_usd"] == 0.9


@pytest.mark.usefixtures("home")
def test_a_key_that_isnt_accepted_stops_the_batch() -> None:
    """401 will be said to all the others too: they aren't sent."""
    with session_of(lambda exchange: exchange.answer(401)) as (session, service):
        batch = session.submit_many(["a fox"] * 30)
        assert len(list(batch.as_completed(30))) == 30
        with pytest.raises(errors.AuthenticationError, match="0 of 30 clips went through") as refused:
            batch.results(60)
    assert "Connect with a key" in str(batch.stopped)
    assert len(batch.unpaid) == 30
    assert KEY not in repr(refused.value) + repr(batch) + str(batch.stopped)
    assert service.posts <= 10


@pytest.mark.usefixtures("home")
def test_a_service_that_leaves_submissions_unanswered_stops_the_batch() -> None:
    """After a few 500s the rest stays here: each of them might be billed, and none would be made."""
    with session_of(lambda exchange: exchange.answer(500)) as (session, _):
        batch = session.submit_many(["a fox"] * 30)
        with pytest.raises(errors.SubmissionUncertain, match="leaves submissions unanswered"):
            batch.results(30)
        uncertain = [job for job in batch if job.state == "uncertain"]
        assert 3 <= len(uncertain) <= 10  # as many as the key may send at once
        assert len(batch.unpaid) == 30 - len(uncertain)
        assert session.spending().of_key.uncertain_usd == 0.25 * len(uncertain)
    assert f"so perhaps billed: {len(uncertain)}" in str(batch.stopped)


def test_what_was_under_way_at_402_and_had_no_effect_is_not_sent_again(home: Path) -> None:
    """A request that is answered with 429 after the batch was stopped is taken back instead."""
    both_sent = threading.Event()
    batches: list[rb.Batch] = []

    def answer(exchange: Exchange) -> None:
        both_sent.wait(60)
        if not batches[0].stopped:
            exchange.answer(402, b'{"detail": "Insufficient balance"}')
            until(lambda: batches[0].stopped)
        else:
            exchange.answer(429, headers={"retry-after": "0"})

    with session_of(answer) as (session, service):
        batches.append(session.submit_many(["a fox", "a hen"]))
        until(lambda: len(session._ledger.find(Filter(state="sending"), limit=9)) == 2)
        both_sent.set()
        first, second = batches[0].as_completed(30)
        states = (first.state, second.state)
    assert states == ("refused", "cancelled")
    assert service.posts == 2
    assert "balance ran out" in str(second.error)


@pytest.mark.usefixtures("real_time")
def test_what_waits_for_the_budget_can_be_taken_back(session: rb.Session, sandbox: Sandbox) -> None:
    """`cancel` says how many; nothing is sent or paid, and the iteration ends with each job's error."""
    use_up(session, sandbox, 10)
    batch = session.submit_many(["a", "b", "c"])
    until(lambda: all(job.view().waiting_seconds for job in batch))
    assert (batch[0].cancel(), batch[0].cancel(), batch.cancel(), batch.cancel()) == (True, False, 2, 0)
    assert [type(job.error) for job in batch.as_completed(5)] == [errors.SubmissionCancelled] * 3
    with pytest.raises(errors.SubmissionCancelled, match="Nothing was paid"):
        batch.results(60)
    assert batch.stopped is None
    assert (len(batch.unpaid), batch.estimated_cost_usd) == (3, 0.0)
    assert (sandbox.state()["balance_usd"], "text-to-video" in sent(sandbox)) == (25.0, False)


@pytest.mark.parametrize("how", ["as_completed", "results", "await"])
def test_stop_ends_the_waiting_and_not_the_jobs(sandbox: Sandbox, pair: rb.Batch, how: str) -> None:
    """KeyboardInterrupt comes through at once; afterwards the batch can be waited for again."""
    waits: dict[str, Callable[[], object]] = {
        "as_completed": lambda: list(pair.as_completed()),
        "results": pair.results,
        "await": lambda: asyncio.run(awaited(pair)),
    }
    stop = threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT])
    stop.start()
    with pytest.raises(KeyboardInterrupt):
        waits[how]()
    stop.join()
    assert pair[0].running
    sandbox.advance(3601)
    assert len(pair.results(60)) == 2


def test_waiting_on_the_sessions_own_thread_raises(session: rb.Session) -> None:
    """Where it would wait for itself: in a callback of the session. Taking back doesn't wait there."""
    batch = session.submit_many(["a fox"], duration_seconds=1)

    def callback() -> None:
        batch.cancel()
        for wait in (batch.as_completed, batch.results, batch[0].result):
            with pytest.raises(errors.WouldDeadlock):
                wait()

    session._thread.run(callback)


def test_map_submits_at_once_and_gives_the_clips_in_order(session: rb.Session, sandbox: Sandbox) -> None:
    """As `Executor.map`: nothing waits for the first `next`; in `async for`, too."""
    clips = session.map(["a fox", "a hen"], timeout=60, duration_seconds=1)
    until(lambda: sent(sandbox).get("text-to-video") == 2)
    assert list(clips) == clips.batch.results(0)
    assert list(clips) == []
    later = session.map(["a fox", "a hen"], duration_seconds=1)

    async def cell() -> list[rb.Clip]:
        return [clip async for clip in later]

    assert asyncio.run(cell()) == later.batch.results(0)


def test_map_raises_at_the_clip_that_is_missing_and_goes_on_after_it(
    session: rb.Session, sandbox: Sandbox
) -> None:
    """A failed job costs its own place only; a timeout counts from the call."""
    sandbox.settings(fail_next="content policy")
    clips = session.map(["a crowd"] * 2, duration_seconds=1)
    assert sorted(job.state for job in clips.batch.as_completed(30)) == ["completed", "failed"]
    for job in clips.batch:
        if job.clip is not None:
            assert next(clips) is job.clip
        else:
            with pytest.raises(errors.JobFailed, match="content policy"):
                next(clips)
    sandbox.settings(pace=3600)
    late = session.map(["slow"] * 2, timeout=0.05)
    for _ in range(2):
        with pytest.raises(errors.WaitTimeout, match=r"^Not finished 0\.05 s after map\(\)"):
            next(late)


def test_once_makes_equal_requests_of_a_batch_one_job(session: rb.Session, sandbox: Sandbox) -> None:
    """Under one label an equal clip is bought once, within a batch and in the next one."""
    batch = session.submit_many(["a fox", "a hen", "a fox"], duration_seconds=1, once="animals")
    assert (len(batch), batch[0] is batch[2], batch.estimated_cost_usd) == (3, True, 0.1)
    assert list(batch.as_completed(30)) != []
    clips = batch.results(30)
    assert clips[0] is clips[2]
    again = session.submit_many(["a fox", "a fox", "a hen"], duration_seconds=1, once="animals")
    assert list(again) == [batch[0], batch[0], batch[1]]
    assert sent(sandbox)["text-to-video"] == 2
    bought = session.submit_many(["a fox", "a fox"], duration_seconds=1, once="animals", again=True)
    assert len({*bought, *batch}) == 4


@pytest.mark.parametrize("once", [True, False, ""])
def test_once_is_a_label(session: rb.Session, once: Any) -> None:
    """A yes or no would be one label for every script, and `False` would bring back an earlier clip."""
    with pytest.raises(errors.InvalidInput, match="once is a label of your own"):
        session.text_to_video("a fox", duration_seconds=1, once=once)
    assert session.jobs() == ()


def test_an_experiment_can_be_named_or_stand_around(session: rb.Session) -> None:
    """The name is in the ledger either way, and nothing else takes part."""
    named = session.submit_many(["a"], duration_seconds=1, experiment="fog")
    with session.experiment("snow"):
        around = session.submit_many(["b"], duration_seconds=1)
    session.submit_many(["c"], duration_seconds=1)
    assert [*session.jobs(experiment="fog"), *session.jobs(experiment="snow")] == [*named, *around]
