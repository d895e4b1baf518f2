"""Tables and bars on a terminal. Apart from `console`, because it loads rich, which few commands need."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.live import Live
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from ..formatting import terminal_line, terminal_text

UNSEEN_WIDTH: Final = 80  # in a file or a pipe: the same wherever it is written


class Screen(Console):
    """A console of rich that cleans all text: rich itself would let escape sequences through."""

    def __init__(self, *, stderr: bool = False) -> None:
        # In a notebook's cell (`!reelbook …`) moving bars would be written over each other, and stay.
        moving = False if "JPY_PARENT_PID" in os.environ else None
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False, force_interactive=moving)
        if not self.is_terminal:
            self.width = UNSEEN_WIDTH

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(terminal_text(segment.text), segment.style)


def in_place(draw: Callable[[], RenderableType] | None = None) -> Live:
    """What changes in place on standard error and is gone in the end, drawn now and then or by `update`."""
    screen = Screen(stderr=True)
    return Live(console=screen, transient=True, redirect_stdout=False, get_renderable=draw)


def one_line(text: str) -> Text:
    return Text(terminal_line(text), no_wrap=True, overflow="ellipsis")


@dataclass(frozen=True)
class Column:
    """A column of a table: its title, and the text and the style of a row's cell in it."""

    title: str
    text: Callable[[Any], str]
    style: Callable[[Any], str] = lambda row: ""
    right: bool = False
    wide: bool = False  # gets all the room that is left, and is cut to it
    folded: bool = False  # may take several lines


def table(columns: Sequence[Column], rows: Iterable[Any]) -> Table:
    """A table with a line for each of the `rows`, each cell clean and in one line of text."""
    made = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        expand=any(each.wide for each in columns),
        show_edge=False,
    )
    for each in columns:
        made.add_column(
            each.title,
            no_wrap=not each.folded,
            justify="right" if each.right else "left",
            ratio=1 if each.wide else None,
            overflow="fold" if each.folded else "ellipsis",
        )
    for row in rows:
        made.add_row(*(Text(terminal_line(each.text(row)), each.style(row)) for each in columns))
    return made
