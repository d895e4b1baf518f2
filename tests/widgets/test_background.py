"""Work beside a panel: one of a name at a time, its end shown, and silence once nobody looks."""

from __future__ import annotations

import concurrent.futures
import threading
from collections.abc import Callable

import pytest
from widgets.doubles import work_ends

from reelbook.errors import ServiceUnreachable
from reelbook.widgets.background import WorksInBackground


class Workshop(WorksInBackground):
    """A panel that does what it is told."""

    _esm = "export default {}"

    def update(self) -> None:
        self.live = self._busy


@pytest.fixture
def panel() -> Workshop:
    return Workshop()


def fails(error: BaseException) -> Callable[[], str]:
    """A step that raises."""

    def step() -> str:
        raise error

    return step


def test_work_of_one_name_goes_on_once_and_says_what_it_came_to(panel: Workshop) -> None:
    """A second press starts nothing, another name does; the page knows that something goes on."""
    gate = threading.Event()
    panel.say_problem("of before")
    assert panel._start_work("Painting", lambda: f"Painted: {gate.wait(60)}.")
    assert (panel._doing(), panel.live, panel.message["text"]) == ("Painting", True, "")
    assert not panel._start_work("Painting again", lambda: None)
    assert panel._start_work("Sawing", lambda: str(gate.wait(60))[:0], name="saw")
    gate.set()
    work_ends(panel)
    assert (panel._doing(), panel.live) == ("", False)
    assert panel.message == {"text": "Painted: True.", "tone": "info"}


def test_each_step_is_taken_and_all_that_failed_is_said(panel: Workshop) -> None:
    """The list is looked at even if the key couldn't be made; what isn't ours is named with what failed."""
    taken: list[str] = []
    panel._start_work(
        "Making it",
        fails(ServiceUnreachable("No connection.")),
        fails(OSError("no room for sk-planted-0123456789")),
        lambda: taken.append("looked") or "Looked.",  # type: ignore[func-returns-value] # that is meant
    )
    work_ends(panel)
    assert taken == ["looked"]
    text = "No connection. Making it failed. OSError: no room for (not shown: it looks like a key)"
    assert panel.message["text"].startswith(text)
    assert panel.message["text"].endswith("Looked.")
    assert panel.message["tone"] == "problem"


def test_a_success_hides_no_problem_that_was_shown_meanwhile(panel: Workshop) -> None:
    """Such as that of a person's own callback."""

    def step() -> str:
        panel.say_problem("The callback failed.")
        return "All is well."

    panel._start_work("Working", step)
    work_ends(panel)
    assert panel.message["text"] == "The callback failed."


def test_a_closed_session_ends_the_work_in_silence(panel: Workshop) -> None:
    """What it cancels is no news to a person."""
    panel._start_work("Asking", fails(concurrent.futures.CancelledError()))
    work_ends(panel)
    assert panel.message["text"] == ""


def test_a_closed_panel_is_left_alone(panel: Workshop) -> None:
    """The work ends, and nothing is said or refreshed."""
    gate = threading.Event()
    updates: list[None] = []
    panel._start_work("Working", lambda: f"Done: {gate.wait(60)}.")
    (worker,) = (each for each in threading.enumerate() if each.name == "reelbook-panel")
    panel.update = lambda: updates.append(None)  # type: ignore[method-assign] # it is watched
    panel.close()
    gate.set()
    worker.join(60)
    assert (panel.message["text"], updates) == ("", [])


def test_work_that_never_began_leaves_the_panel_free(
    panel: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interrupt at the moment of the press: the next press works."""
    with monkeypatch.context() as broken:
        broken.setattr(threading.Thread, "start", lambda _: fails(KeyboardInterrupt())())
        with pytest.raises(KeyboardInterrupt):
            panel._start_work("Working", lambda: "Done.")
    assert not panel._busy
    assert panel._start_work("Working", lambda: "Done.")
    work_ends(panel)
    assert panel.message["text"] == "Done."
