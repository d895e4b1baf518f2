"""`session.reconcile()` on a sandbox: what it is certain of is what the sandbox did."""

import contextlib
import json
import re
import sqlite3
import time
from dataclasses import replace
from typing import Any

import pytest
from support.live import KEY, session_of
from support.raw_server import Exchange
from support.waiting import until

import reelbook as rb
from reelbook import errors
from reelbook.account.reconcile import SAMPLES
from reelbook.ledger.money import PATIENCE_SECONDS
from reelbook.sandbox.handle import Sandbox

FOX: dict[str, Any] = {"duration_seconds": 1, "aspect_ratio": "1:1", "seed": 7}


def lose(session: rb.Session, sandbox: Sandbox, kind: str = "answer_lost") -> rb.Job:
    """Submits a clip whose answer doesn't come. Other faults are tried in tests/contract."""
    sandbox.fault(kind, endpoint="generate")
    job = session.text_to_video("a fox", **FOX)
    with pytest.raises(errors.SubmissionUncertain):
        job.result(30)
    return job


def later(session: rb.Session, seconds: float) -> None:
    """Everything in the ledger happened so much earlier."""
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


@pytest.mark.parametrize(("kind", "taken"), [("answer_lost", True), ("reset_before", False)])
def test_a_sandbox_tells_what_was_accepted_and_what_wasnt(
    session: rb.Session, sandbox: Sandbox, kind: str, taken: bool
) -> None:
    """What isn't counted wasn't accepted, and its money is free again.

    What is counted may be somebody else's: on the person's word it is lost, spent and remembered. The usage
    is asked for over the period that it is known of.
    """
    session.usage(7)
    job = lose(session, sandbox, kind)
    later(session, 10)
    found = verdict(session)
    if taken:
        assert (found.answer, found.if_alone, job.state) == ("can't tell", "accepted", "uncertain")
        assert session.spending().of_key.uncertain_usd == 0.05
        found = verdict(session, alone=True)
    assert (found.answer, found.job) == ("accepted" if taken else "not accepted", job)
    assert job.state == ("lost" if taken else "not accepted")
    spent = session.spending().of_key
    assert (spent.spent_usd, spent.committed_usd) == ((0.05, 0.05) if taken else (0.0, 0.0))
    with pytest.raises(errors.ReelbookError, match="Accepted" if taken else "Nothing was paid") as raised:
        job.result(60)
    assert (isinstance(raised.value, errors.SubmissionUncertain), str(raised.value)) == (taken, str(found))
    assert session.reconcile().verdicts == ()


def test_a_clip_that_a_tool_may_have_bought_is_not_taken_for_the_uncertain_one(
    session: rb.Session, sandbox: Sandbox
) -> None:
    """Even if a person says that nobody else used the account: the tool did."""
    session.usage()
    session.call_tool("generate_video_from_text", prompt="a fox", duration_seconds=1).result(30)
    lose(session, sandbox, "reset_before")
    later(session, 10)
    found = verdict(session, alone=True)
    assert (found.answer, "agent tool" in str(found)) == ("can't tell", True)


def test_one_request_is_asked_and_its_time_is_said(session: rb.Session, sandbox: Sandbox) -> None:
    """The text has the times of both figures, job by job. None is asked if every submission was answered."""
    session.usage()
    arrived = sandbox.state()["requests"]
    nothing = session.reconcile()
    assert (nothing.verdicts, str(nothing)) == ((), "Every submission was answered. Nothing was asked.")
    assert sandbox.state()["requests"] == arrived
    job = lose(session, sandbox)
    until(lambda: sandbox.state()["requests"]["usage"] >= 3)  # with those for the lost answer
    arrived = sandbox.state()["requests"]["usage"]
    found = session.reconcile(alone=True)
    assert sandbox.state()["requests"]["usage"] == arrived + 1
    assert re.search(r"Requests 0 at \d\d:\d\d:\d\d → 1 at \d\d:\d\d:\d\d", str(found))
    head, verdict_line, *lines = str(found).splitlines()
    assert (head, verdict_line) == ("1 submission without an answer.", f"#1 “{job.prompt}”: accepted")
    assert lines == [f"  {text}" for text in (*found.verdicts[0].reasons, found.verdicts[0].advice)]
    assert repr(found) == str(found)


def test_a_lost_answer_takes_figures_though_nobody_looks(session: rb.Session, sandbox: Sandbox) -> None:
    """A script without panels has something to compare the next one with."""
    lose(session, sandbox)
    until(lambda: session._ledger.samples.list(before=time.time()))
    # Hours of the jumping clock may have brought more.
    first = session._ledger.samples.list(before=time.time())[-1]
    assert (first.total_requests, first.balance_usd is not None) == (1, True)


def test_an_earlier_kernels_lost_answer_is_found_out_and_the_verdict_lasts(
    session: rb.Session, sandbox: Sandbox
) -> None:
    """Reconciling works on what the ledger holds, whoever sent it and however much was heard since; the next
    session knows its verdict.
    """
    session.usage()
    (known,) = session._ledger.samples.list()
    lose(session, sandbox, "reset_before")
    for _ in range(SAMPLES):
        session._ledger.samples.add(replace(known, at=time.time()))
    session.close()
    with rb.connect("sandbox") as after:
        later(after, 10)
        assert verdict(after).answer == "not accepted"
    with rb.connect("sandbox") as last:
        (job,) = last.jobs()
        assert (job.state, last.spending().of_key.committed_usd) == ("not accepted", 0.0)
        assert "nothing was paid" in str(job.error)


@pytest.mark.parametrize("accepts", [True, False])
def test_a_live_service_without_usage_is_judged_by_its_money(home: object, accepts: bool) -> None:
    """Money alone may be somebody else's: it only tells on the person's word, and after a day."""
    balance = {"balance_usd": 25.0, "total_spent_usd": 0.0}

    def handle(exchange: Exchange) -> None:
        if exchange.first_line.startswith("POST"):  # not answered
            balance.update({"balance_usd": 24.75, "total_spent_usd": 0.25} if accepts else {})
        elif "balance" in exchange.first_line:
            exchange.answer(200, json.dumps(balance).encode())
        else:
            exchange.answer(404)

    with session_of(handle) as (session, _):
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
        assert KEY not in f"{late!r} {late} {session.reconcile()}"
