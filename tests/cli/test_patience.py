"""What a person at the terminal is told while an answer takes long."""

from __future__ import annotations

import io
import sys
import time
from types import SimpleNamespace
from typing import Any, cast

import pytest

from reelbook.account import Facts
from reelbook.cli import patience
from reelbook.session import Session

LEFT = Facts(None, 3, 10, None)
USED_UP = Facts(None, 0, 10, 12.4)


class Stream(io.StringIO):
    """Standard error, with a person there or not."""

    def __init__(self, person: bool) -> None:
        super().__init__()
        self.person = person

    def isatty(self) -> bool:
        return self.person


def heard(monkeypatch: pytest.MonkeyPatch, *, person: bool, quiet_seconds: float, said: str = "") -> str:
    """What is said while the work waits until it has heard `said`."""
    stream = Stream(person)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(patience, "QUIET_SECONDS", quiet_seconds)
    with patience.patience(cast("Session", cast(Any, SimpleNamespace(facts=USED_UP)))):
        end = time.monotonic() + 10
        while said not in stream.getvalue() and time.monotonic() < end:
            time.sleep(0.01)
    return stream.getvalue()


def test_the_rate_limit_is_said_with_its_end() -> None:
    """And a plain wait is no more than that."""
    assert patience.waiting_words(USED_UP) == (
        "Waiting for the rate limit of 10 requests a minute: more in 12 s"
    )
    assert patience.waiting_words(LEFT) == "Waiting for the service's answer"


def test_a_long_wait_is_said_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line is empty again in the end."""
    text = heard(monkeypatch, person=True, quiet_seconds=0.0, said="more in 12 s")
    assert "more in 12 s" in text
    assert text.endswith("\r\x1b[K")


def test_a_quick_answer_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing flickers."""
    assert heard(monkeypatch, person=True, quiet_seconds=60.0) == ""


def test_a_program_hears_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its log stays as it was."""
    assert heard(monkeypatch, person=False, quiet_seconds=0.0) == ""
