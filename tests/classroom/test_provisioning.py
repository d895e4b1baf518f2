"""Keys made, found again and revoked for a class, by a real sandbox."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import reelbook as rb
from reelbook.classroom import handouts
from reelbook.classroom.provisioning import Step, Work, checked_name, is_of, today, working
from reelbook.errors import ClassroomError, InvalidInput
from reelbook.ledger.classrooms import Classroom
from reelbook.sandbox.handle import Sandbox


@pytest.fixture
def session(sandbox: Sandbox) -> Iterator[rb.Session]:
    with rb.connect("sandbox") as session:
        yield session


@pytest.fixture
def steps() -> list[Step]:
    return []


@pytest.fixture
def work(session: rb.Session, steps: list[Step]) -> Iterator[Work]:
    with working(session, steps.append) as work:
        yield work


def begun(work: Work, *students: str, **options: Any) -> Classroom:
    """A classroom with a place for each student, and no key yet."""
    room = work.begun("Drawing", (20, 2.0), None, options.get("address", work.session.base_url))
    for student in students:
        work.seat(room.id, student)
    return work.room(room.id)


def active(work: Work) -> list[str]:
    return sorted(key.name for key in work.session.keys.list() if key.is_active and key.name != "notebook")


def test_missing_keys_are_made_and_the_way_is_told(work: Work, steps: list[Step]) -> None:
    """Each in its student's file; made again, nobody gets a second one."""
    room = begun(work, "Ada", "Bo", "Ada")
    work.make(room)
    made = work.room(room.id)
    assert [(seat.student, seat.state) for seat in made.seats] == [("Ada", "made"), ("Bo", "made")]
    assert all(handouts.read(made, seat) for seat in made.seats)
    assert [(step.done, step.all) for step in steps] == [(0, 2), (1, 2)]
    work.make(made)
    assert len(active(work)) == 2


def test_a_key_whose_answer_was_lost_is_revoked_and_made_anew(work: Work, sandbox: Sandbox) -> None:
    """Nobody saw its secret."""
    sandbox.fault("answer_lost", endpoint="create-key")
    room = begun(work, "Ada")
    work.make(room)
    assert len(active(work)) == 1
    assert len(work.session.keys.list()) == 3  # the notebook's, the lost one and the new one


def test_keys_taken_back_and_stray_ones_are_revoked(work: Work) -> None:
    """A stranger's is nobody's to take; what is left over of the class goes, others' keys stay."""
    room = begun(work, "Ada", "Bo")
    work.make(room)
    with pytest.raises(InvalidInput, match="Not in Drawing: Eve"):
        work.take_back(work.room(room.id), ["Eve"])
    work.take_back(work.room(room.id), ["Ada"])
    work.session.keys.create(work.room(room.id).seats[1].key_name)
    other = work.session.keys.create("somebody else's")
    room = work.room(room.id)
    assert work.settled(room) == ("Ada",)
    assert len(active(work)) == 2
    assert [key.key_id for key in work.others(room, work.session.keys.list())] == [other.key_id]


def test_all_keys_of_a_class_are_revoked_and_no_other(work: Work) -> None:
    """Which class is meant has to be clear."""
    with pytest.raises(InvalidInput, match="No classroom was opened"):
        work.to_close(None)
    room = begun(work, "Ada", "Bo")
    work.make(room)
    assert work.to_close(" Drawing ").id == room.id
    assert work.revoke_all(work.to_close(None), work.session.keys.list()) == 2
    assert (active(work), {seat.state for seat in work.room(room.id).seats}) == ([], {"revoked"})
    begun(work)
    with pytest.raises(InvalidInput, match="Several classrooms are open"):
        work.to_close(None)


def test_an_interrupted_class_is_gone_on_with(work: Work) -> None:
    """By its name, by a student of it, or else none: then a fresh one is begun."""
    room = begun(work, "Ada")
    assert work.continued("Drawing", ["Zoe"]) == room
    assert work.continued(None, ["Ada", "Zoe"]) == room
    assert work.continued(None, ["Zoe"]) is None
    assert work.continued("Painting", ["Ada"]) is None
    assert [each.id for each in work.rooms()] == [room.id]


def test_a_key_is_the_classs_by_its_id_or_by_a_name_that_nobody_had_before(work: Work) -> None:
    """A key of the same name that was there already isn't."""
    room = begun(work, "Ada")
    key = work.session.keys.create(room.seats[0].key_name)
    (listed,) = [each for each in work.session.keys.list() if each.key_id == key.key_id]
    assert is_of(room, listed)
    notebook = next(each for each in work.session.keys.list() if each.name == "notebook")
    assert not is_of(room, notebook)


def test_a_name_of_its_own_and_a_folder_of_its_own(work: Work, home: Path) -> None:
    """Numbered where there is one already; without a name, the day."""
    begun(work)
    assert (work.free_name("Drawing"), work.free_name("Painting")) == ("Drawing (2)", "Painting")
    assert work.folder("a/b: c").parent == home / "classrooms" / "sandbox"
    assert checked_name(None) == today()
    assert checked_name("  Life   Drawing ") == "Life Drawing"
    for name in ("", "x" * 27):
        with pytest.raises(InvalidInput, match="1 to 26 characters"):
            checked_name(name)


def test_two_programs_dont_work_on_classrooms_at_once(session: rb.Session, work: Work) -> None:
    """The second one is told, and does nothing."""
    with pytest.raises(ClassroomError, match="Another program"), working(session):
        pytest.fail("both were let in")
