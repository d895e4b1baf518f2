"""What a `Screen` draws."""

import pytest
from cli.doubles import HOSTILE, ORDERS
from rich.text import Text

from reelbook.cli.screen import Screen


def test_a_screen_lets_no_text_give_orders() -> None:
    """Styles are rich's own; what stands in text is text, in tables and in bars as well."""
    screen = Screen()
    with screen.capture() as page:
        screen.print(Text(HOSTILE, "bold"), HOSTILE, f"[red]{HOSTILE}[/red] :fox:")
    assert "[red]a[31mb" in page.get()
    assert not ORDERS.search(page.get())


def test_a_screen_is_as_the_place_that_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a file or a pipe a page is always as wide, whichever terminal it was written from. In a notebook's
    cell nothing moves, as bars would be written over each other; colours stay.
    """
    monkeypatch.setenv("COLUMNS", "300")
    assert Screen().width == 80
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TTY_INTERACTIVE", "1")
    assert Screen().is_interactive
    monkeypatch.setenv("JPY_PARENT_PID", "1")
    screen = Screen()
    assert (screen.is_interactive, screen.is_terminal) == (False, True)
