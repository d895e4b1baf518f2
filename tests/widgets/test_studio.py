"""The Studio and its line."""

from __future__ import annotations

from typing import Any

from widgets.doubles import FakeSession

from reelbook.session import Facts
from reelbook.widgets.studio import StatusLine, Studio


def test_a_sent_form_puts_its_job_on_the_card() -> None:
    """Form and card are joined."""
    session: Any = FakeSession()
    studio = Studio(session)
    studio.form.prompt = "a fox"
    job = studio.form.generate()
    assert studio.card.job is job
    assert studio.form.sent == ""
    studio.close()
    assert session.listeners == []


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
    }
    assert line.live
    line.close()


def test_the_saved_studio_shows_the_latest_clip() -> None:
    """Its still form is the card's."""
    session: Any = FakeSession()
    studio = Studio(session)
    studio.form.prompt = "a fox"
    studio.form.generate()
    assert "a fox" in studio._repr_mimebundle_()["text/html"]
    studio.close()
