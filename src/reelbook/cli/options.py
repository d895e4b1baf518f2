"""Options that several commands share."""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from .. import settings


class Service(StrEnum):
    """Which service is meant."""

    auto = "auto"
    sandbox = "sandbox"
    live = "live"


Which = Annotated[
    Service, typer.Option(help="auto: live where a key and an address are configured, else the sandbox.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for a program to read.")]
Home = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="The folder for clips, ledger and sandbox. Default: REELBOOK_HOME, or the system's place.",
        show_default=False,
        file_okay=False,
    ),
]


class ManyArguments(TyperCommand):
    """A command that takes any number of words, whose help doesn't show the Python type of that."""

    def get_help(self, ctx: Any) -> str:
        return super().get_help(ctx).replace(" <list[str]>", " " * len(" <list[str]>"))


def needs_sandbox(service: Service, home: Path | None) -> bool:
    """Whether a session for `service` would have to start a sandbox first."""
    from ..sandbox import server
    from ..session.connector import configured_sandbox

    live = settings.find(settings.API_KEY) or settings.find(settings.BASE_URL)
    if service is Service.live or (service is Service.auto and live):
        return False
    if service is Service.sandbox and configured_sandbox():
        return False
    return server.find(settings.home(home)) is None


def command_line(*words: str, service: Service, home: Path | None) -> str:
    """The command `reelbook …` for a person to copy, with the service and the home that were named."""
    line = ["reelbook", *words]
    if service is not Service.auto:
        line += ["--service", service.value]
    if home is not None:
        line += ["--home", str(home)]
    return shlex.join(line)
