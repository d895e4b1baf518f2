"""Panels move in a real JupyterLab whatever its kernel does; how they ask is tried in colab/."""

from playwright.sync_api import Page

from browser import liveness
from browser.lab import Notebook
from browser.pages import load
from reelbook.formatting import Line, counting, plain


@liveness.whatever_the_kernel_does
def test_a_card_moves_whatever_the_kernel_does(notebook: Notebook, under_way: str) -> None:
    """Updates come from a thread: state and progress reach the page, idle, awaiting and blocked."""
    liveness.a_card_lives_while(notebook, under_way)


def test_times_on_the_page_read_as_the_kernel_writes_them(tab: Page) -> None:
    """Seconds, minutes and hours, counting up or down, also where they have just passed a limit."""
    load(tab, "_live", "lineText")
    values = (0, 59.6, 125, 3599.5, 5700, 7250)
    lines: list[Line] = [[counting(value, rate)] for value in values for rate in (1, -1)]
    told = tab.evaluate("(lines) => lines.map((line) => loaded.lineText(line, 0))", lines)
    assert told == [plain(line) for line in lines]
