"""A panel made of panels, and a placeholder."""

from widgets.doubles import says

from reelbook.widgets.host import Hint, Host


def test_the_page_is_told_the_panels_by_their_ids() -> None:
    """In the form that anywidget and marimo ask for; `children` are the widgets themselves."""
    first, second = Hint(text="a"), Hint(text="b")
    host = Host(panes={"": [first], "below": [second]})
    told = host.get_state(["panes"])["panes"]
    assert told == {"": [f"anywidget:{first.model_id}"], "below": [f"anywidget:{second.model_id}"]}
    assert host.children == (first, second)
    assert not host.undrawn
    says(host, "undrawn")  # from then on a picture of the child is of use
    assert host.undrawn


def test_it_speaks_through_its_first_panel() -> None:
    """It has no place of its own for a message."""
    hint = Hint(text="a")
    says(Host(panes={"": [hint]}), "nonsense")
    assert "which this panel doesn't know" in hint.message["text"]
    assert Host().message["text"] == ""


def test_a_press_is_told() -> None:
    """To whoever wanted to hear of it."""
    hint, told = Hint(text="The clip appears here.", button="Make one"), list[str]()
    hint.on_press(lambda: told.append("one"))
    says(hint, "press")
    assert (told, hint.text, hint.button) == (["one"], "The clip appears here.", "Make one")
