"""The notice of a running sandbox, and the lock that tells whether one runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from filelock import Timeout

from reelbook.sandbox.lock_file import (
    Notice,
    ended_within,
    last_port,
    put_up,
    read_notice,
    running_lock,
    take_down,
)
from reelbook.sandbox.places import Places


@pytest.fixture
def places(tmp_path: Path) -> Places:
    places = Places.under(tmp_path)
    places.create()
    return places


def test_a_notice_says_who_serves_where(places: Places) -> None:
    """It goes with its server, and its port is remembered."""
    put_up(places, url="http://127.0.0.1:4321", version="1.0", instance="first")
    assert read_notice(places) == Notice("http://127.0.0.1:4321", os.getpid(), "1.0", "first")
    take_down(places, "first")
    assert (read_notice(places), last_port(places)) == (None, 4321)


def test_a_server_takes_down_no_notice_but_its_own(places: Places) -> None:
    """A newer one may have put up its own already."""
    put_up(places, url="http://127.0.0.1:1", version="1.0", instance="newer")
    take_down(places, "older")
    assert read_notice(places) is not None


@pytest.mark.parametrize("content", ["", "[]", '{"url": "http://127.0.0.1:1"}', "70000"])
def test_a_broken_notice_is_none(content: str, places: Places) -> None:
    """Left over from a crash, or no port at all."""
    places.server.write_text(content)
    places.port.write_text(content)
    assert (read_notice(places), last_port(places)) == (None, None)


def test_the_lock_says_whether_a_server_lives(places: Places) -> None:
    """It can't be taken twice, and who waits for the end is told when there is none."""
    with running_lock(places):
        assert not ended_within(places, 0)
        with pytest.raises(Timeout):
            running_lock(places).acquire()
    assert ended_within(places, 0)
