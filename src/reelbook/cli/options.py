"""Options that several commands share."""

from __future__ import annotations

import functools
import inspect
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer
from typer.core import TyperCommand

from ..requests import FIELDS, RequestField

if TYPE_CHECKING:
    from ..session import Session

Command = TypeVar("Command", bound=Callable[..., None])


MOST_USD = 1_000_000  # that a balance or a cap is set to: no database counts to infinity


def option(words: str, *names: str, **more: Any) -> Any:
    """An option whose help text states its default, if any. Its limits give its metavar."""
    if "metavar" not in more:
        taken = {"file_okay": "FOLDER", "dir_okay": "FILE", "min": "NUMBER"}
        more["metavar"] = next((taken[limit] for limit in taken if limit in more), None)
    return typer.Option(*names, help=words, show_default=False, **more)


Service = Literal["auto", "sandbox", "live"]
Which = Annotated[
    Service, typer.Option(help="auto: live where a key and an address are configured, else the sandbox.")
]
AsJson = Annotated[bool, option("Print JSON, for a program to read.", "--json")]
Force = Annotated[bool, option("Replace the file if it is there.", "--force")]
Yes = Annotated[bool, option("Go ahead without being asked.", "--yes", "-y")]
Home = Annotated[
    Path | None,
    option(
        "The folder for clips, ledger and sandbox. Default: REELBOOK_HOME, or the system's usual place.",
        file_okay=False,
    ),
]


def with_fields(*, several: bool = False) -> Callable[[Command], Command]:
    """Decorates a command that takes `asked`: it gets an option for each field of a request but the prompt.

    `asked` has what was given, by the fields' names; with `several` as text, as a sweep's axes are typed.
    """
    fields = [about for name, about in FIELDS.items() if name != "prompt"]

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def filled(**given: Any) -> None:
            asked = {about.name: given.pop(about.name) for about in fields}
            command(asked={name: value for name, value in asked.items() if value not in (None, [])}, **given)

        signature = inspect.signature(command, eval_str=True)
        parameters: list[inspect.Parameter] = []
        for each in signature.parameters.values():
            parameters += [_option(about, several) for about in fields] if each.name == "asked" else [each]
        filled.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # inspect's
        filled.__annotations__ = {each.name: each.annotation for each in parameters}
        return filled  # type: ignore[return-value]  # typer reads its signature

    return decorate


def _option(about: RequestField, several: bool) -> inspect.Parameter:
    """A field as a command's parameter, None unless given."""
    kind: Any = {"slider": int, "seed": int, "image": Path}.get(about.control, str)
    words, metavar = about.option_help, about.metavar
    if several and about.control == "image":
        kind, words = list[Path], f"{words} May be given several times."
    elif several:
        kind, metavar = str, "VALUES"
    annotation = Annotated[kind | None, option(words, f"--{about.option}", metavar=metavar)]
    return inspect.Parameter(about.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


class PlainCommand(TyperCommand):
    """A command whose help names its values in words, where typer shows their Python types."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        for each in self.params:
            if each.metavar is None and each.name != "service":  # which lists its choices
                each.metavar = each.name.upper()

    def get_help(self, ctx: Any) -> str:
        return _PYTHON_TYPE.sub(lambda found: " " * len(found[0]), super().get_help(ctx))


_PYTHON_TYPE = re.compile(r" <(?:str|path|file|dir|list\[str\])>")


class Group(typer.Typer):
    """A group of such commands; it shows its help where none of them is named."""

    def __init__(self, *, no_args_is_help: bool = True, **more: Any) -> None:
        super().__init__(no_args_is_help=no_args_is_help, rich_markup_mode=None, **more)

    def command(self, *args: Any, **more: Any) -> Callable[[Command], Command]:
        return super().command(*args, cls=PlainCommand, **more)


def open_session(service: Service, home: Path | None) -> Session:
    from ..session import connect

    return connect(service, home=home)


def command_line(*words: str, service: Service, home: Path | None) -> str:
    """The command `reelbook …` for a person to copy, with the service and the home that were named."""
    line = ["reelbook", *words]
    if service != "auto":
        line += ["--service", service]
    if home is not None:
        line += ["--home", str(home)]
    return shlex.join(line)
