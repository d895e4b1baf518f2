"""What is beside the interface, as data: control plane, agent tools, and by what a sandbox is known."""

from __future__ import annotations

import sys
from typing import Final, Literal

PREFIX: Final = "/_sandbox"
ABOUT: Final = f"{PREFIX}/about"
SETTINGS: Final = f"{PREFIX}/settings"
CLOCK: Final = f"{PREFIX}/clock"
STOP: Final = f"{PREFIX}/stop"
STATE: Final = f"{PREFIX}/state"
FAULTS: Final = f"{PREFIX}/faults"
HISTORY: Final = f"{PREFIX}/history"
# The agent tool server's path, on the same address.
TOOLS: Final = "/mcp"
TOKEN_HEADER: Final = "X-Sandbox-Token"  # noqa: S105  # a header's name
SERVICE_NAME: Final = "reelbook-sandbox"

FaultKind = Literal[
    "reset_before",
    "answer_lost",
    "close",
    "short_body",
    "garbage",
    "stall",
    "drip",
    "500",
    "503",
    "429",
    "html",
    "broken_json",
    "broken_gzip",
    "not_found",
    "unknown_status",
    "expired_link",
    "drop_download",
]
Endpoint = Literal[
    "text-to-video",
    "image-to-video",
    "status",
    "balance",
    "usage",
    "list-keys",
    "create-key",
    "revoke-key",
    "download",
    "tools",
]
# Groups of endpoints, each named for what its members have in common.
EndpointGroup = Literal["generate", "billing", "keys", "any"]


def version() -> str:
    """Reelbook's version."""
    # Not imported: the package's root reaches every floor, and this one may import only floor 0.
    return str(vars(sys.modules[__name__.partition(".")[0]])["__version__"])
