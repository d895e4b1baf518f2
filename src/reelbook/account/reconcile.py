"""What became of submissions whose answer was lost: asks for the figures, and records what is certain.

The interface doesn't say when a clip is charged, what `total_requests` counts, or whether a failed job is
paid for. So each job may move a figure by anything between a least and a most, and an answer is certain only
if the figure fits it and doesn't fit its opposite. The figure is what was spent in all, which tells after
hours; of a sandbox it is the number of requests, which tells at once. `compare` decides, without requests or
a clock.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple

from .. import wire
from ..client.client import DEADLINE_SECONDS
from ..formatting import clock, exact_dollars, local
from ..ledger import Entry, Ledger, Sample, ToolCall
from ..ledger.money import PATIENCE_SECONDS, sample_of
from ..ledger.tool_calls import KEPT
from ..states import INTENDED, LOST, UNCERTAIN, names
from .balance import USAGE_DAYS, BalanceTracker
from .connection import Connection
from .usage import SETTLED_SECONDS

Answer = Literal["accepted", "not accepted", "can't tell"]

# Either of two amounts that are compared may be rounded to cents.
ROUNDING_USD: Final = 0.0101
# "The final cost_usd follows the actual duration" (interface, Limits): at most this far from the estimate.
COST_SPREAD: Final = 0.2
SAMPLES: Final = 200

_BOUGHT_NOTHING: Final = (*names(charge="none"), INTENDED)


class Rules(NamedTuple):
    """How soon the figure usually follows an event, and when it certainly has, in seconds.

    A wrong "not accepted" is worse than none, so it waits for certainty. What an agent tool's call bought may
    be charged up to `tool_seconds` later. A `sandbox` counts what it accepts, and never pays back.
    """

    follow_seconds: float
    settle_seconds: float
    tool_seconds: float
    sandbox: bool


LIVE: Final = Rules(600.0, SETTLED_SECONDS, wire.DAY_SECONDS, sandbox=False)
SANDBOX: Final = Rules(1.0, 5.0, DEADLINE_SECONDS, sandbox=True)


@dataclass(frozen=True, repr=False)
class Finding:
    """What became of one submission, why that is known or not, and what to do next (see `Verdict`)."""

    entry: Entry
    answer: Answer
    if_alone: Answer
    reasons: tuple[str, ...]
    advice: str

    def __str__(self) -> str:
        return " ".join([f"{self.answer.capitalize()}.", *self.reasons, self.advice])

    __repr__ = __str__


@dataclass(frozen=True)
class Evidence:
    """What the ledger knows about an account, and what the service says `now`.

    `others` are its entries without the `uncertain` ones, `samples` what was said earlier.
    """

    uncertain: Sequence[Entry]
    others: Sequence[Entry]
    samples: Sequence[Sample]
    now: Sample
    rules: Rules = LIVE
    tool_calls: Sequence[ToolCall] = ()

    @classmethod
    def of(cls, ledger: Ledger, now: Sample, rules: Rules) -> Evidence:
        uncertain = ledger.uncertain_entries()
        # Each is compared with what was said before it, however much was said since.
        sent = {min(now.at, _bounds(each).sent_at) for each in uncertain}
        samples = {each for at in sent for each in ledger.samples.list(before=at, limit=SAMPLES)}
        others = ledger.others_since(min((each.at for each in samples), default=now.at))
        return cls(uncertain, others, [*samples], now, rules, ledger.tool_calls.recent(KEPT))


async def find_out(
    connection: Connection, ledger: Ledger, balance: BalanceTracker, *, alone: bool
) -> list[Finding]:
    """Asks for the figure that tells, and settles in the ledger what is certain."""
    uncertain = ledger.uncertain_entries()
    if not uncertain:
        return []
    await connection.reach()
    if "job_list" in connection.client.offers:
        findings = await _looked_up(connection, ledger)
    else:
        rules = SANDBOX if connection.service == "sandbox" else LIVE
        now = await _ask(ledger, balance, rules, sent_at=uncertain[0].sent_at)
        findings = await asyncio.to_thread(lambda: compare(Evidence.of(ledger, now, rules), alone=alone))
    for each in findings:
        if each.entry.request_id is not None:
            ledger.take_up(each.entry)  # whoever sent it doesn't watch it any more
            ledger.accepted(each.entry.id, each.entry.request_id)
        elif each.answer != "can't tell":
            ledger.settle(each.entry.id, accepted=each.answer == "accepted")
    return findings


async def _looked_up(connection: Connection, ledger: Ledger) -> list[Finding]:
    """Looks the submissions up by their attempts' keys in the list of jobs that a class's room offers."""
    listed = {job.get("idempotency_key"): job.get("request_id") for job in await connection.client.jobs()}
    findings = []
    for entry in ledger.uncertain_entries():
        request_id = listed.get(entry.repeat_key)
        answer: Answer = "not accepted"
        said, advice = "The class's room doesn't have it.", _SURE[answer][1]
        if isinstance(request_id, str):
            entry = replace(entry, request_id=request_id)
            answer, said, advice = "accepted", "The class's room has it.", "It goes on."
        findings.append(Finding(entry, answer, answer, (said,), advice))
    return findings


async def _ask(ledger: Ledger, balance: BalanceTracker, rules: Rules, *, sent_at: float | None) -> Sample:
    # The time before the question: all that was posted by then is in its answer.
    began = time.time()
    if not rules.sandbox:
        return sample_of(await balance.balance(), began)
    # Only an answer about the same period can be compared with one from before it was sent.
    earlier = ledger.samples.list(before=sent_at, limit=SAMPLES)
    periods = [each.period_days for each in earlier if each.total_requests is not None and each.period_days]
    return sample_of(await balance.usage(int(next(iter(periods), USAGE_DAYS))), began)


def compare(evidence: Evidence, *, alone: bool) -> list[Finding]:
    """What the figure says about each uncertain entry. With `alone` nobody else spent from the account.

    Others may hide a clip, by a failed job that is paid back, or look like one, by buying one themselves. A
    sandbox never pays back, so what it doesn't count wasn't accepted.
    """
    return [_find(entry, evidence, alone=alone) for entry in evidence.uncertain]


_WEB_APP: Final = "Look for it in the service's web app."
_SURE: Final[dict[Answer, tuple[str, str]]] = {
    "accepted": (
        "The other clips in the ledger don't explain it, and nobody else used the account, as you said.",
        "It counts as spent. Without its id the clip can't be fetched: look for it in the service's web app. "
        "Sending it again costs as much again.",
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


def _find(entry: Entry, evidence: Evidence, *, alone: bool) -> Finding:
    sandbox = evidence.rules.sandbox
    change = _change(evidence, _bounds(entry).sent_at)
    if change is None:
        reason = "No figure is known from before it was sent, to compare with."
        advice = (
            "Compare balance and usage in the service's web app with what you know of them. It stays "
            "uncertain and counts towards the spending limit."
        )
        now = (evidence.now.balance_usd, evidence.now.total_spent_usd)
        balance, spent = ("unknown" if each is None else exact_dollars(each) for each in now)
        return Finding(
            entry, "can't tell", "can't tell", (reason, f"Now: balance {balance}, spent {spent}."), advice
        )
    if_alone, reason, advice = _conclusion(entry, change, evidence)
    answer: Answer = "can't tell"
    if if_alone != "can't tell" and (alone or (sandbox and if_alone == "not accepted")):
        answer, (reason, advice) = if_alone, _SURE[if_alone]
    else:
        advice = f"{advice} Until then it counts as uncertain."
    return Finding(entry, answer, if_alone, (str(change), reason), advice)


def _conclusion(entry: Entry, change: _Change, evidence: Evidence) -> tuple[Answer, str, str]:
    """What became of the entry if nobody else used the account, why that may be wrong, and what to do."""
    rules = evidence.rules
    bought = [each.at for each in evidence.tool_calls if _may_buy(each, change.asked_at, rules)]
    if bought:
        at = clock(local(max(bought)))
        return "can't tell", f"An agent tool was called at {at}, and may have bought a clip.", _WEB_APP
    mine = _bounds(entry)
    ended_by, least = mine.accepted_by + PATIENCE_SECONDS, entry.estimated_cost_usd * (1 - COST_SPREAD)
    mine = replace(mine, ended_by=ended_by, least_usd=least, sure=True)
    others = [each for each in evidence.others if each.state not in _BOUGHT_NOTHING]
    bounds = [_bounds(each) for each in (*others, *evidence.uncertain) if each is not entry]
    answer = _answer(mine, bounds, change)
    if answer is None:
        reason = (
            "The figure and the clips in the ledger don't fit together: others use the account, it seems."
        )
        return "can't tell", reason, _WEB_APP
    if answer != "can't tell":
        advice = (
            f"If nobody else has used the account since {clock(local(change.before.at))}, it was {answer}: "
            "session.reconcile(alone=True) takes your word for it."
        )
        return answer, _OTHERS[answer], advice
    in_the_end = replace(change, now=replace(change.now, at=math.inf))
    if _answer(mine, bounds, in_the_end) != "not accepted":
        return answer, "Other clips may explain this as well.", _WEB_APP
    shown_by = max(evidence.now.at, mine.accepted_by if rules.sandbox else mine.ended_by)
    again = clock(local(shown_by + rules.settle_seconds + 1.0))
    reason = "It may be running still: a service may charge and count a clip when it is done."
    return answer, reason, f"Ask again after {again}: if nothing moves, it wasn't accepted."


def _may_buy(call: ToolCall, since: float, rules: Rules) -> bool:
    """Whether a tool's call may have bought something that moved a figure since then."""
    buys = call.outcome != "unsent" and not (rules.sandbox and "prompt" not in call.arguments)
    return buys and call.at + rules.tool_seconds + rules.settle_seconds > since


def _answer(mine: _JobBounds, others: Sequence[_JobBounds], change: _Change) -> Answer | None:
    """What became of `mine` if nobody else moved the figure; None if it fits neither answer."""
    without, accepted = change.fits(mine, others)
    if not without and not accepted:
        return None
    if without and accepted:
        return "can't tell"
    return "accepted" if accepted else "not accepted"


@dataclass(frozen=True)
class _JobBounds:
    """What is known of a job. Times are epoch seconds.

    It costs from `least_usd` to `most_usd`. Not `sure`: it may not have been accepted.
    """

    sent_at: float
    accepted_by: float
    ended_by: float
    estimate_usd: float
    least_usd: float
    most_usd: float
    sure: bool


def _bounds(entry: Entry) -> _JobBounds:
    sent = entry.intended_at if entry.sent_at is None else entry.sent_at
    ended = math.inf if entry.ended_at is None else entry.ended_at
    answered = entry.request_id is not None
    accepted_by = math.inf
    if answered:
        accepted_by = sent if entry.accepted_at is None else entry.accepted_at
    elif entry.state in (UNCERTAIN, LOST):
        # Nobody waited longer for the answer; a killed kernel didn't even wait that long.
        accepted_by = max(sent, ended if entry.sent_at is None else min(ended, sent + DEADLINE_SECONDS))
    clip = answered and entry.state == wire.COMPLETED
    estimate = entry.estimated_cost_usd
    least, most = estimate * (1 - COST_SPREAD), estimate * (1 + COST_SPREAD)
    if clip and entry.cost_usd is not None:
        least = most = entry.cost_usd
    return _JobBounds(
        sent_at=min(sent, accepted_by),
        accepted_by=accepted_by,
        ended_by=ended if clip or (answered and entry.state == wire.FAILED) else math.inf,
        estimate_usd=estimate,
        least_usd=least if clip else 0.0,
        most_usd=most,
        sure=answered or entry.state == LOST,
    )


@dataclass(frozen=True)
class _Change:
    """The figure `now`, and the last time that it was heard `before` a submission."""

    before: Sample
    now: Sample
    rules: Rules

    @property
    def moved(self) -> float:
        """By how much more was spent, or counted, in between."""
        was, now = (_figure(each, self.rules) or 0.0 for each in (self.before, self.now))
        return now - was

    @property
    def asked_at(self) -> float:
        """When the earlier one was asked for; if that isn't known, its answer took a minute at most."""
        return self.before.at - DEADLINE_SECONDS if self.before.asked_at is None else self.before.asked_at

    def fits(self, mine: _JobBounds, others: Sequence[_JobBounds]) -> tuple[bool, bool]:
        """Whether the figure fits if `mine` wasn't accepted, and if it was."""
        moves = [self._move(each) for each in others]
        slack = 0.5 if self.rules.sandbox else ROUNDING_USD
        least, most = sum(low for low, _ in moves) - slack, sum(high for _, high in moves) + slack
        own_least, own_most = self._move(mine)
        return least <= self.moved <= most, least + own_least <= self.moved <= most + own_most

    def _move(self, job: _JobBounds) -> tuple[float, float]:
        """The least and the most that a job moves it by: a sandbox at its acceptance, others any time."""
        rules = self.rules
        by = job.accepted_by if rules.sandbox else job.ended_by
        if by + rules.follow_seconds < self.asked_at:
            return 0.0, 0.0
        begun_before = job.sent_at < self.before.at
        surely = job.sure and not begun_before and by + rules.settle_seconds <= self.now.at
        if rules.sandbox:
            return float(surely), 1.0
        least = job.least_usd if surely else 0.0
        if begun_before:
            # If charged before, part of it may be paid back when the job ends, or all if it fails.
            least = min(0.0, job.least_usd - job.estimate_usd)
        return least, max(job.estimate_usd, job.most_usd)

    def __str__(self) -> str:
        earlier, later = (clock(local(each.at)) for each in (self.before, self.now))
        figure = "Requests" if self.rules.sandbox else "Total spent"
        if not self.moved:
            return f"{figure} unchanged since {earlier}."
        said = [_figure(each, self.rules) or 0.0 for each in (self.before, self.now)]
        was, now = (f"{each:g}" if self.rules.sandbox else exact_dollars(each) for each in said)
        return f"{figure} {was} at {earlier} → {now} at {later}."


def _figure(sample: Sample, rules: Rules) -> float | None:
    return sample.total_requests if rules.sandbox else sample.total_spent_usd


def _change(evidence: Evidence, sent_at: float) -> _Change | None:
    """The figure now, compared with the newest from before that time, if there is one."""
    now, rules = evidence.now, evidence.rules
    known = [
        each
        for each in evidence.samples
        if each.at < sent_at
        and _figure(each, rules) is not None
        and (not rules.sandbox or each.period_days == now.period_days)
    ]
    if not known or _figure(now, rules) is None:
        return None
    return _Change(max(known, key=lambda each: each.at), now, rules)
