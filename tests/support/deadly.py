"""A program that ends itself with SIGKILL at a step, at a moment that no clock would find."""

_DEADLY = """
import os, signal, sys
{setup}
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
"""
_COMMAND = """
from reelbook.cli import main
sys.argv = ["reelbook", *{words!r}]
main()
"""


def dies(step: str, nth: int, *, before: bool, setup: str, counts: str = "1") -> str:
    """Code that kills its process before or after the nth call of `step`, of those whose `counts` is 1."""
    return _DEADLY.format(step=step, nth=nth, before=before, setup=setup, counts=counts)


def deadly(words: list[str], step: str, nth: int, *, before: bool, setup: str, counts: str = "1") -> str:
    """The same, and the `reelbook` command of these words."""
    return dies(step, nth, before=before, setup=setup, counts=counts) + _COMMAND.format(words=words)
