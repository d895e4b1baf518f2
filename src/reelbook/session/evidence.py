"""What an account's figures say about submissions that were never answered. Pure: no request, no clock.

Every way in which the service may count and charge, with every fate that each submission may have had, is
held against the figures. What is the same in all that fit is sure; everything else can't be told.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple

Answer = Literal["accepted", "not accepted", "can't tell"]
Figure = Literal["balance", "spent", "requests"]

# Figures may be rounded to cents, each of the two that are compared.
ROUNDING_USD: Final = 0.0101
# "The final cost_usd follows the actual duration" (interface, Limits): this far from the estimate at most.
COST_SPREAD: Final = 0.2
# So many combinations of fates are tried for each way to charge; more are nobody's account.
MAX_COMBINATIONS: Final = 20_000


class Span(NamedTuple):
    """From the lowest to the highest possible: of an amount, or of a time in epoch seconds."""

    low: float
    high: float

    def __add__(self, other: object) -> Span:
        assert isinstance(other, Span)
        return Span(self.low + other.low, self.high + other.high)


NOTHING: Final = Span(0.0, 0.0)


@dataclass(frozen=True)
class Habit:
    """One way in which a service may count and charge; the interface says none of it.

    `balance_at` and `spent_at`: when money leaves the one figure and enters the other. `counts`: what
    `total_requests` counts. `charges_failed`: whether a failed job is paid for.
    """

    balance_at: Literal["acceptance", "end"]
    spent_at: Literal["acceptance", "end"]
    counts: Literal["accepted", "ended", "clips", "all requests"]
    charges_failed: bool


EVERY_HABIT: Final = tuple(
    Habit(balance_at, spent_at, counts, charges_failed)
    for balance_at in ("acceptance", "end")
    for spent_at in ("acceptance", "end")
    for counts in ("accepted", "ended", "clips", "all requests")
    for charges_failed in (False, True)
)


@dataclass(frozen=True)
class Rules:
    """What is known of the service: the `habits` it may have, how soon its figures follow (seconds)."""

    habits: tuple[Habit, ...] = EVERY_HABIT
    follows_within_seconds: float = 30.0


# Whatever else is unknown: this is what the sandbox does.
SANDBOX: Final = Rules((Habit("end", "end", "accepted", False),), follows_within_seconds=5.0)


@dataclass(frozen=True)
class Course:
    """A job's way as far as it is known: when it was accepted and when it ended, each between two times.

    `sure` is False where it may never have been accepted. `cost_usd` is that of a finished clip.
    """

    accepted: Span
    ended: Span
    estimate_usd: float
    cost_usd: Span
    outcome: Literal["clip", "failed", "unknown"] = "unknown"
    sure: bool = True


@dataclass(frozen=True)
class Reading:
    """One figure at two moments. `moved` is by how much more was spent, or counted, at the second.

    Each was taken between two times, when it was asked for and when its answer came. `requests` is how many
    requests of our own certainly lie between them.
    """

    figure: Figure
    before: Span
    now: Span
    moved: float
    requests: int = 0


@dataclass(frozen=True)
class Suspect:
    """A submission without an answer: sent at `sent_at`; if accepted, then by `accepted_by`.

    If it was accepted, it has ended by `ended_by`: time enough for any clip.
    """

    sent_at: float
    accepted_by: float
    ended_by: float
    estimate_usd: float


@dataclass(frozen=True)
class Finding:
    """What is sure of one suspect. Of `alike` equal ones at least `least` and at most `most` were accepted.

    `fits` is False where no explanation fits the figures, which then contradict each other.
    """

    answer: Answer
    alike: int = 1
    least: int = 0
    most: int = 1
    fits: bool = True


CANT_TELL: Final = Finding("can't tell")


# By how much the same jobs move a reading under one side of a habit, once it was added up.
Memory = dict[tuple[Reading, str, bool], Span]


def learnt(
    courses: Sequence[Course],
    past: Sequence[Reading],
    rules: Rules,
    *,
    alone: bool,
    memory: Memory | None = None,
) -> Rules:
    """The rules with only those habits that explain what the account's figures did in the past.

    `courses` are all jobs that may have moved them. With `alone` nobody else moved them. `memory` serves all
    calls about the same courses.
    """
    sums = _Sums(courses, past, rules, memory)
    habits = tuple(
        habit
        for habit in rules.habits
        if all(
            _allows(reading, total, habit, alone=alone)
            for reading, total in zip(past, sums.under(habit), strict=True)
        )
    )
    return replace(rules, habits=habits)


def judge(
    suspects: Sequence[Suspect],
    others: Sequence[Course],
    readings: Sequence[Reading],
    rules: Rules,
    *,
    alone: bool,
    memory: Memory | None = None,
) -> list[Finding]:
    """What the readings, which begin before the suspects were sent, say of each of them.

    `others` are all jobs that may have moved the figures in any reading. With `alone` nobody else spent from
    the account: what moved was moved by these jobs. `memory` serves all calls about the same others.
    """
    if not readings or not suspects:
        return [CANT_TELL] * len(suspects)
    sums = _Sums(others, readings, rules, memory)
    ranges = [_Range() for _ in suspects]
    for habit in rules.habits:
        known = sums.under(habit)
        fates = [_fates(each, readings, habit, rules) for each in suspects]
        alike = Counter(fates)
        if math.prod(_choices(n, len(fate)) for fate, n in alike.items()) > MAX_COMBINATIONS:
            return [CANT_TELL] * len(suspects)
        for taken in _fitting(alike, known, readings, habit, alone=alone):
            for place, fate in enumerate(fates):
                ranges[place].note(taken[fate], alike[fate])
    return [each.finding() for each in ranges]


@dataclass
class _Range:
    """How many of a suspect's equals were accepted, over everything that fits."""

    least: float = math.inf
    most: int = 0
    always: bool = True
    never: bool = True
    alike: int = 1

    def note(self, taken: int, alike: int) -> None:
        self.least, self.most = min(self.least, taken), max(self.most, taken)
        self.always &= taken == alike
        self.never &= taken == 0
        self.alike = alike

    def finding(self) -> Finding:
        if self.least is math.inf:
            return Finding("can't tell", fits=False)
        answer: Answer = "accepted" if self.always else "not accepted" if self.never else "can't tell"
        return Finding(answer, self.alike, int(self.least), self.most)


_Fates = tuple[tuple[Span, ...], ...]


def _fates(suspect: Suspect, readings: Sequence[Reading], habit: Habit, rules: Rules) -> _Fates:
    """What the suspect adds to each reading: first if it wasn't accepted, then for each way it may have gone.

    One that failed and left no trace in any figure is the same as one that was never accepted: nothing was
    paid, and there is no clip.
    """
    courses = [_course(suspect, "clip")]
    counted = habit.counts in ("accepted", "ended") and any(each.figure == "requests" for each in readings)
    if habit.charges_failed or counted:
        courses.append(_course(suspect, "failed"))
    moved = (tuple(_move(course, each, habit, rules) for each in readings) for course in courses)
    return (tuple(_unaccepted(each, habit) for each in readings), *dict.fromkeys(moved))


def _fitting(
    alike: Mapping[_Fates, int],
    known: Sequence[Span],
    readings: Sequence[Reading],
    habit: Habit,
    *,
    alone: bool,
) -> Iterator[dict[_Fates, int]]:
    """How many of each kind were accepted, for every combination of fates that the readings allow."""
    kinds = list(alike)
    splits = [list(_splits(alike[kind], len(kind))) for kind in kinds]
    for combination in itertools.product(*splits):
        totals = list(known)
        for kind, split in zip(kinds, combination, strict=True):
            for fate, times in zip(kind, split, strict=True):
                if times:
                    totals = [
                        total + Span(times * span.low, times * span.high)
                        for total, span in zip(totals, fate, strict=True)
                    ]
        if all(
            _allows(reading, total, habit, alone=alone)
            for reading, total in zip(readings, totals, strict=True)
        ):
            yield {kind: alike[kind] - split[0] for kind, split in zip(kinds, combination, strict=True)}


def _allows(reading: Reading, total: Span, habit: Habit, *, alone: bool) -> bool:
    slack = 0.5 if reading.figure == "requests" else ROUNDING_USD
    if alone:
        return total.low - slack <= reading.moved <= total.high + slack
    # Others only add to what was spent and counted, unless a failed job of theirs was paid back.
    return _pays_back(reading.figure, habit) or total.low <= reading.moved + slack


def _pays_back(figure: Figure, habit: Habit) -> bool:
    at = {"balance": habit.balance_at, "spent": habit.spent_at}.get(figure)
    return at == "acceptance" and not habit.charges_failed


class _Sums:
    """By how much known jobs move each reading. Of a habit only one side matters to each figure."""

    def __init__(
        self, courses: Sequence[Course], readings: Sequence[Reading], rules: Rules, memory: Memory | None
    ) -> None:
        self._courses = courses
        self._readings = readings
        self._rules = rules
        self._known: Memory = {} if memory is None else memory
        self._near: dict[Reading, list[Course]] = {}

    def under(self, habit: Habit) -> list[Span]:
        return [self._sum(reading, habit) for reading in self._readings]

    def _sum(self, reading: Reading, habit: Habit) -> Span:
        sides = {"balance": habit.balance_at, "spent": habit.spent_at, "requests": habit.counts}
        key = (reading, sides[reading.figure], habit.charges_failed and reading.figure != "requests")
        if key not in self._known:
            if reading not in self._near:
                self._near[reading] = [each for each in self._courses if _touches(each, reading, self._rules)]
            self._known[key] = _sum(self._near[reading], reading, habit, self._rules)
        return self._known[key]


def _sum(courses: Sequence[Course], reading: Reading, habit: Habit, rules: Rules) -> Span:
    if reading.figure == "requests" and habit.counts == "all requests":
        return Span(reading.requests, math.inf)  # those of the jobs are among them
    low = high = 0.0
    for course in courses:
        moved = _move(course, reading, habit, rules)
        low += moved.low
        high += moved.high
    return Span(low, high)


def _touches(course: Course, reading: Reading, rules: Rules) -> bool:
    """Whether a job may move a figure within a reading; most jobs of an account lie before it or after it."""
    accepted, ended = course.accepted, course.ended
    return (
        min(accepted.low, ended.low) <= reading.now.high
        and max(accepted.high, ended.high) + rules.follows_within_seconds >= reading.before.low
    )


def _unaccepted(reading: Reading, habit: Habit) -> Span:
    arrived = reading.figure == "requests" and habit.counts == "all requests"
    return Span(0.0, 1.0) if arrived else NOTHING


def _course(suspect: Suspect, outcome: Literal["clip", "failed", "unknown"], *, sure: bool = True) -> Course:
    return Course(
        accepted=Span(suspect.sent_at, suspect.accepted_by),
        ended=Span(suspect.sent_at, suspect.ended_by if sure else math.inf),
        estimate_usd=suspect.estimate_usd,
        cost_usd=about(suspect.estimate_usd),
        outcome=outcome,
        sure=sure,
    )


def about(estimate_usd: float) -> Span:
    """What a clip may cost in the end."""
    return Span(estimate_usd * (1 - COST_SPREAD), estimate_usd * (1 + COST_SPREAD))


def _move(course: Course, reading: Reading, habit: Habit, rules: Rules) -> Span:
    """By how much a job moves a figure within a reading."""
    total = NOTHING
    for when, amount in _steps(course, reading.figure, habit):
        latest = when.high + rules.follows_within_seconds
        if when.low > reading.now.high or latest < reading.before.low:
            continue
        inside = when.low >= reading.before.high and latest <= reading.now.low
        total += amount if inside else Span(min(0.0, amount.low), max(0.0, amount.high))
    return total if course.sure else Span(min(0.0, total.low), max(0.0, total.high))


def _steps(course: Course, figure: Figure, habit: Habit) -> list[tuple[Span, Span]]:
    """When a figure moves for a job, and by how much."""
    if figure == "requests":
        if habit.counts == "ended":
            return [(course.ended, Span(1.0, 1.0))]
        if habit.counts == "clips":
            counted = {"clip": Span(1.0, 1.0), "failed": NOTHING, "unknown": Span(0.0, 1.0)}
            return [(course.ended, counted[course.outcome])]
        return [(course.accepted, Span(1.0, 1.0))]
    final = course.cost_usd
    if course.outcome != "clip" and not habit.charges_failed:
        final = NOTHING if course.outcome == "failed" else Span(0.0, final.high)
    if (habit.balance_at if figure == "balance" else habit.spent_at) == "end":
        return [(course.ended, final)]
    estimate = course.estimate_usd
    correction = Span(final.low - estimate, final.high - estimate)
    return [(course.accepted, Span(estimate, estimate)), (course.ended, correction)]


def _choices(number: int, fates: int) -> int:
    return math.comb(number + fates - 1, fates - 1)


def _splits(number: int, fates: int) -> Iterator[tuple[int, ...]]:
    """All ways to give `number` equals one of so many fates each: how many have which."""
    if fates == 1:
        yield (number,)
        return
    for first in range(number + 1):
        for rest in _splits(number - first, fates - 1):
            yield (first, *rest)
