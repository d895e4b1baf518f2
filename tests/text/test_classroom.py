"""What the classroom's panel says: what opening costs, who uses their key, and the proof at the end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reelbook.account import Facts
from reelbook.classroom.classroom import (
    ClassPlan,
    ClassroomStatus,
    ClosedClassroom,
    OpenedClassroom,
    Presence,
    Step,
)
from reelbook.ledger.classrooms import Classroom, Seat
from reelbook.models import ApiKey
from reelbook.text import classroom as words

NOW = 1_800_000_000.0  # 2027-01-15, 08:00 UTC
PLAN = ClassPlan(("Ada", "Bo"), None, "Thursday", 20, 2.0, Path("/home/me/class"), 2, 24.0, 4.0, {})
FACTS = Facts(25.0, 10, 10, None)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "a few seconds"),
        (14, "about 10 s"),
        (60, "about 60 s"),
        (95, "about 2 minutes"),
        (180, "about 3 minutes"),
    ],
)
def test_a_span_is_said_as_roughly_as_it_is_known(seconds: float, said: str) -> None:
    """Tens of seconds, then minutes."""
    assert words.about(seconds) == said


def test_how_far_it_is() -> None:
    """Keys, and time left."""
    assert words.progress(Step(12, 30, 4.0), "made", 130) == "12 of 30 keys made, about 2 minutes left."


def key(number: int, *, active: bool = True, used: str | None = None) -> ApiKey:
    return ApiKey.model_validate(
        {
            "key_id": f"k{number}",
            "name": f"c · {number}",
            "key_preview": "sk-…",
            "is_active": active,
            "last_used": used,
        }
    )


def room(count: int, *, made: int | None = None) -> Classroom:
    made = count if made is None else made
    seats = tuple(
        Seat(n, f"S{n}", f"c · {n}", f"{n}.txt", *(("made", f"k{n}") if n < made else ("waiting", None)))
        for n in range(count)
    )
    return Classroom(1, "sandbox", "c", "c", "/f", "http://a", 20, 2.0, frozenset(), NOW, None, seats)


def test_the_question_counts_where_names_would_be_too_many() -> None:
    """Up to five are named; the age of the list is said where it is old."""
    used = "2027-01-15T07:59:00Z"  # a minute before NOW
    busy = ClassroomStatus(
        room(7), tuple(Presence(seat, key(seat.id, used=used)) for seat in room(7).seats), ()
    )
    text = words.question(busy, NOW, NOW - 600)
    assert "7 students used theirs within the last hour, by the list of 10 min ago." in text
    idle = replace(busy, students=tuple(Presence(seat, key(seat.id)) for seat in room(1).seats))
    assert "1 key is revoked" in words.question(idle, NOW, NOW)
    assert "Nobody used theirs within the last hour." in words.question(idle, NOW, NOW)


def test_the_proof_claims_no_more_than_the_list_shows() -> None:
    """Keys that a service lists no longer are said to be gone, not revoked."""
    said = words.closed(ClosedClassroom(room(3), revoked=3, listed=2, others=()))
    assert said.startswith(
        "2 of 3 keys revoked, by the service's own list. The other 1 isn't listed any more."
    )
    assert "Nobody else made a key in the meantime." in said


def test_a_plan_says_what_it_makes_costs_and_takes() -> None:
    """Nothing while something is to be put right; a class that goes on names who is new in it."""
    said = " ".join(words.plan_lines(PLAN, FACTS, "http://10.0.0.7:8000"))
    assert said.startswith("“Thursday”: 2 students, Ada, Bo, with 20 requests a minute and $2.00 each.")
    assert "Creating 2 keys takes about 20 s" in said
    assert "All together may spend $4.00" in said
    assert "the whole balance, $25.00." in said
    assert words.plan_lines(replace(PLAN, problems={"name": "too long"}), FACTS, "http://a") == []
    assert words.plan_lines(PLAN, FACTS, "") == []
    goes_on = replace(PLAN, continued=room(2), students=("S0", "Zoe"), keys=0)
    assert words.plan_lines(goes_on, FACTS, "http://a")[1:] == [
        "Not in it yet: 1 student, Zoe.",
        "All of them have a key. Their sheet is written again.",
    ]


def test_many_students_are_said_by_the_first_and_the_last() -> None:
    """Up to three are named."""
    assert words.who(("Ada", "Bo", "Cy")) == "3 students, Ada, Bo, Cy"
    assert words.who(("Ada", "Bo", "Cy", "Di")) == "4 students, from Ada to Di"


def test_a_room_for_the_page_has_a_row_for_each_student_and_each_key_of_others() -> None:
    """What a key's state is, is the list's word; the line that is saved names nobody."""
    open_room = room(3, made=2)
    used = key(0, used="2027-01-15T07:59:00Z")
    students = tuple(Presence(seat, None if seat.id else used) for seat in open_room.seats)
    status = ClassroomStatus(open_room, students, (key(9, active=False),))
    shown = words.room_words(status, NOW)
    assert [row[2] for row in shown["rows"]] == ["active", "not listed", "no key yet"]
    assert [row[2] for row in shown["others"]] == ["revoked"]
    assert shown["summary"] == "3 students, 2 with a key, 1 used it."
    assert "2 of 3 keys made" in shown["interrupted"]
    assert words.still([status]) == f"Classroom “c”: {shown['summary']}"
    assert words.still([]) == "Classroom: none is open."
    assert words.interrupted(room(3)) == ""


def test_an_opening_says_who_needs_another_key() -> None:
    """By number: names stay out of what a notebook keeps."""
    said = words.opened(OpenedClassroom(room(3), 2, Path("/f/sheet.html"), ("S0",), (), ("S1", "S2")))
    assert said.startswith("2 keys made. The sheet has a card for each student. 1 student has no file")
    assert said.endswith("2 students of the class not named this time: the keys are kept.")


def test_an_error_for_the_page_names_fields_and_no_options() -> None:
    """The command line's own words for a field are left out."""
    assert words.plain("Name a folder elsewhere (`--out`), or run `make`.") == (
        "Name a folder elsewhere, or run “make”."
    )
