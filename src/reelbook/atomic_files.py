"""Files that are written whole or not at all."""

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yields a path beside `path`, with the same ending; what is written there takes its place in the end.

        with atomic_write(Path("notes.txt")) as part:
            part.write_text("one\\ntwo\\n")

    Where the block fails, `path` stays as it was and nothing else is left. Raises OSError.
    """
    part = path.with_name(f".{secrets.token_hex(8)}{path.suffix}")
    try:
        yield part
        os.replace(part, path)
    finally:
        with contextlib.suppress(OSError):
            part.unlink()


def write_whole(path: Path, content: bytes) -> None:
    """Writes `content` so that `path` is never seen half-written; private to its owner, safe on the disk."""
    with (
        atomic_write(path) as part,
        os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file,
    ):
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
