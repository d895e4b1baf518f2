"""What a session writes down before it pays, and finds again after a kernel's end."""

import asyncio
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from session.conftest import RunCell
from support.live import connected, session_of
from support.raw_server import Exchange, raw_server
from support.waiting import until

import reelbook as rb
from reelbook import errors, event_thread
from reelbook.account.limits import without_spend_warnings
from reelbook.client import AsyncClient
from reelbook.ledger import Ledger, LedgerFile
from reelbook.models import job_status, state_of
from reelbook.requests import JobRequest
from reelbook.sandbox.handle import Sandbox
from reelbook.secret import Secret

FOX: Any = {"duration_seconds": 1, "aspect_ratio": "1:1", "seed": 7}


def test_the_intent_is_on_the_disk_before_the_request_goes_out(home: Path) -> None:
    """When the service reads the request, another process finds it in the ledger as being sent."""
    states: list[str] = []

    def look(exchange: Exchange) -> None:
        if exchange.first_line.startswith("POST"):
            with LedgerFile.open(home) as other:
                states.extend(entry.state for entry in other.find())
            exchange.answer(200, b'{"request_id": "req_1", "status": "pending"}')
        else:
            exchange.answer(404)

    with session_of(look) as (session, _):
        job = session.text_to_video("a fox", **FOX)
        until(lambda: job.request_id)
    assert states == ["sending"]
    with LedgerFile.open(home) as after:
        assert [entry.request_id for entry in after.find()] == ["req_1"]


@pytest.mark.parametrize(
    ("step", "state", "uncertain_usd"),
    [("responses.read", "uncertain", 0.05), ("AsyncClient.submit", "refused", 0.0)],
    ids=["after the sending", "before"],
)
def test_a_mistake_of_ours_leaves_no_paid_request_without_a_verdict(
    home: Path, monkeypatch: pytest.MonkeyPatch, step: str, state: str, uncertain_usd: float
) -> None:
    """What was out when it happened may be billed; what never went out isn't kept as if it might have."""
    with session_of(lambda e: e.answer(200, b'{"request_id": "req_1", "status": "pending"}')) as (session, _):
        monkeypatch.setattr(f"reelbook.client.{step}", Mock(side_effect=ZeroDivisionError("ours")))
        job = session.text_to_video("a fox", **FOX)
        with pytest.raises(errors.ReelbookError, match="ZeroDivisionError") as raised:
            job.result(20)
        assert isinstance(raised.value, errors.SubmissionUncertain) == (state == "uncertain")
        assert session.spending().of_key.uncertain_usd == uncertain_usd
    with LedgerFile.open(home) as ledger:
        assert [entry.state for entry in ledger.find()] == [state]


def test_a_cell_run_again_gives_its_jobs_back(session: rb.Session, run_cell: RunCell) -> None:
    """The second run of the same source pays nothing; `again=True` and another cell do."""
    run_cell()
    first = [session.text_to_video("a fox", **FOX) for _ in range(2)]
    assert first[0] is not first[1]
    run_cell()
    second = [session.text_to_video("a fox", **FOX) for _ in range(3)]
    assert second[:2] == first
    assert [job.from_earlier_run for job in second] == [True, True, False]
    assert "from an earlier run" in repr(second[0])
    assert session.text_to_video("a fox", **FOX, again=True) not in second
    run_cell("another")
    assert not session.text_to_video("a fox", **FOX).from_earlier_run


def test_a_cell_run_again_in_a_new_kernel_finds_its_clip_without_asking(
    session: rb.Session, run_cell: RunCell
) -> None:
    """The clip of the earlier kernel is there at once; nothing is sent, asked or paid."""
    run_cell()
    clip = session.text_to_video("a fox", **FOX).result(30)
    session.close()
    with rb.connect("sandbox") as later:
        job = later.text_to_video("a fox", **FOX)
        assert (job.state, job.result(0).path) == ("completed", clip.path)
        assert later.facts.requests_left == 10
        found = job.result(0)
        assert (found.cost_usd, found.took_seconds) == (0.05, clip.took_seconds)
        assert clip.took_seconds is not None


def test_how_long_a_clip_took_is_only_said_where_one_kernel_watched_it(
    session: rb.Session, sandbox: Sandbox, slow: rb.Job
) -> None:
    """It may have ended long before the next kernel asked."""
    session.close()
    with rb.connect("sandbox") as later:
        (job,) = later.resume()
        sandbox.advance(3601)
        assert job.result(30).took_seconds is None
        assert job.view().took_seconds is None


def test_a_lost_answer_is_kept_as_uncertain_counted_and_never_sent_again_by_itself(
    home: object, run_cell: RunCell
) -> None:
    """What it may have cost is held against the limit. Its cell, run again, tells of it and sends nothing."""
    run_cell()
    with raw_server(lambda e: e.answer(404) if "about" in e.first_line else None) as service:
        with connected(service, max_spend=0.07) as session:
            with pytest.warns(errors.SpendingWarning), pytest.raises(errors.SubmissionUncertain):
                session.text_to_video("a fox", **FOX).result(30)
            assert session.spending().of_key.uncertain_usd == 0.05
            with pytest.raises(errors.SpendLimitReached):
                session.text_to_video("an owl", **FOX)
        run_cell()
        with connected(service, max_spend=0.07) as later:
            job = later.text_to_video("a fox", **FOX)
            with pytest.raises(errors.SubmissionUncertain):
                job.result(60)
            assert job.state == "uncertain"
    assert len([e for e in service.seen if e.first_line.startswith("POST")]) == 1


@pytest.mark.parametrize("limit", ["five", "-1", "nan"])
def test_a_limit_that_cant_be_read_is_refused(
    home: object, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    """A misspelt limit never means none."""
    monkeypatch.setenv("REELBOOK_MAX_SPEND", limit)
    with pytest.raises(errors.ConfigurationError, match="spending limit"):
        rb.connect("sandbox")


def test_what_a_killed_kernel_never_sent_uses_up_no_limit_and_is_bought_now(sandbox: Sandbox) -> None:
    """Also in a script, which takes up nothing by itself."""
    write = f"""
import os, pathlib
from reelbook.executions import Place
from reelbook.ledger import LedgerFile, Submission
from reelbook.requests import JobRequest
from reelbook.secret import Secret
ledger = LedgerFile.open(pathlib.Path({str(sandbox.home)!r})).ledger(
    "sandbox", Secret({sandbox.api_key.reveal()!r})
)
fox = Submission.of(JobRequest("text-to-video", "a fox", 1, "1:1", 7), place=Place.once("fox"))
ledger.intend([fox])
os._exit(0)
"""
    subprocess.run([sys.executable, "-"], input=write.encode(), check=True)
    with rb.connect("sandbox", max_spend=0.05) as session:
        assert session.spending().of_key.committed_usd == 0
        with without_spend_warnings():
            job = session.text_to_video("a fox", once="fox", **FOX)
        assert job.result(30).path.exists()


def test_a_session_that_closes_says_what_becomes_of_each_job(
    home: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One has its id, one waits for its answer, and one was never sent."""
    monkeypatch.setattr(event_thread, "SETTLE_SECONDS", 0.1)
    posts: list[str] = []
    asked, closed = threading.Event(), threading.Event()

    def handle(exchange: Exchange) -> None:
        if not exchange.first_line.startswith("POST"):
            exchange.answer(404)
        elif not posts:
            posts.append("first")
            exchange.answer(200, b'{"request_id": "req_1", "status": "pending"}', {"x-ratelimit-limit": "2"})
        else:
            asked.set()
            closed.wait(30)

    with session_of(handle) as (session, _):
        jobs = [session.text_to_video("a fox", **FOX)]
        until(lambda: jobs[0].request_id)
        jobs += [session.text_to_video(prompt, **FOX) for prompt in ("an owl", "a cat")]
        assert asked.wait(30)
        session.close()
        said = [str(job._life.outcome.exception()) for job in jobs]
        closed.set()
    assert "goes on at the service and is billed; the next session's resume()" in said[0]
    assert "before the service answered. It may be making this clip, and may bill it." in said[1]
    assert "before this was sent. Nothing was paid. The next session's resume(unsent=True)" in said[2]
    with LedgerFile.open(session.home) as ledger:
        assert [entry.state for entry in ledger.find(sort="oldest")] == ["pending", "uncertain", "cancelled"]


def test_an_id_that_cant_be_written_down_is_known_all_the_same(
    session: rb.Session, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job has it and says it to whoever waits, and its clip can still be fetched."""
    with monkeypatch.context() as broken:
        broken.setattr(Ledger, "accepted", Mock(side_effect=RuntimeError("no page left")))
        job = session.text_to_video("a fox", **FOX)
        with pytest.raises(errors.ReelbookError, match="the ledger couldn't keep that id") as raised:
            job.result(30)
    assert job.request_id
    assert job.request_id in str(raised.value)
    job.watch()
    assert job.result(30).request_id == job.request_id
    assert sandbox.state()["requests"]["text-to-video"] == 1


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """What is submitted isn't sent, until that is undone."""

    async def wait_for_ever(*_: object, **__: object) -> None:
        await asyncio.Event().wait()

    with monkeypatch.context() as held:
        held.setattr(AsyncClient, "submit", wait_for_ever)
        yield held


def left_unsent() -> list[JobRequest | None]:
    """Three clips that a session had submitted, and not sent, when it was closed; their seeds were drawn."""
    session = rb.connect("sandbox")
    jobs = [session.text_to_video(f"fox {number}", duration_seconds=1) for number in range(3)]
    session.close()
    for job in jobs:
        with pytest.raises(errors.SessionClosed, match=r"The next session's resume\(unsent=True\) sends it"):
            job.result(0)
    return [job.request for job in jobs]


@pytest.fixture
def left(sandbox: Sandbox, held: pytest.MonkeyPatch) -> list[JobRequest | None]:
    """What was left unsent, and can be sent by now."""
    requests = left_unsent()
    held.undo()
    return requests


def test_an_error_within_with_ends_it_at_once(sandbox: Sandbox, held: pytest.MonkeyPatch) -> None:
    """It doesn't wait for what isn't sent."""
    session = rb.connect("sandbox")

    def fail() -> None:
        with session:
            session.text_to_video("a fox", **FOX)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert session.closed


def test_what_a_closed_session_left_unsent_is_sent_when_asked_for(
    sandbox: Sandbox, left: list[JobRequest | None]
) -> None:
    """Never by resume() alone; once by resume(unsent=True), as it was asked for, with its drawn seeds."""
    with rb.connect("sandbox") as later:
        assert later.resume() == ()
        assert later.spending().of_key.committed_usd == 0
        assert "resume(unsent=True) sends it" in str(later.jobs()[0].error)
        jobs = later.resume(unsent=True)
        assert [job.request for job in jobs] == left
        assert all(job.result(30).path.exists() for job in jobs)
        assert later.resume(unsent=True) == ()
        assert later.spending().of_key.spent_usd == 0.15
    assert sandbox.state()["requests"]["text-to-video"] == 3


def test_what_was_left_unsent_and_asked_for_again_or_taken_back_isnt_sent(
    sandbox: Sandbox, held: pytest.MonkeyPatch
) -> None:
    """A submission like it takes its place, wherever that came from; a person's cancel() is the last word."""
    requests = left_unsent()
    with rb.connect("sandbox") as later:
        again = later.text_to_video("fox 1", duration_seconds=1)
        jobs = later.resume(unsent=True)
        assert [job.request for job in jobs] == [requests[0], requests[2]]
        assert [job.cancel() for job in (*jobs, again)] == [True] * 3
        assert later.resume(unsent=True) == ()


def test_what_was_left_unsent_is_sent_within_the_limit_or_not_at_all(
    sandbox: Sandbox, left: list[JobRequest | None]
) -> None:
    """Where one of them would pass it none goes out, and all of them can still be sent."""
    with rb.connect("sandbox", max_spend=0.1) as limited:
        with pytest.raises(errors.SpendLimitReached):
            limited.resume(unsent=True)
    with rb.connect("sandbox", max_spend=0.16) as warned, warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(errors.SpendingWarning):
            warned.resume(unsent=True)
        assert warned.spending().of_key.reserved_usd == 0
    with rb.connect("sandbox") as later:
        assert len(later.resume(unsent=True)) == len(left)


def test_a_word_of_the_services_own_is_not_taken_for_one_of_the_ledgers(session: rb.Session) -> None:
    """A job that the service calls uncertain was sent, and may be billed: its price stays reserved."""
    ledger = session._ledger
    ((entry, _),) = ledger.intend(session._submissions([JobRequest.from_text("a fox", duration_seconds=1)]))
    job = session._jobs.of(entry, watch=False)
    ledger.accepted(entry.id, "req_1")
    job._life.write_down(job_status({"request_id": "req_1", "status": "uncertain"}))
    heard = ledger.get(entry.id)
    assert heard is not None
    assert (heard.state, heard.charge) == ("uncertain by the service", "reserved")
    assert state_of(job_status({"request_id": "r", "status": "queued"})) == "queued"


@pytest.mark.parametrize(("seconds", "cost"), [(4.0, 0.2), (-4.0, 0.25), (None, 0.25)])
def test_a_tools_clip_of_unsaid_cost_counts_with_its_price(
    session: rb.Session, seconds: float | None, cost: float
) -> None:
    """By its length, or by the usual one where the service says none that can be meant."""
    calls = session._ledger.tool_calls
    number = calls.add("https://tools.example/mcp", Secret("user-planted"), "make", {"prompt": "a fox"})
    calls.ended(number, "done", took_seconds=1.0, request_ids=("req_tool",))
    status = {"request_id": "req_tool", "status": "completed", "duration_seconds": seconds}
    session.job("req_tool")._life.write_down(job_status(status))
    assert session.spending().of_key.tools_usd == cost
