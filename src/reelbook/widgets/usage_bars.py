"""The bars of a usage chart: where each stands, pure; the bqplot figure of them, and a small still picture.

bqplot brings pandas, so it is imported only when a figure is made.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import ipywidgets

from reelbook.account.usage import DAY_SECONDS, Reading, UsageSpan, began_at

from ..text.usage import span_words

ACCENT: Final = "#1565c0"
HEIGHT: Final = 200
TICKS: Final = 6
NOTHING: Final = "reelbook-nothing"
STILL_SIZE: Final = (640, 120)


@dataclass(frozen=True)
class Bars:
    """Days as slots 0 (the oldest) to `days` - 1: USD in each, the spans that aren't split, and their names.

    A span that isn't split is (first slot, end, USD a day). `slots` gives the span of each slot with a bar,
    `period` the dates of all of them together.
    """

    days: int
    usd: tuple[float, ...]
    open_spans: tuple[tuple[float, float, float], ...]
    slots: dict[int, UsageSpan]
    names: tuple[str, ...]
    period: str

    @property
    def highest_usd(self) -> float:
        """The highest bar."""
        return max([*self.usd, *(height for _, _, height in self.open_spans)], default=0.0)


def bars(spans: Sequence[UsageSpan], days: int, reading: Reading | None) -> Bars:
    """Where the spans stand. Days' edges are those of the reading."""
    if not spans:
        return Bars(days, (0.0,) * days, (), {}, ("",) * days, "")
    start = began_at(spans[-1].to_at, days, reading)
    usd, slots, open_spans = [0.0] * days, {}, []
    for span in spans:
        first, end = ((at - start) / DAY_SECONDS for at in (span.from_at, span.to_at))
        if reading == "calendar":
            end = math.ceil(end)
        if not span.usd:
            continue
        if span.split:
            slot = min(days - 1, max(0, int((first + end) / 2)))
            usd[slot] += span.usd
            slots[slot] = span
        else:
            open_spans.append((round(max(0.0, first), 2), round(end, 2), span.usd / max(1.0, end - first)))

    def name(first: int, end: int) -> str:
        from_at, to_at = start + first * DAY_SECONDS, start + end * DAY_SECONDS
        return span_words(UsageSpan(from_at, to_at, 0, None, None, True), reading).when

    names = tuple(name(slot, slot + 1) for slot in range(days))
    return Bars(days, tuple(usd), tuple(open_spans), slots, names, name(0, days))


def nice_amounts(highest_usd: float) -> list[float]:
    """Round amounts in USD from 0 to just above the highest, three to six of them."""
    if highest_usd <= 0:
        return [0.0, 0.5, 1.0]
    size = 10.0 ** math.floor(math.log10(highest_usd))
    step = next(size * part for part in (0.2, 0.25, 0.5, 1.0, 2.0, 2.5) if highest_usd <= 5 * size * part)
    return [round(step * count, 6) for count in range(math.ceil(highest_usd / step - 1e-9) + 1)]


class BarFigure:
    """The live figure: `figure` is a bqplot Figure, `draw` brings it up to date."""

    def __init__(self, on_slot: Callable[[int | None], None]) -> None:
        with warnings.catch_warnings():
            # bqplot declares its traits in a way that traitlets warns about; it works all the same.
            warnings.simplefilter("ignore", DeprecationWarning)
            import bqplot
        import numpy as np

        self._np = np
        self._drawn: Bars | None = None
        self._wanted: list[int] | None = None
        self._x = bqplot.LinearScale(min=-0.5, max=29.5)
        self._y = bqplot.LinearScale(min=0, max=1)
        scales = {"x": self._x, "y": self._y}
        self._bars = bqplot.Bars(
            x=[0], y=[0], scales=scales, colors=[ACCENT], padding=0.25, interactions={"click": "select"}
        )
        self._bars.selected_style = {"opacity": "1"}
        self._bars.unselected_style = {"opacity": "0.45"}
        self._bars.observe(lambda change: self._picked(change["new"], on_slot), "selected")
        self._open = bqplot.Lines(
            x=[[0, 0]], y=[[0, 0]], scales=scales, colors=[ACCENT], line_style="dashed", stroke_width=1.5
        )
        self._days = bqplot.Axis(scale=self._x, grid_lines="none", tick_style={"font-size": "12px"})
        self._money = bqplot.Axis(scale=self._y, tick_format="$,.2f", grid_lines="solid")
        self._money.orientation = "vertical"
        optional = {"display_toolbar": False}
        self.figure = bqplot.Figure(
            marks=[self._bars, self._open],
            axes=[self._days, self._money],
            fig_margin={"top": 12, "bottom": 28, "left": 60, "right": 30},
            padding_x=0,
            padding_y=0,
            min_aspect_ratio=0.1,
            max_aspect_ratio=100,
            layout=ipywidgets.Layout(width="100%", height=f"{HEIGHT}px", min_width="0"),
            **{name: value for name, value in optional.items() if bqplot.Figure.class_traits().get(name)},
        )

        self.show(False)

    def show(self, something: bool) -> None:
        """Takes the figure out of sight while there is nothing to draw.

        It isn't taken off the page: bqplot can't draw where there is no width, and the browser complains.
        """
        (self.figure.remove_class if something else self.figure.add_class)(NOTHING)

    def draw(self, shown: Bars, selected: int | None) -> None:
        """Assigns what changed."""
        if shown != self._drawn:
            self._drawn = shown
            slots = self._np.arange(shown.days)
            self._x.min, self._x.max = -0.5, shown.days - 0.5
            amounts = nice_amounts(shown.highest_usd)
            self._y.max = amounts[-1]
            self._money.tick_values = self._np.array(amounts)
            ticks = slots[:: -max(1, math.ceil(shown.days / TICKS))][::-1]  # today has one
            self._days.tick_values = ticks.astype(float)
            self._days.tick_labels = {str(slot): shown.names[slot] for slot in ticks}
            with self._bars.hold_sync():
                self._bars.x, self._bars.y = slots, self._np.array(shown.usd)
            corners = [
                ([first - 0.5, first - 0.5, end - 0.5, end - 0.5], [0, height, height, 0])
                for first, end, height in shown.open_spans
            ] or [([0, 0, 0, 0], [0, 0, 0, 0])]
            with self._open.hold_sync():
                self._open.x = self._np.array([x for x, _ in corners], float)
                self._open.y = self._np.array([y for _, y in corners], float)
                self._open.colors = [ACCENT] * len(corners)
        wanted = None if selected is None else [selected]
        if wanted == self._wanted:
            return  # what the page says meanwhile is a press that is on its way to us
        self._wanted = wanted
        if self._selected() != wanted:
            self._bars.selected = None if wanted is None else self._np.array(wanted)

    def _selected(self) -> list[int] | None:
        chosen = self._bars.selected
        return None if chosen is None or not len(chosen) else [int(each) for each in chosen]

    def _picked(self, chosen: Any, on_slot: Callable[[int | None], None]) -> None:
        on_slot(int(chosen[-1]) if chosen is not None and len(chosen) else None)


def bars_png(shown: Bars) -> bytes:
    """The bars as a small PNG on no ground, for a page without a kernel."""
    from PIL import Image, ImageDraw

    width, height = STILL_SIZE
    picture = Image.new("RGBA", STILL_SIZE, (0, 0, 0, 0))
    draw = ImageDraw.Draw(picture)
    step, most = width / shown.days, shown.highest_usd or 1.0
    base = height - 2
    for slot, usd in enumerate(shown.usd):
        if usd:
            top = base - max(1.0, (height - 8) * usd / most)
            draw.rectangle(
                (slot * step + step * 0.13, top, (slot + 1) * step - step * 0.13, base), fill=ACCENT
            )
    for first, end, usd in shown.open_spans:
        top = base - max(1.0, (height - 8) * usd / most)
        draw.rectangle((first * step, top, end * step - 1, base), outline=ACCENT)
    draw.line((0, base, width, base), fill="#888888")
    content = io.BytesIO()
    picture.quantize(16).save(content, "PNG", optimize=True)
    return content.getvalue()
