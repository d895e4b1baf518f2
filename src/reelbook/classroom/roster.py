"""The names of a class, read from a file as spreadsheets and people write it."""

import codecs
import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from ..errors import InvalidInput

LONGEST_NAME: Final = 60
_DELIMITERS: Final = (";", "\t", ",")
_WHOLE: Final = ("name", "names", "student", "students", "full name", "schüler", "nom", "nombre")
_FIRST: Final = ("first name", "firstname", "given name", "vorname", "prénom")
_LAST: Final = ("last name", "lastname", "surname", "family name", "nachname", "familienname", "nom")
_UTF_16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read(path: Path) -> tuple[str, ...]:
    """The students of a CSV file, each name once: a second “Ada” is “Ada (2)”.

    One name a line, or a header row with “name”, or with “first name” and “last name”. Comma, semicolon and
    tab are understood, as are UTF-8, UTF-16 and Windows files. Raises InvalidInput.
    """
    try:
        names = unique(_names(_text(path.read_bytes()), path.name))
    except OSError as error:
        raise InvalidInput(f"{path} can't be read ({error.strerror or error}). Nothing was done.") from None
    except csv.Error as error:
        raise InvalidInput(f"{path.name} isn't a list of names ({error}). Nothing was done.") from None
    if not names:
        raise InvalidInput(f"{path.name} holds no names. Write one a line. Nothing was done.")
    return names


def unique(names: Iterable[str]) -> tuple[str, ...]:
    """Names as they are kept: one line, at most 60 characters, without empty ones; equal ones numbered."""
    taken: dict[str, str] = {}
    for name in filter(None, map(tidy, names)):
        number, kept = 1, name
        while name_key(kept) in taken:
            number += 1
            ending = f" ({number})"
            kept = f"{name[: LONGEST_NAME - len(ending)]}{ending}"
        taken[name_key(kept)] = kept
    return tuple(taken.values())


def numbered(names: Sequence[str]) -> tuple[str, ...]:
    """Those of `names` that `unique` gave a number, because somebody before them is called the same."""
    keys = set(map(name_key, names))
    found = ((name, re.fullmatch(r"(.+) \(\d+\)", name)) for name in names)
    return tuple(name for name, match in found if match and name_key(match[1]) in keys)


def name_key(name: str) -> str:
    """The part of a name that is compared: "ada" and "Ada" are one."""
    return " ".join(name.split()).casefold()


def tidy(name: str) -> str:
    """A name in one line, composed, without what can't be printed."""
    composed = unicodedata.normalize("NFC", name)
    line = " ".join("".join(each if each.isprintable() else " " for each in composed).split())
    return line[:LONGEST_NAME].rstrip()


def _text(data: bytes) -> str:
    if data.startswith(_UTF_16):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def _names(text: str, file: str) -> list[str]:
    tables = [_rows(text, delimiter) for delimiter in _DELIMITERS]
    if not all(tables):
        return []
    several = any(sum(bool(cell.strip()) for cell in row) > 1 for rows in tables for row in rows)
    for rows in tables:
        header = [" ".join(cell.split()).casefold() for cell in rows[0]]
        first, last, whole = (_column(header, words) for words in (_FIRST, _LAST, _WHOLE))
        if first is not None and last is not None:
            return [f"{_cell(row, first)} {_cell(row, last)}" for row in rows[1:]]
        if whole is not None and (len(header) > 1 or not several):
            return [_cell(row, whole) for row in rows[1:]]
    if several:
        raise InvalidInput(
            f"{file} has several columns, and no header row says which holds the name. Write “name” above "
            "it, or “first name” and “last name”; a name with a comma in it belongs in quotes. Nothing was "
            "done."
        )
    # One column, and perhaps a delimiter at the end of each line.
    widest = max(tables, key=lambda rows: max(map(len, rows)))
    return [next(filter(None, map(str.strip, row)), "") for row in widest]


def _rows(text: str, delimiter: str) -> list[list[str]]:
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    return [row for row in lines if any(cell.strip() for cell in row)]


def _column(header: list[str], words: tuple[str, ...]) -> int | None:
    return next((number for number, cell in enumerate(header) if cell in words), None)


def _cell(row: list[str], number: int) -> str:
    return row[number] if number < len(row) else ""
