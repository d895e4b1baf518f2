"""Two programs on one key, against a sandbox that enforces its limit."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.waiting import until

import reelbook as rb
from reelbook.explore.plan import plan
from reelbook.sandbox.handle import Sandbox

Pair = tuple[rb.Session, rb.Session]


@pytest.fixture
def pair(sandbox: Sandbox, real_time: None) -> Iterator[Pair]:
    """Two sessions of one home and key, which share nothing but the ledger's file, as two kernels'."""
    sandbox.settings(rate_limiting=True)
    with rb.connect("sandbox", max_spend=1.0) as first, rb.connect("sandbox", max_spend=2.0) as second:
        yield first, second


def test_two_programs_on_one_key_stay_within_its_limit(sandbox: Sandbox, pair: Pair) -> None:
    """Sixteen clicks at the same moment: ten go out, six wait, none is refused."""
    with ThreadPoolExecutor(16) as clicks:
        clicked = [clicks.submit(session.balance) for session in pair * 8]
        until(lambda: sum(click.done() for click in clicked) >= 10)
        time.sleep(0.5)  # whoever is let through wrongly would be by now
        assert sandbox.state()["requests"]["balance"] == sum(click.done() for click in clicked) == 10
        for session in pair:
            session.close()  # which ends the waiting


def test_a_plan_knows_what_other_programs_sent(pair: Pair) -> None:
    """Nine of the minute's ten requests are gone: even the first clip is known done in the next one."""
    first, second = pair
    for _ in range(9):
        first.balance()
    early, _, _ = plan(second, [rb.JobRequest.from_text("a fox", duration_seconds=1)]).seconds
    assert early > 40
