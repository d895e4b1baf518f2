"""Usage over time from totals, pure: what the answers so far say of each span, and which `days` to ask next.

An answer for `days` says what was used since some moment. Less `total_spent_usd`, what was spent in all, it
is what had been spent up to that moment, and that never changes: such points are kept for good, and two of
them give what was spent between. Seconds and requests have no such total; they are differences of answers
taken while no money moved, and unknown (None) where there are none.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, Literal

Reading = Literal["rolling", "calendar"]

DAY_SECONDS: Final = 86_400.0
# A cost may be posted late: a point taken sooner after its moment isn't kept for good.
SETTLED_SECONDS: Final = 6 * 3600.0
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

    Seconds and requests are None where the service's totals don't tell them apart. `split` is False for a
    span of several days with money in it that nobody asked about day by day.
    """

    from_at: float
    to_at: float
    usd: float
    seconds: float | None
    requests: float | None
    split: bool

    @property
    def days(self) -> float:
        """Its length in days."""
        return (self.to_at - self.from_at) / DAY_SECONDS


@dataclass(frozen=True)
class Known:
    """All that is known: answers, what was spent in all at some moments, and how `days` are counted.

    `reading` None is an unknown one: days are then taken as counted back from the moment of asking. `began`
    is when this round of questions began (epoch seconds).
    """

    days: int
    began: float
    answers: tuple[Totals, ...]
    moments: tuple[tuple[float, float], ...] = ()
    reading: Reading | None = None


@dataclass(frozen=True)
class _Point:
    """Up to this moment so much had been spent. `answer` is where it comes from, if from one."""

    at: float
    spent: float
    taken: float
    answer: Totals | None = None


def began_at(answered_at: float, days: int, reading: Reading | None) -> float:
    """The moment at which the last `days` days began (epoch seconds)."""
    if reading == "calendar":
        return (math.floor(answered_at / DAY_SECONDS) - days + 1) * DAY_SECONDS
    return answered_at - days * DAY_SECONDS


def spans(known: Known) -> tuple[UsageSpan, ...]:
    """The period in spans, oldest first, without gaps; empty before the first answer."""
    points = _points(known)
    if not points:
        return ()
    links = _linked(_usable(known), points, known.reading)
    found = []
    for first, second in itertools.pairwise(points):
        usd = max(0.0, round(second.spent - first.spent, 6))
        open_ = usd > CENT_PART and _several_days(first.at, second.at, known.reading)
        seconds, requests = (_between(first, second, links, figure) for figure in ("seconds", "requests"))
        found.append(UsageSpan(first.at, second.at, usd, seconds, requests, not open_))
    return tuple(found)


def next_days(known: Known, asked: Collection[int]) -> int | None:
    """The `days` to ask next; None when every day with money in it stands alone.

    The whole period first, then 30, 7 and 1 where they divide money, then the halves of what holds most.
    Nothing is asked twice in one round, and nothing where nothing was spent.
    """
    if known.days not in asked:
        return known.days
    answers = _usable(known)
    if not answers:
        return None
    now = max(answer.at for answer in answers)
    moments = {d: began_at(now, d, known.reading) for d in range(1, known.days) if d not in asked}
    if (again := _unsettled(known, moments, now)) is not None:
        return again
    margin = 1.0 if known.reading == "calendar" else MARGIN_DAYS * DAY_SECONDS
    fitting: list[tuple[float, list[int]]] = []
    for span in spans(known):
        inside = [d for d, at in moments.items() if span.from_at + margin < at < span.to_at - margin]
        if not span.split and inside:
            middle = (span.from_at + span.to_at) / 2
            inside.sort(key=lambda d: abs(moments[d] - middle))
            fitting.append((span.usd * span.days, inside))
    for coarse in COARSE:
        if any(coarse in inside for _, inside in fitting):
            return coarse
    return max(fitting)[1][0] if fitting else None


def total_usd(known: Known) -> Totals | None:
    """The service's own total of the period, as last answered."""
    fitting = [a for a in known.answers if a.days == known.days and a.at >= known.began]
    return max(fitting, key=lambda answer: answer.at, default=None)


def _usable(known: Known) -> list[Totals]:
    """Oldest first. Without a total spent, only this round's answers fit together."""
    answers = sorted(known.answers, key=lambda answer: answer.at)
    recent = [answer for answer in answers if answer.at >= known.began]
    if not recent:
        return []
    if recent[-1].spent_usd is None:
        return [answer for answer in recent if answer.spent_usd is None]
    return [answer for answer in answers if answer.spent_usd is not None]


def _point(answer: Totals, reading: Reading | None) -> _Point:
    spent = (answer.spent_usd or 0.0) - answer.usd
    return _Point(began_at(answer.at, answer.days, reading), spent, answer.at, answer)


def _points(known: Known) -> list[_Point]:
    """The points of the period, oldest first, the last of them the present; spent never falls along them."""
    answers = _usable(known)
    whole = next((a for a in reversed(answers) if a.days == known.days and a.at >= known.began), None)
    if whole is None:
        return []
    newest = answers[-1]
    now = _Point(newest.at, newest.spent_usd or 0.0, newest.at)
    edge = _point(whole, known.reading)
    kept = [edge]
    candidates = [_point(answer, known.reading) for answer in reversed(answers)]
    candidates += _quiet(known, newest)
    apart = 1.0 if known.reading == "calendar" else APART_DAYS * DAY_SECONDS
    for point in candidates:
        if edge.at < point.at < now.at and all(abs(point.at - other.at) >= apart for other in kept):
            kept.append(point)
    return _rising([*sorted(kept, key=lambda point: point.at), now], edge)


def _quiet(known: Known, newest: Totals) -> list[_Point]:
    """Days' beginnings around which nothing was spent, as the totals read before and after them say."""
    if newest.spent_usd is None:
        return []
    told = sorted({*known.moments, *((a.at, a.spent_usd) for a in known.answers if a.spent_usd is not None)})
    found = []
    for days in range(1, known.days):
        at = began_at(newest.at, days, known.reading)
        before = next((each for each in reversed(told) if each[0] <= at), None)
        after = next((each for each in told if each[0] >= at + SETTLED_SECONDS), None)
        if before is not None and after is not None and abs(after[1] - before[1]) <= CENT_PART:
            found.append(_Point(at, after[1], after[0]))
    return found


def _rising(points: list[_Point], edge: _Point) -> list[_Point]:
    """Where the totals contradict each other, the older answer is left out: no span is negative."""
    index = 0
    while index < len(points) - 1:
        first, second = points[index], points[index + 1]
        if first.spent <= second.spent + CENT_PART:
            index += 1
            continue
        last = index + 1 == len(points) - 1
        drop_first = first is not edge and (last or first.taken <= second.taken)
        if last and first is edge:
            return points
        del points[index if drop_first else index + 1]
        index = max(0, index - 1)
    return points


def _several_days(from_at: float, to_at: float, reading: Reading | None) -> bool:
    if reading == "calendar":
        return math.ceil(to_at / DAY_SECONDS) - math.floor(from_at / DAY_SECONDS) > 1
    return to_at - from_at > ONE_DAY * DAY_SECONDS


def _unsettled(known: Known, moments: dict[int, float], now: float) -> int | None:
    """A day whose beginning was asked about when its costs might not have been posted yet."""
    for days, at in moments.items():
        taken = [a.at for a in known.answers if abs(began_at(a.at, a.days, known.reading) - at) < 1.0]
        if taken and max(taken) - at < SETTLED_SECONDS <= now - at and max(taken) < known.began:
            return days
    return None


# The difference of two points is known where a chain of answers joins them: answers that were given while
# nothing was spent count up to the same present.
_Links = dict[str, dict[object, tuple[object, float]]]


def _linked(answers: Sequence[Totals], points: Sequence[_Point], reading: Reading | None) -> _Links:
    links: _Links = {}
    for figure in ("seconds", "requests"):
        found: dict[object, tuple[object, float]] = {}
        present, before = 0, None
        for answer in answers:
            if before is None or not _same_present(before, answer):
                present += 1
            before = answer
            value = getattr(answer, figure)
            if value is not None:
                _join(found, ("present", present), _name(began_at(answer.at, answer.days, reading)), value)
        if points:
            _join(found, ("present", present), _name(points[-1].at), 0.0)
        if figure == "seconds":
            for first, second in itertools.pairwise(points):
                if abs(second.spent - first.spent) <= CENT_PART:
                    _join(found, _name(second.at), _name(first.at), 0.0)
        links[figure] = found
    return links


def _same_present(first: Totals, second: Totals) -> bool:
    """Whether nothing was counted between two answers, as far as they tell."""
    if second.at - first.at > 3600:
        return False
    return first.spent_usd is None or abs((second.spent_usd or 0.0) - first.spent_usd) <= CENT_PART


def _name(at: float) -> object:
    return round(at, 3)


def _root(links: dict[object, tuple[object, float]], node: object) -> tuple[object, float]:
    """Where the chain of a node ends, and how much was used from the node on until there."""
    offset = 0.0
    while node in links:
        node, step = links[node]
        offset += step
    return node, offset


def _join(links: dict[object, tuple[object, float]], later: object, earlier: object, used: float) -> None:
    """Between the two so much was used."""
    top, from_later = _root(links, later)
    other, from_earlier = _root(links, earlier)
    if top != other:
        links[other] = (top, used + from_later - from_earlier)


def _between(first: _Point, second: _Point, links: _Links, figure: str) -> float | None:
    top, from_first = _root(links[figure], _name(first.at))
    other, from_second = _root(links[figure], _name(second.at))
    if top != other:
        return None
    used = round(from_first - from_second, 3)
    return used if used >= 0 else None
