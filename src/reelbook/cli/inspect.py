"""`reelbook inspect`: what made a clip, by its file."""

from pathlib import Path
from typing import Annotated

import typer

from ..errors import NoPassport
from .console import say, say_json
from .options import AsJson, option


def inspect(
    file: Annotated[Path, typer.Argument(help="An exported clip, the JSON beside it, or a zip of them.")],
    code: Annotated[bool, option("Print the code of a cell that makes it again.", "--code")] = False,
    as_json: AsJson = False,
) -> None:
    """Say what made a clip, from its file.

    Its prompt, its seed, and whatever else the file holds; no service is asked.
    """
    from ..session.passports import passports_in

    found, damaged = passports_in(file)
    if not found:
        raise NoPassport(f"{file.name} doesn't say what made it.")
    if as_json:
        say_json({name: each.record() for name, each in found.items()})
    else:
        for number, (name, each) in enumerate(found.items()):
            said = each.as_code() if code else str(each)
            say(("\n" if number else "") + (f"{name}\n{said}" if len(found) > 1 else said))
    for error in damaged:
        say(str(error), err=True)
    raise typer.Exit(bool(damaged))
