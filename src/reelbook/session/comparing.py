"""From what the ledger holds to verdicts in words: which figures are compared, and what they say. Pure.

What follows from the figures is decided in `evidence.py`; asking for them is `reconcile.py`'s part.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from .. import wire
from ..client.client import DEADLINE_SECONDS
from ..ledger import CANCELLED, INTENDED, LOST, NOT_ACCEPTED, REFUSED, SENDING, UNCERTAIN, Entry, Sample
from .evidence import (
    CANT_TELL,
    ROUNDING_USD,
    Answer,
    Course,
    Figure,
    Finding,
    Memory,
    Reading,
    Rules,
    Span,
    Suspect,
    about,
    judge,
    learnt,
)
from .figures import FIGURES, NAMES, Change, clock, dollars, local, moved_by, newest_before, value
from .tool_money import NO_TOOLS, ToolMoney

# A clip that was taken has ended by then, and shows in money and count; by money alone wait longer. Nothing
# in the interface bounds it, so it is much more than any clip took that the ledger knows.
PATIENCE_SECONDS: Final = 3600.0
PATIENCE_BY_MONEY_SECONDS: Final = 24 * 3600.0
PATIENCE_TIMES_LONGEST: Final = 10.0
# A job that one kernel watched all the time was asked about at least this often.
NOTICED_WITHIN_SECONDS: Final = 120.0
# How many samples tell of the service's habits, and how many later ones are looked at for each entry.
PAST_SAMPLES: Final = 50
LATER_SAMPLES: Final = 4

_BOUGHT_NOTHING: Final = (CANCELLED, REFUSED, NOT_ACCEPTED, INTENDED)


@dataclass(frozen=True)
class Told:
    """What became of one entry. `if_alone` is the answer if nobody else spent from the account."""

    entry: Entry
    answer: Answer
    if_alone: Answer
    reasons: tuple[str, ...]
    advice: str
    changes: tuple[Change, ...] = ()


def compare(
    uncertain: Sequence[Entry],
    others: Sequence[Entry],
    samples: Sequence[Sample],
    now: Sample,
    rules: Rules,
    *,
    alone: bool,
    asked_at: Mapping[float, float] | None = None,
    tools: ToolMoney = NO_TOOLS,
) -> list[Told]:
    """What the figures say of each of the `uncertain` entries.

    `others` are the account's other entries, `samples` what was said earlier, `now` what is said now, asked
    for at its time. Each entry's figures are compared with the newest from before it was sent. `asked_at`
    gives, by a sample's time, when it was asked for, where that is known. `tools` is what agent tools moved.
    """
    account = _Account(uncertain, others, samples, now, rules, asked_at or {}, tools)
    return [_Case(entry, account).told(alone=alone) for entry in uncertain]


class _Account:
    """What all entries share: the samples in their order, and what they teach of the service's habits."""

    def __init__(
        self,
        uncertain: Sequence[Entry],
        others: Sequence[Entry],
        samples: Sequence[Sample],
        now: Sample,
        rules: Rules,
        asked_at: Mapping[float, float],
        tools: ToolMoney,
    ) -> None:
        self.uncertain = uncertain
        self.tools = tools
        self.memory: Memory = {}  # of the courses
        self._asked_at = asked_at
        self._follows = rules.follows_within_seconds
        self.samples = sorted((each for each in samples if each.at < now.at), key=lambda each: each.at)
        self.now = now
        self.courses = [*(course for each in others if (course := course_of(each))), *tools.courses]
        self.longest_seconds = max((each.took_seconds or 0.0 for each in others), default=0.0)
        everyone = [*self.courses, *map(_maybe, uncertain)]
        past = list(self._past(2 * rules.follows_within_seconds + DEADLINE_SECONDS))
        memory: Memory = {}
        open_ended = learnt(everyone, past, rules, alone=False, memory=memory)
        explained = [each for each in past if tools.unknown_in(Span(each.before.low, each.now.high)) is None]
        closed = learnt(everyone, explained, rules, alone=True, memory=memory)
        # Nobody else now doesn't mean nobody else last week.
        self.rules = {False: open_ended, True: closed if closed.habits else open_ended}

    def reading(self, figure: Figure, before: Sample, later: Sample) -> Reading | None:
        """The figure in two samples, None where they can't be compared."""
        moved = moved_by(figure, before, later)
        if moved is None:
            return None
        # The question itself and, now, that for the balance before it.
        requests = 2 if later is self.now else 1
        for course in self.courses if figure == "requests" else ():
            if course.sure:
                # One that the figure may not have followed yet isn't sure to be in it.
                by = later.at - self._follows
                requests += before.at < course.accepted.low and course.accepted.high < by
                requests += before.at < course.ended.low and course.ended.high < by
        return Reading(figure, self._taken(before), self._taken(later), moved, requests)

    def _taken(self, sample: Sample) -> Span:
        """When a sample was taken: asked for then if it is the one now, else written down at its answer."""
        if sample is self.now:
            return Span(sample.at, math.inf)
        return Span(self._asked_at.get(sample.at, sample.at - DEADLINE_SECONDS), sample.at)

    def _past(self, apart_seconds: float) -> Iterator[Reading]:
        """Readings far enough apart for the figures to follow."""
        samples = [*self.samples[-PAST_SAMPLES:], self.now]
        for figure in FIGURES:
            holding = [each for each in samples if value(figure, each) is not None]
            for before in holding:
                later = next((each for each in holding if each.at >= before.at + apart_seconds), None)
                if later is not None and (reading := self.reading(figure, before, later)):
                    yield reading


class _Case:
    """One uncertain entry with all that is compared for it."""

    def __init__(self, entry: Entry, account: _Account) -> None:
        self._entry = entry
        self._now = now = account.now
        self._rules = account.rules
        before = {
            figure: sample
            for figure in FIGURES
            if (sample := newest_before(account.samples, figure, _sent_at(entry)))
            and account.reading(figure, sample, now)
        }
        begins = max((sample.at for sample in before.values()), default=now.at)
        within = [each for each in account.uncertain if _sent_at(each) > begins]
        self._place = within.index(entry) if before else 0
        patience = PATIENCE_SECONDS if "requests" in before and len(before) > 1 else PATIENCE_BY_MONEY_SECONDS
        patience = max(patience, PATIENCE_TIMES_LONGEST * account.longest_seconds)
        self._suspects = [_suspect(each, patience) for each in within]
        earlier = [_maybe(each) for each in account.uncertain if each not in within]
        self._courses = [*account.courses, *earlier]
        self._memory = {} if earlier else account.memory
        later = [each for each in account.samples if each.at > _sent_at(entry)]
        # The first ones after it know of the least that others did; the last ones of what came late.
        later = [*later[:LATER_SAMPLES], *later[LATER_SAMPLES:][-LATER_SAMPLES:], now]
        self._readings = [
            reading
            for figure, sample in before.items()
            for each in later
            if (reading := account.reading(figure, sample, each))
        ]
        begins = min((each.before.low for each in self._readings), default=now.at)
        self._tool_at = account.tools.unknown_in(Span(begins, math.inf))
        self._changes = tuple(
            Change(
                figure,
                value(figure, sample) or 0.0,
                local(sample.at),
                value(figure, now) or 0.0,
                local(now.at),
            )
            for figure, sample in before.items()
        )

    def told(self, *, alone: bool) -> Told:
        word = self._tool_at is None  # or a person's word isn't enough: a tool may have spent something
        alone = alone and word
        finding = self._finding(alone=alone)
        by_word = finding if alone or not word else self._finding(alone=True)
        # Where nothing fits without others, they are there, or the figures are wrong.
        if_alone: Answer = by_word.answer if by_word.fits else "can't tell"
        if finding.answer == "can't tell":
            reasons, advice = self._open(finding, by_word, alone=alone)
        else:
            reasons, advice = self._sure(finding, alone=alone)
        return Told(self._entry, finding.answer, if_alone, reasons, advice, self._changes)

    def _finding(self, *, alone: bool, later_by: float = 0.0) -> Finding:
        readings = [
            replace(each, now=Span(self._now.at + later_by, math.inf)) if each.now.high == math.inf else each
            for each in self._readings
        ]
        rules = self._rules[alone]
        found = judge(self._suspects, self._courses, readings, rules, alone=alone, memory=self._memory)
        if not found:
            return CANT_TELL
        finding = found[self._place]
        contradicted = finding.answer != "can't tell" and not alone and self._money_disagrees()
        return replace(finding, answer="can't tell", fits=False) if contradicted else finding

    def _money_disagrees(self) -> bool:
        """Whether more left the balance than was spent, and no clip of ours that is running explains it."""
        moved = {each.figure: each.moved for each in self._readings if each.now.high == math.inf}
        if "balance" not in moved or "spent" not in moved:
            return False
        running = sum(each.estimate_usd for each in self._courses if each.outcome == "unknown")
        return moved["balance"] - moved["spent"] > running + ROUNDING_USD

    def _sure(self, finding: Finding, *, alone: bool) -> tuple[tuple[str, ...], str]:
        cost = f"about {dollars(self._entry.estimated_cost_usd)}"
        if finding.answer == "accepted":
            return (
                (
                    self._figures(),
                    "The other clips in the ledger don't explain it"
                    + (", and nobody else used the account, as you said." if alone else "."),
                ),
                f"It counts as spent, {cost}. Without its id the clip can't be fetched: look for it in the "
                "service's web app. Sending it again is paid again.",
            )
        return (
            (self._figures(), "Had it been accepted and paid for, more would have moved by now."),
            "Nothing was paid for it. Send it again if you want the clip.",
        )

    def _open(self, finding: Finding, by_word: Finding, *, alone: bool) -> tuple[tuple[str, ...], str]:
        if not self._changes:
            return (
                ("No balance and no usage is known from before it was sent, to compare with.",),
                "Compare balance and usage in the service's web app with what you know of them. It stays "
                "uncertain and counts towards the spending limit.",
            )
        reasons = [self._figures()]
        advice = []
        if not finding.fits:
            reasons.append("The figures and the clips in the ledger don't fit together.")
            if alone and self._finding(alone=False).fits:
                reasons[-1] += " Somebody else does use the account, it seems."
        elif finding.least > 0 or 0 < finding.most < finding.alike:
            reasons.append(_some(finding))
        elif not alone and by_word.answer == "accepted":
            reasons.append("That may be this clip, or somebody else's: others may use the account.")
        elif not alone and by_word.answer == "not accepted":
            reasons.append("How this account counts is only known if nobody else uses it.")
        else:
            reasons.append(
                "What is counted, and when a clip is charged, isn't stated: it may be running still."
                if any(each.figure == "requests" and each.now != each.before for each in self._changes)
                else "It may be running still: a service may charge and count a clip when it is done."
            )
        if self._tool_at is not None:
            at = clock(local(self._tool_at))
            reasons.append(f"An agent tool was called at {at}, and what it cost isn't known.")
            advice.append("If it made a clip, session.job(id) takes that up and learns its cost.")
        if by_word.answer != "can't tell" and not alone:
            advice.append(
                f"If nobody else used the account since {self._since()}, it was {by_word.answer}: "
                "session.reconcile(alone=True) takes your word for it."
            )
        if (again_at := self._ask_again_at(alone=alone)) is not None:
            advice.append(f"Ask again after {clock(local(again_at))}: if nothing moves, it wasn't accepted.")
        if not advice:
            advice.append("Look for it in the service's web app.")
        return tuple(reasons), " ".join([*advice, "Until then it counts as uncertain."])

    def _ask_again_at(self, *, alone: bool) -> float | None:
        """When the same figures would be sure; None if never."""
        mine = self._suspects[self._place]
        for moment in (mine.accepted_by, mine.ended_by):
            at = moment + self._rules[alone].follows_within_seconds + 1.0
            later_by = at - self._now.at
            if later_by > 0 and self._finding(alone=alone, later_by=later_by).answer == "not accepted":
                return at
        return None

    def _since(self) -> str:
        return clock(min(each.before_at for each in self._changes))

    def _figures(self) -> str:
        moved = [str(each) for each in self._changes if each.before != each.now]
        still = [NAMES[each.figure] for each in self._changes if each.before == each.now]
        said = []
        if moved:
            said.append("; ".join(moved))
        if still:
            said.append(f"{' and '.join(still)} unchanged since {self._since()}")
        text = "; ".join(said)
        return f"{text[0].upper()}{text[1:]}."


def course_of(entry: Entry) -> Course | None:
    """An entry's way as far as the ledger knows it; None if it can't have moved any figure."""
    if entry.state in _BOUGHT_NOTHING:
        return None
    if entry.request_id is None:
        if entry.state == SENDING:
            return _maybe(entry)
        return replace(_maybe(entry), sure=entry.state == LOST)
    sent = _sent_at(entry)
    accepted = sent if entry.accepted_at is None else entry.accepted_at
    ended = Span(sent, math.inf)
    if entry.state in (wire.COMPLETED, wire.FAILED) and entry.ended_at is not None:
        watched = entry.took_seconds is not None
        ended = Span(max(sent, entry.ended_at - NOTICED_WITHIN_SECONDS) if watched else sent, entry.ended_at)
    cost = entry.cost_usd
    return Course(
        accepted=Span(min(sent, accepted), accepted),
        ended=ended,
        estimate_usd=entry.estimated_cost_usd,
        cost_usd=about(entry.estimated_cost_usd) if cost is None else Span(cost, cost),
        outcome="clip"
        if entry.state == wire.COMPLETED
        else "failed"
        if entry.state == wire.FAILED
        else "unknown",
    )


def _maybe(entry: Entry) -> Course:
    """One that may have been accepted at some time from its sending on, and may have ended at any."""
    sent = _sent_at(entry)
    by = _accepted_by(entry) if entry.state in (UNCERTAIN, LOST) else math.inf
    estimate = entry.estimated_cost_usd
    return Course(Span(sent, by), Span(sent, math.inf), estimate, about(estimate), sure=False)


def _suspect(entry: Entry, patience_seconds: float) -> Suspect:
    by = _accepted_by(entry)
    return Suspect(_sent_at(entry), by, by + patience_seconds, entry.estimated_cost_usd)


def _sent_at(entry: Entry) -> float:
    return entry.intended_at if entry.sent_at is None else entry.sent_at


def _accepted_by(entry: Entry) -> float:
    # Nobody waited longer for the answer; a kernel that was killed didn't even wait so long.
    ended = math.inf if entry.ended_at is None else entry.ended_at
    by = ended if entry.sent_at is None else min(ended, entry.sent_at + DEADLINE_SECONDS)
    return max(by, _sent_at(entry))


def _some(finding: Finding) -> str:
    """How many of equal ones were accepted, where it can't be told which."""
    if finding.least == finding.most:
        number = str(finding.least)
    elif finding.most == finding.alike:
        number = f"at least {finding.least}"
    else:
        number = f"{finding.least} to {finding.most}" if finding.least else f"at most {finding.most}"
    verb = "was" if number.endswith(" 1") or number == "1" else "were"
    return f"Of {finding.alike} alike {number} {verb} accepted; which can't be told."
