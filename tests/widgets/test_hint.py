"""One line on what will appear, and the button that makes it happen."""

from __future__ import annotations

import pytest
from widgets.doubles import page_sends

from reelbook.widgets.hint import Hint


def test_a_press_is_told_to_all_who_asked() -> None:
    """In the order in which they did."""
    hint, heard = Hint(text="The clip appears here.", button="Make one"), list[str]()
    hint.on_press(lambda: heard.append("one"))
    hint.on_press(lambda: heard.append("two"))
    page_sends(hint, {"name": "press"})
    assert heard == ["one", "two"]
    assert (hint.text, hint.button) == ("The clip appears here.", "Make one")


def test_a_misspelt_argument_is_refused() -> None:
    """It would be swallowed."""
    with pytest.raises(TypeError, match="doesn't take buton"):
        Hint(buton="Make one")
