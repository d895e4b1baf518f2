"""Where wildcards get their values from: a mapping, a folder of text files, or a person's styles."""

from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Final, TypeVar

from .. import settings
from ..atomic_files import atomic_write
from ..errors import InvalidInput
from ..saved_files import writing
from ..secret import quotable

T = TypeVar("T")
Values = str | Iterable[object] | Path
"""The values of one wildcard: the lines of a text or of a file, or each of several."""
Wildcards = Mapping[str, Values] | str | PathLike[str]
"""Values by name, or a folder with a text file for each name, such as "animal" or "colours/warm"."""


def by_name(wildcards: Wildcards | None) -> Mapping[str, Values]:
    """The values of each name; a folder's files are read when they are used. Raises InvalidInput."""
    if not isinstance(wildcards, str | PathLike):
        return named(wildcards, "wildcards")
    folder = Path(wildcards)
    if not folder.is_dir():
        raise InvalidInput(f"There is no folder {quotable(str(folder))} with wildcards.")
    files = sorted(folder.rglob("*.txt"))
    return {path.relative_to(folder).with_suffix("").as_posix(): path for path in files}


def named(given: Mapping[str, T] | None, option: str) -> Mapping[str, T]:
    """What an option of a sweep has by name. Raises InvalidInput if it was given something else."""
    if given is not None and not isinstance(given, Mapping):
        raise InvalidInput(f"{option} takes names with their values, not {quotable(given)}.")
    return given or {}


def lines(values: Values) -> tuple[str, ...]:
    """The values of one wildcard: a text's are its lines. Raises InvalidInput for a bad file."""
    if isinstance(values, Path):
        values = _text(values)
    if not isinstance(values, Iterable):
        raise InvalidInput(f"A wildcard takes texts, not {quotable(values)}.")
    if not isinstance(values, str):
        return tuple(map(str, values))
    stripped = map(str.strip, values.splitlines())
    return tuple(line for line in stripped if line and not line.startswith("#"))


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} can't be read as UTF-8 text ({error}).") from None


STYLES: Final = "styles"
"""What `__styles__` is called among the wildcards of a form."""


class Styles:
    """Pieces of prompt worth keeping, such as "film grain, 35 mm": one a line in the home's `styles.txt`.

        styles = rb.Styles()
        styles.add("film grain, 35 mm")
        list(styles)
        rb.Sweep("a red fox, __styles__", wildcards={"styles": styles})

    The file is a wildcard file like any other: edit it, share it, replace it. Empty lines and lines that
    begin with # aren't styles. In the forms, `__styles__` in a template stands for them without further
    setup. `home` is as in `reelbook.connect`. Raises InvalidInput if the file isn't UTF-8 text.
    """

    def __init__(self, home: str | PathLike[str] | None = None) -> None:
        self.path = settings.home(home) / f"{STYLES}.txt"

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(lines(self._text())))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return f"<{len(self)} styles in {self.path}>"

    def add(self, style: str) -> None:
        """Adds a style as the last one, unless it is there already. Line breaks become blanks.

        Raises InvalidInput for one that is empty or begins with #, ReelbookError if the disk refuses.
        """
        line = " ".join(style.split())
        if not line or line.startswith("#"):
            raise InvalidInput("A style is a piece of prompt, and doesn't begin with #. Nothing was kept.")
        if line not in self:
            text = self._text()
            self._write(text + ("\n" if text and not text.endswith("\n") else "") + line + "\n")

    def remove(self, style: str) -> None:
        """Removes a style from the file; the other lines stay as they are. Raises ReelbookError."""
        kept = [line for line in self._text().splitlines() if line.strip() != style.strip()]
        self._write("".join(f"{line}\n" for line in kept))

    def _text(self) -> str:
        return _text(self.path) if self.path.exists() else ""

    def _write(self, text: str) -> None:
        with writing(str(self.path), "Nothing was changed."):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(self.path) as part:
                part.write_text(text, "utf-8")
