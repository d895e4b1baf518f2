"""Jobs of a session on a sandbox in a thread."""

import asyncio
import gc
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue

import pytest
from support.waiting import until

import reelbook as rb
from reelbook import errors, event_thread
from reelbook.models import Accepted
from reelbook.sandbox.handle import Sandbox
from reelbook.session.job_lifecycle import JobLifecycle


def test_a_prompt_becomes_a_clip_on_the_disk(session: rb.Session) -> None:
    """From the prompt to a playable file, with what made it and what it cost."""
    job = session.text_to_video("a red fox", duration_seconds=1, aspect_ratio="9:16", seed=7)
    clip = job.result(30)
    assert (clip.width, clip.height, clip.duration_seconds) == (360, 640, 1.0)
    assert (clip.cost_usd, clip.sandbox, clip.request) == (0.05, True, job.request)
    assert clip.poster().size == (360, 640)
    assert clip.filmstrip(4).width > clip.filmstrip(2).width
    assert repr(clip) == f"<Clip {clip.path.name}, 1.0 s, 360×640 sandbox>"
    assert repr(job) == f"<Job {job.request_id} completed: “a red fox”, 1 s>"


def test_a_job_can_be_awaited_in_any_loop(session: rb.Session) -> None:
    """`await job` works in a loop that isn't the session's, several at once."""

    async def cell() -> list[rb.Clip]:
        jobs = [session.text_to_video("a fox", duration_seconds=1) for _ in range(2)]
        return list(await asyncio.gather(*jobs))

    first, second = asyncio.run(cell())
    assert first.path != second.path


def test_a_timeout_ends_the_waiting_and_not_the_watch(sandbox: Sandbox, slow: rb.Job) -> None:
    """After `wait_for` and `result(timeout)` gave up, the same job still comes home."""

    async def impatient() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(slow, 0.05)

    asyncio.run(impatient())
    with pytest.raises(errors.WaitTimeout, match="goes on"):
        slow.result(0.05)
    assert slow.view().watched
    sandbox.advance(3601)
    assert slow.result(30).duration_seconds == 1.0


def test_a_watch_that_ends_can_be_taken_up_at_once(
    session: rb.Session, sandbox: Sandbox, slow: rb.Job
) -> None:
    """Also before the loop has had a turn: the new watch begins when the former one is gone."""

    def stop_and_watch() -> None:
        slow.stop_watching()
        slow.watch()

    session._thread.run(stop_and_watch)
    assert slow.view().watched
    sandbox.advance(3600)
    assert slow.result(30).path.exists()


def test_a_job_stopped_watching_goes_on_and_can_be_taken_up(sandbox: Sandbox, slow: rb.Job) -> None:
    """Stop watching asks no more; who waits for the clip takes the watch up again."""
    slow.stop_watching()
    assert not slow.view().watched
    sandbox.advance(3601)
    assert slow.state in ("pending", "processing")
    assert slow.result(30).path.exists()


@pytest.mark.parametrize("wanted", [None, rb.Job.watch, rb.Job._wanted])
def test_a_watch_can_be_stopped_before_the_job_has_its_id(
    session: rb.Session, wanted: Callable[[rb.Job], object] | None
) -> None:
    """The submission goes through, and nothing more is asked, unless somebody wants the clip after all."""

    def stop() -> rb.Job:
        job = session.text_to_video("a fox", duration_seconds=1)
        job.stop_watching()
        if wanted is not None:
            wanted(job)
        assert job.request_id is None
        return job

    job = session._thread.run(stop)
    until(lambda: job.clip if wanted else not job.view().watched)
    assert job.request_id is not None


def test_a_failed_job_raises_with_the_services_reason(session: rb.Session, sandbox: Sandbox) -> None:
    """The reason is in the error, in the view, and the balance around it is known."""
    session.balance()
    sandbox.settings(fail_next="content policy")
    job = session.text_to_video("a crowd", duration_seconds=1)
    job.subscribe(lambda _: None)
    for _ in range(2):
        with pytest.raises(errors.JobFailed, match="content policy"):
            job.result(30)
    until(lambda: job.view().balance_after_usd is not None)
    view = job.view()
    assert (view.state, view.balance_before_usd, view.balance_after_usd) == ("failed", 25.0, 25.0)


def test_an_error_of_a_callback_ends_no_watch_and_loses_no_key(
    session: rb.Session, caplog: pytest.LogCaptureFixture
) -> None:
    """It is logged; the clip comes home, a key that was just made isn't lost, and who left hears no more."""
    heard: list[object] = []

    def fails(changed: object) -> None:
        heard.append(changed)
        raise ValueError("mine")

    job = session.text_to_video("a fox", duration_seconds=1)
    leave = [session.subscribe(fails), job.subscribe(fails)]
    assert job.result(30).path.exists()
    assert session.keys.create("workshop").api_key.reveal()
    assert {job, None} <= set(heard)
    assert "mine" in caplog.text
    for each in leave:
        each()
    heard.clear()
    job.mark(picked=True)
    assert heard == []


def test_a_script_that_shows_nothing_spends_no_request_on_the_balance(
    session: rb.Session, sandbox: Sandbox
) -> None:
    """Without a panel, the key's requests go to the jobs alone, a batch's too."""
    session.text_to_video("a fox", duration_seconds=1).result(30)
    session.submit_many(["a hen", "an owl"], duration_seconds=1).results(30)
    assert session.facts.balance_usd is None
    assert (session._balance.asking, "balance" in sandbox.state()["requests"]) == (None, False)


def test_what_is_out_when_a_session_closes_keeps_its_id(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script may end right after it submitted: the answer is waited for, the next session has the job."""
    monkeypatch.setattr(event_thread, "SETTLE_SECONDS", 60)  # of a clock that runs fast
    for _ in range(5):
        with rb.connect("sandbox") as session:
            job = session.text_to_video("a fox", duration_seconds=1)
            while job._life.quiet.is_set() and not job.request_id:
                time.sleep(0.0005)
    with rb.connect("sandbox") as after:
        assert [job.state for job in after.jobs() if job.request_id is None] == []


def test_closing_does_not_wait_long_for_a_service_that_says_nothing(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was sent is uncertain then, and kept as that."""
    monkeypatch.setattr(event_thread, "SETTLE_SECONDS", 0.1)
    sandbox.fault("stall", endpoint="text-to-video")
    session = rb.connect("sandbox")
    job = session.text_to_video("a fox", duration_seconds=1)
    until(lambda: not job._life.quiet.is_set())
    began = time.monotonic()
    session.close()
    assert time.monotonic() - began < 10  # for an answer it would wait for more than ten
    assert not [t for t in threading.enumerate() if t.name == "reelbook-session" and t.is_alive()]
    with rb.connect("sandbox") as after:
        assert [job.state for job in after.jobs()] == ["uncertain"]


def test_closing_in_the_middle_of_a_submission_is_clean(sandbox: Sandbox) -> None:
    """Whatever moment it hits, closing leaves no warning of a coroutine and no thread."""
    for moment in range(40):
        session = rb.connect("sandbox")
        session.text_to_video("a fox", duration_seconds=1)
        time.sleep(moment / 10_000)  # another moment each time, from before the first step to the answer
        session.close()
    gc.collect()
    assert [thread.name for thread in threading.enumerate() if thread.name == "reelbook-session"] == []


def test_the_wait_for_the_limit_is_no_part_of_the_time_a_job_takes(
    session: rb.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When to ask is decided from the acceptance on, however long the submission had to wait."""
    sent_at: list[float] = []
    send = JobLifecycle._send

    async def late(life: JobLifecycle) -> Accepted:
        life.learn(began_at=life.known.began_at - 100)
        sent_at.append(session._thread.now())
        return await send(life)

    monkeypatch.setattr(JobLifecycle, "_send", late)
    job = session.text_to_video("a fox", duration_seconds=1)
    job.result(30)
    assert job._life._belief().submitted_at >= sent_at[0]


def test_the_time_of_the_submission_stays(session: rb.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also while the machine sleeps or its clock is set, and for the next kernel: it is the clip's own."""
    job = session.text_to_video("a fox", duration_seconds=1)
    clip, submitted_at = job.result(30), job.submitted_at
    awake = time.time
    monkeypatch.setattr(time, "time", lambda: awake() + 8 * 3600)
    assert job.submitted_at == submitted_at
    assert submitted_at.replace(microsecond=0) == clip.made_at
    session.close()
    with rb.connect("sandbox") as later:
        assert later.job(clip.request_id).submitted_at == submitted_at


def test_a_callback_hears_once_that_a_job_is_done(
    session: rb.Session, sandbox: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    """Before the end and after it, for a clip and for an error; it may wait, and its own error is logged."""
    heard: SimpleQueue[tuple[rb.Job, str]] = SimpleQueue()

    def hear(job: rb.Job) -> None:
        job.result(30)  # it isn't the session's thread
        heard.put((job, threading.current_thread().name))
        raise OSError("the callback's own")

    job = session.text_to_video("a fox", duration_seconds=1)
    job.on_done(hear)
    assert heard.get(timeout=30) == (job, "reelbook-callback")
    job.on_done(hear)
    assert heard.get(timeout=30)[0] is job
    sandbox.settings(fail_next="content policy")
    failed = session.text_to_video("a crowd", duration_seconds=1)
    ended: SimpleQueue[object] = SimpleQueue()
    failed.on_done(lambda job: ended.put(job.error))
    assert isinstance(ended.get(timeout=30), errors.JobFailed)
    assert heard.empty()
    until(lambda: caplog.text.count("OSError: the callback's own") == 2)


def test_a_job_left_behind_by_its_session_is_not_done(session: rb.Session, slow: rb.Job) -> None:
    """Closing the session calls nobody: the job goes on."""
    heard: list[rb.Job] = []
    slow.on_done(heard.append)
    session.close()
    assert isinstance(slow.error, errors.SessionClosed)
    until(lambda: "reelbook-callback" not in {thread.name for thread in threading.enumerate()})
    assert heard == []
