"""The usage chart in the kernel: its bars, words, choice of a day, and its still form."""

import io
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from PIL import Image
from support.waiting import until
from widgets.doubles import kept_stills, says

import reelbook as rb
from reelbook.account.usage import UsageSpan
from reelbook.sandbox.handle import Sandbox
from reelbook.session import Job
from reelbook.text import usage as words
from reelbook.widgets import usage_chart as module
from reelbook.widgets.usage_chart import (
    NOTHING,
    STILL_SIZE,
    UsageChart,
    bars,
    bars_png,
    nice_amounts,
)
from reelbook.wire import DAY_SECONDS

NOW = 20_000 * DAY_SECONDS + 50_000


@pytest.fixture
def chart(session: rb.Session, sandbox: Sandbox) -> Iterator[UsageChart]:
    """A chart of two planted days and one clip, refined to the end."""
    sandbox.plant_history(
        [{"days_ago": ago, "seconds": 20, "requests": 4, "usd": usd} for ago, usd in ((2.5, 1.0), (9.5, 2.0))]
    )
    with session.experiment("light"):
        session.text_to_video("a fox", duration_seconds=2).result(30)
    chart = UsageChart(session)
    settled(chart)
    yield chart
    chart.close()


def settled(chart: UsageChart) -> None:
    """Waits until the chart knows all."""
    assert chart.history is not None
    chart.history.wait(30)
    chart.head.refresh()


def test_the_words_are_the_services_and_each_day_has_its_bar(chart: UsageChart) -> None:
    """Total, balance and pace above; below how it was found, and the ledger's share by experiment."""
    assert chart.head.words["total"] == "$3.10 in 30 days"
    assert chart.head.words["about"] == "42 s · 9 requests"
    assert "at this pace" in chart.head.words["pace"]
    assert chart.foot.words["progress"].startswith("From the service's totals, split by day with")
    assert "has $0.10 of it; $3.00 was used elsewhere" in chart.foot.words["ledger"]
    assert chart.foot.words["shares"] == [["This session", "$0.10"], ["of it light", "$0.10"]]
    assert [row[2] for row in chart.foot.words["rows"]] == ["$0.10", "$1.00", "$2.00"]
    assert not chart.head.live
    figure = chart.children[1]
    drawn = figure.marks[0]
    assert (len(drawn.x), round(sum(drawn.y), 6)) == (30, 3.1)
    assert figure.axes[0].tick_values[-1] == 29  # today's
    assert NOTHING not in figure._dom_classes


def test_a_chosen_day_brings_its_clips(chart: UsageChart) -> None:
    """By a press in the table, by a click on the bar, or from code; closed again it is nothing."""
    heard: list[tuple[float, list[str]]] = []

    def hear(span: UsageSpan, jobs: tuple[Job, ...]) -> None:
        heard.append((span.usd, [job.request.prompt for job in jobs if job.request]))

    chart.on_day(hear)
    today, before, _ = (row[0] for row in chart.foot.words["rows"])
    chart.foot.selected = today
    assert chart.foot.words["day"]["clips"] == [["a fox", "$0.10"]]
    chart.selected_day = before
    assert list(chart.children[1].marks[0].selected) == [27]
    assert chart.foot.words["day"]["more"] == "No clip of this day is in the ledger."
    chart.children[1].marks[0].selected = [29]
    assert chart.selected_day == today
    chart.children[1].marks[0].selected = None  # Ctrl and a press on the chosen bar
    assert chart.selected_day == ""
    assert chart.foot.words["day"] == {}
    assert heard == [(pytest.approx(0.1), ["a fox"]), (1.0, []), (pytest.approx(0.1), ["a fox"])]


def test_a_press_is_not_undone_by_what_is_drawn_meanwhile(chart: UsageChart) -> None:
    """The session's thread draws between the page's message and what it starts."""
    drawn = chart.children[1].marks[0]
    with drawn.hold_trait_notifications():  # as ipywidgets does while it takes a message
        drawn.selected = [29]
        chart.head.update()
    assert chart.selected_day == chart.foot.words["rows"][0][0]


def test_another_period_asks_anew(chart: UsageChart) -> None:
    """The page sets `days`; the choice of a day ends."""
    chart.selected_day = chart.foot.words["rows"][0][0]
    chart.head.days = 7
    settled(chart)
    assert (chart.days, chart.selected_day, chart.head.words["total"]) == (7, "", "$1.10 in 7 days")


def test_a_clip_that_was_paid_for_since_is_counted_in(
    chart: UsageChart, session: rb.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A while later, and once: nothing else asks the service again."""
    monkeypatch.setattr(module, "AGAIN_SECONDS", 0.0)
    assert not chart._stale
    session.text_to_video("an owl", duration_seconds=2).result(30)
    until(lambda: chart.head.words["total"] == "$3.20 in 30 days")
    until(lambda: not chart.head.live)


def test_the_still_form_has_the_total_and_a_small_picture(chart: UsageChart) -> None:
    """Within a few kilobytes, without anything from a network."""
    page, text = chart.still()
    assert text.startswith("$3.10 in 30 days · 42 s · 9 requests · Balance")
    assert "data:image/png;base64," in page
    assert len(page) < 6000
    assert bars_png(bars((), 30, None)).startswith(b"\x89PNG")


def test_the_notebook_keeps_the_chart_once_it_is_whole_and_nobody_uses_it(chart: UsageChart) -> None:
    """The head hears where the person is, for all of the chart; a period set by code counts as no use."""
    kept = kept_stills(chart)
    says(chart, "entered")
    chart.head.days = 7
    settled(chart)
    assert kept == []
    says(chart, "left")
    chart.selected_day = chart.foot.words["rows"][0][0]
    chart.days = 30
    settled(chart)
    assert [text.split(" · ")[0] for text in kept] == ["$1.10 in 7 days", "$3.10 in 30 days"]


def test_a_period_that_is_chosen_while_another_is_drawn_is_kept_once_it_is_whole(
    chart: UsageChart, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The notebook doesn't take the words of one period for those of the next."""
    chart.days = 7
    settled(chart)
    says(chart, "left")
    kept, before, told = kept_stills(chart), chart.history, words.share_words

    def choose(own: Any) -> Any:
        monkeypatch.undo()
        threading.Thread(target=lambda: chart.set_trait("days", 30)).start()
        until(lambda: chart.history is not before)
        return told(own)

    monkeypatch.setattr(words, "share_words", choose)
    chart.refresh()
    until(lambda: chart.head.days == 30)
    settled(chart)
    assert [text.split(" · ")[0] for text in kept] == ["$3.10 in 30 days"]


def test_a_refusal_is_said_and_asked_again(session: rb.Session, sandbox: Sandbox) -> None:
    """The service's own words, and a button that tries once more; without spending there is no figure."""
    sandbox.fault("html", endpoint="usage", times=1)
    chart = UsageChart(session)
    settled(chart)
    assert chart.head.words["again"]
    assert "JSON" in chart.head.words["empty"]
    says(chart.head, "again")
    settled(chart)
    assert (chart.head.words["again"], chart.head.words["total"]) == (False, "$0.00 in 30 days")
    assert chart.head.words["empty"].startswith("Nothing was spent")
    assert (chart.foot.words["progress"], chart.foot.words["rows"]) == ("", [])
    assert NOTHING in chart.children[1]._dom_classes  # it keeps its width: bqplot can't draw on none
    chart.close()


def span(first: float, last: float, usd: float, *, split: bool = True) -> UsageSpan:
    """A span from so many days ago until so many."""
    return UsageSpan(NOW - first * DAY_SECONDS, NOW - last * DAY_SECONDS, usd, None, None, split)


def test_days_stand_in_their_slots() -> None:
    """The oldest first; a span that isn't split is as wide as its days and as high as each on average."""
    spans = (span(7, 5, 3.0, split=False), span(5, 2, 0.0), span(2, 1, 0.5), span(1, 0, 0.25))
    shown = bars(spans, 7, None)
    assert shown.usd == (0, 0, 0, 0, 0, 0.5, 0.25)
    assert shown.open_spans == ((0.0, 2.0, 1.5),)
    assert {slot: each.usd for slot, each in shown.slots.items()} == {5: 0.5, 6: 0.25}
    assert shown.highest_usd == 1.5
    assert (bars((), 7, None).usd, bars((), 7, None).highest_usd) == ((0.0,) * 7, 0.0)
    assert nice_amounts(0.05) == [0, 0.01, 0.02, 0.03, 0.04, 0.05]
    assert nice_amounts(1.1) == [0, 0.25, 0.5, 0.75, 1, 1.25]
    midnight = 20_000 * DAY_SECONDS  # today is shorter than a day, and its bar as wide as the others
    today = UsageSpan(midnight, NOW, 0.5, None, None, True)
    before = UsageSpan(midnight - 6 * DAY_SECONDS, midnight, 6.0, None, None, False)
    shown = bars((before, today), 7, "calendar")
    assert (shown.usd[6], shown.open_spans, shown.names[6]) == (0.5, ((0.0, 6.0, 1.0),), "4 Oct")
    assert shown.period == "28 Sep – 4 Oct"


def test_the_still_picture_has_the_bars() -> None:
    """Each as high as its part of the highest, and only the ground line where nothing was used."""

    def heights(picture: bytes) -> list[int]:
        """How high the ink stands in the middle of each of the seven days."""
        image = Image.open(io.BytesIO(picture)).convert("RGBA").getchannel("A")
        assert image.size == STILL_SIZE
        width, height = STILL_SIZE
        columns = [int((slot + 0.5) * width / 7) for slot in range(7)]
        return [height - next(y for y in range(height) if image.getpixel((x, y))) for x in columns]

    low = heights(bars_png(bars((), 7, None)))[0]
    drawn = heights(bars_png(bars((span(7, 5, 3.0, split=False), span(1, 0, 0.75)), 7, None)))
    assert drawn[2:6] == [low] * 4
    assert drawn[0] == drawn[1] > 100
    assert drawn[6] == pytest.approx(drawn[0] / 2, abs=3)
