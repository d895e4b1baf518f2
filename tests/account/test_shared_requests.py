"""Two kernels on one key, against a sandbox that enforces its limit."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.kernels import Kernel
from support.waiting import until

import reelbook as rb
from reelbook.explore.plan import plan
from reelbook.sandbox import server
from reelbook.sandbox.handle import Sandbox

pytestmark = [pytest.mark.browser]

ASK = """
import json, threading
import reelbook as rb
session = rb.connect("sandbox")
statuses = []
budget = session._client._scheduler.budget
answered = budget.answered
budget.answered = lambda status, headers, now: (statuses.append(status), answered(status, headers, now))
for _ in range(8):
    threading.Thread(target=session.balance, daemon=True).start()
"""


@pytest.fixture
def enforcing(home: Path, real_time: None) -> Sandbox:
    return server.ensure(home)


@pytest.fixture
def kernels() -> Iterator[tuple[Kernel, Kernel]]:
    pair = Kernel(), Kernel()
    yield pair
    for kernel in pair:
        kernel.close()


def test_two_kernels_on_one_key_stay_within_its_limit(
    enforcing: Sandbox, kernels: tuple[Kernel, Kernel]
) -> None:
    """Sixteen clicks at the same moment: ten go out, six wait, none is refused."""
    cells = [kernel.client.execute(ASK) for kernel in kernels]
    for kernel, cell in zip(kernels, cells, strict=True):
        assert kernel.ended(cell) == ""

    def statuses() -> list[int]:
        return [
            status for kernel in kernels for status in json.loads(kernel.run("print(json.dumps(statuses))"))
        ]

    until(lambda: len(statuses()) >= 10)
    time.sleep(0.5)  # whoever is let through wrongly would be by now
    assert statuses() == [200] * 10


@pytest.mark.usefixtures("enforcing")
def test_a_plan_knows_what_other_programs_sent() -> None:
    """Nine of the minute's ten requests are gone: even the first clip is known done in the next one."""
    clip = rb.JobRequest.from_text("a fox", duration_seconds=1)
    with rb.connect("sandbox", max_spend=1.0) as first, rb.connect("sandbox", max_spend=2.0) as second:
        for _ in range(9):
            first.balance()
        early, _, _ = plan(second, [clip]).seconds
        assert early > 40
