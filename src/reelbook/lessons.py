"""Where the lessons are."""

from pathlib import Path

from .errors import ReelbookError


def shipped_lessons() -> list[Path]:
    """The lessons of this installation, in their order. Raises ReelbookError if there are none."""
    package = Path(__file__).resolve().parent
    # Beside the code when installed; a clone has them beside its src folder.
    for folder in (package / "notebooks", package.parents[1] / "notebooks"):
        if lessons := sorted(folder.glob("[0-9]*.ipynb")):
            return lessons
    raise ReelbookError("The lessons are missing from this installation. Install reelbook again.")
