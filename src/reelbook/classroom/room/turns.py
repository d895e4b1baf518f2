"""Whose clip is sent next: round robin over the students, each one's clips in order.

Pure. The student who was served longest ago comes first, so whoever orders sixty clips waits between them,
and whoever orders one hardly waits at all.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ... import wire

IN_FLIGHT = 8  # clips at the service at a time, however few requests its key has
AT_THE_SANDBOX: Final = 24  # enough for a machine's cores; more would wait there, out of turn
IN_FLIGHT_EACH: Final = 2  # of one student
UNSENT: Final = 2  # handed over and not accepted yet: their order can't change any more
UNSENT_SECONDS: Final = 5  # or as many as a key with more requests can send in that time


def most_in_flight(requests_a_minute: int | None) -> int:
    """How many clips may be at a service at a time: as many as its key can ask about once a minute.

    With fewer, requests go unused while clips are made, or are spent on asking in vain.
    """
    return max(IN_FLIGHT, min(wire.MAX_REQUESTS_PER_MINUTE, requests_a_minute or 0))


def most_unsent(requests_a_minute: int | None) -> int:
    """How many clips may be handed over at a time that the service hasn't accepted yet.

    The session asks about clips with the requests that submissions don't need. If it sees only a few of many,
    it asks too soon and runs out of requests.
    """
    return max(UNSENT, int(most_in_flight(requests_a_minute) * UNSENT_SECONDS / wire.RATE_WINDOW_SECONDS))


@dataclass(frozen=True)
class Line:
    """One student's part of the queue.

    `served` numbers the turn in which the student was last served, 0: never. `waiting` are clips in the
    queue, `in_flight` those at the service. `student` breaks ties: who joined first.
    """

    student: int
    served: int
    waiting: int
    in_flight: int = 0


def next_student(lines: Iterable[Line]) -> int | None:
    """Whose clip is sent next; None if nobody waits, or all who wait have enough in flight."""
    able = [each for each in lines if each.waiting and each.in_flight < IN_FLIGHT_EACH]
    return min(able, key=lambda each: (each.served, each.student)).student if able else None


def clips_ahead(lines: Iterable[Line], student: int, place: int) -> int:
    """How many waiting clips are sent before this one: the student's `place`-th, counted from 0.

    Every other student gets a turn for each of the student's own, and one more if theirs comes first.
    """
    lines = list(lines)
    own = next(each for each in lines if each.student == student)
    ahead = place
    for other in lines:
        if other.student != student:
            first = (other.served, other.student) < (own.served, own.student)
            ahead += min(other.waiting, place + first)
    return ahead
