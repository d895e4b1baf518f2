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


def test_a_class_is_said_in_figures_and_by_where_it_is() -> None:
    """Its queue, its money, and where students go; what is limited says of how much."""
    assert words.served(ROOM) == {
        "name": "Drawing",
        "figures": "2 joined · 1 clip in the queue · $1.25 spent",
        "where": "http://10.0.0.7:8000 · code FOX-234 · your page: http://10.0.0.7:8000/room",
        "joined": "Ada, Bo",
        "clips": ["Ada: a heron"],
    }
    limited = words.served(replace(ROOM, places=30, cap_usd=60.0, paused=True))
    assert limited["figures"] == "Paused · 2 of 30 joined · 1 clip in the queue · $1.25 of $60.00 spent"
    assert "resumes it" in words.served(replace(ROOM, address=""))["where"]
    assert "It has ended" in words.served(replace(ROOM, ended=True))["where"]


def test_the_line_that_is_saved_names_nobody() -> None:
    """It counts."""
    assert words.still(ROOM) == "Classroom “Drawing”: 2 joined · 1 clip in the queue · $1.25 spent."
    assert words.still(None) == "Classroom: none is served."
