"""Tables and bars on a terminal. Apart from `console`, because it loads rich, which few commands need."""

from __future__ import annotations

import os
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from ..formatting import terminal_text


class Screen(Console):
    """A console of rich that cleans all text: rich itself would let escape sequences through."""

    def __init__(self, *, stderr: bool = False) -> None:
        # In a notebook's cell (`!reelbook …`) moving bars would be written over each other, and stay.
        moving = False if "JPY_PARENT_PID" in os.environ else None
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False, force_interactive=moving)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """As rich's, with all text cleaned; rich keeps its own control codes apart from text."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(terminal_text(segment.text), segment.style)
