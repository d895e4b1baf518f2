"""What a session knows of its money without asking."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from support import virtual_time

import reelbook as rb
from reelbook.account.balance import BalanceTracker
from reelbook.models import Usage
from reelbook.sandbox.handle import Sandbox


@pytest.fixture
def session(sandbox: Sandbox) -> Iterator[rb.Session]:
    with rb.connect("sandbox") as opened:
        yield opened


def test_the_balance_follows_a_clip_without_a_question(session: rb.Session, sandbox: Sandbox) -> None:
    """A form that is opened after a clip promises what is left after it, and nobody was asked for that."""
    session.balance()
    session.text_to_video("a fox", duration_seconds=5).result(30)
    assert (session.facts.balance_usd, session._balance.asking) == (24.75, None)
    form = rb.PromptForm(session)
    assert form.words["lengths"][4]["line"].endswith("leaves $24.50")
    form.close()


def test_what_is_told_of_the_money_reads_no_file(session: rb.Session) -> None:
    """A board of many jobs asks for the facts with every one of them: they are known in a closed ledger."""
    session.balance()
    session.text_to_video("a fox", duration_seconds=2).result(30)
    session._account.spend = session._account.likely_balance_usd = None  # type: ignore[assignment,method-assign] # not to be called
    assert session.facts.balance_usd == 24.9


def test_a_new_answer_takes_the_place_of_the_sum(session: rb.Session, sandbox: Sandbox) -> None:
    """What was taken off before isn't taken off twice."""
    session.balance()
    session.text_to_video("a fox", duration_seconds=2).result(30)
    sandbox.settings(balance_usd=7.0)
    session.balance()
    assert session.facts.balance_usd == 7.0
    session.text_to_video("a wolf", duration_seconds=2).result(30)
    assert session.facts.balance_usd == 6.9


def test_what_moves_while_a_question_is_out_is_asked_for_again() -> None:
    """The answer to the first question is from before; the second one is asked by itself, and no third."""
    asked: list[float] = []

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
        account: Any = SimpleNamespace(
            likely_balance_usd=lambda: None, usage_days=lambda: 30, heard_usage=lambda *_, **__: None
        )
        tracker = BalanceTracker(
            SimpleNamespace(client=service),  # type: ignore[arg-type] # only its client is used
            account,
            SimpleNamespace(spawn=asyncio.ensure_future),  # type: ignore[arg-type]
            told=lambda: None,
            heard=lambda _: None,
            observed=lambda: True,
        )
        tracker.moved()
        await asyncio.sleep(2)  # the question is out
        service.balance_usd = 24.0
        tracker.moved()
        tracker.moved()
        await asyncio.sleep(100)
        assert (tracker.balance_usd, asked) == (24.0, [25.0, 24.0])

    virtual_time.run(main())
