"""A placeholder: one line on what will appear, and a button that makes it happen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import traitlets

from .base import Panel
from .bundle import packed, style


class Hint(Panel):
    """One line of text and one button, whose press goes to `on_press(callback)`."""

    _esm = packed("hint")
    _css = style("hint")

    text = traitlets.Unicode(help="What will appear here.").tag(sync=True)
    button = traitlets.Unicode(help="The button's label.").tag(sync=True)

    def __init__(self, **traits: Any) -> None:
        self._callbacks: list[Callable[[], object]] = []
        super().__init__(**traits)

    def on_press(self, callback: Callable[[], object]) -> None:
        """`callback()` is called when the button is pressed."""
        self._callbacks.append(callback)

    def _on_press(self, *_: object) -> None:
        for callback in self._callbacks:
            callback()
