"""What the image picker says of recent images, and of the changes that the page made to a file."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from ..formatting import short_path


def recent_words(width: int, height: int, at: float) -> str:
    """A recent image, for people who can't see it. `at` is when it was sent, in epoch seconds."""
    return f"{width} × {height}, sent {time.strftime('%d %b, %H:%M', time.localtime(at)).lstrip('0')}"


def where_words(count: int, folder: Path, most: int) -> str:
    """Where the copies of recent images are and who can read them, or what will be kept if there are none."""
    if not count:
        return f"No images yet. The last {most} that you send are kept here."
    images = "image is" if count == 1 else f"{count} images are"
    return f"The last {images} kept in {short_path(folder)}, for you alone to read."


def page_notes(
    removed: Sequence[str], kind: str, to: str, before: tuple[int, int], after: tuple[int, int]
) -> tuple[str, ...]:
    """The changes that the page made to a file before sending it, in order."""
    notes = [*removed]
    if kind != to:
        notes.append(f"converted from {kind}")
    if before != after:
        notes.append(f"shrunk from {before[0]} × {before[1]} to {after[0]} × {after[1]}")
    return tuple(notes)
