"""A panel made of panels."""

from __future__ import annotations

import ipywidgets
from widgets.doubles import page_sends

from reelbook.widgets.host import Hint, Host


def test_the_page_is_told_the_panels_by_their_ids() -> None:
    """In the form that anywidget and marimo ask for; `children` are the widgets themselves."""
    first, second = Hint(text="a"), Hint(text="b")
    host = Host(panes={"": [first], "below": [second]})
    told = host.get_state(["panes"])["panes"]
    assert told == {"": [f"anywidget:{first.model_id}"], "below": [f"anywidget:{second.model_id}"]}
    assert host.children == (first, second)


def test_it_speaks_through_its_first_panel() -> None:
    """It has no place of its own for a message."""
    hint = Hint(text="a")
    host = Host(panes={"": [hint]})
    page_sends(host, {"name": "nonsense"})
    assert "which this panel doesn't know" in hint.message["text"]
    assert Host().message["text"] == ""


def test_the_page_says_that_a_child_isnt_drawn() -> None:
    """From then on a picture is of use."""
    host = Host(panes={"": [ipywidgets.Box()]})
    assert not host.undrawn
    page_sends(host, {"name": "undrawn"})
    assert host.undrawn


def test_a_press_is_told_to_all_who_asked() -> None:
    """In the order in which they did."""
    hint, heard = Hint(text="The clip appears here.", button="Make one"), list[str]()
    hint.on_press(lambda: heard.append("one"))
    hint.on_press(lambda: heard.append("two"))
    page_sends(hint, {"name": "press"})
    assert heard == ["one", "two"]
    assert (hint.text, hint.button) == ("The clip appears here.", "Make one")
