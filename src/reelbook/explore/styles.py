"""Pieces of prompt that people keep, to be used again and to be shared: one text file in the home."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from .. import settings
from ..atomic_files import atomic_write
from ..errors import InvalidInput, ReelbookError
from .wildcards import lines

STYLES: Final = "styles"
"""What `__styles__` is called among the wildcards of a form."""


class Styles:
    """Pieces of prompt worth keeping, such as "film grain, 35 mm": one a line in the home's `styles.txt`.

        styles = rb.Styles()
        styles.add("film grain, 35 mm")
        list(styles)
        rb.Sweep("a red fox, __styles__", wildcards={"styles": styles})

    The file is a wildcard file like any other: write in it, share it, put another one in its place. Empty
    lines, and those that begin with #, aren't styles. In the forms a template's `__styles__` stands for them
    without being told. `home` is the folder of the ledger (default: as in `reelbook.connect`). Raises
    InvalidInput where the file isn't UTF-8 text.
    """

    def __init__(self, home: str | os.PathLike[str] | None = None) -> None:
        self.path = settings.home(home) / f"{STYLES}.txt"

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(lines(self._text())))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return f"<{len(self)} styles in {self.path}>"

    def add(self, style: str) -> None:
        """Keeps a style as the last one, unless it is there already. Line breaks in it become blanks.

        Raises InvalidInput for one that is empty or begins with #, ReelbookError where the disk refuses.
        """
        line = " ".join(style.split())
        if not line or line.startswith("#"):
            raise InvalidInput("A style is a piece of prompt, and doesn't begin with #. Nothing was kept.")
        if line not in self:
            text = self._text()
            self._write(text + ("\n" if text and not text.endswith("\n") else "") + line + "\n")

    def remove(self, style: str) -> None:
        """Takes a style out of the file; the other lines stay as they are. Raises ReelbookError."""
        kept = [line for line in self._text().splitlines() if line.strip() != style.strip()]
        self._write("".join(f"{line}\n" for line in kept))

    def _text(self) -> str:
        try:
            return self.path.read_text("utf-8-sig")
        except (FileNotFoundError, NotADirectoryError):
            return ""
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput(f"{self.path} can't be read as UTF-8 text ({error}).") from None

    def _write(self, text: str) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(self.path) as part:
                part.write_text(text, "utf-8")
        except OSError as error:
            raise ReelbookError(f"{self.path} can't be written: {error.strerror or error}.") from error
