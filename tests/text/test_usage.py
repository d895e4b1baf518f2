"""What is said of usage over time."""

import time

import pytest

from reelbook.account import Facts
from reelbook.account.usage import Reading, Totals, UsageSpan
from reelbook.ledger import PaidClip
from reelbook.text.usage import (
    date_words,
    ledger_words,
    pace_words,
    progress_words,
    reading_words,
    share_words,
    span_words,
    total_words,
)
from reelbook.wire import DAY_SECONDS

MIDNIGHT = 20_000 * DAY_SECONDS  # 4 October 2024
TOTAL = Totals(MIDNIGHT, 30, 7.85, 157.0, 31.0, 50.0)


def span(first: float, last: float, *, split: bool = True) -> UsageSpan:
    """A span of 1.50 USD so many days from `MIDNIGHT` on."""
    return UsageSpan(MIDNIGHT + first * DAY_SECONDS, MIDNIGHT + last * DAY_SECONDS, 1.5, 30.0, 6.0, split)


def test_the_total_has_its_seconds_and_requests() -> None:
    """Before the first answer it says what is asked."""
    assert total_words(TOTAL, 30) == ("$7.85 in 30 days", "157 s · 31 requests")
    assert total_words(None, 7) == ("", "Asking what was used in the last 7 days.")


@pytest.mark.parametrize(
    ("balance", "words"),
    [
        (24.75, "Balance $24.75, about 3 months at this pace"),
        (0.1, "Balance $0.10, less than a day at this pace"),
        (2.0, "Balance $2.00, about 8 days at this pace"),
        (900.0, "Balance $900.00, more than two years at this pace"),
        (0.0, "Balance $0.00"),
        (None, ""),
    ],
)
def test_the_balance_lasts_so_long(balance: float | None, words: str) -> None:
    """At the pace of the period; nothing is claimed without a balance or without spending."""
    assert pace_words(Facts(balance, 10, 10, None), TOTAL, 30) == words


def test_a_span_is_named_by_its_days() -> None:
    """One day, several of a month, and over a month's end; calendar days are those of UTC."""
    assert span_words(span(0, 1), "calendar") == ("4 Oct", "$1.50", "30 s · 6 requests", "")
    assert span_words(span(0, 4, split=False), "calendar")[::3] == ("4–7 Oct", "not split yet")
    assert date_words(span(26, 29, split=False), "calendar") == "30 Oct – 1 Nov"


@pytest.mark.parametrize("reading", ["rolling", None])
def test_a_day_counted_back_from_now_is_named_by_both_its_dates(
    reading: Reading | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was paid this morning never stands under yesterday's date alone; a span from midnight has one."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        names = [
            date_words(span(first, last), reading)
            for first, last in ((0, 1), (0.9, 1.9), (26.9, 27.9), (0, 3), (15 / 24, 39 / 24))
        ]
    finally:
        monkeypatch.undo()
        time.tzset()
    assert names == ["4–5 Oct", "5–6 Oct", "31 Oct – 1 Nov", "4–7 Oct", "5 Oct"]


def test_the_progress_says_how_it_was_found() -> None:
    """While it asks, when it is done, with spans left, and stopped; and how the service counts days, if that
    is known.
    """
    spans = [span(0, 1), span(1, 5, split=False)]
    said = [
        progress_words(spans=(), asked=0, done=False, trouble=""),  # the head says that it asks
        progress_words(spans=spans, asked=4, done=False, trouble=""),
        progress_words(spans=spans[:1], asked=9, done=True, trouble=""),
        progress_words(spans=spans, asked=8, done=True, trouble=""),
        progress_words(spans=spans, asked=1, done=True, trouble="The service is gone."),
    ]
    assert said == [
        "",
        "Splitting by day: 4 requests so far, 1 dashed span to go.",
        "From the service's totals, split by day with 9 requests.",
        "From the service's totals with 8 requests. Dashed spans are totals that aren't split by day.",
        "Stopped after 1 request: The service is gone.",
    ]
    assert len({reading_words(reading, MIDNIGHT) for reading in ("rolling", "calendar", None)}) == 3
    assert reading_words("calendar", MIDNIGHT) == "Days begin at midnight UTC."


def test_the_ledger_stands_beside_the_service() -> None:
    """Less, the same, and more, each with its reason; the shares by experiment, the most first."""
    own = [
        PaidClip(MIDNIGHT, 7.0, "light", True),
        PaidClip(MIDNIGHT, 0.6, None, False),
        PaidClip(MIDNIGHT, 0.25, "old", True),
    ]
    assert ledger_words(own, TOTAL) == "Reelbook's own ledger has $7.85, the same."
    assert "$0.25 was used elsewhere" in ledger_words(own[:2], TOTAL)
    assert "$7.00 more than the service reports" in ledger_words([*own, own[0]], TOTAL)
    own.append(PaidClip(MIDNIGHT, 8.0, "long", False))
    assert share_words([]) == []
    assert share_words(own) == [
        ("This session", "$7.25"),
        ("of it light", "$7.00"),
        ("of it old", "$0.25"),
        ("long, in all sessions", "$8.00"),
    ]
