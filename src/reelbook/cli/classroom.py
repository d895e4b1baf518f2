"""`reelbook classroom`: makes, lists and revokes the keys of a class; classroom_room.py serves a room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from .. import wire
from ..errors import ReelbookError
from ..formatting import age, count, dollars, terminal_line
from . import classroom_room
from .console import moving_line, require_yes, say, stoppable
from .options import Group, Home, Which, Yes, command_line, open_session, option

if TYPE_CHECKING:
    from ..classroom.classroom import ClassroomStatus, OpenedClassroom, Report
    from ..models import ApiKey

STUDENT_CHARACTERS = 60

commands = Group(help="A room or keys for a class.")
commands.command(short_help="Serve a class: students join by a code.")(classroom_room.serve)
commands.command(short_help="Write its spending and its clips.")(classroom_room.report)
commands.command(short_help="Gather what students install, while there is a network.")(classroom_room.wheels)

Name = Annotated[
    str | None, option("The classroom. Default: the one that is open; for a fresh one the date.")
]


@commands.command("open", short_help="Create a key for each student of a list.")
def open_one(
    students: Annotated[
        Path, option("A CSV file of names; a header row may tell first and last name apart.", dir_okay=False)
    ],
    rate_limit: Annotated[
        int | None,
        option("Requests a minute of each key. Default: 20.", min=1, max=wire.MAX_REQUESTS_PER_MINUTE),
    ] = None,
    max_spend: Annotated[
        float | None,
        option("What each student's Reelbook may spend. Default: 2.00.", metavar="USD", min=0),
    ] = None,
    out: Annotated[Path | None, option("Where the files go. Default: in the home.", file_okay=False)] = None,
    address: Annotated[
        str | None, option("Where students reach the service, if not at the address used here.")
    ] = None,
    install: Annotated[
        str | None,
        option(
            "What the cards tell pip to install: a wheel's address, a folder or file that students reach, "
            "or a name. It is tried first. Default: reelbook, if that can be installed.",
            metavar="WHAT",
        ),
    ] = None,
    renew: Annotated[
        list[str] | None,
        option("Revoke this student's key and make another. May be given several times.", metavar="STUDENT"),
    ] = None,
    name: Name = None,
    service: Which = "auto",
    yes: Yes = False,
    home: Home = None,
) -> None:
    """Create a key for each student, a file each and a sheet of cards to print.

    The files hold the keys, and nothing else does: only you can read them, and no repository has them.
    If it is stopped half-way, run it again: it goes on, and nobody gets two keys.
    """
    from ..classroom import roster as lists
    from ..classroom.classroom import Classrooms

    names = lists.read(students)
    for each in lists.numbered(names):
        say(f"There is more than one {each.rpartition(' (')[0]}. This one is “{each}” on the card.", err=True)
    with open_session(service, home) as session, Classrooms(session).locked() as classes:
        planned = classes.plan(
            names,
            name=name,
            rate_limit=rate_limit,
            max_spend_usd=max_spend,
            folder=out,
            address=address,
        )
        with suppress(ReelbookError):  # a service that doesn't tell the balance may make keys all the same
            balance, limits = session.balance().balance_usd, len(planned.students) * planned.max_spend_usd
            if balance is not None and limits > balance + 1e-9:
                say(
                    f"Their limits come to {dollars(limits)}, and the balance is {dollars(balance)}: "
                    "whoever comes late may find nothing left.",
                    err=True,
                )
        if session.service == "live":
            require_yes(
                f"{len(names)} students at the live service at {session.base_url}.\n"
                "Each key may be able to spend the whole balance.\nCreate the keys?",
                yes=yes,
                stake="These keys can spend money",
                untouched="Nothing was done.",
            )
        with _reported("Keys", "Stopped. Run the same command again: it goes on where it stopped.") as report:
            opened = classes.open(planned, install=install, renew=renew or (), report=report)
    classroom = opened.status.classroom
    _say_opened(
        opened,
        names,
        command_line("classroom", "close", "--name", classroom.name, service=service, home=home),
    )


@commands.command()
def status(service: Which = "auto", home: Home = None) -> None:
    """Show who uses their key, and which keys somebody else made. One request."""
    from ..classroom.classroom import Classrooms

    with open_session(service, home) as session:
        statuses = Classrooms(session).status()
    if not statuses:
        say("No classroom is open.")
    for each in statuses:
        _say_status(each)


@commands.command()
def close(
    name: Name = None,
    all_made_since: Annotated[
        bool, option("Also revoke the keys that others made since it was opened.", "--all-made-since")
    ] = False,
    service: Which = "auto",
    home: Home = None,
) -> None:
    """Revoke all keys of the class, and list the keys to prove it. Safe to run again."""
    from ..classroom.classroom import Classrooms

    with (
        open_session(service, home) as session,
        Classrooms(session).locked() as classes,
        _reported("Revoked", "Stopped; some keys are still active. Run the same command again.") as report,
    ):
        closed = classes.close(name, all_made_since=all_made_since, report=report)
    classroom, others = closed.after.classroom, closed.after.others
    if closed.before.lately:
        used = f"{count(len(closed.before.lately), 'student')} used theirs within the last hour"
        say(f"{used}: clips under way go on and are billed, and they can't fetch them any more.", err=True)
    say(f"{classroom.name}: {count(closed.revoked, 'key')} revoked now.")
    say(
        "By the service's own list, asked for after that, none of the class's keys is active; it shows "
        f"{len(closed.after.own)} as revoked."
    )
    say(f"The files in {classroom.folder} hold revoked keys now and can be deleted.")
    _say_others(others)
    if any(key.is_active for key in others) and not all_made_since:
        again = command_line("classroom", "close", "--name", classroom.name, service=service, home=home)
        say(f"To revoke these, too:\n  {again} --all-made-since", err=True)


def _say_opened(opened: OpenedClassroom, listed: Sequence[str], closing: str) -> None:
    """What `open` did for the students `listed`. `closing` is the command that revokes the keys."""
    from ..classroom import handouts

    classroom, students = opened.status.classroom, opened.status.classroom.students
    without_file = [student for student in students if handouts.read(classroom, student) is None]
    unlisted = [student for student in students if student not in listed]
    say(f"{classroom.name}: {count(len(students), 'student')}, {count(opened.made, 'key')} made now.")
    say(f"Their files and the sheet to print: {Path(classroom.folder) / handouts.SHEET}")
    for names, words in (
        (without_file, "whose file isn't in the folder. --renew STUDENT makes another key"),
        (
            opened.status.inactive,
            "whose key isn't active by the service's list. --renew STUDENT makes another",
        ),
        (unlisted, "of the classroom who weren't in this list, and keep their keys"),
    ):
        if names:
            say(f"{count(len(names), 'student')} {words}: {', '.join(names)}", err=True)
    if opened.untold:
        say(f"No card says how Reelbook is installed. {opened.untold}", err=True)
    say(handouts.WARNING, err=True)
    say(f"To revoke all of them:\n  {closing}", err=True)


def _say_status(shown: ClassroomStatus) -> None:
    called, students = shown.classroom.name, shown.classroom.students
    used = sum(bool(key and key.last_used) for key in shown.keys.values())
    there = len(students) - len(shown.classroom.missing)
    say(
        f"{called}: {count(len(students), 'student')}, {there} with a key, {used} used it. "
        f"{shown.classroom.address}"
    )
    width = max(map(len, students), default=0)
    for student, key in shown.keys.items():
        if key is None:
            said = "no key yet" if students[student] is None else "not in the service's list"
        else:
            said = f"last used {age(key.last_used)}" if key.last_used else "never used"
            said += "" if key.is_active else ", revoked"
        say(f"  {terminal_line(student, STUDENT_CHARACTERS):<{width}}  {terminal_line(said)}")
    _say_others(shown.others)


def _say_others(keys: tuple[ApiKey, ...]) -> None:
    if not keys:
        return
    say(f"{len(keys)} made by others since it was opened; these are not of the class:")
    for key in keys:
        state = "active" if key.is_active else "revoked"
        words = [key.key_id, key.name or "no name", key.key_preview, key.created_at or "", state]
        say("  " + "  ".join(terminal_line(word) for word in words if word))


@contextmanager
def _reported(what: str, stopped: str) -> Iterator[Report]:
    """Shows how far it is. Ctrl-C ends it between two requests; `stopped` says how things stand then."""
    with stoppable(stopped) as ctrl_c, moving_line() as show:

        def report(done: int, among: int, wait_seconds: float) -> None:
            ctrl_c.check()
            show(f"{what}: {progress_text(done, among, wait_seconds)}")

        yield report


def progress_text(done: int, among: int, wait_seconds: float) -> str:
    """Progress in words: "12 of 30, the next in 20 s"."""
    wait = f", the next in {wait_seconds:.0f} s" if wait_seconds >= 1 else ""
    return f"{done} of {among}{wait}"
