"""What the billing endpoints tell: the windows of `days`, when costs appear, and a history planted for tests.

The interface leaves open how a period is counted and when a cost is posted, so both are settings (`Posting`).
"""

from __future__ import annotations

import math
import sqlite3
from dataclasses import dataclass
from typing import Any, Final, Literal

from .. import wire
from .store import Store

UsageDays = Literal["rolling", "calendar"]

DAY_SECONDS: Final = 86_400
MAX_PLANTED: Final = 5000


@dataclass(frozen=True)
class Posting:
    """How usage is counted and told.

    `usage_days` "rolling" counts windows of 24 hours up to now, "calendar" whole days of UTC with today as
    the last; seconds and costs appear `posts_after_seconds` after completion, dated by it.
    """

    usage_days: UsageDays = "rolling"
    posts_after_seconds: float = 0.0


@dataclass(frozen=True)
class Past:
    """Something that was used before: so many days ago, with its length in seconds, requests and cost."""

    days_ago: float
    seconds: float
    requests: int
    cost_micro: int


@dataclass(frozen=True)
class Totals:
    """What was used in a period."""

    requests: int
    seconds: float
    cost_micro: int


def opens_at(now: float, days: int, reading: UsageDays) -> float:
    """When the last `days` days began, in seconds since the epoch."""
    if reading == "rolling":
        return now - days * DAY_SECONDS
    return (math.floor(now / DAY_SECONDS) - days + 1) * DAY_SECONDS


def totals(store: Store, posting: Posting, now: float, days: int) -> Totals:
    """What was used in the last `days` days, as far as it is posted."""
    since = opens_at(now, days, posting.usage_days)
    # "calendar" counts what happened at midnight itself to the day that begins then.
    after = ">" if posting.usage_days == "rolling" else ">="
    accepted, done, planted = (
        store.read(
            sql, {"since": since, "posted": now - posting.posts_after_seconds, "done": wire.COMPLETED}
        )[0]
        for sql in (
            f"SELECT count(*) AS requests FROM jobs WHERE accepted_at {after} :since",  # noqa: S608  # no input
            "SELECT coalesce(sum(rendered_seconds), 0) AS seconds, coalesce(sum(cost_micro), 0) AS cost"  # noqa: S608
            f" FROM jobs WHERE state = :done AND finished_at {after} :since AND finished_at <= :posted",
            "SELECT coalesce(sum(seconds), 0) AS seconds, coalesce(sum(requests), 0) AS requests,"  # noqa: S608
            f" coalesce(sum(cost_micro), 0) AS cost FROM history WHERE at {after} :since AND at <= :posted",
        )
    )
    return Totals(
        requests=accepted["requests"] + planted["requests"],
        seconds=round(done["seconds"] + planted["seconds"], 3),
        cost_micro=done["cost"] + planted["cost"],
    )


def unposted_micro(store: Store, posting: Posting, now: float) -> int:
    """What was charged and isn't told yet, in millionths of a dollar."""
    if not posting.posts_after_seconds:
        return 0
    rows = store.read(
        "SELECT coalesce(sum(cost_micro), 0) AS cost FROM (SELECT cost_micro, finished_at AS at FROM jobs"
        " UNION ALL SELECT cost_micro, at FROM history) WHERE at > :since",
        {"since": now - posting.posts_after_seconds},
    )
    return int(rows[0]["cost"])


def plant(db: sqlite3.Connection, now: float, history: list[Past]) -> None:
    """Write down what was used before. It is spent, and isn't taken from the balance."""
    db.executemany(
        "INSERT INTO history (at, seconds, requests, cost_micro) VALUES (?, ?, ?, ?)",
        [
            (now - past.days_ago * DAY_SECONDS, past.seconds, past.requests, past.cost_micro)
            for past in history
        ],
    )
    total = sum(past.cost_micro for past in history)
    db.execute("UPDATE account SET spent_micro = spent_micro + ?", (total,))


def checked_history(history: object) -> list[Past]:
    """`history` if it is a list of objects of days_ago, seconds, requests and usd. Raises ValueError."""
    if not isinstance(history, list) or not 0 < len(history) <= MAX_PLANTED:
        raise ValueError(f"history must be a list of 1 to {MAX_PLANTED} objects")
    return [_past(each) for each in history]


def _past(given: Any) -> Past:
    names = ("days_ago", "seconds", "requests", "usd")
    if not isinstance(given, dict) or set(given) != set(names):
        raise ValueError(f"each of history must have exactly {', '.join(names)}")
    for name in names:
        value = given[name]
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1e6:
            raise ValueError(f"{name} must be a number from 0 to a million")
    if not isinstance(given["requests"], int):
        raise ValueError("requests must be an integer")
    return Past(
        float(given["days_ago"]), float(given["seconds"]), given["requests"], round(given["usd"] * 1_000_000)
    )
