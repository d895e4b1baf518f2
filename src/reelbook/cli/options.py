"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Service(StrEnum):
    """Which service is meant."""

    auto = "auto"
    sandbox = "sandbox"
    live = "live"


Home = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="The folder for clips, ledger and sandbox. Default: REELBOOK_HOME, or the system's place.",
        show_default=False,
        file_okay=False,
    ),
]
