"""A word for the person at the terminal while the service's answer takes long."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .output import say_over

if TYPE_CHECKING:
    from ..account import Facts
    from ..session import Session

QUIET_SECONDS, AGAIN_SECONDS = 1.0, 1.0


@contextmanager
def patience(session: Session) -> Iterator[None]:
    """Says what is waited for once it takes a second, on a terminal only. The line is gone in the end."""
    if not sys.stderr.isatty():
        yield
        return
    done = threading.Event()
    speaker = threading.Thread(target=_speak, args=(session, done), daemon=True)
    speaker.start()
    try:
        yield
    finally:
        done.set()
        speaker.join()


def _speak(session: Session, done: threading.Event) -> None:
    if done.wait(QUIET_SECONDS):
        return
    while True:
        say_over(waiting_words(session.facts))
        if done.wait(AGAIN_SECONDS):
            break
    say_over("")


def waiting_words(facts: Facts) -> str:
    """What is waited for: the rate limit, where the key's budget says until when, else the answer."""
    if facts.requests_back_in_seconds is None:
        return "Waiting for the service's answer"
    back = max(1, round(facts.requests_back_in_seconds))
    return f"Waiting for the rate limit of {facts.requests_limit} requests a minute: more in {back} s"
