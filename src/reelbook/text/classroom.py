"""What the classroom's panel says: what opening costs, how far it is, who uses their key, and the proof."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from reelbook.account.balance import Facts
from reelbook.classroom.classroom import (
    ClassPlan,
    ClassroomStatus,
    ClosedClassroom,
    OpenedClassroom,
    Presence,
    Step,
    used_lately,
)
from reelbook.classroom.handouts import SHEET
from reelbook.classroom.room.numbers import RoomNumbers
from reelbook.ledger.classrooms import Classroom
from reelbook.models import ApiKey

from ..formatting import age, count, dollars

_OPTION = re.compile(r" \(`--[a-z-]+`\)")  # what the command line calls a field
_CODE = re.compile("`([^`]+)`")


def about(seconds: float) -> str:
    """A span of time that is only known roughly: "a few seconds", "about 40 s", "about 3 minutes"."""
    if seconds < 10:
        return "a few seconds"
    if seconds < 90:
        return f"about {round(seconds / 10) * 10} s"
    return f"about {count(round(seconds / 60), 'minute')}"


def plain(error: str) -> str:
    """An error's text for the page, where there are fields and no options."""
    return _CODE.sub(r"“\1”", _OPTION.sub("", error))


def served(room: RoomNumbers) -> dict[str, Any]:
    """A class that is served: what the teacher's page shows, as words."""
    spent = (
        dollars(room.spent_usd)
        if room.cap_usd is None
        else f"{dollars(room.spent_usd)} of {dollars(room.cap_usd)}"
    )
    places = "" if room.places is None else f" of {room.places}"
    figures = (
        f"{len(room.joined)}{places} joined · {count(room.waiting, 'clip')} in the queue · {spent} spent"
    )
    if room.ended:
        where = "It has ended; reelbook classroom report writes its report."
    elif not room.address:
        where = "Nobody is serving it; reelbook classroom serve resumes it."
    else:
        where = f"{room.address} · code {room.code} · your page: {room.address}/room"
    return {
        "name": room.name,
        "figures": f"Paused · {figures}" if room.paused else figures,
        "where": where,
        "joined": ", ".join(room.joined),
        "clips": [f"{name}: {prompt}" for name, prompt in room.clips],
    }


def plan_lines(plan: ClassPlan, facts: Facts, address: str) -> list[str]:
    """What to know before the button is pressed; empty where something has to be corrected first."""
    if plan.problems or not address:
        return []
    room, each = plan.continued, f"{plan.rate_limit} requests a minute and {dollars(plan.max_spend_usd)} each"
    if room is None:
        lines = [f"“{plan.name}”: {who(plan.students)}, with {each}."]
    else:
        lines = [
            f"It goes on with “{room.name}”, with {each}, as it was opened. Whoever has a key keeps it.",
        ]
        if fresh := [name for name in plan.students if all(name != seat.student for seat in room.seats)]:
            lines.append(f"Not in it yet: {who(fresh)}.")
    if not plan.keys:
        return [*lines, "All of them have a key. Their sheet is written again."]
    lines.append(
        f"Creating {count(plan.keys, 'key')} takes {about(plan.seconds)}: this session's key may send "
        f"{facts.requests_limit} requests a minute."
    )
    if facts.balance_usd is None:
        balance = "A key alone may be able to spend the whole balance."
    else:
        balance = f"A key alone may be able to spend the whole balance, {dollars(facts.balance_usd)}."
    lines.append(
        f"All together may spend {dollars(plan.max_cost_usd)}; that limit is kept by Reelbook on the "
        f"students' computers. {balance}"
    )
    if over := over_balance(plan, facts.balance_usd):
        lines.append(over)
    lines.append(f"The files and the sheet to print go to {plan.folder}: in no repository, and yours only.")
    lines.append(f"Students reach the service at {address}.")
    return lines


def over_balance(plan: ClassPlan, balance_usd: float | None) -> str:
    """That the balance isn't enough for what all may spend; "" if it is, or isn't known."""
    if balance_usd is None or plan.max_cost_usd <= balance_usd + 1e-9:
        return ""
    return (
        f"Their limits come to {dollars(plan.max_cost_usd)}, and the balance is {dollars(balance_usd)}: "
        "whoever comes late may find nothing left."
    )


def who(names: Sequence[str]) -> str:
    """ "30 students, from Ada to Zoe"."""
    if len(names) <= 3:
        return f"{count(len(names), 'student')}, {', '.join(names)}"
    return f"{count(len(names), 'student')}, from {names[0]} to {names[-1]}"


def progress(step: Step, done: str, seconds: float) -> str:
    """ "12 of 30 keys made, about 2 minutes left."."""
    return f"{step.done} of {count(step.all, 'key')} {done}, {about(seconds)} left."


def summary(status: ClassroomStatus) -> str:
    """A class in one line, without anybody's name."""
    used = sum(bool(each.key and each.key.last_used) for each in status.students)
    there = sum(each.seat.key_id is not None for each in status.students)
    return f"{count(len(status.students), 'student')}, {there} with a key, {used} used it."


def interrupted(room: Classroom) -> str:
    """How far an opening came that was stopped; "" for one that is complete."""
    if not room.missing:
        return ""
    made = len(room.seats) - len(room.missing)
    return (
        f"It was interrupted: {made} of {count(len(room.seats), 'key')} made. Nothing is lost, and nobody "
        "gets two keys when it goes on."
    )


def room_words(status: ClassroomStatus, now: float) -> dict[str, Any]:
    """A classroom for the page."""
    room = status.classroom
    return {
        "id": room.id,
        "name": room.name,
        "summary": summary(status),
        "limits": f"{room.rate_limit} requests a minute and {dollars(room.max_spend_usd)} each, at "
        f"{room.address}",
        "sheet": f"{room.folder}/{SHEET}",
        "interrupted": interrupted(room),
        "rows": [_row(each.seat.student, each.key, _state(each), now) for each in status.students],
        "others": other_rows(status.others, now),
    }


def other_rows(keys: Sequence[ApiKey], now: float) -> list[list[str]]:
    """Keys that are no student's."""
    return [_row(key.name or "(no name)", key, "active" if key.is_active else "revoked", now) for key in keys]


def question(status: ClassroomStatus, now: float, heard_at: float) -> str:
    """What to know before a classroom is closed: what stops, and that it is for good."""
    room, keys = status.classroom, [each.key for each in status.students if each.key and each.key.is_active]
    recent = used_lately(status.students, now)
    if not recent:
        use = "Nobody used theirs within the last hour"
    elif len(recent) <= 5:
        use = f"Used within the last hour: {', '.join(recent)}"
    else:
        use = f"{len(recent)} students used theirs within the last hour"
    looked = "" if now - heard_at < 60 else f", by the list of {int((now - heard_at) / 60)} min ago"
    are = "is" if len(keys) == 1 else "are"
    return (
        f"Close “{room.name}”? {count(len(keys), 'key')} {are} revoked for good, and whatever uses them "
        f"stops at once. {use}{looked}. Clips under way go on, are billed, and students can't fetch them any "
        "more."
    )


def opened(room: OpenedClassroom) -> str:
    """What an opening did, without anybody's name."""
    text = [f"{count(room.made, 'key')} made. The sheet has a card for each student."]
    for number, words in (
        (len(room.without_file), "no file in the folder"),
        (len(room.inactive), "a key that isn't active by the service's list"),
    ):
        if number:
            have = "has" if number == 1 else "have"
            text.append(
                f"{count(number, 'student')} {have} {words}: "
                "`reelbook classroom open --renew STUDENT` makes another key."
            )
    if room.not_in_list:
        number = len(room.not_in_list)
        text.append(f"{count(number, 'student')} of the class not named this time: the keys are kept.")
    if room.untold:
        text.append(f"No card says how Reelbook is installed. {plain(room.untold)}")
    return " ".join(text)


def closed(room: ClosedClassroom) -> str:
    """The proof."""
    total = max(room.listed, sum(seat.key_id is not None for seat in room.classroom.seats))
    text = f"{room.listed} of {count(total, 'key')} revoked, by the service's own list."
    if total > room.listed:
        are = "isn't" if total - room.listed == 1 else "aren't"
        text = f"{text} The other {total - room.listed} {are} listed any more."
    others = (
        "Nobody else made a key in the meantime."
        if not room.others
        else f"{count(len(room.others), 'key')} made by others since it was opened: left alone, and listed "
        "here."
    )
    return f"{text} {others} The files in {room.classroom.folder} hold useless keys and can go."


def _state(each: Presence) -> str:
    if each.seat.key_id is None:
        return "no key yet"
    if each.key is None:
        return "not listed"
    return "active" if each.key.is_active else "revoked"


def _row(name: str, key: ApiKey | None, state: str, now: float) -> list[str]:
    return [name, key.key_preview if key else "", state, age(key.last_used, now) if key else ""]


def still(rooms: Sequence[ClassroomStatus]) -> str:
    """All of it in one line for a saved notebook: no student is named there."""
    if not rooms:
        return "Classroom: none is open."
    return " ".join(f"Classroom “{each.classroom.name}”: {summary(each)}" for each in rooms)
