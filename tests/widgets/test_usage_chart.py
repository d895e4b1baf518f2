"""The usage chart in the kernel: its bars, words, choice of a day, and its still form."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.doubles import TinyClips
from widgets.doubles import page_sends

import reelbook as rb
from reelbook.account.usage import DAY_SECONDS, UsageSpan
from reelbook.sandbox import server
from reelbook.sandbox.handle import Sandbox
from reelbook.session import Job
from reelbook.widgets.usage_bars import NOTHING, bars, bars_png
from reelbook.widgets.usage_chart import UsageChart

NOW = 20_000 * DAY_SECONDS + 50_000


@pytest.fixture
def sandbox(home: Path) -> Iterator[Sandbox]:
    """A sandbox whose clips are there at once."""
    with server.in_thread(home, pace=0, rate_limiting=False, executor=TinyClips()) as running:
        yield running


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


def test_the_words_are_the_services(chart: UsageChart) -> None:
    """Total, balance and pace above; below how it was found, and the ledger's share by experiment."""
    assert chart.head.words["total"] == "$3.10 in 30 days"
    assert chart.head.words["about"] == "42 s · 9 requests"
    assert "at this pace" in chart.head.words["pace"]
    assert chart.foot.words["progress"].startswith("From the service's totals, split by day with")
    assert "has $0.10 of it; $3.00 was used elsewhere" in chart.foot.words["ledger"]
    assert chart.foot.words["shares"] == [["This session", "$0.10"], ["of it light", "$0.10"]]
    assert [row[2] for row in chart.foot.words["rows"]] == ["$0.10", "$1.00", "$2.00"]
    assert not chart.head.live


def test_the_figure_is_of_core_widgets(chart: UsageChart) -> None:
    """A bar for each day, and no span left open."""
    figure = chart.children[1]
    drawn = figure.marks[0]
    assert (len(drawn.x), round(sum(drawn.y), 6)) == (30, 3.1)
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


def test_a_failing_callback_is_shown(chart: UsageChart) -> None:
    """Under the chart's head, and the chart goes on."""
    chart.on_day(lambda span, jobs: 1 / 0)
    chart.selected_day = chart.foot.words["rows"][0][0]
    assert "ZeroDivisionError" in chart.head.message["text"]


def test_another_period_asks_anew(chart: UsageChart) -> None:
    """The page sets `days`; the choice of a day ends."""
    chart.selected_day = chart.foot.words["rows"][0][0]
    chart.head.days = 7
    settled(chart)
    assert (chart.days, chart.selected_day, chart.head.words["total"]) == (7, "", "$1.10 in 7 days")


def test_the_still_form_has_the_total_and_a_small_picture(chart: UsageChart) -> None:
    """Within a few kilobytes, without anything from a network."""
    page, text = chart.still()
    assert text.startswith("$3.10 in 30 days · 42 s · 9 requests · Balance")
    assert "data:image/png;base64," in page
    assert len(page) < 6000
    assert bars_png(bars((), 30, None)).startswith(b"\x89PNG")


def test_an_empty_account_says_what_will_appear(session: rb.Session) -> None:
    """No figure, no sentence about days."""
    chart = UsageChart(session, days=7)
    settled(chart)
    assert chart.head.words["empty"].startswith("Nothing was spent")
    assert (chart.foot.words["progress"], chart.foot.words["rows"]) == ("", [])
    assert NOTHING in chart.children[1]._dom_classes  # it keeps its width: bqplot can't draw on none
    chart.close()


def test_a_refusal_is_said_and_asked_again(session: rb.Session, sandbox: Sandbox) -> None:
    """The service's own words, and a button that tries once more."""
    sandbox.fault("html", endpoint="usage", times=1)
    chart = UsageChart(session)
    settled(chart)
    assert chart.head.words["again"]
    assert "JSON" in chart.head.words["empty"]
    page_sends(chart.head, {"name": "again"})
    settled(chart)
    assert (chart.head.words["again"], chart.head.words["total"]) == (False, "$0.00 in 30 days")
    chart.close()


def test_code_and_state_stay_small(chart: UsageChart) -> None:
    """The chart's own part of a saved notebook; the style is saved once."""
    parts = [chart.head, chart.foot]
    assert sum(len(p._esm) + len(p._css) + len(json.dumps(p.words)) for p in parts) < 31_000


def test_bqplot_and_pandas_are_imported_only_for_a_chart() -> None:
    """They are heavy, and most notebooks show none."""
    code = "import sys, reelbook.widgets.usage_chart; print({'bqplot', 'pandas'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
