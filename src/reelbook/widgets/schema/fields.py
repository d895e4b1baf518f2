"""What a form is made of: a frozen value for each kind of field.

A field's draft is what the page holds for it, always JSON: text for Text and Number, the place in `options`
for Choice, true or false for Flag, a list for Items, `{"in": {name: draft}}` for Group, `{"v": place,
"d": draft}` for Variants. None is "not set". For every field `{"raw": text}` is a value written as JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

Json: TypeAlias = Any
Draft: TypeAlias = Any
Schema: TypeAlias = Mapping[str, Json]
Path: TypeAlias = tuple[str | int, ...]

TextKind = Literal["text", "lines", "date", "time", "date-time", "email", "url", "password", "file"]


class Unset:
    """What isn't there: no argument, no default."""

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> bool:
        return False


UNSET: Final = Unset()


@dataclass(frozen=True, kw_only=True)
class Field:
    """What all fields have. `required`: it is always sent, as a list's items are (`in_list`)."""

    name: str = ""
    label: str = ""
    help: str = ""
    rule: str = ""  # its bounds in words
    required: bool = False
    in_list: bool = False
    nullable: bool = False
    default: Json = UNSET


@dataclass(frozen=True, kw_only=True)
class Text(Field):
    """A string; empty is "not set", except in a list."""

    kind: TextKind = "text"
    suggested: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Number(Field):
    """A number, held as it is typed."""

    integer: bool = False


@dataclass(frozen=True, kw_only=True)
class Choice(Field):
    """One of given values."""

    options: tuple[Json, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Flag(Field):
    """True or false, without a third."""


@dataclass(frozen=True, kw_only=True)
class Fixed(Field):
    """The one value that there is; the page shows nothing."""

    value: Json


@dataclass(frozen=True, kw_only=True)
class Group(Field):
    """An object with named fields."""

    fields: tuple[Field, ...]


@dataclass(frozen=True, kw_only=True)
class Items(Field):
    """A list of any length."""

    item: Field
    least: int = 0
    most: int | None = None


@dataclass(frozen=True, kw_only=True)
class Variants(Field):
    """One of several shapes."""

    options: tuple[Field, ...]


@dataclass(frozen=True, kw_only=True)
class Raw(Field):
    """What no form can show: written as JSON."""

    why: str = ""
