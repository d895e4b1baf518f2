"""A mistake on the command line in plain words; typer's own are those of the library that it checks with."""

from __future__ import annotations

import re
from typing import Final

from ..errors import ConfigurationError

_WORDINGS: Final = (
    (re.compile(r"Input should be a valid integer\b.*"), "Give a whole number."),
    (re.compile(r"Input should be a valid number\b.*"), "Give a number."),
    (re.compile(r"Input should be greater than or equal to (\S+)"), r"Give \1 or more."),
    (re.compile(r"Input should be less than or equal to (\S+)"), r"Give \1 or less."),
    (re.compile(r"Value error, (.*)"), r"\1"),
    (re.compile(r"dir (.*) is a file\."), r"\1 is a file and no folder."),
)


def said(error: Exception) -> str:
    """The text of an error of the library, with what to do about it here and not in code."""
    if not isinstance(error, ConfigurationError):
        return str(error)
    from ..session.connector import IN_CODE

    return str(error).replace(IN_CODE, ". --service sandbox needs none.")


def plainly(message: str) -> str:
    """`message` as a person would say it, or as it is."""
    for told, words in _WORDINGS:
        if told.fullmatch(message):
            return told.sub(words, message)
    return message
