"""The lessons as they ship, and the copies a person works in. A copy that is there is never written over."""

from __future__ import annotations

import shutil
from pathlib import Path

from ..errors import ReelbookError


def shipped() -> list[Path]:
    """The lessons of this installation, in their order. Raises ReelbookError if there are none."""
    package = Path(__file__).resolve().parents[1]
    # Beside the code when installed; a clone has them beside its src folder.
    for folder in (package / "notebooks", package.parents[1] / "notebooks"):
        if lessons := sorted(folder.glob("[0-9]*.ipynb")):
            return lessons
    raise ReelbookError("The lessons are missing from this installation. Install reelbook again.")


def copy(lessons: list[Path], folder: Path) -> list[Path]:
    """Copy the lessons into `folder`, made if need be. Returns those of them that are there and differ.

    Raises ReelbookError where `folder` can't be used.
    """
    kept = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for lesson in lessons:
            theirs = folder / lesson.name
            if not theirs.exists():
                shutil.copyfile(lesson, theirs)
            elif theirs.read_bytes() != lesson.read_bytes():
                kept.append(theirs)
    except OSError as error:
        raise ReelbookError(
            f"The lessons can't be copied to {folder}: {error.strerror or error}. Choose another folder."
        ) from error
    return kept
