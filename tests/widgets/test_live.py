"""Bringing changes to the page."""

import threading
from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import pytest

from reelbook.widgets.live import Live, PageState, same_line


class Virtual:
    """A clock that moves when it is told to, and what is to be called when."""

    def __init__(self) -> None:
        self.now = 0.0
        self.due: list[tuple[float, Callable[[], None]]] = []

    def later(self, seconds: float, call: Callable[[], None]) -> None:
        self.due.append((self.now + seconds, call))

    def pass_(self, seconds: float) -> None:
        end = self.now + seconds
        while ready := [entry for entry in self.due if entry[0] <= end]:
            entry = min(ready, key=lambda entry: entry[0])
            self.due.remove(entry)
            self.now = max(self.now, entry[0])
            entry[1]()
        self.now = end


def live(clock: Virtual, send: Callable[[], None]) -> Live:
    return Live(send, clock=lambda: clock.now, later=clock.later)


def test_a_hundred_changes_a_second_are_sent_five_times() -> None:
    """Changes are gathered, and the last value is the one that arrives."""
    clock, value, sent = Virtual(), [0], list[int]()
    panel = live(clock, lambda: sent.append(value[0]))
    clock.pass_(10.0)
    panel.changed()
    clock.pass_(0.0)
    assert sent == [0]  # at once after a quiet time
    for number in range(1, 100):
        value[0] = number
        panel.changed()
        clock.pass_(0.01)
    clock.pass_(1.0)
    assert 6 <= len(sent) <= 7
    assert sent[-1] == 99


def test_a_change_that_time_brings_waits_once() -> None:
    """Announced again and again, it is still one wait."""
    clock, sent = Virtual(), list[float]()
    panel = live(clock, lambda: sent.append(clock.now))
    for _ in range(5):
        panel.changed_in(3.0)
    clock.pass_(10.0)
    assert sent == [3.0]


def test_a_closed_panel_is_left_alone() -> None:
    """What was planned before is not sent after."""
    clock, sent = Virtual(), list[int]()
    panel = live(clock, lambda: sent.append(1))
    panel.changed()
    panel.close()
    clock.pass_(1.0)
    panel.changed()
    clock.pass_(1.0)
    assert sent == []


def test_a_change_on_any_thread_is_sent_by_the_thread_of_the_panels() -> None:
    """A session's thread only says that something changed; reading and sending are done elsewhere."""
    sender: list[str] = []
    arrived = threading.Event()

    def send() -> None:
        sender.append(threading.current_thread().name)
        arrived.set()

    threading.Thread(target=Live(send).changed).start()
    assert arrived.wait(60)
    assert sender == ["reelbook-page"]


def test_a_panel_that_fails_does_not_end_the_others() -> None:
    """The thread of all panels outlives an error in one."""
    arrived = threading.Event()

    Live(Mock(side_effect=ValueError("broken"))).changed()
    Live(arrived.set).changed()
    assert arrived.wait(60)


def test_time_that_merely_passed_is_not_sent() -> None:
    """The page counts seconds itself; a line is sent when it would be off."""
    page = PageState()
    assert page.news(100.0, {}, {"time": [[14.0, -1], " left"]}) == {"time": [[14.0, -1], " left"]}
    assert page.news(105.0, {}, {"time": [[9.4, -1], " left"]}) == {}
    assert page.news(105.0, {}, {"time": [[30.0, -1], " left"]}) == {"time": [[30.0, -1], " left"]}


@pytest.mark.parametrize(
    ("second", "same"),
    [
        ([[10.0, -1], " left"], True),
        ([[10.0, 1], " left"], False),
        ([[10.0, -1], " more"], False),
        ([[10.0, -1]], False),
        (["10 s", " left"], False),
    ],
)
def test_lines_are_compared_as_they_read_by_then(second: Any, *, same: bool) -> None:
    """Text, pace and seconds have to agree."""
    assert same_line([[14.0, -1], " left"], second, 4.0) is same
