"""Where the sandbox keeps its things, and how it writes a file that is either whole or not there."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from ..errors import SandboxError


@dataclass(frozen=True)
class Places:
    """The files under `<home>/sandbox`."""

    folder: Path

    @classmethod
    def under(cls, home: Path) -> Places:
        """The places of the sandbox of `home`; nothing is created."""
        return cls(Path(home).expanduser().absolute() / "sandbox")

    @property
    def database(self) -> Path:
        """Keys (hashed), money and jobs."""
        return self.folder / "sandbox.db"

    @property
    def access(self) -> Path:
        """The session's key, the control token and the user id; readable by its owner only."""
        return self.folder / "access.json"

    @property
    def server(self) -> Path:
        """Address and process of the running server; not there while none runs."""
        return self.folder / "server.json"

    @property
    def port(self) -> Path:
        """The port used last, so that an address that open kernels hold stays valid."""
        return self.folder / "port"

    @property
    def log(self) -> Path:
        """What the server's process said since it was started; one older file is kept beside it."""
        return self.folder / "sandbox.log"

    @property
    def start_lock(self) -> Path:
        """Held by whoever looks for the server or starts it."""
        return self.folder / "start.lock"

    @property
    def running_lock(self) -> Path:
        """Held by the server as long as its process lives; the system frees it even after SIGKILL."""
        return self.folder / "running.lock"

    @property
    def videos(self) -> Path:
        """The finished clips."""
        return self.folder / "videos"

    @property
    def images(self) -> Path:
        """The stills of jobs under way."""
        return self.folder / "images"

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


def write_whole(path: Path, content: bytes) -> None:
    """Write `content` so that `path` is never seen half-written; private to its owner, safe on the disk."""
    beside = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
