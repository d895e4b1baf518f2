"""What the classroom's panel says of a class that is served."""

from __future__ import annotations

from dataclasses import replace

from reelbook.classroom.room.numbers import RoomNumbers
from reelbook.text import classroom as words

ROOM = RoomNumbers(
    name="Drawing",
    code="FOX-234",
    address="http://10.0.0.7:8000",
    paused=False,
    ended=False,
    joined=("Ada", "Bo"),
    places=None,
    waiting=1,
    spent_usd=1.25,
    cap_usd=None,
    clips=(("Ada", "a heron"),),
)


def test_a_class_is_said_in_figures_without_anybodys_name() -> None:
    """Its queue and its money, of how much where that is limited; the line that is saved names nobody."""
    assert words.still(ROOM) == "Classroom “Drawing”: 2 joined · 1 clip in the queue · $1.25 spent."
    limited = words.served(replace(ROOM, places=30, cap_usd=60.0, paused=True))
    assert limited["figures"] == "Paused · 2 of 30 joined · 1 clip in the queue · $1.25 of $60.00 spent"
