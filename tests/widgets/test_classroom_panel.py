"""The classroom's panel: the class that is served from this home, read from its file."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from classroom.room.visitors import Visitor
from support.waiting import until
from widgets.doubles import Page

import reelbook as rb
from reelbook.classroom.room.serving import in_thread
from reelbook.classroom.room.store import RoomStore
from reelbook.sandbox.handle import Sandbox
from reelbook.widgets.classroom_panel import ClassroomPanel


@pytest.fixture
def panel(session: rb.Session) -> Iterator[ClassroomPanel]:
    made = ClassroomPanel(session)
    yield made
    made.close()


def test_without_a_class_it_says_so_and_asks_nothing(panel: ClassroomPanel, sandbox: Sandbox) -> None:
    """It goes on looking: a class may begin at any time."""
    page = Page(panel)
    page.says("hello")
    assert page.last("served")["room"] is None
    assert (panel.still()[1], panel.joined, panel.live) == ("Classroom: none is served.", 0, True)
    assert not sandbox.state()["requests"].get("list-keys")


def test_a_class_that_is_served_is_shown(panel: ClassroomPanel, home: Path) -> None:
    """Who joined, the queue, the money and the newest clips; then that nobody serves it, or that it ended."""
    page = Page(panel)
    with in_thread(panel.session, "FOX-234", cap_usd=3, places=2, name="Drawing") as room:
        with Visitor(room.url) as ada:
            ada.join("Ada")
            ada.ended(ada.ordered("a heron", 1))
        until(lambda: room.store.counts() == {"completed": 1})
        panel.update()
        told = page.last("served")["room"]
        assert told == {
            "name": "Drawing",
            "figures": "1 of 2 joined · 0 clips in the queue · $0.05 of $6.00 spent",
            "where": f"{room.url} · code FOX-234 · your page: {room.url}/room",
            "joined": "Ada",
            "clips": ["Ada: a heron"],
        }
        assert panel.joined == 1
        room.store.change(paused=1, places=None)
        panel.update()
        figures = "1 joined · 0 clips in the queue · $0.05 spent"
        assert page.last("served")["room"]["figures"] == f"Paused · {figures}"
        assert panel.still()[1] == f"Classroom “Drawing”: {figures}."
        assert "Ada" not in repr(panel.get_state()) + repr(panel.still())
    panel.update()
    assert "Nobody is serving it" in page.last("served")["room"]["where"]
    store = RoomStore(home / "rooms" / "FOX234" / "room.db")
    store.end()
    panel.update()
    assert "It has ended" in page.last("served")["room"]["where"]
    store.change(ended_at=1.0)
    store.close()
    panel.update()
    assert page.last("served")["room"] is None


def test_of_two_classes_the_one_served_last_is_shown(panel: ClassroomPanel) -> None:
    """Also where it is the older one, that goes on."""
    page = Page(panel)
    for code in ("FOX-234", "OWL-567", "FOX-234"):
        with in_thread(panel.session, code, name=f"Class {code}"):
            panel.update()
            assert page.last("served")["room"]["name"] == f"Class {code}"
