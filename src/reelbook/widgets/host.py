"""A panel made of panels, in place of ipywidgets' boxes, which marimo doesn't draw; and a placeholder."""

from itertools import chain
from typing import Any

import ipywidgets
import traitlets

from .base import Callbacks, Panel
from .bundle import added_style, packed


class Host(Panel):
    """Draws panels one below the other, each in the front end's own way.

    `panes` are the widgets by the name of their pane. The pane "" is always shown, at the top, and "foot" at
    the bottom; of the others, the one that `pane` names. If a child can't be drawn, such as bqplot's in
    marimo, the page says so (`undrawn`) and shows `picture` in its place.
    """

    _esm = packed("host", styled=False)
    _css = added_style("host")

    kind = traitlets.Unicode(help="The class of its element.").tag(sync=True)
    panes = traitlets.Dict(help="Widgets by pane.").tag(
        sync=True,
        to_json=lambda panes, _: {  # as anywidget and marimo name them
            name: [f"anywidget:{each.model_id}" for each in widgets] for name, widgets in panes.items()
        },
    )
    pane = traitlets.Unicode(help="The pane that is shown beside that of no name.").tag(sync=True)
    picture = traitlets.Bytes(help="Stands for a child that isn't drawn.").tag(sync=True)

    undrawn = False

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self._endings += (self._close_children,)

    @property
    def children(self) -> tuple[ipywidgets.Widget, ...]:
        return tuple(chain.from_iterable(self.panes.values()))

    def _put(self, pane: str, *widgets: ipywidgets.Widget) -> None:
        """Fills a pane, and closes what was in it and isn't any more."""
        former = self.panes.get(pane, ())
        self.panes = {**self.panes, pane: [*widgets]}
        for each in former:
            if each not in widgets:
                each.close()

    def _close_children(self) -> None:
        children, self.panes = self.children, {}
        for each in children:
            each.close()

    def say(self, text: str, tone: Any = "info") -> None:
        """Shows `text` under the first panel: the host itself draws nothing."""
        for panel in self.children[:1]:
            panel.say(text, tone)

    def _on_undrawn(self) -> None:
        self.undrawn = True


class Hint(Panel):
    """A placeholder: a line about what will appear, and a button that makes it happen (`on_press`)."""

    _esm = packed("hint")

    text = traitlets.Unicode(help="What will appear here.").tag(sync=True)
    button = traitlets.Unicode(help="The button's label.").tag(sync=True)

    on_press = Callbacks[[]]("`callback()` is called when the button is pressed.")

    def _on_press(self) -> None:
        self.on_press.tell()
