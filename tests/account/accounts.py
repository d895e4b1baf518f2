"""A made-up account whose figures follow one habit exactly, and the ledger's view of its jobs: no service."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reelbook.ledger import Entry, Marks, Sample
from reelbook.requests import FIELDS


@dataclass(frozen=True)
class Habit:
    """One way in which a service may count and charge; the interface says none of it.

    `balance_at` and `spent_at`, "acceptance" or "end": when money leaves the one figure and enters the other.
    `counts`: what `total_requests` counts, "accepted", "ended", "clips" or "all requests".
    """

    balance_at: str
    spent_at: str
    counts: str
    charges_failed: bool


NOON = 1_700_000_000.0
HABIT = Habit("acceptance", "acceptance", "accepted", charges_failed=False)
LATE = Habit("end", "end", "clips", charges_failed=False)
BOX = Habit("end", "end", "accepted", charges_failed=False)  # what the sandbox does
EVERY_HABIT = tuple(
    Habit(balance_at, spent_at, counts, charges_failed)
    for balance_at in ("acceptance", "end")
    for spent_at in ("acceptance", "end")
    for counts in ("accepted", "ended", "clips", "all requests")
    for charges_failed in (False, True)
)


def entry(number: int, state: str = "uncertain", *, sent: float = 0.0, **known: Any) -> Entry:
    """An entry sent `sent` seconds after noon; uncertain two seconds later."""
    asked = {"mode": "text-to-video", "prompt": f"fox {number}", "duration_seconds": 5}
    given = {
        "id": number,
        "account_id": 1,
        "state": state,
        "record": asked | {name: known[name] for name in FIELDS if name in known},
        "kernel": "k",
        "intended_at": NOON + sent,
        "sent_at": NOON + sent,
        "estimated_cost_usd": 0.25,
        "marks": Marks(),
        "ended_at": NOON + sent + 2.0 if state == "uncertain" else None,
        **asked,
        **known,
    }
    return Entry(**{name: given.get(name) for name in Entry.__dataclass_fields__})  # type: ignore[arg-type]  # as a row


@dataclass(frozen=True)
class Truth:
    """A job as the service knows it: accepted and ended so many seconds after noon, with its price in USD.

    `follows` is how long the figures take to follow each event.
    """

    accepted: float
    ended: float = math.inf
    clip: bool = True
    estimate: float = 0.25
    cost: float = 0.25
    follows: float = 0.0

    def money(self, at: str, habit: Habit, seconds: float) -> float:
        final = self.cost if self.clip or habit.charges_failed else 0.0
        ended = self.ended + self.follows <= seconds
        if at == "end":
            return final if ended else 0.0
        if self.accepted + self.follows > seconds:
            return 0.0
        return final if ended else self.estimate

    def count(self, habit: Habit, seconds: float) -> int:
        if habit.counts in ("accepted", "all requests"):
            return int(self.accepted + self.follows <= seconds)
        return int(self.ended + self.follows <= seconds and (self.clip or habit.counts == "ended"))


def figures(
    jobs: Sequence[Truth], habit: Habit, seconds: float, *, requests: int = 0, usage: bool = True
) -> Sample:
    """What the billing endpoints say so long after noon; `requests` are those beside the submissions."""
    spent = sum(job.money(habit.spent_at, habit, seconds) for job in jobs)
    counted = sum(job.count(habit, seconds) for job in jobs)
    told: dict[str, float] = {}
    if usage:
        told = {
            "total_requests": counted + (requests if habit.counts == "all requests" else 0),
            "total_seconds": 20 * spent,
            "total_cost_usd": spent,
            "period_days": 30,
        }
    return Sample(
        NOON + seconds,
        balance_usd=25.0 - sum(job.money(habit.balance_at, habit, seconds) for job in jobs),
        total_spent_usd=spent,
        **told,
    )
