"""`reelbook classroom`: a key for each student of a class, who uses theirs, and the end of all of them."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .. import wire
from ..errors import InvalidInput
from .options import Home, Service
from .output import say

if TYPE_CHECKING:
    from ..session import Session

commands = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Keys for a class.")

Name = Annotated[
    str | None,
    typer.Option(help="The classroom. Default: the one that is open; for a fresh one the date."),
]
Which = Annotated[Service, typer.Option(help="auto: live where a key and an address are configured.")]


@commands.command("open", short_help="Make a key for each student of a list.")
def open_one(
    students: Annotated[
        Path,
        typer.Option(
            help="A CSV file: a name a line, or a header row with name, or first name and last name.",
            dir_okay=False,
        ),
    ],
    rate_limit: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="Requests a minute of each key. Default: 20.",
            min=1,
            max=wire.MAX_REQUESTS_PER_MINUTE,
            show_default=False,
        ),
    ] = None,
    max_spend: Annotated[
        float | None,
        typer.Option(metavar="USD", help="What each student's Reelbook may spend. Default: 2.00.", min=0),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where the files go. Default: in the home.", file_okay=False),
    ] = None,
    address: Annotated[
        str | None, typer.Option(help="Where students reach the service, if not where this does.")
    ] = None,
    renew: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STUDENT",
            help="Revoke this student's key and make another. May be given several times.",
            show_default=False,
        ),
    ] = None,
    name: Name = None,
    service: Which = Service.auto,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Make keys at a live service without being asked.")
    ] = False,
    home: Home = None,
) -> None:
    """Make a key for each student, a file each and a sheet of cards to print.

    The files hold the keys, and nothing else does: they are readable by you only, and lie in no repository.
    Stopped half-way, the same command goes on, and nobody gets two keys.
    """
    from ..classroom import roster as lists
    from ..classroom.classroom import checked_options, open_classroom
    from ..session import connect
    from .attending import progress, stoppable, tell_opened

    checked_options(rate_limit, max_spend)
    names = lists.read(students)
    with connect(service.value, home=home) as session:
        if session.service == "live" and not yes:
            _ask_consent(session, len(names))
        with (
            stoppable("Stopped. Run the same command again: it goes on where it stopped.") as check,
            progress("Keys", check) as report,
        ):
            opened = open_classroom(
                session,
                names,
                name=name,
                rate_limit=rate_limit,
                max_spend_usd=max_spend,
                folder=out,
                address=address,
                renew=renew or (),
                report=report,
            )
        tell_opened(opened, _closing(opened.classroom.name, service, home))


@commands.command()
def status(service: Which = Service.auto, home: Home = None) -> None:
    """Show who uses their key, and which keys somebody else made. One request."""
    from ..classroom.classroom import classroom_status
    from ..session import connect
    from .attending import show_status

    with connect(service.value, home=home) as session:
        rooms = classroom_status(session)
    if not rooms:
        say("No classroom is open.")
    for room in rooms:
        show_status(room)


@commands.command()
def close(name: Name = None, service: Which = Service.auto, home: Home = None) -> None:
    """Revoke all keys of the class, and list the keys to prove it. May be run again."""
    from ..classroom.classroom import close_classroom
    from ..session import connect
    from .attending import progress, stoppable, tell_others
    from .listing import plural

    with (
        connect(service.value, home=home) as session,
        stoppable("Stopped; some keys are still active. Run the same command again.") as check,
        progress("Revoked", check) as report,
    ):
        closed = close_classroom(session, name, report=report)
    room = closed.classroom
    say(f"{room.name}: {plural(closed.revoked, 'key')} revoked now.")
    say(
        "By the service's own list, asked for after that, none of the class's keys is active; it shows "
        f"{closed.listed} as revoked."
    )
    say(f"The files in {room.folder} hold useless keys now and can go.")
    tell_others(closed.others)


def _ask_consent(session: Session, count: int) -> None:
    if not sys.stdin.isatty():
        raise InvalidInput(
            "These keys can spend money, and nobody is here to be asked. Nothing was done. --yes makes them "
            "unasked."
        )
    say(f"{count} students at the live service at {session.base_url}.", err=True)
    say("Each key may be able to spend the whole balance.", err=True)
    if not typer.confirm("Make the keys?", default=False, err=True):
        say("Nothing was done.", err=True)
        raise typer.Exit(1)


def _closing(name: str, service: Service, home: Path | None) -> str:
    words = ["reelbook", "classroom", "close", "--name", name]
    if service is not Service.auto:
        words += ["--service", service.value]
    if home is not None:
        words += ["--home", str(home)]
    return shlex.join(words)
