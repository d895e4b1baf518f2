"""Where the money goes: a live chart of usage by day, drawn while the totals are still being split."""

from __future__ import annotations

import io
import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import ipywidgets
import traitlets
from PIL import Image, ImageDraw

from reelbook.account.usage import Reading, UsageSpan, began_at
from reelbook.account.usage_history import UsageHistory
from reelbook.session import Job, Session
from reelbook.wire import DAY_SECONDS

from ..formatting import dollars
from ..text import usage as words
from .base import Callbacks, Panel, only_known, session_of
from .bundle import added_style, packed
from .host import Host
from .static_html import RETURNS, picture_html, text_html

PERIODS: Final = (7, 30, 90)
CLIPS: Final = 6
AGAIN_SECONDS: Final = 60.0
ACCENT: Final = "#1565c0"
HEIGHT: Final = 200
TICKS: Final = 6
NOTHING: Final = "reelbook-nothing"
STILL_SIZE: Final = (640, 120)


class UsageWords(Panel):
    """The words above (`part` "head") or below ("foot") the bars; `UsageChart` fills `words`."""

    _esm = packed("usage_chart")

    part = traitlets.Unicode("head", help="“head” or “foot”.").tag(sync=True)
    words = traitlets.Dict(help="What the page draws.").tag(sync=True)
    days = traitlets.Int(30, help="The period in days.").tag(sync=True)
    periods: traitlets.List[Any] = traitlets.List(list(PERIODS), help="Those to choose from.").tag(sync=True)
    selected = traitlets.Unicode(help="The chosen day.").tag(sync=True)

    def __init__(self, chart: UsageChart, part: str) -> None:
        self._chart = chart
        super().__init__(part=part)

    def update(self) -> None:
        self._chart.refresh()

    def _on_again(self) -> None:
        self._chart._open()


class UsageChart(Host):
    """What was used day by day, beside the balance and what this ledger knows of it.

    `UsageChart(session)`; without a session `reelbook.connect()`. The service reports totals only, so they
    are split by day little by little, after everything else that the key does; a dashed span isn't split yet.

    Observe, link or set `days` (7, 30 or 90) and `selected_day`: the name of the chosen day as the chart
    writes it, such as "3–4 Oct", "" for none. `on_day(callback)` calls `callback(span, jobs)` for a day that
    was chosen, with the clips of it that the ledger knows. `history` is the UsageHistory behind it.

        chart = rb.UsageChart(days=7)
        clips = ipywidgets.HTML()
        chart.on_day(lambda span, jobs: setattr(clips, "value", f"{len(jobs)} clips, {span.usd:.2f} USD"))
        ipywidgets.VBox([chart, clips])
    """

    _css = added_style("host") + added_style("usage_figure")

    days = traitlets.Enum(PERIODS, 30, help="The period: 7, 30 or 90 days.")
    selected_day = traitlets.Unicode("", help="The chosen day, as the chart writes it.")

    on_day = Callbacks[[UsageSpan, tuple[Job, ...]]]("`callback(span, jobs)` is called when a day is chosen.")

    def __init__(self, session: Session | None = None, **traits: Any) -> None:
        only_known(self, traits)
        self.session = session_of(self, session)
        self._bars: Bars = bars((), 30, None)
        self._pictured: Bars | None = None  # what `picture` shows
        self._jobs: tuple[Job, ...] = ()
        self._whole = False  # whether the bars show everything known
        self.history: UsageHistory | None = None
        self.head, self.foot = UsageWords(self, "head"), UsageWords(self, "foot")
        self._figure = BarFigure(self._take_slot)
        drawn = [self.head, self._figure.figure, self.foot]
        super().__init__(kind="reelbook-usage", panes={"": drawn}, **traits)
        traitlets.link((self, "days"), (self.head, "days"))
        traitlets.link((self, "selected_day"), (self.foot, "selected"))
        self._endings += (self.session.subscribe(self._live.changed), self._end_history)
        self._open()

    def still(self) -> tuple[str, str]:
        words = self.head.words
        text = " · ".join(filter(None, [words.get("total"), words.get("about"), words.get("pace")]))
        text = text or f"Usage over time. {RETURNS}"
        page, shown = text_html(text), self._bars
        if shown.highest_usd:
            picture = picture_html(bars_png(shown), "", alt=f"Spend per day, {shown.period}", kind="png")
            page += f"<div>{picture}</div>{text_html(shown.period)}"
        return page, text

    def still_of(self) -> object:
        """Changes once the days are split, and not with every later clip: each change redraws the view."""
        return self._bars.days, self._whole

    @property
    def _at_rest(self) -> bool:
        return self._left and self._whole

    @traitlets.observe("days")
    def _open(self, _: object = None) -> None:
        if not self._endings:
            return
        self._end_history()
        self._began, self._spent_then = time.monotonic(), self._spent()
        self.history = self.session.usage_history(self.days)
        self.history.subscribe(self._live.changed)
        self.selected_day = ""
        self.refresh()

    @traitlets.observe("selected_day")
    def _choose(self, _: object = None) -> None:
        if not self._endings:
            return
        span = self._chosen()
        with self.showing_errors("Finding the clips of a day"):
            self._jobs = ()
            if span is not None:
                found = self.session.jobs(since=span.from_at, until=span.to_at, limit=200)
                self._jobs = tuple(job for job in found if job.view().cost_usd)
                self.on_day.tell(span, self._jobs)
        self.refresh()

    def _end_history(self) -> None:
        if self.history is not None:
            self.history.close()

    def _slot(self) -> int | None:
        names = self._bars.names
        return names.index(self.selected_day) if self.selected_day in names and self.selected_day else None

    def _chosen(self) -> UsageSpan | None:
        return None if (slot := self._slot()) is None else self._bars.slots.get(slot)

    def _take_slot(self, slot: int | None) -> None:
        if slot is None:
            self.selected_day = ""
        elif slot in self._bars.slots and self._bars.names[slot] != self.selected_day:
            self.selected_day = self._bars.names[slot]

    def _spent(self) -> float | None:
        return None if self.session.closed else self.session.spending().of_key.spent_usd

    @property
    def _stale(self) -> bool:
        """Whether a clip was paid for since the totals were asked for."""
        return self._spent() not in (None, self._spent_then)

    def _ask_again(self) -> None:
        """Asks for the totals again if a clip was paid for since, at most once a minute."""
        assert self.history is not None
        if not self._stale or not self.history.done:
            return
        wait = self._began + AGAIN_SECONDS - time.monotonic()
        if wait > 0:
            self._live.changed_in(wait)
            return
        self._began, self._spent_then = time.monotonic(), self._spent()
        self.history.refresh()

    def update(self) -> None:
        if self.history is None:
            return
        self._ask_again()
        history = self.history
        done, spans, total = history.done, history.spans, history.total
        own = history.own() if spans else ()
        self._bars, self._whole = bars(spans, history.days, history.reading), done
        busy = not done or self._stale
        money, about = words.total_words(total, history.days)
        shown = bool(total and total.usd)
        failed = history.trouble if done and total is None else ""
        self.head.live = self.foot.live = busy
        self.head.words = {
            "total": money,
            "about": "" if failed else about,
            "pace": words.pace_words(self.session.facts, total, history.days),
            "again": history.done and bool(history.trouble),
            "empty": words.NOTHING_SPENT if total is not None and not total.usd else failed,
            "sandbox": self.session.service == "sandbox",
        }
        said = words.progress_words(spans=spans, asked=history.asked, done=done, trouble=history.trouble)
        self.foot.words = {
            "progress": said if shown or not done else "",
            "ledger": words.ledger_words(own, total),
            "shares": [list(share) for share in words.share_words(own)],
            "reading": words.reading_words(history.reading, spans[-1].to_at) if shown and spans else "",
            "day": self._day(),
            "rows": self._rows(),
        }
        if self.reaches_page:
            self._figure.show(shown)
            self._figure.draw(self._bars, self._slot())
            if self.undrawn and self._bars != self._pictured:
                self.picture = bars_png(self._bars) if shown else b""
                self._pictured = self._bars
        self.keep_still()

    def _day(self) -> dict[str, Any]:
        if (span := self._chosen()) is None:
            return {}
        assert self.history is not None
        when, money, about, _ = words.span_words(span, self.history.reading)
        clips = [[job.prompt or "", dollars(job.view().cost_usd or 0.0)] for job in self._jobs]
        left = len(clips) - CLIPS
        more = f"and {left} more" if left > 0 else "" if clips else "No clip of this day is in the ledger."
        title = f"{when}: {' · '.join(filter(None, [money, about]))}"
        return {"title": title, "clips": clips[:CLIPS], "more": more}

    def _rows(self) -> list[list[str]]:
        assert self.history is not None
        names = {span.from_at: self._bars.names[slot] for slot, span in self._bars.slots.items()}
        return [
            [names.get(span.from_at, ""), *words.span_words(span, self.history.reading)]
            for span in reversed(self.history.spans)
            if span.usd
        ]


@dataclass(frozen=True)
class Bars:
    """Days as slots 0 (the oldest) to `days` - 1: USD in each, the spans that aren't split, and their names.

    A span that isn't split is (first slot, end, USD a day). `slots` has the span of each slot with a bar,
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
        return max([*self.usd, *(height for _, _, height in self.open_spans)], default=0.0)


def bars(spans: Sequence[UsageSpan], days: int, reading: Reading | None) -> Bars:
    """The spans as bars. Days begin as the reading says."""
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
        return words.date_words(UsageSpan(from_at, to_at, 0, None, None, True), reading)

    names = tuple(name(slot, slot + 1) for slot in range(days))
    return Bars(days, tuple(usd), tuple(open_spans), slots, names, name(0, days))


def nice_amounts(highest_usd: float) -> list[float]:
    """Round amounts in USD from 0 to just above the highest, three to six of them."""
    highest_usd = highest_usd or 1.0
    size = 10.0 ** math.floor(math.log10(highest_usd))
    step = next(size * part for part in (0.2, 0.25, 0.5, 1.0, 2.0, 2.5) if highest_usd <= 5 * size * part)
    return [round(step * count, 6) for count in range(math.ceil(highest_usd / step - 1e-9) + 1)]


class BarFigure:
    """The live figure: `figure` is a bqplot Figure, `draw` updates it."""

    def __init__(self, on_slot: Callable[[int | None], None]) -> None:
        with warnings.catch_warnings():
            # It declares its traits in a way that traitlets warns about, and brings pandas: only here.
            warnings.simplefilter("ignore", DeprecationWarning)
            import bqplot
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

        def tell(change: Any) -> None:
            chosen = change["new"]
            on_slot(int(chosen[-1]) if chosen is not None and len(chosen) else None)

        self._bars.observe(tell, "selected")
        self._open = bqplot.Lines(
            x=[[0, 0]], y=[[0, 0]], scales=scales, colors=[ACCENT], line_style="dashed", stroke_width=1.5
        )
        self._days = bqplot.Axis(scale=self._x, grid_lines="none", tick_style={"font-size": "12px"})
        self._money = bqplot.Axis(scale=self._y, tick_format="$,.2f", grid_lines="solid")
        self._money.orientation = "vertical"
        self.figure = bqplot.Figure(
            marks=[self._bars, self._open],
            axes=[self._days, self._money],
            fig_margin={"top": 12, "bottom": 28, "left": 60, "right": 30},
            padding_x=0,
            padding_y=0,
            min_aspect_ratio=0.1,
            max_aspect_ratio=100,
            layout=ipywidgets.Layout(width="100%", height=f"{HEIGHT}px", min_width="0"),
            display_toolbar=False,
        )
        self.show(False)

    def show(self, something: bool) -> None:
        """Hides the figure while it is empty; it stays on the page, as bqplot can't draw without a width."""
        (self.figure.remove_class if something else self.figure.add_class)(NOTHING)

    def draw(self, shown: Bars, selected: int | None) -> None:
        if shown != self._drawn:
            self._drawn = shown
            slots = list(range(shown.days))
            self._x.min, self._x.max = -0.5, shown.days - 0.5
            amounts = nice_amounts(shown.highest_usd)
            self._y.max = amounts[-1]
            self._money.tick_values = amounts
            ticks = slots[:: -max(1, math.ceil(shown.days / TICKS))][::-1]  # today has one
            self._days.tick_values = [float(slot) for slot in ticks]
            self._days.tick_labels = {str(slot): shown.names[slot] for slot in ticks}
            with self._bars.hold_sync():
                self._bars.x, self._bars.y = slots, shown.usd
            corners = [
                ([first - 0.5, first - 0.5, end - 0.5, end - 0.5], [0, height, height, 0])
                for first, end, height in shown.open_spans
            ] or [([0.0] * 4, [0.0] * 4)]
            with self._open.hold_sync():
                self._open.x, self._open.y = [x for x, _ in corners], [y for _, y in corners]
                self._open.colors = [ACCENT] * len(corners)
        wanted = None if selected is None else [selected]
        if wanted == self._wanted:
            return  # what the page reports meanwhile is a press that is on its way to us
        self._wanted = wanted
        chosen = self._bars.selected
        if wanted != (None if chosen is None or not len(chosen) else list(chosen)):
            self._bars.selected = wanted


def bars_png(shown: Bars) -> bytes:
    """The bars as a small transparent PNG, for a page without a kernel."""
    width, height = STILL_SIZE
    picture = Image.new("RGBA", STILL_SIZE, (0, 0, 0, 0))
    draw = ImageDraw.Draw(picture)
    step, most = width / shown.days, shown.highest_usd or 1.0
    base = height - 2
    for slot, usd in enumerate(shown.usd):
        if usd:
            top = base - max(1.0, (height - 8) * usd / most)
            left = slot * step
            draw.rectangle((left + step * 0.13, top, left + step * 0.87, base), fill=ACCENT)
    for first, end, usd in shown.open_spans:
        top = base - max(1.0, (height - 8) * usd / most)
        draw.rectangle((first * step, top, end * step - 1, base), outline=ACCENT)
    draw.line((0, base, width, base), fill="#888888")
    content = io.BytesIO()
    picture.quantize(16).save(content, "PNG", optimize=True)
    return content.getvalue()
