"""What lets a session in: its API key, the control token and the user id, in a file only its owner can read.

The only place of the sandbox that holds a key in clear. It never goes into a database, log, URL or argument.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass

from ..errors import SandboxError
from ..secret import Secret
from .places import Places, write_whole


@dataclass(frozen=True)
class Access:
    """The credentials of the sandbox's own account."""

    api_key: Secret
    control_token: Secret
    user_id: str


def new_api_key() -> Secret:
    """A fresh API key."""
    return Secret(f"sk-sandbox-{secrets.token_urlsafe(32)}")


def read_access(places: Places) -> Access:
    """The credentials of a sandbox that was started at least once. Raises SandboxError if there are none."""
    try:
        kept = json.loads(places.access.read_bytes())
        return Access(Secret(kept["api_key"]), Secret(kept["control_token"]), kept["user_id"])
    except (OSError, ValueError, KeyError, TypeError):
        # The chain is cut: a JSON error quotes the text around it, and that is the key.
        raise SandboxError(
            f"The sandbox's access file can't be read: {places.access}. "
            "The clips are safe. Remove the file and start the sandbox again; it makes a new one."
        ) from None


def ensure_access(places: Places) -> Access:
    """The credentials kept in `places`, made at the first start."""
    if not places.access.exists():
        write_access(
            places, Access(new_api_key(), Secret(secrets.token_urlsafe(32)), f"user-{secrets.token_hex(8)}")
        )
    return read_access(places)


def write_access(places: Places, access: Access) -> None:
    """Keep `access`, replacing what was kept."""
    content = {
        "api_key": access.api_key.reveal(),
        "control_token": access.control_token.reveal(),
        "user_id": access.user_id,
    }
    write_whole(places.access, json.dumps(content, indent=1).encode())
