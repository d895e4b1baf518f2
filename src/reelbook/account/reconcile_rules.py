"""What an account's figures say of submissions that were never answered. Pure: no request, no clock.

The interface doesn't say when a clip is charged, what `total_requests` counts, or whether a failed job is
paid for. So each job may move a figure by anything from the least to the most that it can, and an answer is
sure only if the figures fit it and don't fit its opposite.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal, NamedTuple

from .. import wire
from ..client.client import DEADLINE_SECONDS
from ..formatting import clock, exact_dollars, local
from ..ledger import Entry, Sample, ToolCall
from ..ledger.money import PATIENCE_SECONDS
from ..states import INTENDED, LOST, UNCERTAIN, names
from .usage import SETTLED_SECONDS

Answer = Literal["accepted", "not accepted", "can't tell"]
Figure = Literal["balance", "total spent", "requests"]

FIELDS: Final[dict[Figure, str]] = {
    "balance": "balance_usd",
    "total spent": "total_spent_usd",
    "requests": "total_requests",
}
# Figures may be rounded to cents, each of the two that are compared.
ROUNDING_USD: Final = 0.0101
SAME_SECONDS: Final = 0.05
# "The final cost_usd follows the actual duration" (interface, Limits): this far from the estimate at most.
COST_SPREAD: Final = 0.2
# Where the ledger knows a clip that took long, a clip may take so many times longer.
PATIENCE_TIMES_LONGEST: Final = 10.0
# What a tool's call bought may be charged when it is done; nothing in the interface says how long that takes.
LINGERS_SECONDS: Final = 24 * 3600.0


class Rules(NamedTuple):
    """How soon after an event its figures usually follow, and when they have for sure, in seconds.

    A wrong "not accepted" is worse than none, so it waits for what is sure. A `sandbox` counts what it
    accepts, and never pays back.
    """

    follow_seconds: float
    settle_seconds: float
    sandbox: bool


LIVE: Final = Rules(600.0, SETTLED_SECONDS, sandbox=False)
SANDBOX: Final = Rules(1.0, 5.0, sandbox=True)

_BOUGHT_NOTHING: Final = (*names(charge="none"), INTENDED)


@dataclass(frozen=True)
class Change:
    """One of the account's figures before and now: USD, or `total_requests` for "requests"."""

    figure: Figure
    before: float
    before_at: datetime
    now: float
    now_at: datetime

    def __str__(self) -> str:
        before, now = written(self.figure, self.before), written(self.figure, self.now)
        return f"{self.figure} {before} at {clock(self.before_at)} → {now} at {clock(self.now_at)}"


@dataclass(frozen=True)
class Finding:
    """What became of one submission, why that is known or isn't, and what to do.

    `if_alone` is the answer if nobody else used the account.
    """

    entry: Entry
    answer: Answer
    if_alone: Answer
    reasons: tuple[str, ...]
    advice: str
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True)
class Evidence:
    """What the ledger knows of an account, and what the service says of it `now`.

    `others` are its entries but for the `uncertain` ones, `samples` what was said earlier. `now` has the time
    of its question.
    """

    uncertain: Sequence[Entry]
    others: Sequence[Entry]
    samples: Sequence[Sample]
    now: Sample
    rules: Rules = LIVE
    tool_calls: Sequence[ToolCall] = ()


def compare(evidence: Evidence, *, alone: bool) -> list[Finding]:
    """What the figures say of each uncertain entry. With `alone` nobody else spent from the account.

    Others hide a clip where a service takes their failed jobs' money back, and look like one where they buy
    one. In a sandbox nothing is ever paid back, so what isn't counted there wasn't accepted.
    """
    known = [_course(each) for each in evidence.others if each.state not in _BOUGHT_NOTHING]
    return [_find(entry, known, evidence, alone=alone) for entry in evidence.uncertain]


def _find(entry: Entry, known: Sequence[_Course], evidence: Evidence, *, alone: bool) -> Finding:
    mine = _course(entry)
    readings = _readings(evidence, mine.sent_at)
    changes = tuple(each.change(evidence.now) for each in readings)
    if not changes:
        return Finding(
            entry,
            "can't tell",
            "can't tell",
            ("No balance and no usage is known from before it was sent, to compare with.",),
            "Compare balance and usage in the service's web app with what you know of them. It stays "
            "uncertain and counts towards the spending limit.",
        )
    mine = replace(
        mine,
        ended_by=mine.accepted_by + _patience_seconds(evidence),
        cost_usd=_about(mine.estimate_usd),
        clip=True,
        sure=True,
    )
    courses = [*known, *(_course(each) for each in evidence.uncertain if each is not entry)]
    # What a sandbox counts is known; its money would only tell later.
    telling = [each for each in readings if each.figure == "requests" or not evidence.rules.sandbox]
    since = min(each.asked_at for each in readings)
    tool_at = max((call.at for call in evidence.tool_calls if _may_buy(call, since, evidence)), default=None)
    if tool_at is not None:
        reason = f"An agent tool was called at {clock(local(tool_at))}, and may have bought a clip."
        return _open(entry, changes, reason, _WEB_APP)
    if_alone = _answer(mine, courses, telling)
    if if_alone is None:
        reason = (
            "The figures and the clips in the ledger don't fit together: others use the account, it seems."
        )
        return _open(entry, changes, reason, _WEB_APP)
    if if_alone == "can't tell":
        if _answer(mine, courses, [replace(each, closes=math.inf) for each in telling]) != "not accepted":
            return _open(entry, changes, "Other clips may explain this as well.", _WEB_APP)
        reason = "It may be running still: a service may charge and count a clip when it is done."
        shown_by = mine.accepted_by if evidence.rules.sandbox else mine.ended_by
        again = clock(local(max(evidence.now.at, shown_by) + evidence.rules.settle_seconds + 1.0))
        return _open(
            entry, changes, reason, f"Ask again after {again}: if nothing moves, it wasn't accepted."
        )
    if alone or (evidence.rules.sandbox and if_alone == "not accepted"):
        reason, advice = _SURE[if_alone]
        return Finding(entry, if_alone, if_alone, (_moves(changes), reason), advice, changes)
    advice = (
        f"If nobody else has used the account since {_since(changes)}, it was {if_alone}: "
        "session.reconcile(alone=True) takes your word for it."
    )
    return _open(entry, changes, _OTHERS[if_alone], advice, if_alone)


def _open(
    entry: Entry, changes: Sequence[Change], reason: str, advice: str, if_alone: Answer = "can't tell"
) -> Finding:
    reasons = (_moves(changes), reason)
    advice = f"{advice} Until then it counts as uncertain."
    return Finding(entry, "can't tell", if_alone, reasons, advice, tuple(changes))


_WEB_APP: Final = "Look for it in the service's web app."
_SURE: Final[dict[Answer, tuple[str, str]]] = {
    "accepted": (
        "The other clips in the ledger don't explain it, and nobody else used the account, as you said.",
        "It counts as spent. Without its id the clip can't be fetched: look for it in the service's web app. "
        "Sending it again is paid again.",
    ),
    "not accepted": (
        "Had it been accepted and paid for, more would have moved by now.",
        "Nothing was paid for it. Send it again if you want the clip.",
    ),
}
_OTHERS: Final[dict[Answer, str]] = {
    "accepted": "That may be this clip, or somebody else's: others may use the account.",
    "not accepted": "It doesn't show. But others may use the account, and what they got back may hide it.",
}


def _moves(changes: Sequence[Change]) -> str:
    said = [str(each) for each in changes if each.before != each.now]
    if still := [each.figure for each in changes if each.before == each.now]:
        said.append(f"{' and '.join(still)} unchanged since {_since(changes)}")
    text = "; ".join(said)
    return f"{text[0].upper()}{text[1:]}."


def _since(changes: Sequence[Change]) -> str:
    return clock(min(each.before_at for each in changes))


def _may_buy(call: ToolCall, since: float, evidence: Evidence) -> bool:
    """Whether what a tool's call bought may have moved a figure since then."""
    if call.outcome == "unsent" or (evidence.rules.sandbox and "prompt" not in call.arguments):
        return False
    lingers = LINGERS_SECONDS
    if evidence.rules.sandbox and call.outcome == "done" and call.took_seconds is not None:
        lingers = call.took_seconds + evidence.rules.settle_seconds
    return call.at + lingers > since


def _patience_seconds(evidence: Evidence) -> float:
    longest = max((each.took_seconds or 0.0 for each in evidence.others), default=0.0)
    return max(PATIENCE_SECONDS, PATIENCE_TIMES_LONGEST * longest)


def _answer(mine: _Course, others: Sequence[_Course], readings: Sequence[_Reading]) -> Answer | None:
    """What became of `mine` if nobody else moved the figures; None if they fit neither way."""
    fitting = {each.figure: each.fitting(mine, others) for each in readings}
    if not all(without or accepted for without, accepted in fitting.values()):
        return None
    # A sandbox counts what it accepts. Elsewhere money decides: nothing leaves it as old requests leave a
    # period, and the count has only to agree.
    sandbox = any(each.rules.sandbox for each in readings)
    deciding = [found for figure, found in fitting.items() if sandbox or figure != "requests"]
    if (sandbox or "total spent" in fitting) and not any(accepted for _, accepted in fitting.values()):
        return "not accepted"
    if all(accepted for _, accepted in deciding) and not all(without for without, _ in deciding):
        return "accepted"
    return "can't tell"


class _Span(NamedTuple):
    low: float
    high: float


@dataclass(frozen=True)
class _Course:
    """A job as far as it is known. Times are epoch seconds; `cost_usd` is what it may cost in the end.

    `clip` is True where it became one, `sure` False where it may never have been accepted.
    """

    sent_at: float
    accepted_by: float
    ended_by: float
    estimate_usd: float
    cost_usd: _Span
    clip: bool
    sure: bool


def _course(entry: Entry) -> _Course:
    sent = entry.intended_at if entry.sent_at is None else entry.sent_at
    ended = math.inf if entry.ended_at is None else entry.ended_at
    answered = entry.request_id is not None
    accepted_by = math.inf
    if answered:
        accepted_by = sent if entry.accepted_at is None else entry.accepted_at
    elif entry.state in (UNCERTAIN, LOST):
        # Nobody waited longer for the answer; a kernel that was killed didn't even wait so long.
        accepted_by = max(sent, ended if entry.sent_at is None else min(ended, sent + DEADLINE_SECONDS))
    clip = answered and entry.state == wire.COMPLETED
    cost = _about(entry.estimated_cost_usd)
    if not clip:
        cost = _Span(0.0, cost.high)
    elif entry.cost_usd is not None:
        cost = _Span(entry.cost_usd, entry.cost_usd)
    return _Course(
        sent_at=min(sent, accepted_by),
        accepted_by=accepted_by,
        ended_by=ended if clip or (answered and entry.state == wire.FAILED) else math.inf,
        estimate_usd=entry.estimated_cost_usd,
        cost_usd=cost,
        clip=clip,
        sure=answered or entry.state == LOST,
    )


def _about(estimate_usd: float) -> _Span:
    """What a clip may cost in the end."""
    return _Span(estimate_usd * (1 - COST_SPREAD), estimate_usd * (1 + COST_SPREAD))


@dataclass(frozen=True)
class _Reading:
    """By how much more was spent, or counted, now than before. Times are epoch seconds.

    What was `before` was asked for at `asked_at`, what is now at `closes`.
    """

    figure: Figure
    before: Sample
    moved: float
    asked_at: float
    closes: float
    rules: Rules

    def change(self, now: Sample) -> Change:
        before, later = value(self.figure, self.before) or 0.0, value(self.figure, now) or 0.0
        return Change(self.figure, before, local(self.before.at), later, local(now.at))

    def fitting(self, mine: _Course, others: Sequence[_Course]) -> tuple[bool, bool]:
        """Whether the figure fits if `mine` wasn't accepted, and if it was."""
        move, slack = self._money, ROUNDING_USD
        if self.figure == "requests":
            move, slack = self._count, 0.5
        spans = [move(each) for each in others]
        low = sum(span.low for span in spans) - slack
        high = sum(span.high for span in spans) + slack
        if self.figure == "requests" and not self.rules.sandbox:
            high = math.inf  # it may count every request, such as that for the balance
        own = move(mine)
        return low <= self.moved <= high, low + own.low <= self.moved <= high + own.high

    def _money(self, course: _Course) -> _Span:
        """By how much a job moves the figure, whether it is charged when accepted or at its end."""
        if course.ended_by + self.rules.follow_seconds < self.asked_at:
            return _Span(0.0, 0.0)
        low = 0.0
        if course.sent_at < self.before.at:
            # Charged before, it may get some of it back when it ends, or all where it fails.
            low = min(0.0, course.cost_usd.low - course.estimate_usd)
        elif course.sure and course.ended_by + self.rules.settle_seconds <= self.closes:
            low = course.cost_usd.low
        return _Span(low, max(course.estimate_usd, course.cost_usd.high))

    def _count(self, course: _Course) -> _Span:
        """The same of the count. A sandbox counts what it accepts; elsewhere only a clip is sure to count."""
        by = course.accepted_by if self.rules.sandbox else course.ended_by
        inside = course.sent_at >= self.before.at and by + self.rules.settle_seconds <= self.closes
        counts = course.sure and (course.clip or self.rules.sandbox)
        return _Span(float(inside and counts), float(by + self.rules.follow_seconds >= self.asked_at))


def _readings(evidence: Evidence, sent_at: float) -> list[_Reading]:
    """Each figure now, against the newest from before that time; those that can be compared."""
    now = evidence.now
    found = []
    for figure in FIELDS:
        holding = [each for each in evidence.samples if each.at < sent_at and value(figure, each) is not None]
        before = max(holding, key=lambda each: each.at, default=None)
        if before is None or (moved := _moved_by(figure, before, now)) is None:
            continue
        # Of a sample from before that was kept, only the time of its answer is known.
        asked = before.at - DEADLINE_SECONDS if before.asked_at is None else before.asked_at
        found.append(_Reading(figure, before, moved, asked, now.at, evidence.rules))
    return found


def _moved_by(figure: Figure, before: Sample, now: Sample) -> float | None:
    """By how much more was spent or counted; None where that can't be said."""
    first, second = value(figure, before), value(figure, now)
    if first is None or second is None:
        return None
    moved = first - second if figure == "balance" else second - first
    if figure == "balance" and moved < -ROUNDING_USD:
        return None  # it was topped up, nobody knows by how much
    if figure == "requests" and not _nothing_left(before, now):
        return None
    return moved


def _nothing_left(before: Sample, now: Sample) -> bool:
    """Whether no old clip left the period meanwhile: it would take its cost and its length along."""
    spent = _moved_by("total spent", before, now)
    if spent is None or before.period_days != now.period_days:
        return False
    if None in (before.total_cost_usd, now.total_cost_usd, before.total_seconds, now.total_seconds):
        return False
    cost = (now.total_cost_usd or 0.0) - (before.total_cost_usd or 0.0)
    seconds = (now.total_seconds or 0.0) - (before.total_seconds or 0.0)
    return cost >= spent - ROUNDING_USD and seconds >= -SAME_SECONDS


def value(figure: Figure, sample: Sample) -> float | None:
    """What the sample says of the figure, None if nothing."""
    found: float | None = getattr(sample, FIELDS[figure])
    return found


def written(figure: Figure, amount: float) -> str:
    """A figure as a person reads it."""
    return f"{amount:g}" if figure == "requests" else exact_dollars(amount)
