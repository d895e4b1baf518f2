"""A class on one account, for a teacher: opened, watched and closed, with proof that its keys are revoked.

No key passes through here: `reelbook.classroom` writes them to the students' files and the sheet. Students'
names go to the page in messages only. They are in no trait and not in the still form, so no notebook carries
them.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import traitlets

from reelbook import wire
from reelbook.classroom import roster as lists
from reelbook.classroom.classroom import (
    MAX_SPEND_USD,
    RATE_LIMIT,
    ClassPlan,
    ClassroomStatus,
    ClosedClassroom,
    Step,
    address_for_students,
    classroom_status,
    close_classroom,
    open_classroom,
    plan_classroom,
    seconds_for,
    today,
)
from reelbook.classroom.handouts import WARNING
from reelbook.classroom.room.numbers import RoomNumbers, room_numbers
from reelbook.errors import ReelbookError
from reelbook.session import Session

from ..text import classroom as words
from .base import Panel, session_of
from .bundle import packed, style
from .static_html import text_still

ROOM_SECONDS = 3.0  # between two looks at the class that is served
LARGEST_LIST_BYTES = 1_000_000  # of a file with names
FIELDS = ("students", "name", "rate_limit", "max_spend_usd", "folder", "address")  # of the form


class _Stopped(Exception):
    """The person pressed Stop; raised between two requests."""


class ClassroomPanel(Panel):
    """Makes a key for each student, shows who used theirs, and revokes all of them when the class is over.

    `ClassroomPanel(session)`; without a session `reelbook.connect()`. Before a class is opened, the panel
    says how many keys that makes, how long it takes and what it may cost. An opening that was stopped or
    killed can go on later. The students' files and the sheet are in a folder that only you can read;
    the page gets the folder's path, never its content. Closing a class first says what will stop, and then
    proves by the service's list that the keys are revoked. Refreshing costs one request, if a class is open.
    `rooms` are the open classes as of the latest list. Observe or link `active` and `used`: how many
    students' keys are active, and how many students used theirs.

    A class that `reelbook classroom serve` serves from this home stands on top: who joined, the queue, what
    was spent and the newest clips. It is read from the home's file: no token, and no request.

        panel = rb.ClassroomPanel()
        note = ipywidgets.Label()
        traitlets.dlink((panel, "used"), (note, "value"), lambda count: f"{count} students are at work")
        ipywidgets.VBox([note, panel])
    """

    _esm = packed("classroom_panel")
    _css = style("classroom_panel")

    active = traitlets.Int(help="How many students' keys are active.").tag(sync=True)
    used = traitlets.Int(help="How many students used their key.").tag(sync=True)

    def __init__(self, session: Session | None = None, **traits: Any) -> None:
        self.session = session_of(self, session)
        self.rooms: tuple[ClassroomStatus, ...] = ()
        self._served: RoomNumbers | None = None
        self._heard_at: float | None = None
        self._done_word = ""  # what happens to the keys: "made" or "revoked"; empty while only looking
        self._step: Step | None = None
        self._stop = threading.Event()
        self._asked: int | None = None
        self._closed: ClosedClassroom | None = None
        self._draft: dict[str, str] = {}
        self._give_draft = False
        self._plan: dict[str, Any] = {}
        self._reached: tuple[str, str] = ("", "")  # where students reach the service, or why they can't
        super().__init__(**traits)
        self._endings += (self._stop.set,)
        self.refresh()

    def update(self) -> None:
        now = time.time()
        present = [each for room in self.rooms for each in room.students]
        self._served = self._numbers()
        with self.hold_sync():
            self.active = sum(bool(each.key and each.key.is_active) for each in present)
            self.used = sum(bool(each.key and each.key.last_used) for each in present)
            self.live = self._busy or self._served is not None
        if self._served is not None:
            self._live.changed_in(ROOM_SECONDS)
        self._post("served", {"room": words.served(self._served) if self._served else None})
        self._post("rooms", {"rooms": [words.room_words(room, now) for room in self.rooms]})
        if self._give_draft and self.reaches_page:  # what is being typed is the page's
            self._give_draft = False
            self.send({"name": "draft", "fields": self._draft})
        self._post("plan", self._plan)
        self._post("now", self._now(now))

    def still(self) -> tuple[str, str]:
        if self._heard_at is None:
            return super().still()
        return text_still(words.still(self.rooms))

    def _numbers(self) -> RoomNumbers | None:
        """How the home's class stands, if one goes on; read in the thread that draws the panels."""
        try:
            return room_numbers(self.session.home)
        except sqlite3.Error:
            return self._served

    def _now(self, now: float) -> dict[str, Any]:
        asked, step, closed = self._room(self._asked), self._step, self._closed
        return {
            "sandbox": self.session.service == "sandbox",
            "heard": self._heard_at is not None,
            "doing": f"{self._doing()}." if self._busy else "",
            "working": self._busy and bool(self._done_word),
            "progress": None if step is None else [self._progress_words(step), step.done, step.all],
            "asked": self._asked if asked else None,
            "question": words.question(asked, now, self._heard_at or now) if asked else "",
            "revoke": sum(bool(each.key and each.key.is_active) for each in asked.students) if asked else 0,
            "closed": words.closed(closed) if closed else "",
            "closed_name": closed.classroom.name if closed else "",
            "closed_others": words.other_rows(closed.others, now) if closed else [],
            "most": wire.MAX_REQUESTS_PER_MINUTE,
            "largest": LARGEST_LIST_BYTES,
            "usual": [today(), RATE_LIMIT, f"{MAX_SPEND_USD:.2f}"],
        }

    def _progress_words(self, step: Step) -> str:
        seconds = seconds_for(step.all - step.done + 1, self.session.facts)
        return words.progress(step, self._done_word, seconds)

    def _on_hello(self) -> None:
        self._give_draft = bool(self._draft)
        if self._heard_at is None and not self._busy:
            self._look()

    def _on_refresh(self) -> None:
        self._look()

    def _on_plan(self, fields: Any) -> None:
        """Something was typed: tells the page what the class would cost and take."""
        self._planned(fields)

    def _on_file(self, file: Any, fields: Any, buffers: Any) -> None:
        """A file was chosen or dropped: its names go into the field."""
        try:
            names = lists.parsed(bytes(buffers[0]), str(file or "The file"))
        except ReelbookError as error:
            self._planned(fields)
            self._plan = {"lines": [], "problems": {"students": words.plain(str(error))}, "keys": 0}
        else:
            self._give_draft = True
            self._planned({**fields, "students": "\n".join(names)})

    def _on_open(self, fields: Any) -> None:
        plan = self._planned(fields)
        if plan.problems or self._plan["problems"]:
            return
        fresh, draft = plan.continued is None, self._draft
        self._make(
            plan.students,
            typed=True,
            name=draft["name"] or None,
            rate_limit=plan.rate_limit,
            max_spend_usd=plan.max_spend_usd,
            folder=Path(draft["folder"]) if fresh and draft["folder"] else None,
            address=(draft["address"] or None) if fresh else None,
        )

    def _on_go_on(self, room: object) -> None:
        """Completes an interrupted class with the students that were written down for it."""
        if (found := self._room(room)) is not None:
            students = [seat.student for seat in found.classroom.seats]
            self._make(students, name=found.classroom.name)

    def _on_ask_close(self, room: object) -> None:
        found = self._room(room)
        self._asked = found.classroom.id if found else None

    def _on_leave(self) -> None:
        self._asked = None

    def _on_end(self, room: object) -> None:
        """Closes a class, if it is the one that the person was asked about."""
        found = self._room(self._asked)
        if found is None or found.classroom.id != room:
            return
        self._asked = None

        def close() -> str:
            self._closed = close_classroom(self.session, found.classroom.name, report=self._report)
            return ""  # the proof says it

        self._do("Revoking the keys", "revoked", close)

    def _on_put_away(self) -> None:
        """The proof was read."""
        self._closed = None

    def _on_stop(self) -> None:
        self._stop.set()

    def _room(self, number: object) -> ClassroomStatus | None:
        return next((room for room in self.rooms if room.classroom.id == number), None)

    def _planned(self, fields: dict[str, Any]) -> ClassPlan:
        """What it comes to as the form is filled in."""
        draft = self._draft = {name: str(fields.get(name) or "").strip() for name in FIELDS}
        plan = plan_classroom(
            self.session,
            lists.typed(draft["students"]),
            name=draft["name"] or None,
            rate_limit=_number(draft["rate_limit"]),
            max_spend_usd=draft["max_spend_usd"] or None,
            folder=Path(draft["folder"]) if draft["folder"] else None,
            address=draft["address"] or None,
        )
        problems = {name: words.plain(text) for name, text in plan.problems.items()}
        address, unreached = draft["address"], ""
        if plan.continued is not None:
            address = plan.continued.address
        elif not address:
            address, unreached = self._reached
        if unreached:
            problems.setdefault("address", unreached)
        if not draft["students"]:
            problems.pop("students", None)  # nothing has been typed yet
        self._plan = {
            "lines": words.plan_lines(plan, self.session.facts, address),
            "warning": WARNING,
            "problems": problems,
            "keys": plan.keys,
            "ready": bool(draft["students"]) and not problems,
            "why": "Correct what is marked." if problems else "",
            "fixed": plan.continued is not None,
        }
        return plan

    def _make(self, students: Sequence[str], *, typed: bool = False, **given: Any) -> None:
        """Makes the keys that are missing. `typed`: as the form says, which is empty afterwards."""

        def make() -> str:
            opened = open_classroom(self.session, students, report=self._report, **given)
            if typed:
                self._draft, self._plan, self._give_draft = {}, {}, True
            return words.opened(opened)

        self._do("Making the keys", "made", make)

    def _report(self, step: Step) -> None:
        if self._stop.is_set():
            raise _Stopped
        self._step = step
        self._live.changed()

    def _look(self) -> None:
        def look() -> str:
            try:
                self._reached = address_for_students(self.session, None), ""
            except ReelbookError as error:
                self._reached = "", words.plain(str(error))
            return ""

        self._do("Looking", "", look)

    def _do(self, doing: str, done_word: str, work: Callable[[], str]) -> None:
        """Starts the work, which may take minutes for a class; the classrooms are looked at afterwards."""
        if self._busy:
            return
        self._done_word = done_word
        self._stop.clear()
        if done_word:
            self._closed = None

        def do() -> str:
            try:
                return work()
            except _Stopped:
                return f"Stopped. You can continue at any time; keys already {done_word} are skipped."
            except ReelbookError as error:
                raise ReelbookError(words.plain(str(error))) from error
            finally:
                self._step = None

        def look() -> None:
            try:
                self.rooms = classroom_status(self.session)
            except ReelbookError as error:
                raise ReelbookError(
                    f"The classrooms couldn't be listed: {words.plain(str(error))}"
                ) from error
            self._heard_at = time.time()

        self._start_work(doing, do, look)


def _number(text: str) -> int | str | None:
    """A whole number as an int; anything else as it is, for the check to name."""
    return (int(text) if text.isdecimal() else text) if text else None
