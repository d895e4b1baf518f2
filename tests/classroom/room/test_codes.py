"""Codes and the tries of those who don't know them."""

import sys

import pytest

from reelbook.classroom.room.codes import ALPHABET, Tries, new_code, plain_code, qr_code


def test_codes_have_no_letters_that_are_taken_for_each_other() -> None:
    """No O, no I, no 0 and no 1; and two classes have two."""
    codes = {new_code() for _ in range(200)}

    assert len(codes) == 200
    assert set("".join(map(plain_code, codes))) <= set(ALPHABET)
    assert not set("OI01") & set(ALPHABET)


def test_a_code_is_compared_as_it_is_read_aloud() -> None:
    """Without case, blanks and dashes."""
    assert plain_code(" k7m 4px") == plain_code("K7M-4PX") == "K7M4PX"


def test_an_address_waits_longer_with_each_wrong_code() -> None:
    """Five are free; then it waits, at most a minute, and others don't."""
    tries, waits = Tries(), []
    for _ in range(12):
        waits.append(tries.wait_seconds("here", 0.0))
        tries.wrong("here", 0.0)

    assert waits == [0, 0, 0, 0, 0, 2, 4, 8, 16, 32, 60, 60]
    assert tries.wait_seconds("there", 0.0) == 0


def test_quiet_minutes_make_it_good() -> None:
    """The wait runs out, and after ten minutes nothing is held against the address."""
    tries = Tries()
    for _ in range(6):
        tries.wrong("here", 100.0)

    assert tries.wait_seconds("here", 101.0) == 3
    assert tries.wait_seconds("here", 104.0) == 0
    tries.wrong("here", 800.0)
    assert tries.wait_seconds("here", 800.0) == 0


def test_without_the_extra_there_is_no_qr_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """And no error either."""
    monkeypatch.setitem(sys.modules, "segno", None)
    assert qr_code("http://192.168.1.20:8080/?code=K7M-4PX") is None
