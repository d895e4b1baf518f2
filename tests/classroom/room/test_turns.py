"""Round robin over students, as a function of what each has in the queue."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reelbook.classroom.room.turns import (
    IN_FLIGHT_EACH,
    Line,
    clips_ahead,
    most_in_flight,
    most_unsent,
    next_student,
)

BUSY = Line(1, 0, 9, in_flight=IN_FLIGHT_EACH)


def sent(lines: list[Line]) -> list[int]:
    """The students in the order in which their clips are sent, where each clip is done at once."""
    order: list[int] = []
    turn = max((each.served for each in lines), default=0)
    while (student := next_student(lines)) is not None:
        turn += 1
        order.append(student)
        lines = [
            replace(each, served=turn, waiting=each.waiting - 1) if each.student == student else each
            for each in lines
        ]
    return order


def test_each_gets_a_turn_before_anybodys_second() -> None:
    """Whoever orders most waits longest for the last."""
    assert sent([Line(1, 0, 4), Line(2, 0, 1), Line(3, 0, 2)]) == [1, 2, 3, 1, 3, 1, 1]


@pytest.mark.parametrize(
    ("queue", "student"),
    [
        ([Line(1, 7, 9), Line(2, 5, 9), Line(3, 6, 9)], 2),
        ([Line(1, 7, 9), Line(4, 0, 1)], 4),
        ([BUSY, Line(2, 5, 1)], 2),
        ([BUSY], None),
        ([], None),
    ],
)
def test_who_was_served_longest_ago_comes_first(queue: list[Line], student: int | None) -> None:
    """Also who comes late, and never one who has as many clips at the service as one may."""
    assert next_student(queue) == student


@pytest.mark.parametrize(
    ("limit", "in_flight", "unsent"),
    [(None, 8, 2), (1, 8, 2), (10, 10, 2), (60, 60, 5), (100, 100, 8), (1000, 100, 8)],
)
def test_a_key_with_many_requests_has_more_clips_at_a_time(
    limit: int | None, in_flight: int, unsent: int
) -> None:
    """As many as it can ask about, within bounds; and unsent ones for five seconds, so that the session sees
    what its requests are needed for.
    """
    assert (most_in_flight(limit), most_unsent(limit)) == (in_flight, unsent)


lines = st.lists(st.tuples(st.integers(0, 50), st.integers(1, 6)), min_size=1, max_size=6).map(
    lambda pairs: [Line(number, served, waiting) for number, (served, waiting) in enumerate(pairs, 1)]
)


@given(lines)
def test_the_place_that_is_told_is_the_place_that_it_gets(queue: list[Line]) -> None:
    """For every clip of every student: as many are sent before it as was said."""
    order = sent(queue)

    for each in queue:
        own = [place for place, student in enumerate(order) if student == each.student]
        assert [clips_ahead(queue, each.student, place) for place in range(each.waiting)] == own
