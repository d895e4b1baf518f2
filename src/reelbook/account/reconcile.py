"""What became of submissions whose answer was lost: asks for the figures, and records what is certain.

The interface doesn't say when a clip is charged, what `total_requests` counts, or whether a failed job is
paid for. So each job may move a figure by anything between a least and a most, and an answer is certain only
if the figures fit it and don't fit its opposite. `compare` decides that, without requests or a clock.
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
from ..errors import AuthenticationError, ServiceError
from ..formatting import clock, exact_dollars, local
from ..ledger import Entry, Ledger, Sample, ToolCall
from ..ledger.money import PATIENCE_SECONDS, sample_of
from ..ledger.tool_calls import KEPT
from ..states import INTENDED, LOST, UNCERTAIN, names
from .balance import USAGE_DAYS, BalanceTracker
from .connection import Connection
from .usage import SETTLED_SECONDS

Answer = Literal["accepted", "not accepted", "can't tell"]
Figure = Literal["balance", "total spent", "requests"]

FIELDS: Final[dict[Figure, str]] = {
    "balance": "balance_usd",
    "total spent": "total_spent_usd",
    "requests": "total_requests",
}
# Either of two figures that are compared may be rounded to cents.
ROUNDING_USD: Final = 0.0101
SAME_SECONDS: Final = 0.05
# "The final cost_usd follows the actual duration" (interface, Limits): at most this far from the estimate.
COST_SPREAD: Final = 0.2
SAMPLES: Final = 200

_BOUGHT_NOTHING: Final = (*names(charge="none"), INTENDED)


class Rules(NamedTuple):
    """How soon the figures usually follow an event, and when they certainly have, in seconds.

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
    """Asks once each for balance and usage, and settles in the ledger what is certain."""
    uncertain = ledger.uncertain_entries()
    if not uncertain:
        return []
    await connection.reach()
    if "job_list" in connection.client.offers:
        findings = await _looked_up(connection, ledger)
    else:
        now = await _ask(ledger, balance, sent_at=uncertain[0].sent_at)
        rules = SANDBOX if connection.service == "sandbox" else LIVE
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


async def _ask(ledger: Ledger, balance: BalanceTracker, *, sent_at: float | None) -> Sample:
    # The time before the questions: all that was posted by then is in their answers.
    began = time.time()
    money = sample_of(await balance.balance(), began)
    # Only an answer about the same period can be compared with one from before it was sent.
    earlier = ledger.samples.list(before=sent_at, limit=SAMPLES)
    periods = [each.period_days for each in earlier if each.total_requests is not None and each.period_days]
    try:
        usage = sample_of(await balance.usage(int(next(iter(periods), USAGE_DAYS))), began)
    except AuthenticationError:
        raise
    except ServiceError:
        return money  # the balance alone still tells something
    spent = money.total_spent_usd if usage.total_spent_usd is None else usage.total_spent_usd
    return replace(usage, balance_usd=money.balance_usd, total_spent_usd=spent)


def compare(evidence: Evidence, *, alone: bool) -> list[Finding]:
    """What the figures say about each uncertain entry. With `alone` nobody else spent from the account.

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
    changes = _changes(evidence, _bounds(entry).sent_at)
    if not changes:
        known = ", ".join(
            f"{figure} {_written(figure, value)}"
            for figure, field in FIELDS.items()
            if (value := getattr(evidence.now, field)) is not None
        )
        reason = "No balance and no usage is known from before it was sent, to compare with."
        advice = (
            "Compare balance and usage in the service's web app with what you know of them. It stays "
            "uncertain and counts towards the spending limit."
        )
        return Finding(entry, "can't tell", "can't tell", (reason, f"Now: {known}."), advice)
    if_alone, reason, advice = _conclusion(entry, changes, evidence)
    answer: Answer = "can't tell"
    if if_alone != "can't tell" and (alone or (sandbox and if_alone == "not accepted")):
        answer, (reason, advice) = if_alone, _SURE[if_alone]
    else:
        advice = f"{advice} Until then it counts as uncertain."
    return Finding(entry, answer, if_alone, (_moves(changes), reason), advice)


def _conclusion(entry: Entry, changes: list[_Change], evidence: Evidence) -> tuple[Answer, str, str]:
    """What became of the entry if nobody else used the account, why that may be wrong, and what to do."""
    rules, began = evidence.rules, min(each.asked_at for each in changes)
    tool_at = max((each.at for each in evidence.tool_calls if _may_buy(each, began, rules)), default=None)
    if tool_at is not None:
        at = clock(local(tool_at))
        return "can't tell", f"An agent tool was called at {at}, and may have bought a clip.", _WEB_APP
    estimate = entry.estimated_cost_usd
    mine = _bounds(entry)
    ended_by, least = mine.accepted_by + PATIENCE_SECONDS, estimate * (1 - COST_SPREAD)
    mine = replace(mine, ended_by=ended_by, least_usd=least, clip=True, sure=True)
    others = [each for each in evidence.others if each.state not in _BOUGHT_NOTHING]
    bounds = [_bounds(each) for each in (*others, *evidence.uncertain) if each is not entry]
    # A sandbox's count tells at once, its money only later.
    telling = [each for each in changes if each.figure == "requests" or not rules.sandbox]
    answer = _answer(mine, bounds, telling, rules)
    if answer is None:
        reason = (
            "The figures and the clips in the ledger don't fit together: others use the account, it seems."
        )
        return "can't tell", reason, _WEB_APP
    if answer != "can't tell":
        since = clock(local(min(each.before.at for each in changes)))
        advice = (
            f"If nobody else has used the account since {since}, it was {answer}: "
            "session.reconcile(alone=True) takes your word for it."
        )
        return answer, _OTHERS[answer], advice
    in_the_end = [replace(each, now=replace(each.now, at=math.inf)) for each in telling]
    if _answer(mine, bounds, in_the_end, rules) != "not accepted":
        return answer, "Other clips may explain this as well.", _WEB_APP
    shown_by = max(evidence.now.at, mine.accepted_by if rules.sandbox else mine.ended_by)
    again = clock(local(shown_by + rules.settle_seconds + 1.0))
    reason = "It may be running still: a service may charge and count a clip when it is done."
    return answer, reason, f"Ask again after {again}: if nothing moves, it wasn't accepted."


def _may_buy(call: ToolCall, since: float, rules: Rules) -> bool:
    """Whether a tool's call may have bought something that moved a figure since then."""
    buys = call.outcome != "unsent" and not (rules.sandbox and "prompt" not in call.arguments)
    return buys and call.at + rules.tool_seconds + rules.settle_seconds > since


def _answer(
    mine: _JobBounds, others: Sequence[_JobBounds], changes: Sequence[_Change], rules: Rules
) -> Answer | None:
    """What became of `mine` if nobody else moved the figures; None if they fit neither answer."""
    fitting = {each.figure: each.fits(mine, others, rules) for each in changes}
    if not all(without or accepted for without, accepted in fitting.values()):
        return None
    # A sandbox counts what it accepts. Elsewhere money decides, as old requests leave the period.
    deciding = [found for figure, found in fitting.items() if rules.sandbox or figure != "requests"]
    sure: Figure = "requests" if rules.sandbox else "total spent"
    if sure in fitting and not any(accepted for _, accepted in fitting.values()):
        return "not accepted"
    if all(accepted for _, accepted in deciding) and not all(without for without, _ in deciding):
        return "accepted"
    return "can't tell"


@dataclass(frozen=True)
class _JobBounds:
    """What is known of a job. Times are epoch seconds.

    It costs from `least_usd` to `most_usd`. `clip`: it became one; not `sure`: it may not have been accepted.
    """

    sent_at: float
    accepted_by: float
    ended_by: float
    estimate_usd: float
    least_usd: float
    most_usd: float
    clip: bool
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
        clip=clip,
        sure=answered or entry.state == LOST,
    )


@dataclass(frozen=True)
class _Change:
    figure: Figure
    before: Sample
    now: Sample

    @property
    def values(self) -> tuple[float, float]:
        was, now = (getattr(sample, FIELDS[self.figure]) for sample in (self.before, self.now))
        return was, now

    @property
    def moved(self) -> float:
        """By how much more was spent, or counted, in between."""
        was, now = self.values
        return was - now if self.figure == "balance" else now - was

    @property
    def asked_at(self) -> float:
        """When the earlier one was asked for; if that isn't known, its answer took a minute at most."""
        return self.before.at - DEADLINE_SECONDS if self.before.asked_at is None else self.before.asked_at

    def fits(self, mine: _JobBounds, others: Sequence[_JobBounds], rules: Rules) -> tuple[bool, bool]:
        """Whether the figure fits if `mine` wasn't accepted, and if it was."""
        move, slack = (self._count, 0.5) if self.figure == "requests" else (self._money, ROUNDING_USD)
        moves = [move(each, rules) for each in others]
        least, most = sum(low for low, _ in moves) - slack, sum(high for _, high in moves) + slack
        if self.figure == "requests" and not rules.sandbox:
            most = math.inf  # it may count every request, such as that for the balance
        own_least, own_most = move(mine, rules)
        return least <= self.moved <= most, least + own_least <= self.moved <= most + own_most

    def _money(self, job: _JobBounds, rules: Rules) -> tuple[float, float]:
        """The least and the most that a job moves it by, whether charged at its acceptance or its end."""
        if job.ended_by + rules.follow_seconds < self.asked_at:
            return 0.0, 0.0
        least = 0.0
        if job.sent_at < self.before.at:
            # If charged before, part of it may be paid back when the job ends, or all if it fails.
            least = min(0.0, job.least_usd - job.estimate_usd)
        elif job.sure and job.ended_by + rules.settle_seconds <= self.now.at:
            least = job.least_usd
        return least, max(job.estimate_usd, job.most_usd)

    def _count(self, job: _JobBounds, rules: Rules) -> tuple[float, float]:
        """The same for the count. A sandbox counts what it accepts; elsewhere only clips surely count."""
        by = job.accepted_by if rules.sandbox else job.ended_by
        inside = job.sent_at >= self.before.at and by + rules.settle_seconds <= self.now.at
        counts = job.sure and (job.clip or rules.sandbox)
        return float(inside and counts), float(by + rules.follow_seconds >= self.asked_at)


def _changes(evidence: Evidence, sent_at: float) -> list[_Change]:
    """Each figure now, compared with the newest from before that time, if there is one."""
    found = []
    for figure, field in FIELDS.items():
        known = [each for each in evidence.samples if getattr(each, field) is not None]
        before = max((each for each in known if each.at < sent_at), key=lambda each: each.at, default=None)
        if before is not None and getattr(evidence.now, field) is not None:
            change = _Change(figure, before, evidence.now)
            # A balance that rose was topped up, by an unknown amount.
            topped_up = figure == "balance" and change.moved < -ROUNDING_USD
            if not topped_up and (figure != "requests" or _nothing_left(before, evidence.now)):
                found.append(change)
    return found


def _nothing_left(before: Sample, now: Sample) -> bool:
    """Whether no old clip left the period meanwhile, which would take its cost and length with it."""
    if before.period_days != now.period_days:
        return False
    figures = [(each.total_spent_usd, each.total_cost_usd, each.total_seconds) for each in (before, now)]
    if None in (*figures[0], *figures[1]):
        return False
    spent, cost, seconds = ((second or 0.0) - (first or 0.0) for first, second in zip(*figures, strict=True))
    return cost >= spent - ROUNDING_USD and seconds >= -SAME_SECONDS


def _moves(changes: Sequence[_Change]) -> str:
    said, still = [], []
    for each in changes:
        was, now = (_written(each.figure, value) for value in each.values)
        if each.moved:
            earlier, later = clock(local(each.before.at)), clock(local(each.now.at))
            said.append(f"{each.figure} {was} at {earlier} → {now} at {later}")
        else:
            still.append(each.figure)
    if still:
        since = clock(local(min(each.before.at for each in changes)))
        said.append(f"{' and '.join(still)} unchanged since {since}")
    text = "; ".join(said)
    return f"{text[0].upper()}{text[1:]}."


def _written(figure: Figure, amount: float) -> str:
    return f"{amount:g}" if figure == "requests" else exact_dollars(amount)
