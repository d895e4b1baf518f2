"""The words for a job's state as a person reads and writes them: what isn't sent yet is sending, too."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from .. import wire
from ..errors import InvalidInput
from ..secret import NOT_SHOWN, holds_key, quotable
from .entries import CANCELLED, INTENDED, LOST, NOT_ACCEPTED, REFUSED, SENDING, UNCERTAIN

STATES: Final = (
    *(SENDING, wire.PENDING, wire.PROCESSING, wire.COMPLETED, wire.FAILED),
    *(REFUSED, UNCERTAIN, LOST, NOT_ACCEPTED, CANCELLED),
)


def told_state(state: str) -> str:
    """The word for an entry's state."""
    return SENDING if state == INTENDED else state


def named_states(given: str | Collection[str]) -> tuple[str, ...]:
    """The entries' words for the states that a person named. Raises InvalidInput for what are no words."""
    words = [given] if isinstance(given, str) else given
    if not isinstance(words, Collection) or not all(isinstance(word, str) for word in words):
        raise InvalidInput(f"A state is a word, or several: {_listed()}.")
    if any(map(holds_key, words)):
        raise InvalidInput(f"No job has the state {NOT_SHOWN}. There are {_listed()}.")
    named = [word.strip().lower().replace("-", " ") for word in words]
    return (*named, INTENDED) if SENDING in named else tuple(named)


def refuse_strange(named: Collection[str], is_there: Callable[[str], bool]) -> None:
    """Raises InvalidInput for a state that nothing is known to come to and, by `is_there`, no job has."""
    for state in named:
        # A service may have states of its own.
        if state not in (*STATES, INTENDED) and not is_there(state):
            raise InvalidInput(f"No job has the state {quotable(state)}. There are {_listed()}.")


def _listed() -> str:
    return ", ".join(state.replace(" ", "-") for state in STATES)
