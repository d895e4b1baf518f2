"""`asyncio.run` in a cell, once it is allowed: in processes of their own, as it patches asyncio."""

from __future__ import annotations

import subprocess
import sys

RUN = """
import asyncio, sys
from reelbook.session.nested_loops import allow_nested_loops

async def inner():
    return "inside"

async def cell():
    return asyncio.run(inner())

if "allowed" in sys.argv:
    allow_nested_loops()
    allow_nested_loops()
print(asyncio.run(cell()))
"""

UNPATCHABLE = """
import asyncio
from reelbook.session.nested_loops import allow_nested_loops

class Strange(asyncio.AbstractEventLoop):
    pass

asyncio.set_event_loop(Strange())
try:
    allow_nested_loops()
except RuntimeError as error:
    print(error)
"""


def ended(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "ignore::RuntimeWarning", "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def test_a_loop_runs_inside_another_only_where_it_is_allowed() -> None:
    """Nothing of Reelbook allows it by itself; twice is once."""
    assert ended(RUN, "allowed").stdout == "inside\n"
    refused = ended(RUN)
    assert refused.returncode == 1
    assert "cannot be called from a running event loop" in refused.stderr


def test_a_loop_that_cant_be_patched_is_said_with_another_way() -> None:
    """Await works in every cell."""
    said = ended(UNPATCHABLE).stdout
    assert said.startswith("This event loop can't be nested")
    assert "Use `await` in the cell" in said
