"""Codes and the tries of those who don't know them."""

import sys

import pytest

from reelbook.classroom.room.codes import ALPHABET, Tries, new_code, plain_code, qr_code


def test_codes_are_easily_read_aloud() -> None:
    """No O, no I, no 0 and no 1, and compared without case, blanks and dashes; and two classes have two."""
    codes = {new_code() for _ in range(200)}

    assert len(codes) == 200
    assert set("".join(map(plain_code, codes))) <= set(ALPHABET)
    assert not set("OI01") & set(ALPHABET)
    assert plain_code(" k7m 4px") == plain_code("K7M-4PX") == "K7M4PX"


def test_an_address_that_guesses_has_to_wait() -> None:
    """Five wrong codes in half a minute are free; then it waits until one of them is older. Others don't."""
    tries = Tries()
    for second in range(5):
        assert tries.wait_seconds("here", second) == 0
        tries.wrong("here", second)

    assert [tries.wait_seconds("here", now) for now in (4.0, 29.0, 30.0)] == [26, 1, 0]
    assert tries.wait_seconds("there", 4.0) == 0
    tries.wrong("here", 30.0)
    assert tries.wait_seconds("here", 30.0) == 1


def test_without_the_extra_there_is_no_qr_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """And no error either."""
    monkeypatch.setitem(sys.modules, "segno", None)
    assert qr_code("http://192.168.1.20:8080/?code=K7M-4PX") is None
