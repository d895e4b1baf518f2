"""Where the money goes: a live chart of usage day by day, drawn while the days are still being told apart."""

from __future__ import annotations

import html
import threading
import time
from collections.abc import Callable
from typing import Any, Final

import traitlets

from reelbook.account.usage import UsageSpan
from reelbook.account.usage_history import UsageHistory
from reelbook.session import Job, Session

from ..formatting import dollars
from ..text.usage import (
    NOTHING_SPENT,
    ledger_words,
    pace_words,
    progress_words,
    reading_words,
    share_words,
    span_words,
    total_words,
)
from .base import Panel, only_known, session_of
from .bundle import added_style, packed, style
from .host import Host
from .static_html import picture_html
from .usage_bars import BarFigure, Bars, bars, bars_png

PERIODS: Final = (7, 30, 90)
CLIPS: Final = 6
PAID: Final = 200
AGAIN_SECONDS: Final = 60.0

DayCallback = Callable[[UsageSpan, tuple[Job, ...]], object]


class UsageWords(Panel):
    """What stands above (`part` "head") or below ("foot") the bars; `UsageChart` fills `words`."""

    _esm = packed("usage_chart")
    _css = style("usage_chart") + added_style("usage_figure")

    part = traitlets.Unicode("head", help="“head” or “foot”.").tag(sync=True)
    words = traitlets.Dict(help="What the page draws.").tag(sync=True)
    days = traitlets.Int(30, help="The period in days.").tag(sync=True)
    selected = traitlets.Unicode(help="The chosen day.").tag(sync=True)

    def __init__(self, chart: UsageChart, **traits: Any) -> None:
        self._chart = chart
        super().__init__(**traits)

    def update(self) -> None:
        self._chart._update()

    def _on_again(self, *_: object) -> None:
        self._chart._open()

    def _on_left(self, *_: object) -> None:
        self._chart._keep_later()


class UsageFoot(UsageWords):
    """Below the bars. The head's style is the page's; saved once is enough."""

    _css = ""


class UsageChart(Host):
    """What was used day by day, beside the balance and what this ledger knows of it.

    `UsageChart(session)`; without a session `reelbook.connect()`. The service tells totals only, so the days
    are told apart by and by, behind everything else that the key does; a dashed span isn't split yet.

    Observe, link or set `days` (7, 30 or 90) and `selected_day`: the name of the chosen day as the chart
    writes it, such as "3–4 Oct", "" for none. `on_day(callback)` calls `callback(span, jobs)` for a day that
    was chosen, with the clips of it that the ledger knows. `history` is the UsageHistory behind it.

        chart = rb.UsageChart(days=7)
        clips = ipywidgets.HTML()
        chart.on_day(lambda span, jobs: setattr(clips, "value", f"{len(jobs)} clips, {span.usd:.2f} USD"))
        ipywidgets.VBox([chart, clips])
    """

    days = traitlets.Enum(PERIODS, 30, help="The period: 7, 30 or 90 days.")
    selected_day = traitlets.Unicode("", help="The chosen day, as the chart writes it.")

    def __init__(self, session: Session | None = None, **traits: Any) -> None:
        only_known(self, traits)
        self.session = session_of(self, session)
        self._callbacks: list[DayCallback] = []
        self._lock = threading.RLock()
        self._bars: Bars = bars((), 30, None)
        self._pictured: Bars | None = None  # what `picture` shows
        self._jobs: tuple[Job, ...] = ()
        self._stale = self._whole = False  # whole: the bars are drawn of all that is told
        self._paid = {job.request_id for job in self.session.jobs(state="completed", limit=PAID)}
        self._began = time.monotonic()
        self._unsubscribe: Callable[[], object] = lambda: None
        self.history: UsageHistory | None = None
        self._left = False
        self.head, self.foot = UsageWords(self, part="head"), UsageFoot(self, part="foot")
        self._figure = BarFigure(self._take_slot)
        super().__init__(
            kind="reelbook-usage", panes={"": [self.head, self._figure.figure, self.foot]}, **traits
        )
        traitlets.link((self, "days"), (self.head, "days"))
        traitlets.link((self, "selected_day"), (self.foot, "selected"))
        self._endings += (
            self.session.subscribe(self._something_changed),
            self._end_history,
            self.head.close,
            self.foot.close,
            self._figure.figure.close,
        )
        self._open()

    def on_day(self, callback: DayCallback) -> None:
        """`callback(span, jobs)` is called when a day is chosen."""
        self._callbacks.append(callback)

    def still(self) -> tuple[str, str]:
        """The total, and the bars as a small picture."""
        words = self.head.words
        text = " · ".join(filter(None, [words.get("total"), words.get("about"), words.get("pace")]))
        text = text or "Usage over time. Run the cell again to see it."
        page, shown = f"<div>{html.escape(text)}</div>", self._bars
        if shown.highest_usd:
            picture = picture_html(bars_png(shown), "", alt=f"Spend per day, {shown.period}", kind="png")
            page += f"<div>{picture}</div><small>{html.escape(shown.period)}</small>"
        return page, text

    def still_of(self) -> object:
        """Drawn for the notebook once the days are told apart; a swap at every later clip would disturb."""
        return self.days, self._whole

    def update(self) -> None:
        self.head.refresh()

    @traitlets.observe("days")
    def _open(self, _: object = None) -> None:
        if not self._endings:
            return
        self._end_history()
        self._left = False
        self.selected_day = ""
        self._began = time.monotonic()
        self.history = self.session.usage_history(self.days)
        self._unsubscribe = self.history.subscribe(self._live.changed)
        self.head.refresh()

    @traitlets.observe("selected_day")
    def _choose(self, _: object = None) -> None:
        if not self._endings:
            return
        self._left = False
        span = self._chosen()
        with self.head.showing_errors("Finding the clips of a day"):
            self._jobs = () if span is None else self._clips(span)
            for callback in tuple(self._callbacks) if span is not None else ():
                callback(span, self._jobs)  # type: ignore[arg-type] # none is called without a span
        self.head.refresh()

    def _keep_later(self) -> None:
        """Nobody is at it any more: what is saved may be swapped for it as soon as it is whole."""
        self._left = True
        self.head.refresh()

    def _end_history(self) -> None:
        self._unsubscribe()
        if self.history is not None:
            self.history.close()

    def _clips(self, span: UsageSpan) -> tuple[Job, ...]:
        found = self.session.jobs(since=span.from_at, until=span.to_at, limit=200)
        return tuple(job for job in found if job.view().cost_usd)

    def _chosen(self) -> UsageSpan | None:
        return self._bars.slots.get(slot) if (slot := self._slot()) is not None else None

    def _slot(self) -> int | None:
        names = self._bars.names
        return names.index(self.selected_day) if self.selected_day in names and self.selected_day else None

    def _take_slot(self, slot: int | None) -> None:
        if slot is None:
            self.selected_day = ""
        elif slot in self._bars.slots and self._bars.names[slot] != self.selected_day:
            self.selected_day = self._bars.names[slot]

    def _something_changed(self, job: Job | None) -> None:
        # A finished job has more news than one, such as the balance after it.
        if job is not None and job.state == "completed" and job.request_id not in self._paid:
            self._paid.add(job.request_id)
            self._stale = True
        self._live.changed()

    def _ask_again(self) -> None:
        """A clip was paid for since: the totals are asked for again, at most once a minute."""
        assert self.history is not None
        if not self._stale or not self.history.done or self.session.closed:
            return
        wait = self._began + AGAIN_SECONDS - time.monotonic()
        if wait > 0:
            self._live.changed_in(wait)
            return
        self._stale, self._began = False, time.monotonic()
        self.history.refresh()

    def _update(self) -> None:
        with self._lock:
            if self.history is None:
                return
            self._ask_again()
            history = self.history
            done, spans, total = history.done, history.spans, history.total
            own = history.own() if spans else ()
            self._bars, self._whole = bars(spans, history.days, history.reading), done
            busy = not done or self._stale
            money, about = total_words(total, history.days)
            shown = bool(total and total.usd)
            failed = history.trouble if done and total is None else ""
            self.head.live = self.foot.live = busy
            self.head.words = {
                "total": money,
                "about": "" if failed else about,
                "pace": pace_words(self.session.facts, total, history.days),
                "again": history.done and bool(history.trouble),
                "empty": NOTHING_SPENT if total is not None and not total.usd else failed,
                "sandbox": self.session.service == "sandbox",
                "periods": list(PERIODS),
            }
            said = progress_words(spans=spans, asked=history.asked, done=done, trouble=history.trouble)
            self.foot.words = {
                "progress": said if shown or not done else "",
                "ledger": ledger_words(own, total),
                "shares": [list(share) for share in share_words(own)],
                "reading": reading_words(history.reading, spans[-1].to_at) if shown and spans else "",
                "day": self._day(),
                "rows": self._rows(),
            }
            if self.head.reaches_page:
                self._figure.show(shown)
                self._figure.draw(self._bars, self._slot())
                if self.undrawn and self._bars != self._pictured:
                    self.picture = bars_png(self._bars) if shown else b""
                    self._pictured = self._bars
                if self._left and done:
                    self.keep_still()

    def _day(self) -> dict[str, Any]:
        if (span := self._chosen()) is None:
            return {}
        assert self.history is not None
        when, money, about, _ = span_words(span, self.history.reading)
        clips = [
            [job.request.prompt if job.request else "", dollars(job.view().cost_usd or 0.0)]
            for job in self._jobs
        ]
        more = "" if clips else "No clip of this day is in the ledger."
        if len(clips) > CLIPS:
            more = f"and {len(clips) - CLIPS} more"
        title = f"{when}: {' · '.join(filter(None, [money, about]))}"
        return {"title": title, "clips": clips[:CLIPS], "more": more}

    def _rows(self) -> list[list[str]]:
        """The table: name (of a day that can be chosen), what is written, money, the rest, a note."""
        assert self.history is not None
        names = {span.from_at: self._bars.names[slot] for slot, span in self._bars.slots.items()}
        return [
            [names.get(span.from_at, ""), *span_words(span, self.history.reading)]
            for span in reversed(self.history.spans)
            if span.usd
        ]
