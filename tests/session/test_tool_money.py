"""What agent tools may have moved: sure in a sandbox, possible elsewhere."""

from __future__ import annotations

import math

import pytest

from reelbook.ledger import ToolCall, ToolJob
from reelbook.ledger.tool_calls import Outcome
from reelbook.session.evidence import Span
from reelbook.session.tool_money import LINGERS_SECONDS, ToolMoney, tool_money

JOB = ToolJob(1, "req-1", "1-a", "a fox", 100.0, 102.0, 160.0, 4.0, 0.2)


def call(*request_ids: str, outcome: Outcome | None = "done", prompt: str | None = "a fox") -> ToolCall:
    arguments = {} if prompt is None else {"prompt": prompt}
    return ToolCall(
        1, 100.0, "https://tools.example:443", "tool", arguments, True, outcome, 2.0, request_ids, None
    )


@pytest.mark.parametrize(
    ("made", "live", "sandbox"),
    [
        (call("req-1"), False, False),
        (call("req-1", "req-2"), False, False),
        (call("req-1", "req-3"), True, True),
        (call(), True, True),
        (call(prompt=None), True, False),
        (call(outcome="unsent"), False, False),
        (call(outcome="uncertain"), True, True),
        (call(outcome=None), True, True),
    ],
)
def test_a_call_is_explained_by_the_jobs_that_it_spoke_of(made: ToolCall, live: bool, sandbox: bool) -> None:
    """Where their cost is known, or nothing can have been bought; else it may have cost anything."""
    for is_sandbox, unknown in ((False, live), (True, sandbox)):
        found = tool_money([made], [JOB], {"req-2"}, sandbox=is_sandbox)
        assert found.unknown_at == ((100.0,) if unknown else ())


def test_a_clip_is_sure_to_be_this_accounts_in_a_sandbox_only() -> None:
    """Elsewhere the user id may be another account's, and the job older than the call."""
    (here,) = tool_money([], [JOB], (), sandbox=True).courses
    assert (here.sure, here.accepted, here.ended) == (True, Span(100.0, 102.0), Span(100.0, 160.0))
    (elsewhere,) = tool_money([], [JOB], (), sandbox=False).courses
    assert (elsewhere.sure, elsewhere.accepted) == (False, Span(-math.inf, 102.0))
    assert here.cost_usd == elsewhere.cost_usd == Span(0.2, 0.2)


def test_what_a_call_bought_may_be_charged_long_after_it() -> None:
    """It counts for what was read before it ended at the latest, and after the call."""
    money = ToolMoney(unknown_at=(100.0, 200.0))
    assert money.unknown_in(Span(50.0, 100.0)) is None
    assert money.unknown_in(Span(50.0, 150.0)) == 100.0
    assert money.unknown_in(Span(200.0 + LINGERS_SECONDS - 1, math.inf)) == 200.0
    assert money.unknown_in(Span(200.0 + LINGERS_SECONDS, math.inf)) is None
