"""A `reelbook` command that ends itself with SIGKILL at a step, at a moment that no clock would find."""

from __future__ import annotations

_PROGRAM = """
import os, signal, sys
{setup}
from reelbook.cli import main
real, calls = {step}, 0
def deadly(*args, **options):
    global calls
    calls += {counts}
    if calls == {nth} and {before}:
        os.kill(os.getpid(), signal.SIGKILL)
    result = real(*args, **options)
    if calls == {nth}:
        os.kill(os.getpid(), signal.SIGKILL)
    return result
{step} = deadly
sys.argv = ["reelbook", *{words!r}]
main()
"""


def deadly(words: list[str], step: str, nth: int, *, before: bool, setup: str, counts: str = "1") -> str:
    """The program: killed just before or after the nth call of `step`, of those for which it `counts` 1."""
    return _PROGRAM.format(words=words, step=step, nth=nth, before=before, setup=setup, counts=counts)
