"""What `reelbook classroom` says: how far it is, what came of it, and who uses their key."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import typer

from ..classroom.classroom import Opened, Presence, Status
from ..classroom.handouts import WARNING
from ..classroom.provisioning import Step
from ..formatting import terminal_line
from ..models import ApiKey
from .carrying import STOPPED
from .interrupts import CtrlC
from .listing import plural
from .lookup import cut
from .output import say
from .screen import Screen

SAY_AGAIN_SECONDS = 10.0


def tell_opened(opened: Opened, closing: str) -> None:
    """What `open` did. `closing` is the command that ends it."""
    room = opened.classroom
    say(f"{room.name}: {plural(len(room.seats), 'student')}, {plural(opened.made, 'key')} made now.")
    say(f"Their files and the sheet to print: {opened.sheet}")
    for names, words in (
        (opened.without_file, "whose file isn't in the folder. --renew STUDENT makes another key"),
        (opened.inactive, "whose key isn't active by the service's list. --renew STUDENT makes another"),
        (opened.not_in_list, "of the classroom who weren't in this list, and keep their keys"),
    ):
        if names:
            say(f"{plural(len(names), 'student')} {words}: {', '.join(names)}", err=True)
    say(WARNING, err=True)
    say(f"To revoke all of them:\n  {closing}", err=True)


def show_status(room: Status) -> None:
    """A classroom, a line for each student."""
    used = [each for each in room.students if each.key and each.key.last_used]
    there = sum(each.seat.key_id is not None for each in room.students)
    classroom = room.classroom
    say(
        f"{classroom.name}: {len(room.students)} students, {there} with a key, {len(used)} used it. "
        f"{classroom.address}"
    )
    width = max((len(each.seat.student) for each in room.students), default=0)
    for each in room.students:
        say(f"  {cut(each.seat.student, 60):<{width}}  {terminal_line(_presence(each))}")
    tell_others(room.others)


def _presence(each: Presence) -> str:
    if each.seat.key_id is None:
        return "no key yet"
    if each.key is None:
        return "not in the service's list"
    used = f"last used {_ago(each.key.last_used)}" if each.key.last_used else "never used"
    return used if each.key.is_active else f"{used}, revoked"


def _ago(moment: str) -> str:
    """ "4 min ago", as far as the service's time can be read."""
    try:
        then = datetime.fromisoformat(moment)
    except ValueError:
        return moment
    seconds = max(0.0, time.time() - (then if then.tzinfo else then.replace(tzinfo=UTC)).timestamp())
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length:.0f} {unit} ago"
    return f"{seconds:.0f} s ago"


def tell_others(keys: tuple[ApiKey, ...]) -> None:
    """Keys that are no student's; nothing where there are none."""
    if not keys:
        return
    say(f"{len(keys)} made by others since it was opened; these are not of the class and were left alone:")
    for key in keys:
        state = "active" if key.is_active else "revoked"
        words = [key.key_id, key.name or "no name", key.key_preview, key.created_at or "", state]
        say("  " + "  ".join(terminal_line(word) for word in words if word))


@contextmanager
def stoppable(words: str) -> Iterator[Callable[[], None]]:
    """Ctrl-C ends it between two requests and never within one; `words` say what is then."""
    with CtrlC() as ctrl_c:
        try:
            yield ctrl_c.check
        except KeyboardInterrupt:
            say(words, err=True)
            raise typer.Exit(STOPPED) from None


@contextmanager
def progress(what: str, check: Callable[[], None]) -> Iterator[Callable[[Step], None]]:
    """Shows how far it is: one line that changes on a terminal, lines now and then elsewhere."""
    if sys.stderr.isatty():
        console = Screen(stderr=True)
        with console.status("") as line:

            def show(step: Step) -> None:
                check()
                line.update(f"{what}: {far(step)}")

            yield show
        return
    last = (-1, float("-inf"))

    def tell(step: Step) -> None:
        nonlocal last
        check()
        now = time.monotonic()
        if now - last[1] >= SAY_AGAIN_SECONDS or (step.wait_seconds and step.done != last[0]):
            last = (step.done, now)
            say(f"{what}: {far(step)}", err=True)

    yield tell


def far(step: Step) -> str:
    """ "12 of 30, the next in 20 s"."""
    wait = f", the next in {step.wait_seconds:.0f} s" if step.wait_seconds >= 1 else ""
    return f"{step.done} of {step.all}{wait}"
