"""The control plane as data: its paths, its header, and by what a sandbox is known."""

from __future__ import annotations

import sys
from typing import Final

PREFIX: Final = "/_sandbox"
ABOUT: Final = f"{PREFIX}/about"
SETTINGS: Final = f"{PREFIX}/settings"
CLOCK: Final = f"{PREFIX}/clock"
STOP: Final = f"{PREFIX}/stop"
STATE: Final = f"{PREFIX}/state"
TOKEN_HEADER: Final = "X-Sandbox-Token"  # noqa: S105  # a header's name
SERVICE_NAME: Final = "reelbook-sandbox"


def version() -> str:
    """Reelbook's version."""
    # Not imported: the package's root reaches every floor, and this one may import only floor 0.
    return str(vars(sys.modules[__name__.partition(".")[0]])["__version__"])
