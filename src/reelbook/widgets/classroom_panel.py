"""The class that is served from this home. Students' names are in messages only: no notebook keeps them."""

import contextlib
import sqlite3
from typing import Any

import traitlets

from reelbook.classroom.room.numbers import RoomNumbers, room_numbers
from reelbook.errors import ClassroomError
from reelbook.session import Session

from ..text import classroom as words
from .base import Panel, session_of
from .bundle import packed
from .static_html import text_still

LOOK_SECONDS = 3.0


class ClassroomPanel(Panel):
    """Shows the class that `reelbook classroom serve` serves from this home.

    `ClassroomPanel(session)`; without a session `reelbook.connect()`. It shows the way in, who has joined,
    the queue, the spending and the newest clips, all read from the home's files without a request.
    Observe or link `joined`: how many students have joined.

        panel = rb.ClassroomPanel()
        note = ipywidgets.Label()
        traitlets.dlink((panel, "joined"), (note, "value"), lambda count: f"{count} students are at work")
        ipywidgets.VBox([note, panel])
    """

    _esm = packed("classroom_panel")

    joined = traitlets.Int(help="How many students have joined.").tag(sync=True)

    def __init__(self, session: Session | None = None, **traits: Any) -> None:
        self.session = session_of(self, session)
        self._room: RoomNumbers | None = None
        super().__init__(**traits)
        self.refresh()

    def update(self) -> None:
        # Its file is busy: what was read last still stands.
        with contextlib.suppress(ClassroomError, sqlite3.Error):
            self._room = room_numbers(self.session.home)
        self.joined = len(self._room.joined) if self._room else 0
        self.live = True  # a class may begin at any time
        self._live.changed_in(LOOK_SECONDS)
        self._post("served", {"room": words.served(self._room) if self._room else None})

    def still(self) -> tuple[str, str]:
        return text_still(words.still(self._room))
