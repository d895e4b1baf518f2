"""Files that a person asked for: where they go, and what is said if they can't be written."""

import contextlib
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from .errors import InvalidInput, ReelbookError
from .formatting import csv_table


def target_file(
    path: str | os.PathLike[str] | None,
    name: str,
    *,
    remedy: str = "Choose another name",
    overwrite: bool = False,
    is_same: Callable[[Path], bool] = lambda _: False,
) -> Path:
    """The path to write to: the file `path`, or `name` in the folder `path` (default: the working folder).

    In a folder, a name that is taken gets a number. A file that `is_same` may be written again. Raises
    InvalidInput with the `remedy` where a file is in the way or there is no such folder.
    """
    target = Path.cwd() if path is None else Path(path)
    if target.is_dir():
        target /= name
        if overwrite:
            return target
        return next(each for each in numbered(target) if not each.exists() or is_same(each))
    if not target.absolute().parent.is_dir():
        raise InvalidInput(
            f"There is no folder {target.absolute().parent}. Create it first. Nothing was written."
        )
    if target.exists() and not overwrite and not is_same(target):
        raise InvalidInput(f"{target} already exists. {remedy}. Nothing was written.")
    return target


def numbered(path: Path) -> Iterator[Path]:
    """Yields `path`, then the same with a number: fox.mp4, fox-2.mp4, fox-3.mp4 and so on."""
    yield path
    for number in itertools.count(2):
        yield path.with_stem(f"{path.stem}-{number}")


def free_file(path: Path) -> Path:
    """The path itself, or the first numbered one where no file is in the way."""
    return next(each for each in numbered(path) if not each.exists())


@contextlib.contextmanager
def writing(what: str, kept: str = "The clips are where they were.") -> Iterator[None]:
    """Raises ReelbookError if the disk refuses in the block: why, and what is `kept` all the same."""
    try:
        yield
    except OSError as error:
        raise ReelbookError(f"{what} could not be written: {error.strerror or error}. {kept}") from error


def csv_of(
    columns: Sequence[str],
    rows: Iterable[Iterable[object]],
    path: str | os.PathLike[str] | None,
    *,
    what: str,
) -> str:
    """A table as CSV (see `csv_table`), also written to `path` if given, which it replaces.

    The file begins with the mark by which Excel recognises UTF-8. Raises InvalidInput where there is no such
    folder, and ReelbookError if the disk refuses.
    """
    table = csv_table(columns, rows)
    if path is not None:
        target_file(path, Path(path).name, overwrite=True)
        with writing(what, "The ledger has all of it."):
            Path(path).write_text(table, encoding="utf-8-sig", newline="")
    return table
