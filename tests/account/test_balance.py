"""What a session knows about its money without asking."""

import asyncio
import contextlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cli.doubles import ran
from support import virtual_time

import reelbook as rb
from reelbook.account.balance import BalanceTracker
from reelbook.explore.plan import plan
from reelbook.formatting import dollars
from reelbook.models import Usage
from reelbook.sandbox.handle import Sandbox
from reelbook.text.status_line import balance_words
from reelbook.widgets.studio import StatusLine


def test_the_balance_follows_a_clip_without_a_question(session: rb.Session, sandbox: Sandbox) -> None:
    """A form opened after a clip says what is left, and the service isn't asked for that. Nor is the ledger
    read: a board asks for the facts with each of its many jobs.
    """
    session.balance()
    session.text_to_video("a fox", duration_seconds=5).result(30)
    assert (session.facts.balance_usd, session._balance.asking) == (24.75, None)
    form = rb.PromptForm(session)
    assert form.words["lengths"][4]["line"].endswith("leaves $24.50")
    form.close()
    session._ledger.spend = session._ledger.funds = None  # type: ignore[assignment,method-assign] # not to be called
    assert session.facts.balance_usd == 24.75


def test_what_moves_while_a_question_is_out_is_asked_for_again() -> None:
    """The first answer is from before it; a second question follows by itself, and no third."""
    asked: list[float] = []
    heard: list[float] = []

    class Service:
        balance_usd = 25.0

        def budget(self) -> Any:
            return SimpleNamespace(left=10)

        async def usage(self, days: int, *, background: bool) -> Usage:
            said = self.balance_usd
            asked.append(said)
            await asyncio.sleep(5)
            return Usage.model_validate({"total_cost_usd": 0.0, "current_balance_usd": said})

    async def main() -> None:
        service = Service()
        ledger: Any = SimpleNamespace(samples=SimpleNamespace(add=lambda _: None))
        tracker = BalanceTracker(
            SimpleNamespace(client=service),  # type: ignore[arg-type] # only its client is used
            ledger,
            SimpleNamespace(spawn=asyncio.ensure_future),  # type: ignore[arg-type]
            on_change=lambda: None,
            on_balance=heard.append,
            observed=lambda: True,
        )
        tracker.moved()
        await asyncio.sleep(2)  # the question is out
        service.balance_usd = 24.0
        tracker.moved()
        tracker.moved()
        await asyncio.sleep(100)
        assert (heard, asked) == ([25.0, 24.0], [25.0, 24.0])

    virtual_time.run(main())


def test_a_service_that_failed_once_is_asked_for_usage_again(session: rb.Session, sandbox: Sandbox) -> None:
    """Meanwhile the balance alone is asked for; `reconcile()` needs the counts of the next answers."""
    sandbox.fault("500", endpoint="usage", times=9)
    session._thread.call(session._balance._ask_quietly())
    sandbox.clear_faults()
    session._thread.call(session._balance._ask_quietly())
    told = [(each.balance_usd, each.total_requests) for each in session._ledger.samples.list()]
    assert told == [(25.0, 0), (25.0, None)]


def everywhere(session: rb.Session) -> set[str]:
    """What is left of the balance, in dollars, as each place says it; the form and the plan for a clip."""
    with contextlib.ExitStack() as opened:
        form, line, chart = rb.PromptForm(session), StatusLine(session), rb.UsageChart(session)
        for panel in (form, line, chart):
            opened.callback(panel.close)
        session._refresh_balance().result(30)
        assert chart.history is not None
        chart.history.wait(30)
        for panel in (form, line, chart):
            panel.refresh()
        leaves = float(form.words["lengths"][4]["line"].rpartition("$")[2])
        planned = plan(session, [rb.JobRequest.from_text("an owl", duration_seconds=5)])
        return {
            line.facts["balance"],
            f"${leaves + 0.25:.2f}",
            dollars((planned.balance_left_usd or 0.0) + 0.25),
            chart.head.words["pace"].split()[1].rstrip(","),
            balance_words(session.facts).split()[0],
        }


def on_a_terminal() -> str:
    """What `reelbook balance` says, in a process of its own."""
    return ran("balance", "--service", "sandbox").stdout.split()[1].rstrip(",")


def test_a_clip_that_nobody_watches_comes_off_until_it_is_taken_up(sandbox: Sandbox) -> None:
    """In progress or charged meanwhile, all places say the same; once its end is known, it counted once."""
    sandbox.settings(pace=600)
    with rb.connect("sandbox") as first:
        first.balance()
        first.text_to_video("a fox", duration_seconds=5)
        first._thread.call(first._jobs.submitted())
        assert first.facts.balance_usd == 24.75
    with rb.connect("sandbox") as second:
        assert everywhere(second) == {"$24.75"}
        assert (second.balance().balance_usd, second.facts.balance_usd) == (25.0, 24.75)
    sandbox.advance(601)
    with rb.connect("sandbox") as third:
        assert third.balance().balance_usd == 24.75
        assert (on_a_terminal(), everywhere(third)) == ("$24.50", {"$24.50"})
        third.resume()[0].result(30)
        third.balance()
        assert (on_a_terminal(), everywhere(third)) == ("$24.75", {"$24.75"})


def test_all_places_follow_when_another_program_spends(
    sandbox: Sandbox, session: rb.Session, tmp_path: Path
) -> None:
    """With the same key, from another home: the first answer that includes it is everybody's."""
    sandbox.settings(pace=600)
    session.balance()
    session.text_to_video("a fox", duration_seconds=5)
    session._thread.call(session._jobs.submitted())
    assert everywhere(session) == {"$24.75"}
    sandbox.settings(pace=0)
    with rb.connect("live", api_key=sandbox.api_key, base_url=sandbox.url, home=tmp_path) as other:
        other.text_to_video("a wolf", duration_seconds=5).result(30)
    told: list[rb.Job | None] = []
    session.subscribe(told.append)
    session.usage_history(7).wait(30)
    assert None in told
    assert (on_a_terminal(), everywhere(session)) == ("$24.50", {"$24.50"})


def test_who_reads_while_another_one_reads_is_told_the_same(
    session: rb.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A panel draws while the session's thread reads what is left: it waits for that."""
    tracker, reads, goes_on = session._balance, threading.Event(), threading.Event()
    read = tracker._ledger.funds

    def slowly() -> object:
        reads.set()
        goes_on.wait(60)
        return read()

    session.balance()
    tracker._funds, tracker.outdated = None, True
    monkeypatch.setattr(tracker._ledger, "funds", slowly)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(lambda: tracker.funds)
        reads.wait(60)
        second = pool.submit(lambda: tracker.funds)
        time.sleep(0.05)
        goes_on.set()
        assert first.result(60) == second.result(60) is not None
