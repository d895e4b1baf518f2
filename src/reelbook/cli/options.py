"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Home = Annotated[
    Path | None,
    typer.Option(
        help="The folder for clips and the sandbox. Default: REELBOOK_HOME, or the system's place.",
        show_default=False,
        file_okay=False,
    ),
]
