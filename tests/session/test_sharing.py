"""Two kernels on one key, against a sandbox that enforces its limit."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from session.test_kernels import Kernel

from reelbook.sandbox import server
from reelbook.sandbox.handle import Sandbox

ASK = """
import json, threading
import reelbook as rb
session = rb.connect("sandbox")
statuses = []
budget = session._client._gate.budget
answered = budget.answered
budget.answered = lambda status, headers, now: (statuses.append(status), answered(status, headers, now))
for _ in range(8):
    threading.Thread(target=session.balance, daemon=True).start()
"""


@pytest.fixture
def enforcing(home: Path) -> Sandbox:
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

    deadline = time.monotonic() + 20
    while len(statuses()) < 10 and time.monotonic() < deadline:
        pass
    time.sleep(0.5)  # whoever is let through wrongly would be by now
    assert statuses() == [200] * 10
