"""How a job, a batch or a clip displays itself: a registry that the widgets fill, loaded on first display."""

import importlib
from collections.abc import Callable
from typing import Any

from ..errors import NotAVideo
from ..executions import kernel_shell

# By name: the widgets are on a floor above, and a script that shows nothing never loads them.
_FILLED_BY = "reelbook.widgets"

_makers: dict[type, Callable[[Any], Any]] = {}


def register(kind: type, make: Callable[[Any], Any]) -> None:
    """Has things of type `kind` shown as the widget that `make` builds of them."""
    _makers[kind] = make


class Shown:
    """Shows itself at the end of a cell; a clip whose file is gone says so, without a traceback."""

    def show(self) -> None:
        """Shows its panel below the cell, or its one line of text outside a notebook."""
        if not in_notebook():
            print(repr(self))  # noqa: T201 - in a terminal this is what showing means
            return
        from IPython.display import display

        display(panel(self))  # type: ignore[no-untyped-call]  # IPython 9 leaves it untyped

    def _ipython_display_(self) -> None:
        try:
            self.show()
        except NotAVideo as gone:
            print(gone)  # noqa: T201 - said instead of a player

    def _display_(self) -> Any:  # in marimo
        try:
            return panel(self)
        except NotAVideo as gone:
            return str(gone)


def panel(thing: Any) -> Any:
    importlib.import_module(_FILLED_BY)
    return _makers[type(thing)](thing)


def in_notebook() -> bool:
    """Whether this runs in a Jupyter kernel, and not in a script or a terminal."""
    return kernel_shell() is not None
