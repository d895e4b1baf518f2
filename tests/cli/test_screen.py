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


def test_where_nobody_sees_it_a_page_is_always_as_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a file or a pipe, whichever terminal it was written from."""
    monkeypatch.setenv("COLUMNS", "300")
    assert Screen().width == 80


def test_in_a_notebooks_cell_nothing_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    """There a terminal's bars would be written over each other; colours stay."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TTY_INTERACTIVE", "1")
    assert Screen().is_interactive
    monkeypatch.setenv("JPY_PARENT_PID", "1")
    screen = Screen()
    assert (screen.is_interactive, screen.is_terminal) == (False, True)
