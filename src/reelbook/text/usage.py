"""Usage over time in words: total, pace, each span, the ledger's share, and how it was found."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from reelbook.account import Facts
from reelbook.account.usage import Reading, Totals, UsageSpan
from reelbook.ledger import PaidClip

from ..formatting import LITTLE_USD, count, dollars
from .status_line import balance_words

NOTHING_SPENT: Final = "Nothing was spent in this time. Clips that are paid for appear here day by day."


def total_words(total: Totals | None, days: int) -> tuple[str, str]:
    if total is None:
        return "", f"Asking what was used in the last {count(days, 'day')}."
    return f"{dollars(total.usd)} in {count(days, 'day')}", _amounts(total.seconds, total.requests)


def pace_words(facts: Facts, total: Totals | None, days: int) -> str:
    """What is left of the balance, and how long it lasts at the pace of the period."""
    if facts.balance_usd is None:
        return ""
    said = f"Balance {balance_words(facts)}"
    if total is None or total.usd < LITTLE_USD or facts.balance_usd <= 0:
        return said
    return f"{said}, {_long(facts.balance_usd / total.usd * days)} at this pace"


def span_words(span: UsageSpan, reading: Reading | None) -> tuple[str, str, str, str]:
    """A span in words: when it was, its money, the seconds and requests, and a note where it isn't split."""
    note = "" if span.split else "not split yet"
    return date_words(span, reading), dollars(span.usd), _amounts(span.seconds, span.requests), note


def progress_words(*, spans: Sequence[UsageSpan], asked: int, done: bool, trouble: str) -> str:
    """How usage was split into days, and how many spans are still to come."""
    requests = count(asked, "request")
    if trouble:
        return f"Stopped after {requests}: {trouble}"
    open_ = sum(not span.split for span in spans)
    if not done:
        return f"Splitting by day: {requests} so far, {count(open_, 'dashed span')} to go." if asked else ""
    if open_:
        return f"From the service's totals with {requests}. Dashed spans are totals that aren't split by day."
    return f"From the service's totals, split by day with {requests}."


def reading_words(reading: Reading | None, now: float) -> str:
    """When a day begins on the chart."""
    if reading == "calendar":
        return "Days begin at midnight UTC."
    clock = datetime.fromtimestamp(now).strftime("%H:%M")
    if reading == "rolling":
        return f"The service counts days back from now: a day here begins at {clock}."
    return f"Days are counted back from now, {clock}. Whether the service counts them so isn't known yet."


def share_words(own: Sequence[PaidClip]) -> list[tuple[str, str]]:
    """What this session and each experiment cost by the ledger: this session's part first."""
    if not own:
        return []
    shares: dict[str, float] = {}
    for each in own:
        if each.experiment:
            shares[each.experiment] = shares.get(each.experiment, 0.0) + each.usd
    older = {each.experiment for each in own if not each.here}
    listed = sorted(shares.items(), key=lambda share: (share[0] in older, -share[1]))
    here = sum(each.usd for each in own if each.here)
    # They don't add up: an experiment is part of the session, or spans several.
    named = ((f"{name}, in all sessions" if name in older else f"of it {name}", usd) for name, usd in listed)
    return [("This session", dollars(here)), *((name, dollars(usd)) for name, usd in named)]


def ledger_words(own: Sequence[PaidClip], total: Totals | None) -> str:
    """How the ledger's sum compares to the service's, and why they may differ."""
    if total is None:
        return ""
    mine = sum(each.usd for each in own)
    said = f"Reelbook's own ledger has {dollars(mine)}"
    if abs(mine - total.usd) < LITTLE_USD:
        return f"{said}, the same." if mine else ""
    if mine < total.usd:
        return (
            f"{said} of it; {dollars(total.usd - mine)} was used elsewhere "
            "(another key, computer or agent tool) or by clips on their way."
        )
    return (
        f"{said}, {dollars(mine - total.usd)} more than the service reports: "
        "it may post costs late, or count its days otherwise."
    )


def date_words(span: UsageSpan, reading: Reading | None) -> str:
    """The date of a day, or the dates of a span of days that weren't asked about one by one."""
    # Counted back from now, a day covers two dates: either alone would be wrong for some of its clips.
    first, last = _date(span.from_at, reading), _date(span.to_at - 1.0, reading)
    if first.date() == last.date():
        return f"{first.day} {first:%b}"
    if (first.year, first.month) == (last.year, last.month):
        return f"{first.day}–{last.day} {last:%b}"
    return f"{first.day} {first:%b} – {last.day} {last:%b}"


def _date(at: float, reading: Reading | None) -> datetime:
    moment = datetime.fromtimestamp(at, UTC)
    return moment if reading == "calendar" else moment.astimezone()


def _amounts(seconds: float | None, requests: float | None) -> str:
    parts = [] if seconds is None else [f"{seconds:,.0f} s"]
    return " · ".join(parts if requests is None else [*parts, count(round(requests), "request")])


def _long(days: float) -> str:
    if days < 1:
        return "less than a day"
    for size, word, most in ((1, "day", 14), (7, "week", 9), (30.4, "month", 24)):
        if days < most * size:
            return f"about {count(round(days / size), word)}"
    return "more than two years"
