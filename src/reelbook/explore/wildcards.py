"""Where the values of wildcards come from: a mapping, or a folder of text files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path

from ..errors import InvalidInput
from ..secret import quotable

Wildcards = Mapping[str, str | Iterable[object]] | str | PathLike[str]
"""Values by name, or a folder with a text file for each name, such as animal.txt: one value a line."""


def by_name(wildcards: Wildcards | None) -> Mapping[str, str | Iterable[object]]:
    """The values of each name; files are read when they are used. Raises InvalidInput."""
    return _Folder(wildcards) if isinstance(wildcards, str | PathLike) else wildcards or {}


class _Folder(Mapping[str, str]):
    """The text files of a folder by name, those of its folders as "colours/warm"; read when they are used."""

    def __init__(self, folder: str | PathLike[str]) -> None:
        self._folder = Path(folder)
        if not self._folder.is_dir():
            raise InvalidInput(f"There is no folder {quotable(str(folder))} with wildcards.")
        self._files = {
            path.relative_to(self._folder).with_suffix("").as_posix(): path
            for path in sorted(self._folder.rglob("*.txt"))
        }

    def __getitem__(self, name: str) -> str:
        path = self._files[name]
        try:
            return path.read_text("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput(f"{path} can't be read as UTF-8 text ({error}).") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


def lines(values: str | Iterable[object]) -> tuple[str, ...]:
    """The values of one wildcard. Those of a text are its lines, without empty ones and comments."""
    if not isinstance(values, str):
        return tuple(map(str, values))
    stripped = map(str.strip, values.splitlines())
    return tuple(line for line in stripped if line and not line.startswith("#"))
