"""The notice a running server puts up (`server.json`), and the lock that says whether one runs at all.

The notice may be stale after a crash; the lock can't be, because the system frees it with the process.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass

from filelock import FileLock, Timeout

from ..deadlines import acquire
from .places import Places, write_whole


@dataclass(frozen=True)
class Notice:
    """Where a server listens. `instance` is random, and `/_sandbox/about` tells it too."""

    url: str
    pid: int
    version: str
    instance: str


def read_notice(places: Places) -> Notice | None:
    """What the server last put up, None if nothing is there."""
    try:
        return Notice(**json.loads(places.server.read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def put_up(places: Places, *, url: str, version: str, instance: str) -> None:
    """Say that this process serves `places` at `url`."""
    write_whole(places.port, url.rpartition(":")[2].encode())
    notice = Notice(url, os.getpid(), version, instance)
    write_whole(places.server, json.dumps(asdict(notice), indent=1).encode())


def take_down(places: Places, instance: str) -> None:
    """Remove the notice, if it is still that of `instance`."""
    notice = read_notice(places)
    if notice is not None and notice.instance == instance:
        places.server.unlink(missing_ok=True)


def last_port(places: Places) -> int | None:
    """The port of the server that ran last."""
    try:
        port = int(places.port.read_bytes())
    except (OSError, ValueError):
        return None
    return port if 0 < port < 65536 else None


def running_lock(places: Places) -> FileLock:
    """The lock that a server holds while it lives. Taking it raises filelock.Timeout while one does."""
    return FileLock(places.running_lock, timeout=0, thread_local=False)


def ended_within(places: Places, timeout_seconds: float) -> bool:
    """Wait until no server of `places` lives; False if one still does after `timeout_seconds`."""
    try:
        with acquire(running_lock(places), timeout_seconds):
            return True
    except Timeout:
        return False
