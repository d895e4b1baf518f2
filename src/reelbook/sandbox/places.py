"""What is in the sandbox's folder: its files, its credentials, and a notice of the running server.

Only the credentials' file holds a key in clear, and only its owner can read it: keys never go into a
database, log, URL or argument.
"""

import errno
import json
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from ..atomic_files import write_whole
from ..deadlines import acquire
from ..errors import SandboxError
from ..secret import Secret


class Places:
    """The files under `<home>/sandbox`. Naming them creates nothing."""

    def __init__(self, home: Path) -> None:
        self.folder = Path(home).expanduser().absolute() / "sandbox"
        self.database = self.folder / "sandbox.db"  # keys (hashed), money and jobs
        self.access = self.folder / "access.json"  # the credentials
        self.server = self.folder / "server.json"  # the notice; not there while no server runs
        self.port = self.folder / "port"  # the one used last: an address that open kernels hold stays valid
        self.log = self.folder / "sandbox.log"  # since the server's start; one older file is kept beside it
        self.start_lock = self.folder / "start.lock"  # held by whoever looks for the server or starts it
        self.running_lock = self.folder / "running.lock"  # held by the server, freed even after SIGKILL
        self.videos = self.folder / "videos"  # the finished clips
        self.images = self.folder / "images"  # the stills of jobs under way

    def create(self) -> None:
        """Make the folders, private to their owner. Raises SandboxError where they can't be used."""
        try:
            for folder in (self.folder, self.videos, self.images):
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                if not os.access(folder, os.W_OK):
                    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        except OSError as error:
            raise SandboxError(
                f"The sandbox can't write in {self.folder} ({error.strerror or error}). "
                "Choose another home, by REELBOOK_HOME for example."
            ) from error


@dataclass(frozen=True)
class Access:
    """The credentials of the sandbox's own account."""

    api_key: Secret
    control_token: Secret
    user_id: str


def new_api_key() -> Secret:
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
        token = Secret(secrets.token_urlsafe(32))
        write_access(places, Access(new_api_key(), token, f"user-{secrets.token_hex(8)}"))
    return read_access(places)


def write_access(places: Places, access: Access) -> None:
    content = {
        "api_key": access.api_key.reveal(),
        "control_token": access.control_token.reveal(),
        "user_id": access.user_id,
    }
    write_whole(places.access, json.dumps(content, indent=1).encode())


@dataclass(frozen=True)
class Notice:
    """Where a server listens. `instance` is random, and `/_sandbox/about` tells it too.

    The notice may be stale after a crash; the running lock can't be.
    """

    url: str
    pid: int
    version: str
    instance: str


def read_notice(places: Places) -> Notice | None:
    try:
        return Notice(**json.loads(places.server.read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def write_notice(places: Places, notice: Notice) -> None:
    """Writes the notice of this process's server."""
    write_whole(places.server, json.dumps(asdict(notice), indent=1).encode())


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
