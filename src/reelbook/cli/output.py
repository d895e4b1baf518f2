"""How the commands speak: what came from a service, a ledger or a file gives the terminal no orders."""

from __future__ import annotations

import shlex
import sys
from typing import Any

import typer

from ..formatting import terminal_json, terminal_line, terminal_text


def say(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Prints `text`, to standard error with `err`, without a line break at its end where `nl` is False."""
    typer.echo(terminal_text(text), err=err, nl=nl)


def word(text: str) -> str:
    """`text`, such as an id, as one word of a command that a person may copy into a shell."""
    return shlex.quote(terminal_line(text))


def say_data(text: str) -> None:
    """Prints `text` for a program as it is; on a terminal cleaned, as `say` does."""
    typer.echo(terminal_text(text) if sys.stdout.isatty() else text, nl=False)


def say_drawn(text: str) -> None:
    """Prints what a `Screen` drew: it is clean already, but for the colours of its own."""
    typer.echo(text)


def say_json(value: Any) -> None:
    """Prints `value` as JSON."""
    typer.echo(terminal_json(value))


def say_over(text: str) -> None:
    """Shows a line on the terminal's standard error in the place of the last one; an empty one clears it."""
    typer.echo(f"\r\x1b[K{terminal_line(text)}", nl=False, err=True)
