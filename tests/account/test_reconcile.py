"""`session.reconcile()` on a sandbox: what it says for sure is what the sandbox did."""

from __future__ import annotations

import contextlib
import re
import sqlite3
import time
from collections.abc import Iterator
from typing import Any

import pytest
from support.raw_server import Exchange, raw_server

import reelbook as rb
from reelbook import errors
from reelbook.agent_tools.parsing import found_jobs
from reelbook.ledger.money import PATIENCE_SECONDS
from reelbook.sandbox.handle import Sandbox

FOX: dict[str, Any] = {"duration_seconds": 1, "aspect_ratio": "1:1", "seed": 7}
TAKEN: list[tuple[Any, dict[str, Any]]] = [
    ("answer_lost", {}),
    ("close", {"handled": True}),
    ("short_body", {}),
    ("garbage", {}),
    ("500", {"handled": True}),
    ("html", {"handled": True}),
    ("broken_json", {}),
]
NOT_TAKEN: list[tuple[Any, dict[str, Any]]] = [
    ("reset_before", {}),
    ("close", {}),
    ("garbage", {"handled": False}),
    ("500", {}),
    ("503", {}),
    ("html", {}),
]


@pytest.fixture
def session(sandbox: Sandbox) -> Iterator[rb.Session]:
    with rb.connect("sandbox") as session:
        yield session


def lose(session: rb.Session, sandbox: Sandbox, kind: Any = "answer_lost", **options: Any) -> rb.Job:
    """Submits a clip whose answer doesn't come."""
    sandbox.fault(kind, endpoint="generate", **options)
    job = session.text_to_video("a fox", **FOX)
    with pytest.raises(errors.SubmissionUncertain):
        job.result(30)
    return job


def later(session: rb.Session, seconds: float) -> None:
    """All that the ledger holds happened so much earlier."""
    columns = {
        "entries": ("intended_at", "sent_at", "accepted_at", "ended_at"),
        "samples": ("at", "asked_at"),
        "tool_calls": ("at",),
        "tool_jobs": ("called_at", "answered_at", "ended_at"),
    }
    with contextlib.closing(sqlite3.connect(session.home / "ledger.db", timeout=10)) as ledger, ledger:
        for table, names in columns.items():
            changes = ", ".join(f"{name} = {name} - ?" for name in names)
            ledger.execute(f"UPDATE {table} SET {changes}", (seconds,) * len(names))


def verdict(session: rb.Session, *, alone: bool = False) -> rb.Verdict:
    (found,) = session.reconcile(alone=alone).verdicts
    return found


def test_without_an_uncertain_one_nothing_is_asked(session: rb.Session, sandbox: Sandbox) -> None:
    """No submission without an answer: that is said, and costs no request."""
    session.text_to_video("a fox", **FOX).result(30)
    arrived = sandbox.state()["requests"]
    found = session.reconcile()
    assert (found.verdicts, str(found)) == ((), "Every submission was answered. Nothing was asked.")
    assert sandbox.state()["requests"] == arrived


@pytest.mark.parametrize(("kind", "options"), TAKEN, ids=str)
def test_what_was_accepted_is_known_where_nobody_else_was(
    session: rb.Session, sandbox: Sandbox, kind: Any, options: dict[str, Any]
) -> None:
    """Never "not accepted"; "accepted" on the person's word, and then it is lost, spent and remembered."""
    session.usage()
    job = lose(session, sandbox, kind, **options)
    later(session, 10)
    plain = verdict(session)
    assert (plain.answer, plain.if_alone, job.state) == ("can't tell", "accepted", "uncertain")
    assert session.spending().of_key.uncertain_usd == 0.05
    sure = verdict(session, alone=True)
    assert (sure.answer, sure.job, job.state) == ("accepted", job, "lost")
    assert (session.spending().of_key.spent_usd, session.spending().of_key.uncertain_usd) == (0.05, 0.0)
    with pytest.raises(errors.SubmissionUncertain, match=r"Accepted\."):
        job.result(60)
    assert session.reconcile().verdicts == ()


@pytest.mark.parametrize(("kind", "options"), NOT_TAKEN, ids=str)
def test_what_was_not_accepted_is_known(
    session: rb.Session, sandbox: Sandbox, kind: Any, options: dict[str, Any]
) -> None:
    """A sandbox counts what it accepts: nothing counted, nothing accepted, and the money is free again."""
    session.usage()
    job = lose(session, sandbox, kind, **options)
    later(session, 10)
    found = verdict(session)
    assert (found.answer, job.state) == ("not accepted", "not accepted")
    assert session.spending().of_key.committed_usd == 0.0
    with pytest.raises(errors.ReelbookError, match="Nothing was paid"):
        job.result(60)


@pytest.mark.parametrize("kind", ["answer_lost", "reset_before"])
def test_a_second_client_on_the_same_balance_makes_no_wrong_answer(
    session: rb.Session, sandbox: Sandbox, kind: Any
) -> None:
    """An equal clip that somebody else bought meanwhile looks like ours: that can't be told."""
    session.usage()
    sandbox.fault(kind, endpoint="generate")
    job = session.text_to_video("a fox", **FOX)
    with pytest.raises(errors.SubmissionUncertain):
        job.result(30)
    key = session.keys.create("somebody else").api_key
    with rb.connect(api_key=key, base_url=sandbox.url) as other:
        other.text_to_video("a fox", **FOX).result(30)
    later(session, 10)
    found = session.reconcile()
    assert [each.answer for each in found.verdicts] == ["can't tell"]
    assert job.state == "uncertain"


def test_another_kernels_clips_are_not_taken_for_the_uncertain_one(
    session: rb.Session, sandbox: Sandbox
) -> None:
    """What this ledger knows was bought explains itself, also on the person's word."""
    session.usage()
    lose(session, sandbox, "reset_before")
    session.text_to_video("another fox", **FOX).result(30)
    later(session, 10)
    assert verdict(session, alone=True).answer == "not accepted"


def buy_by_tool(session: rb.Session) -> str:
    """The id of a clip like the lost one that an agent tool bought."""
    called = session.call_tool("generate_video_from_text", {"prompt": "a fox", "duration_seconds": 1})
    (found,) = found_jobs(called.result(30))
    assert found.request_id is not None
    return found.request_id


@pytest.mark.parametrize("alone", [False, True])
def test_a_clip_that_a_tool_may_have_bought_is_not_taken_for_the_uncertain_one(
    session: rb.Session, sandbox: Sandbox, alone: bool
) -> None:
    """Also where a person says that nobody else was there: the tool was. It matters only once."""
    session.usage()
    buy_by_tool(session)
    lose(session, sandbox, "reset_before")
    later(session, 10)
    found = verdict(session, alone=alone)
    assert (found.answer, found.if_alone) == ("can't tell", "can't tell")
    assert "agent tool" in str(found)
    later(session, 60)
    session.usage()
    second = lose(session, sandbox, "reset_before")
    later(session, 10)
    (answer,) = (each.answer for each in session.reconcile(alone=alone).verdicts if each.job is second)
    assert answer == "not accepted"


def test_without_figures_from_before_the_figures_are_shown(session: rb.Session, sandbox: Sandbox) -> None:
    """Nothing to compare with: that is said, with what to do, and it goes on counting as uncertain."""
    job = lose(session, sandbox)
    found = session.reconcile()
    assert found.verdicts[0].answer == "can't tell"
    assert re.search(r"known from before .*\n  Now: balance \$2\d.*, requests 1\.", str(found))
    assert "web app" in found.verdicts[0].advice
    assert job.state == "uncertain"


def test_two_requests_are_asked_and_their_times_are_said(session: rb.Session, sandbox: Sandbox) -> None:
    """One question for the balance, one for the usage; both moments stand in the text."""
    session.usage()
    lose(session, sandbox)
    end = time.monotonic() + 120
    while (arrived := sandbox.state()["requests"])["usage"] < 3:  # with those for the lost answer
        assert time.monotonic() < end
        time.sleep(0.02)
    found = session.reconcile(alone=True)
    now = sandbox.state()["requests"]
    assert (now["balance"] - arrived.get("balance", 0), now["usage"] - arrived["usage"]) == (1, 1)
    assert re.search(r"Requests 0 at \d\d:\d\d:\d\d → 1 at \d\d:\d\d:\d\d\.", str(found))
    assert repr(found) == str(found)


def test_a_lost_answer_takes_figures_though_nobody_looks(session: rb.Session, sandbox: Sandbox) -> None:
    """A script without panels has something to compare the next one with."""
    lose(session, sandbox)
    end = time.monotonic() + 120
    while not session._ledger.samples.list(before=time.time()):
        assert time.monotonic() < end
        time.sleep(0.02)
    # Hours of the jumping clock may have brought more.
    first = session._ledger.samples.list(before=time.time())[-1]
    assert (first.total_requests, first.balance_usd is not None) == (1, True)


def test_a_verdict_outlives_the_kernel(session: rb.Session, sandbox: Sandbox) -> None:
    """The next session knows what became of it, in words that fit."""
    session.usage()
    lose(session, sandbox, "reset_before")
    later(session, 10)
    session.reconcile()
    session.close()
    with rb.connect("sandbox") as after:
        (job,) = after.jobs()
        assert (job.state, after.spending().of_key.committed_usd) == ("not accepted", 0.0)
        assert "nothing was paid" in str(job.error)


def test_a_found_job_of_an_earlier_kernel_is_settled_too(session: rb.Session, sandbox: Sandbox) -> None:
    """Reconciling works on what the ledger holds, whoever sent it."""
    session.usage()
    lose(session, sandbox)
    session.close()
    with rb.connect("sandbox") as after:
        (job,) = after.jobs()
        later(after, 10)
        assert (verdict(after, alone=True).job, job.state) == (job, "lost")


def live_service(bodies: dict[str, bytes], *, accepts: bool) -> Any:
    """A service that closes at each submission and answers billing questions with `bodies`."""

    def handle(exchange: Exchange) -> None:
        path = exchange.first_line.split()[1].split("?")[0]
        if exchange.first_line.startswith("POST"):
            if accepts:
                bodies["/api/v1/billing/balance"] = b'{"balance_usd": 24.75, "total_spent_usd": 0.25}'
            return
        body = bodies.get(path)
        exchange.answer(200 if body else 404, body or b"{}")

    return raw_server(handle)


@pytest.mark.parametrize("accepts", [True, False])
def test_a_live_service_without_usage_is_judged_by_its_money(home: object, accepts: bool) -> None:
    """Money alone may be somebody's, or paid back to somebody: it tells on the person's word, after a day."""
    bodies = {"/api/v1/billing/balance": b'{"balance_usd": 25.0, "total_spent_usd": 0.0}'}
    with live_service(bodies, accepts=accepts) as service:
        with rb.connect("live", api_key="sk-planted-reconcile", base_url=service.url) as session:
            session.balance()
            job = session.text_to_video("a fox", duration_seconds=5)
            with pytest.raises(errors.SubmissionUncertain):
                job.result(30)
            later(session, PATIENCE_SECONDS + 100)
            early = verdict(session)
            assert early.answer == "can't tell"
            later(session, 24 * 3600)
            late = verdict(session)
            assert (early.if_alone, late.answer) == ("accepted" if accepts else "can't tell", "can't tell")
            assert late.if_alone == ("accepted" if accepts else "not accepted")
            assert "sk-planted" not in f"{late!r} {late} {session.reconcile()}"


def test_reconciling_on_the_sessions_own_thread_raises(session: rb.Session, sandbox: Sandbox) -> None:
    """A callback that waited for the session would wait for itself."""
    raised: list[Exception] = []

    def callback(_: rb.Job) -> None:
        try:
            session.reconcile()
        except errors.WouldDeadlock as error:
            raised.append(error)

    job = session.text_to_video("a fox", **FOX)
    job.subscribe(callback)
    job.result(30)
    assert raised
