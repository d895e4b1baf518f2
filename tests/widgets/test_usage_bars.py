"""Where the bars of a usage chart stand, their figure and the small picture of them."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from reelbook.account.usage import DAY_SECONDS, UsageSpan
from reelbook.widgets.usage_bars import NOTHING, STILL_SIZE, BarFigure, bars, bars_png, nice_amounts

NOW = 20_000 * DAY_SECONDS + 50_000


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


def test_calendar_days_have_today_as_the_last() -> None:
    """It is under way: its span is shorter than a day and its bar as wide as the others."""
    midnight = 20_000 * DAY_SECONDS
    today = UsageSpan(midnight, NOW, 0.5, None, None, True)
    before = UsageSpan(midnight - 6 * DAY_SECONDS, midnight, 6.0, None, None, False)
    shown = bars((before, today), 7, "calendar")
    assert (shown.usd[6], shown.open_spans, shown.names[6]) == (0.5, ((0.0, 6.0, 1.0),), "4 Oct")
    assert shown.period == "28 Sep – 4 Oct"


@pytest.mark.parametrize(
    ("highest", "amounts"),
    [(0.0, [0, 0.5, 1]), (0.05, [0, 0.01, 0.02, 0.03, 0.04, 0.05]), (1.1, [0, 0.25, 0.5, 0.75, 1, 1.25])],
)
def test_amounts_at_the_side_are_round(highest: float, amounts: list[float]) -> None:
    """From nothing to just above the highest bar."""
    assert nice_amounts(highest) == amounts


def test_no_spans_are_no_bars() -> None:
    """Each day has its slot all the same."""
    shown = bars((), 7, None)
    assert (shown.usd, shown.names, shown.highest_usd) == ((0.0,) * 7, ("",) * 7, 0.0)


def test_the_figure_follows_what_is_drawn_and_tells_of_a_press() -> None:
    """What Python selects isn't told back; what a person presses is."""
    pressed: list[int | None] = []
    drawn = BarFigure(pressed.append)
    assert NOTHING in drawn.figure._dom_classes
    drawn.show(True)
    assert NOTHING not in drawn.figure._dom_classes
    drawn.draw(bars((span(2, 1, 0.5), span(1, 0, 0.25)), 7, None), 6)
    (columns, _) = drawn.figure.marks
    assert list(columns.y) == [0, 0, 0, 0, 0, 0.5, 0.25]
    assert list(columns.selected) == [6]
    assert drawn.figure.axes[0].tick_values[-1] == 6  # today's
    pressed.clear()
    columns.selected = [5]
    columns.selected = None
    assert pressed == [5, None]


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
