"""What a session knows of its money without asking."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import reelbook as rb
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
