"""Which kernels are alive: each holds a lock on a small file, which the system releases when the kernel ends.

A process id may be reused, and means nothing in another container or on a machine that shares the folder.
"""

import contextlib
import os
import secrets
import time
from pathlib import Path
from typing import Final, Literal

from filelock import FileLock

from .. import wire

Fate = Literal["lives", "gone", "vanished"]
KEPT_SECONDS: Final = 7 * wire.DAY_SECONDS


class Kernel:
    """This kernel's sign of life: a locked file. The rows that it looks after have its `name`."""

    def __init__(self, home: Path) -> None:
        self.name = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._folder = home / "kernels"
        self._lock: FileLock | None = None

    def begin(self) -> None:
        """Shows that this kernel is alive. Raises OSError where the folder can't be written."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(self._path(self.name), thread_local=False)
        self._lock.acquire(timeout=0)

    def fate(self, name: str) -> Fate:
        """Whether the kernel of that name `lives`, is `gone`, or has `vanished`.

        Vanished: gone without its file, so the rows that it left on the disk may be out of date.
        """
        if name == self.name:
            return "lives"
        path = self._path(name)
        if not path.exists():
            return "vanished"
        try:
            with FileLock(path, timeout=0):
                return "gone"
        except (OSError, NotImplementedError):  # locked, or unknown: what may be alive is left alone
            return "lives"

    def lives(self, name: str) -> bool:
        return self.fate(name) == "lives"

    def forget(self, name: str) -> None:
        """Removes the file of a kernel that is gone and has left nothing to settle."""
        with contextlib.suppress(OSError):
            self._path(name).unlink(missing_ok=True)

    def forget_long_gone(self) -> None:
        """Removes the files that killed kernels left long ago. What they left is settled by now.

        Never a young one: a kernel that is just beginning has its file, and not yet its lock.
        """
        for path in self._folder.glob("*.lock"):
            with contextlib.suppress(OSError):  # another kernel has removed it meanwhile
                if time.time() - path.stat().st_mtime > KEPT_SECONDS and self.fate(path.stem) == "gone":
                    path.unlink()

    def end(self, *, settled: bool = True) -> None:
        """Ends the sign of life; unless `settled`, the file stays, so that its rows are settled later."""
        if self._lock is not None:
            with contextlib.suppress(OSError):
                self._lock.release()
            self._lock = None
            if settled:
                self.forget(self.name)

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.lock"
