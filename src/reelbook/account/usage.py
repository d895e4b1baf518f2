"""Usage over time from totals, pure: what the answers say about each span, and which `days` to ask next.

An answer for `days` says what was used since some moment. Subtracted from `total_spent_usd`, what was spent
in all, it gives what had been spent up to that moment, which never changes: such points are kept for good,
and two of them give what was spent in between. Seconds and requests have no such total; they are differences
of answers given while no money moved, and unknown (None) where there are none.

The interface doesn't say how `days` are counted (GET billing/usage): "rolling" days are 24 hours counted back
from the moment of asking, "calendar" days begin at midnight UTC.
"""

import itertools
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from ..wire import DAY_SECONDS

Reading = Literal["rolling", "calendar"]

READINGS: Final[tuple[Reading, ...]] = ("rolling", "calendar")
# A cost may be posted late: a point taken sooner after its moment isn't kept for good.
SETTLED_SECONDS: Final = 6 * 3600.0
SAME_PRESENT_SECONDS: Final = 3600.0
CENT_PART: Final = 0.0005
COARSE: Final = (30, 7, 1)
APART_DAYS: Final = 0.45
ONE_DAY: Final = 1.5
MARGIN_DAYS: Final = 0.25


@dataclass(frozen=True)
class Totals:
    """One answer: at this moment (epoch seconds), what was used in the last `days` days."""

    at: float
    days: int
    usd: float
    seconds: float | None = None
    requests: float | None = None
    spent_usd: float | None = None


@dataclass(frozen=True)
class UsageSpan:
    """What was used from one moment to another (epoch seconds): USD, seconds of video, requests.

    Seconds and requests are None if the service's totals don't tell. `split` is False for a span of several
    days with money in it that wasn't asked about day by day.
    """

    from_at: float
    to_at: float
    usd: float
    seconds: float | None
    requests: float | None
    split: bool

    @property
    def days(self) -> float:
        return (self.to_at - self.from_at) / DAY_SECONDS


@dataclass(frozen=True)
class KnownUsage:
    """All that is known: answers, and how `days` are counted (`reading`, None if unknown).

    `began` is when this round of questions began (epoch seconds).
    """

    days: int
    began: float
    answers: tuple[Totals, ...]
    reading: Reading | None = None


class _Point(NamedTuple):
    """How much had been spent up to this moment, in USD."""

    at: float
    spent: float


def began_at(answered_at: float, days: int, reading: Reading | None) -> float:
    """The moment at which the last `days` days began (epoch seconds)."""
    if reading == "calendar":
        return (math.floor(answered_at / DAY_SECONDS) - days + 1) * DAY_SECONDS
    return answered_at - days * DAY_SECONDS


def total_of_period(known: KnownUsage) -> Totals | None:
    """The service's own total of the period, as last answered."""
    fitting = [a for a in known.answers if a.days == known.days and a.at >= known.began]
    return max(fitting, key=lambda answer: answer.at, default=None)


def spans(known: KnownUsage) -> tuple[UsageSpan, ...]:
    """The period in spans, oldest first, without gaps; empty before the first answer."""
    points = _points(known)
    seconds, requests = (_between(known, points, figure) for figure in ("seconds", "requests"))
    found = []
    for place, (first, second) in enumerate(itertools.pairwise(points)):
        usd = max(0.0, round(second.spent - first.spent, 6))
        open_ = usd > CENT_PART and _several_days(first.at, second.at, known.reading)
        found.append(UsageSpan(first.at, second.at, usd, seconds[place], requests[place], not open_))
    return tuple(found)


def next_days(known: KnownUsage, asked: Collection[int]) -> int | None:
    """The `days` to ask next; None when every day with money in it is known by itself.

    First the whole period, then 30, 7 and 1 if they divide money, then the halves of what holds most. Nothing
    is asked twice in one round.
    """
    if known.days not in asked:
        return known.days
    answers = _usable(known)
    if not answers:
        return None
    now = answers[-1].at
    moments = {d: began_at(now, d, known.reading) for d in range(1, known.days) if d not in asked}
    if (again := _unsettled(known, moments, now)) is not None:
        return again
    margin = 1.0 if known.reading == "calendar" else MARGIN_DAYS * DAY_SECONDS
    halves = []
    for span in spans(known):
        middle = (span.from_at + span.to_at) / 2
        inside = [d for d, at in moments.items() if span.from_at + margin < at < span.to_at - margin]
        if not span.split and inside:
            coarse = next((d for d in COARSE if d in inside), 0)
            half = min(inside, key=lambda d: abs(moments[d] - middle))
            halves.append((coarse, span.usd * span.days, coarse or half))
    return max(halves)[-1] if halves else None


def infer_reading(answers: Sequence[Totals]) -> Reading | None:
    """How the service counts days: the only reading that fits, else None."""
    fitting = [reading for reading in READINGS if _fits(reading, answers)]
    return fitting[0] if len(fitting) == 1 else None


def _usable(known: KnownUsage) -> list[Totals]:
    """The usable answers, oldest first. Without a total spent, only those of this round fit together."""
    answers = sorted(known.answers, key=lambda answer: answer.at)
    recent = [answer for answer in answers if answer.at >= known.began]
    if not recent:
        return []
    if recent[-1].spent_usd is None:
        return [answer for answer in recent if answer.spent_usd is None]
    return [answer for answer in answers if answer.spent_usd is not None]


def _point(answer: Totals, reading: Reading | None) -> _Point:
    return _Point(began_at(answer.at, answer.days, reading), (answer.spent_usd or 0.0) - answer.usd)


def _points(known: KnownUsage) -> list[_Point]:
    """The points of the period, oldest first; the last is the present. Newer answers overrule older ones."""
    answers, whole = _usable(known), total_of_period(known)
    if whole is None or not answers:
        return []
    now = _Point(answers[-1].at, answers[-1].spent_usd or 0.0)
    edge = _point(whole, known.reading)
    apart = 1.0 if known.reading == "calendar" else APART_DAYS * DAY_SECONDS
    kept: list[_Point] = []
    for point in (_point(answer, known.reading) for answer in reversed(answers)):
        if not (edge.at < point.at < now.at and _rises(point, now)):
            continue
        others = (edge, *kept)
        if all(abs(point.at - each.at) >= apart and _rises(*sorted((point, each))) for each in others):
            kept.append(point)
    return [edge, *sorted(kept), now]


def _rises(first: _Point, second: _Point) -> bool:
    return first.spent <= second.spent + CENT_PART


def _several_days(from_at: float, to_at: float, reading: Reading | None) -> bool:
    if reading == "calendar":
        return math.ceil(to_at / DAY_SECONDS) - math.floor(from_at / DAY_SECONDS) > 1
    return to_at - from_at > ONE_DAY * DAY_SECONDS


def _unsettled(known: KnownUsage, moments: dict[int, float], now: float) -> int | None:
    """A day whose beginning was asked about before its costs had certainly been posted."""
    for days, at in moments.items():
        taken = [a.at for a in known.answers if abs(began_at(a.at, a.days, known.reading) - at) < 1.0]
        if taken and max(taken) - at < SETTLED_SECONDS <= now - at and max(taken) < known.began:
            return days
    return None


def _between(known: KnownUsage, points: Sequence[_Point], figure: str) -> list[float | None]:
    """How much was used from each point to the next; None if no answers tell.

    Answers given while nothing was spent count up to the same present, so they can be compared; and with
    later ones, through a moment that they share.
    """
    rounds: list[dict[float, float]] = []  # for each present: how much was used since which moments
    before: Totals | None = None
    for answer in _usable(known):
        if before is None or not _same_present(before, answer):
            rounds.append({})
        before, used = answer, getattr(answer, figure)
        if used is not None:
            # An earlier round may lack what was posted late; this round lacks no more of it than its money.
            settled_by = answer.at - (0.0 if answer.at >= known.began else SETTLED_SECONDS)
            moments = {answer.at: 0.0, began_at(answer.at, answer.days, known.reading): used}
            rounds[-1] |= {round(at, 3): amount for at, amount in moments.items() if at <= settled_by}
    scales: list[dict[float, float]] = []
    for each in rounds:
        scale = next((scale for scale in scales if scale.keys() & each.keys()), None)
        if scale is None:
            scales.append(each)
        else:
            common = max(scale.keys() & each.keys())
            scale |= {at: used + scale[common] - each[common] for at, used in each.items()}
    found: list[float | None] = []
    for first, second in itertools.pairwise(round(point.at, 3) for point in points):
        told = (each[first] - each[second] for each in scales if first in each and second in each)
        between = next((amount for amount in told if amount > -0.0005), None)
        found.append(None if between is None else max(0.0, round(between, 3)))
    return found


def _same_present(first: Totals, second: Totals) -> bool:
    """Whether nothing was counted between two answers, as far as they tell."""
    if second.at - first.at > SAME_PRESENT_SECONDS:
        return False
    return first.spent_usd is None or abs((second.spent_usd or 0.0) - first.spent_usd) <= CENT_PART


def _fits(reading: Reading, answers: Sequence[Totals]) -> bool:
    """Whether what was spent in all never falls with time."""
    told = [_Point(answer.at, answer.spent_usd) for answer in answers if answer.spent_usd is not None]
    begun = [_point(answer, reading) for answer in answers if answer.spent_usd is not None]
    settled = [
        point for point, present in zip(begun, told, strict=True) if present.at - point.at >= SETTLED_SECONDS
    ]
    # A total includes all that was spent some time before it was told, and nothing from after it.
    least = [(point.at, False, point.spent) for point in (*settled, *told)]
    most = [(point.at, True, point.spent) for point in settled]
    most += [(present.at - SETTLED_SECONDS, True, present.spent) for present in told]
    spent_before = 0.0
    for _, is_most, spent in sorted([*least, *most]):
        if not is_most:
            spent_before = max(spent_before, spent)
        elif spent < spent_before - CENT_PART:
            return False
    return True
