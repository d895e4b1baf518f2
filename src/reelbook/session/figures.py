"""The account's figures: what the samples say of them, by how much they moved, and how they are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from ..ledger import Sample
from .evidence import ROUNDING_USD, Figure

FIGURES: Final[tuple[Figure, ...]] = ("balance", "spent", "requests")
NAMES: Final[dict[Figure, str]] = {"balance": "balance", "spent": "total spent", "requests": "requests"}
SAME_SECONDS: Final = 0.05

_FIELDS: Final[dict[Figure, str]] = {
    "balance": "balance_usd",
    "spent": "total_spent_usd",
    "requests": "total_requests",
}


@dataclass(frozen=True)
class Change:
    """One of the account's figures before and now: USD, or `total_requests` for "requests"."""

    figure: Figure
    before: float
    before_at: datetime
    now: float
    now_at: datetime

    def __str__(self) -> str:
        before, now = _written(self.figure, self.before), _written(self.figure, self.now)
        return f"{NAMES[self.figure]} {before} at {clock(self.before_at)} → {now} at {clock(self.now_at)}"


def said(sample: Sample) -> str:
    """All that a sample holds, in words."""
    return ", ".join(
        f"{NAMES[figure]} {_written(figure, found)}"
        for figure in FIGURES
        if (found := value(figure, sample)) is not None
    )


def value(figure: Figure, sample: Sample) -> float | None:
    """What the sample says of the figure, None if nothing."""
    found: float | None = getattr(sample, _FIELDS[figure])
    return found


def newest_before(samples: Sequence[Sample], figure: Figure, at: float) -> Sample | None:
    """The last of the samples, which are in order, that was taken before that time and holds the figure."""
    return next(
        (each for each in reversed(samples) if each.at < at and value(figure, each) is not None), None
    )


def moved_by(figure: Figure, before: Sample, later: Sample) -> float | None:
    """By how much more was spent or counted; None where that can't be said."""
    first, second = value(figure, before), value(figure, later)
    if first is None or second is None:
        return None
    moved = first - second if figure == "balance" else second - first
    if figure == "balance" and moved < -ROUNDING_USD:
        return None  # it was topped up, nobody knows by how much
    if figure == "requests" and not _nothing_left(before, later):
        return None
    return moved


def _nothing_left(before: Sample, later: Sample) -> bool:
    """Whether no old clip left the period meanwhile: it would take its cost and its length along."""
    spent = moved_by("spent", before, later)
    if spent is None:
        spent = moved_by("balance", before, later)
    if spent is None or before.period_days != later.period_days:
        return False
    if None in (before.total_cost_usd, later.total_cost_usd, before.total_seconds, later.total_seconds):
        return False
    cost = (later.total_cost_usd or 0.0) - (before.total_cost_usd or 0.0)
    seconds = (later.total_seconds or 0.0) - (before.total_seconds or 0.0)
    return cost >= spent - ROUNDING_USD and seconds >= -SAME_SECONDS


def local(at: float) -> datetime:
    """Epoch seconds as a time where the person is."""
    return datetime.fromtimestamp(at).astimezone()


def clock(moment: datetime) -> str:
    """The time of day, with the date if that isn't today."""
    today = moment.date() == datetime.now(moment.tzinfo).date()
    return moment.strftime("%H:%M:%S" if today else "%d %b %Y, %H:%M:%S")


def dollars(amount_usd: float) -> str:
    """An amount with cents, and with more digits where it has them."""
    sign, text = "-" if amount_usd < 0 else "", f"{abs(amount_usd):,.4f}"
    return f"{sign}${text[:-2]}{text[-2:].rstrip('0')}"


def _written(figure: Figure, amount: float) -> str:
    return f"{amount:g}" if figure == "requests" else dollars(amount)
