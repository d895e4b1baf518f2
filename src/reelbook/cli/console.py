"""What the commands print and ask, what they say while they wait, and what Ctrl-C does meanwhile.

Text from a service, a ledger or a file is cleaned before it is printed, so that it can't control the
terminal. Tables and bars are drawn on a `Screen`, see `screen`.
"""

from __future__ import annotations

import re
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Self

import typer

from ..errors import InvalidInput
from ..formatting import terminal_json, terminal_line, terminal_text

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ..account import Facts
    from ..session import Session

STOPPED: Final = 130  # the exit code that shells give a program ended by Ctrl-C
NOTICE_SECONDS: Final = 1.0
SAY_AGAIN_SECONDS: Final = 10.0  # where nothing can move in place
_PLAIN_MISTAKES: Final = (
    (re.compile(r"Input should be a valid integer\b.*"), "Give a whole number."),
    (re.compile(r"Input should be a valid number\b.*"), "Give a number."),
    (re.compile(r"Input should be greater than or equal to (\S+)"), r"Give \1 or more."),
    (re.compile(r"Input should be less than or equal to (\S+)"), r"Give \1 or less."),
    (re.compile(r"Value error, (.*)"), r"\1"),
    (re.compile(r"dir (.*) is a file\."), r"\1 is a file, not a folder."),
)
# What the library says to write in code, and what a person writes on a terminal instead.
_COMMANDS: Final = (
    (r", pass it as an argument, or ask=True\. connect\('sandbox'\)", ". --service sandbox"),
    (r"connect\([\"']sandbox[\"']\)", "--service sandbox"),
    (r"home=… or REELBOOK_HOME", "--home or REELBOOK_HOME"),
    (r"; connect\(…, ledger=None\) does without one", ""),
    (r"session\.keys\.revoke\('([^']*)'\)", r"reelbook keys revoke \1"),
    (r"session\.keys\.list\(\)", "reelbook keys list"),
    (r"session\.sweeps\(\)", "reelbook sweep list"),
    (r"session\.tools\(\)", "reelbook tools list"),
    (r"session\.balance\(\)", "reelbook balance"),
    (r"session\.job\(id\)", "reelbook generate --resume"),
    (r"session\.job\('([^']*)'\)(?:\.watch\(\))?", r"reelbook jobs resume \1"),
    (r"session\.reconcile\(alone=True\)", "reelbook jobs resume --find-out --alone"),
    (r"(?:session\.|The next session's )?reconcile\(\)", "reelbook jobs resume --find-out"),
    (r"(?:session\.|The next session's )resume\(unsent=True\)", "reelbook jobs resume --unsent"),
    (r"watch\(\) (asks a few more times), and so does resume\(\)", r"reelbook jobs resume \1"),
    (r"the next session's resume\(\)|watch\(\)", "reelbook jobs resume"),
    (r"overwrite=True", "--force"),
    (r"sample=50", "--sample 50"),
    (r"Give (\w+)=\[…\]", r"Give --axis \1=…"),
)


def say(text: str = "", *, err: bool = False) -> None:
    typer.echo(terminal_text(text), err=err)


def say_json(value: Any) -> None:
    typer.echo(terminal_json(value))


def say_data(text: str) -> None:
    """Prints output for a program, such as CSV, as it is; on a terminal cleaned, as `say` does."""
    typer.echo(terminal_text(text) if sys.stdout.isatty() else text, nl=False)


def shell_word(text: str) -> str:
    """`text`, such as an id, as one word of a command that a person can paste into a shell."""
    return shlex.quote(terminal_line(text))


def require_yes(
    question: str, *, yes: bool, stake: str = "This costs money", untouched: str = "Nothing was sent."
) -> None:
    """Asks a person, unless `yes` was given on the command line, and returns only after a yes.

    Raises InvalidInput if nobody can answer, and typer's Exit(1) after a no. Both say what is `untouched`.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise InvalidInput(f"{stake}, and there is nobody to ask. {untouched} --yes goes ahead.")
    if not typer.confirm(terminal_text(question), default=False, err=True):
        say(untouched, err=True)
        raise typer.Exit(1)


class CtrlC:
    """Within its block Ctrl-C is only counted, so that it can't fall between a submission and its id."""

    presses = 0

    def __enter__(self) -> Self:
        self._before = signal.getsignal(signal.SIGINT)
        if self._before is not signal.SIG_IGN:  # a shell ignores it for programs in the background
            signal.signal(signal.SIGINT, self._press)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def check(self) -> None:
        """Raises KeyboardInterrupt if Ctrl-C was pressed. Call it where stopping is safe."""
        if self.presses:
            raise KeyboardInterrupt

    def _press(self, *_: object) -> None:
        self.presses += 1


@contextmanager
def stoppable(words: str) -> Iterator[CtrlC]:
    """Ctrl-C ends the work where it calls `check`, with Exit(130). `words` say how things stand then."""
    with CtrlC() as ctrl_c:
        try:
            yield ctrl_c
        except KeyboardInterrupt:
            say(words, err=True)
            raise typer.Exit(STOPPED) from None


@contextmanager
def moving_line() -> Iterator[Callable[[str], None]]:
    """Shows progress: one line that changes in place on a terminal, a line now and then elsewhere."""
    if sys.stderr.isatty():
        from .screen import in_place, one_line

        with in_place() as live:
            yield lambda text: live.update(one_line(text))
        return
    last, said_at = "", time.monotonic()

    def tell(text: str) -> None:
        nonlocal last, said_at
        if text != last and time.monotonic() - said_at >= SAY_AGAIN_SECONDS:
            last, said_at = text, time.monotonic()
            say(text, err=True)

    yield tell


@contextmanager
def waiting_notice(session: Session) -> Iterator[None]:
    """Says on a terminal what is waited for if that takes over a second; clears the line in the end."""
    if not sys.stderr.isatty():
        yield
        return
    from .screen import in_place, one_line

    since = time.monotonic()

    def notice() -> RenderableType:
        long = time.monotonic() - since >= NOTICE_SECONDS
        return one_line(waiting_text(session.facts) if long else "")

    with in_place(notice):
        yield


def waiting_text(facts: Facts) -> str:
    if facts.requests_back_in_seconds is None:
        return "Waiting for the service's answer"
    back = max(1, round(facts.requests_back_in_seconds))
    return f"Waiting for the rate limit of {facts.requests_limit} requests a minute: more in {back} s"


def with_commands(text: str) -> str:
    """What the library says, with commands for a terminal in place of code."""
    for code, command in _COMMANDS:
        text = re.sub(code, command, text)
    return text


def plain_mistake(message: str) -> str:
    """A mistake on the command line in plain words; typer's own come from the library it checks with."""
    for pattern, words in _PLAIN_MISTAKES:
        if pattern.fullmatch(message):
            return pattern.sub(words, message)
    return message
