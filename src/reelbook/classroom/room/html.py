"""HTML out of the room's templates: what comes from outside is always text there, never markup."""

from __future__ import annotations

import functools
import html
import string
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent


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
    """One after the other."""
    return Html("".join(parts))


def filled(template: str, **values: Any) -> Html:
    """A template with its values, escaped."""
    return Html(_template(template).substitute({name: safe(value) for name, value in values.items()}))


@functools.cache
def static(name: str) -> bytes:
    """A style sheet or a script."""
    return (_HERE / "static" / name).read_bytes()


@functools.cache
def _template(name: str) -> string.Template:
    return string.Template((_HERE / "templates" / name).read_text("utf-8"))
