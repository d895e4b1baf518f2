"""Classrooms in the ledger: written down before a key is asked for, and there after a crash."""

from __future__ import annotations

from pathlib import Path

from ledger.doubles import SERVICE, Clock

from reelbook.ledger import Ledger, LedgerFile
from reelbook.ledger.classrooms import ASKED, MADE, REVOKED, WAITING, Classroom


def opened(ledger: Ledger) -> Classroom:
    """A classroom with two places."""
    room = ledger.file.classrooms.open(
        SERVICE,
        "monday",
        label="monday #1f",
        folder="/keys",
        address=SERVICE,
        rate_limit=20,
        max_spend_usd=1.25,
        before=["key_2", "key_1"],
    )
    for student in ("Ada", "Björn", "Ada"):
        ledger.file.classrooms.seat(room, student, f"monday #1f · {student}", f"{student}.txt")
    return ledger.file.classrooms.at(SERVICE)[0]


def test_a_place_goes_through_its_states_and_stays(ledger: Ledger, folder: Path, clock: Clock) -> None:
    """Each step is on the disk when its call returns; a student has one place only."""
    room = opened(ledger)
    ada, bjoern = room.seats
    assert (sorted(room.before), room.max_spend_usd, room.opened_at) == (["key_1", "key_2"], 1.25, clock())
    assert [seat.state for seat in room.missing] == [WAITING, WAITING]
    ledger.file.classrooms.asking(ada)
    ledger.file.classrooms.made(bjoern, "key_3")
    with LedgerFile.open(folder) as again:
        (room,) = again.classrooms.at(SERVICE)
        assert [(seat.state, seat.key_id) for seat in room.seats] == [(ASKED, None), (MADE, "key_3")]
        assert [seat.student for seat in room.missing] == ["Ada"]
    ledger.file.classrooms.waiting(ada)
    ledger.file.classrooms.revoked(bjoern)
    ledger.file.classrooms.closed(room)
    (room,) = ledger.file.classrooms.at(f"{SERVICE}/elsewhere")  # it is known by its origin
    assert ledger.file.classrooms.at("https://other.example") == ()
    assert [seat.state for seat in room.seats] == [WAITING, REVOKED]
    assert room.closed_at == clock()
