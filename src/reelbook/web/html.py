"""HTML: what comes from outside is always text in it, never markup."""

from __future__ import annotations

import functools
import html
import string
from collections.abc import Iterable
from pathlib import Path


class Html(str):
    """Markup of our own. Everything else is escaped where it is put into it."""

    __slots__ = ()

    def format(self, *values: object, **named: object) -> Html:
        """As str.format: values that aren't Html are escaped."""
        return Html(
            str(self).format(*map(safe, values), **{name: safe(value) for name, value in named.items()})
        )

    def __add__(self, other: str) -> Html:
        return Html(str(self) + safe(other))


def safe(value: object) -> str:
    """A value as it stands in a page, also within quotes."""
    return str(value) if isinstance(value, Html) else html.escape(str(value))


def joined(parts: Iterable[Html]) -> Html:
    return Html("".join(parts))


def filled(folder: Path, template: str, **values: object) -> Html:
    """A file of the folder's `templates` filled with values, which are escaped."""
    text = string.Template(kept_text(folder / "templates" / template))
    return Html(text.substitute({name: safe(value) for name, value in values.items()}))


@functools.cache
def kept_text(file: Path) -> str:
    """The text of a file that comes with Reelbook; it is read once."""
    return file.read_text("utf-8")
