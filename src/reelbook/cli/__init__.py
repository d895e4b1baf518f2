"""The command `reelbook`: puts the commands together, and reports errors in one line.

Each command has a module of its own, which imports what it needs when it runs.
"""

import io
import os
import sys
import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from .. import settings
from ..errors import InvalidInput, ReelbookError
from ..secret import NOT_SHOWN, looks_like_key, without_keys
from ..version import VERSION
from . import classroom, generate, inspect, jobs, keys, lab, sandbox, sweep, tools, usage
from .console import plain_mistake, say, with_commands
from .options import Group

FAILED, BAD_USAGE = 1, 2
SHORTEST = 3  # letters of a command's name that stand for it


class Commands(TyperGroup):
    """The commands; an error of the library ends them with one line in place of a traceback."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """As typer's; but a name may be cut short, and an error names the group of a group's command."""
        name = args[0]
        begun = [each for each in self.commands if each.startswith(name)]
        if len(begun) == 1 and len(name) >= SHORTEST:
            return super().resolve_command(ctx, [*begun, *args[1:]])
        if looks_like_key(name):
            ctx.fail(f"No such command {NOT_SHOWN}. A key is found in {settings.API_KEY} or the keyring.")
        groups = [group for group, each in self.commands.items() if name in getattr(each, "commands", ())]
        if groups and name not in self.commands:
            whole = " or ".join(f"'reelbook {group} {name}'" for group in groups)
            ctx.fail(f"No such command {name!r}. Did you mean {whole}?")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise  # typer ends quietly when nobody reads the output any more
        except typer.BadParameter as mistake:
            mistake.message = without_keys(plain_mistake(mistake.message))
            raise
        except (ReelbookError, OSError) as error:
            if ctx.params["debug"]:
                raise
            said = str(error)
            if isinstance(error, OSError) and error.strerror:  # its text begins with a number: [Errno 28] …
                said = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
            say(with_commands("\n".join([said, *getattr(error, "__notes__", ())])), err=True)
            raise typer.Exit(BAD_USAGE if isinstance(error, InvalidInput) else FAILED) from None
        except KeyboardInterrupt as stop:
            for note in getattr(stop, "__notes__", ()):
                say(with_commands(note), err=True)
            raise


app = Group(
    name="reelbook",
    cls=Commands,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        say(f"reelbook {VERSION}")
        raise typer.Exit


@app.callback()
def reelbook(
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Make clips from text and stills, on a video generation service or on the local sandbox."""


for command in (lab.lab, generate.generate, inspect.inspect, usage.usage, usage.balance):
    app.command()(command)
for group in (sweep, jobs, keys, sandbox, tools, classroom):
    app.add_typer(group.commands, name=group.__name__.rpartition(".")[2])


def main() -> None:
    """Runs the command of `sys.argv` and exits: 0 done, 1 failed, 2 bad usage, 130 stopped by Ctrl-C."""
    # A warning of ours is a sentence for the person; where in the code it arose means nothing to them.
    warnings.showwarning = lambda message, *_, **__: say(with_commands(str(message)), err=True)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - open to the end
    # A prompt may have characters that the output's encoding lacks: on Windows that of a file or a pipe.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    app()
