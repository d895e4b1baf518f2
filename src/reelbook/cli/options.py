"""Options that several commands share."""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


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


def command_line(*words: str, service: Service, home: Path | None) -> str:
    """The command `reelbook …` for a person to copy, with the service and the home that were named."""
    line = ["reelbook", *words]
    if service is not Service.auto:
        line += ["--service", service.value]
    if home is not None:
        line += ["--home", str(home)]
    return shlex.join(line)
