"""The line on top of the Studio."""

from __future__ import annotations

from typing import Any

from widgets.doubles import FakeSession, page_sends

from reelbook.account import Facts
from reelbook.widgets.status_line import StatusLine


def test_the_line_follows_the_facts() -> None:
    """Service, balance and requests left."""
    session: Any = FakeSession()
    line = StatusLine(session)
    session.facts = Facts(24.75, 7, 10, None)
    line.refresh()
    assert line.facts == {
        "service": "sandbox",
        "balance": "$24.75",
        "left": 7,
        "limit": 10,
        "text": "7 requests left",
        "running": 0,
        "limit_left": "",
        "low": [],
    }
    assert line.live
    line.close()


def test_who_listens_hears_that_a_person_turned_away() -> None:
    """And nothing else; a closed line hears nothing of the session."""
    session: Any = FakeSession()
    line, heard = StatusLine(session), list[str]()
    line.on_left(lambda: heard.append("left"))
    page_sends(line, {"name": "left"})
    assert heard == ["left"]
    line.close()
    assert session.listeners == []


def test_a_closed_session_is_asked_for_nothing() -> None:
    """What was spent can't be told any more."""
    session: Any = FakeSession()
    line = StatusLine(session)
    session.closed = True
    session.spending = None
    line.refresh()
    assert line.facts["limit_left"] == ""
    line.close()
