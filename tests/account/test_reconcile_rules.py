"""What the figures prove of submissions that were never answered, against accounts whose truth is known."""

import math
import re
from dataclasses import dataclass, replace
from typing import NamedTuple

import pytest
from account.accounts import BOX, EVERY_HABIT, HABIT, LATE, NOON, Habit, Truth, entry, figures
from hypothesis import given, settings
from hypothesis import strategies as st

from reelbook.account.reconcile import LIVE, SANDBOX, Answer, Evidence, Finding, Rules, compare
from reelbook.ledger import Entry, Sample, ToolCall
from reelbook.ledger.tool_calls import Outcome

HOUR = 3600.0


def told(
    uncertain: list[Entry],
    before: list[Sample],
    now: Sample,
    *,
    others: list[Entry] | None = None,
    alone: bool = False,
    rules: Rules = LIVE,
    tool_calls: list[ToolCall] | None = None,
) -> list[Finding]:
    at_once = [replace(sample, asked_at=sample.at) for sample in before]
    evidence = Evidence(uncertain, others or [], at_once, now, rules, tool_calls or [])
    return compare(evidence, alone=alone)


FRESH = figures([], HABIT, -10)
USED = figures([Truth(-60, -30)], BOX, -10)


class Case(NamedTuple):
    """One uncertain submission at noon, and what is known of the account."""

    says: str
    now: Sample
    if_alone: Answer
    before: tuple[Sample, ...] = (FRESH,)
    rules: Rules = LIVE
    answer: Answer = "can't tell"


TAKEN = [Truth(1)]
DONE = [Truth(1, 60)]
LATER = figures([], HABIT, 8 * HOUR)
CHEAP, DEAR = (Truth(5, 50, estimate=usd, cost=usd) for usd in (0.05, 0.5))
CASES = [
    Case("nothing from before", figures([], HABIT, 90), "can't tell", before=()),
    Case("nothing moved, an hour later", figures([], HABIT, HOUR + 60), "can't tell"),
    Case("nothing moved, eight hours later", LATER, "not accepted"),
    Case("charged at once", figures(TAKEN, HABIT, 40), "accepted"),
    Case("counted and charged at the end", figures(DONE, LATE, 120), "accepted"),
    Case("counted, not paid, eight hours later", replace(LATER, total_requests=1), "not accepted"),
    Case(
        "the balance alone, eight hours later",
        Sample(NOON + 8 * HOUR, balance_usd=25.0),
        "can't tell",
        before=(Sample(NOON - 10, balance_usd=25.0),),
    ),
    Case("somebody bought a cheaper clip", figures([CHEAP], HABIT, 8 * HOUR), "can't tell"),
    Case("somebody bought a dearer clip", figures([DEAR], HABIT, 8 * HOUR), "can't tell"),
    Case("figures that are no numbers", replace(LATER, total_spent_usd=math.nan), "can't tell"),
    Case("less was spent than before", replace(LATER, total_spent_usd=-1.0), "can't tell"),
    Case("a sandbox counted one", figures([Truth(1)], BOX, 10), "accepted", rules=SANDBOX),
    Case("a sandbox counted none", figures([], BOX, 10), "not accepted", (FRESH,), SANDBOX, "not accepted"),
    Case("a sandbox was asked too soon", figures([], BOX, 4), "can't tell", rules=SANDBOX),
    Case("a sandbox began anew", figures([], BOX, 10), "can't tell", (USED,), SANDBOX),
    Case(
        "a sandbox whose count wasn't known before",
        figures([], BOX, 10),
        "can't tell",
        (figures([], BOX, -10, usage=False),),
        SANDBOX,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.says)
def test_what_the_figures_carry_is_concluded_and_no_more(case: Case) -> None:
    """Each case has one honest answer, and one if the person knows that nobody else used the account."""
    (plain,) = told([entry(1)], list(case.before), case.now, rules=case.rules)
    (word,) = told([entry(1)], list(case.before), case.now, rules=case.rules, alone=True)
    assert (plain.answer, plain.if_alone, word.answer) == (case.answer, case.if_alone, case.if_alone)


def test_of_equal_ones_only_the_number_can_be_told() -> None:
    """If one of two is charged, nobody can tell which; if both are, or none, it is certain."""
    pair = [entry(1), entry(2, sent=0.5)]
    for number, answer in ((0, "not accepted"), (1, "can't tell"), (2, "accepted")):
        now = figures([Truth(1, 60), Truth(2, 70)][:number], HABIT, 8 * HOUR)
        found = told(pair, [FRESH], now, alone=True)
        assert [each.answer for each in found] == [answer, answer]


def test_a_dear_one_is_told_from_a_cheap_one() -> None:
    """The dear one's price is gone, which the cheap one can't explain; of the cheap one nothing is known."""
    pair = [entry(1, estimated_cost_usd=0.05), entry(2, sent=0.5, estimated_cost_usd=0.5)]
    now = figures([Truth(2, 60, estimate=0.5, cost=0.42)], HABIT, 8 * HOUR)
    found = told(pair, [FRESH], now, alone=True)
    assert [each.answer for each in found] == ["can't tell", "accepted"]


def test_known_clips_explain_what_they_cost() -> None:
    """What the ledger's own clip cost isn't taken for the uncertain one's."""
    known = entry(
        2,
        "completed",
        sent=5,
        request_id="r",
        accepted_at=NOON + 6,
        ended_at=NOON + 50,
        cost_usd=0.24,
        took_seconds=44.0,
    )
    mine = Truth(5.5, 48, cost=0.24)
    now = 8 * HOUR
    (nothing,) = told([entry(1)], [FRESH], figures([mine], HABIT, now), others=[known], alone=True)
    (more,) = told([entry(1)], [FRESH], figures([mine, Truth(1, 40)], HABIT, now), others=[known], alone=True)
    assert (nothing.answer, more.answer) == ("not accepted", "accepted")


@pytest.mark.parametrize(
    ("mine", "habit", "answer"),
    [  # a clip that isn't posted yet, a failed job that was paid back, and one that isn't counted
        (Truth(7.9 * HOUR, 7.9 * HOUR + 60, follows=HOUR), LATE, "can't tell"),
        (Truth(-60, 60, clip=False), HABIT, "can't tell"),
        (Truth(30, 60, clip=False), LATE, "not accepted"),
    ],
)
def test_an_own_job_that_explains_less_than_it_may_is_allowed_for(
    mine: Truth, habit: Habit, answer: str
) -> None:
    """What it cost or got back may hide the lost one, so that nothing seems to have moved."""
    lost = [] if answer == "not accepted" else [Truth(1, 60)]
    before, now = (figures([mine, *lost], habit, at) for at in (-10, 8 * HOUR))
    known = [known_entry(9, mine, 8 * HOUR)]
    (found,) = told([entry(1)], [before], now, others=known, alone=True)
    assert found.answer == answer


def test_what_to_do_is_said() -> None:
    """If it is too early: when to ask again. If nothing is known from before: the figures now."""
    (found,) = told([entry(1)], [FRESH], figures([], HABIT, 60))
    assert "Ask again after" in found.advice
    assert "running still" in found.reasons[1]
    (found,) = told([entry(1)], [], figures(TAKEN, HABIT, 60))
    assert re.search(r"known from before .*Now: balance \$24\.75, spent \$0\.25\.", str(found), re.DOTALL)
    assert "web app" in found.advice


# An account is made up: a habit, jobs of the ledger's own, those of others, uncertain ones with their truth.
moments = st.integers(-2000, 2000).map(float)
prices = st.sampled_from([0.05, 0.25, 0.5])
FOLLOWS = (0.0, 1.0, 25.0, 590.0, HOUR, 5 * HOUR)


@st.composite
def jobs(draw: st.DrawFn, first: float, last: float) -> Truth:
    accepted = draw(st.integers(int(first), int(last))) + 0.5
    estimate = draw(prices)
    ended = accepted + draw(st.sampled_from([3, 40, 200, 900]))
    cost = round(estimate * draw(st.sampled_from([0.85, 1.0, 1.15])), 4)
    return Truth(accepted, ended, draw(st.booleans()), estimate, cost, draw(st.sampled_from(FOLLOWS)))


def known_entry(number: int, job: Truth, now: float) -> Entry:
    """The ledger's row of an answered job, noticed ten seconds after its end."""
    sent, accepted, noticed = job.accepted - 0.5, job.accepted + 0.4, job.ended + 10
    row = entry(number, "processing", sent=sent, request_id=f"r{number}", accepted_at=NOON + accepted)
    row = replace(row, estimated_cost_usd=job.estimate)
    if noticed > now:
        return row
    state = "completed" if job.clip else "failed"
    took = noticed - accepted if job.clip else None
    return replace(
        row, state=state, ended_at=NOON + noticed, cost_usd=job.cost if job.clip else None, took_seconds=took
    )


@dataclass(frozen=True)
class World:
    """A made-up account: its uncertain entries with what became of each, and all that is known of it."""

    uncertain: list[Entry]
    taken: list[Truth | None]
    own: list[Truth]
    samples: list[Sample]

    def findings(self, *, alone: bool, rules: Rules) -> list[Finding]:
        *before, now = self.samples
        others = [known_entry(100 + n, job, now.at - NOON) for n, job in enumerate(self.own)]
        return told(self.uncertain, before, now, others=others, alone=alone, rules=rules)


def world(data: st.DataObject, habit: Habit, *, strangers: bool, lag: float) -> World:
    """No figure follows later than `lag` seconds."""
    now = data.draw(st.sampled_from([1.0, 20.0, 45.0, 120.0, 1500.0, 8 * HOUR, 11 * HOUR, 30 * HOUR]))
    some = jobs(-2000, min(int(now), 2000)) | jobs(now - 900, now)
    own = data.draw(st.lists(some, max_size=4))
    others = data.draw(st.lists(some, max_size=3)) if strangers else []
    suspects = data.draw(
        st.lists(st.tuples(jobs(0, 0), st.booleans(), st.integers(0, 30)), min_size=1, max_size=4)
    )
    uncertain, taken = [], []
    for number, (job, accepted, late) in enumerate(suspects):
        sent = float(late)
        uncertain.append(replace(entry(number, sent=sent), estimated_cost_usd=job.estimate))
        taken.append(replace(job, accepted=sent + 0.5, ended=job.ended + sent) if accepted else None)
    now += max(row.sent_at or 0.0 for row in uncertain) - NOON + 2
    everything = [
        replace(job, follows=min(job.follows, lag)) for job in (*own, *others, *taken) if job is not None
    ]
    times = sorted(
        {*data.draw(st.lists(moments, max_size=6)), data.draw(st.sampled_from([-1.0, -30.0, -500.0]))}
    )
    samples: list[Sample] = []
    for at in [*(at for at in times if at < now), now]:
        usage = data.draw(st.booleans())
        requests = sum(job.ended + 10 <= at for job in own) + 2 * len(samples)
        samples.append(figures(everything, habit, at, requests=requests, usage=usage or at == now))
    return World(uncertain, taken, own, samples)


def check_not_accepted(found: Finding, truth: Truth | None, habit: Habit) -> None:
    """One that failed, unpaid, is the same as one that was never taken."""
    if found.answer != "not accepted" or truth is None:
        return
    assert not truth.clip
    assert truth.money(habit.spent_at, habit, math.inf) == 0.0


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_not_accepted_is_never_wrong(data: st.DataObject) -> None:
    """Whatever the service's habit, also where it posts costs hours late."""
    habit = data.draw(st.sampled_from(EVERY_HABIT))
    made = world(data, habit, strangers=False, lag=5 * HOUR)
    for found, truth in zip(made.findings(alone=True, rules=LIVE), made.taken, strict=True):
        check_not_accepted(found, truth, habit)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_accepted_is_true_where_figures_follow_within_minutes(data: st.DataObject) -> None:
    """Whatever the service's habit, whatever else the ledger's clips cost."""
    habit = data.draw(st.sampled_from(EVERY_HABIT))
    made = world(data, habit, strangers=False, lag=590.0)
    for found, truth in zip(made.findings(alone=True, rules=LIVE), made.taken, strict=True):
        assert found.answer != "accepted" or truth is not None
        check_not_accepted(found, truth, habit)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_a_sandbox_that_many_share_gives_no_wrong_answer(data: st.DataObject) -> None:
    """Others only add to what it counts, so what isn't counted wasn't accepted; the rest stays open."""
    made = world(data, BOX, strangers=True, lag=4.0)
    for found, truth in zip(made.findings(alone=False, rules=SANDBOX), made.taken, strict=True):
        assert found.answer != "accepted"
        assert found.answer != "not accepted" or truth is None


def test_the_made_up_accounts_do_get_sure_answers() -> None:
    """For every habit the truth comes out in the end where the person is alone: the tests above can fail."""
    for habit in EVERY_HABIT:
        before = figures([], habit, -10, requests=3)
        for job in (None, Truth(1, 60)):
            jobs = [] if job is None else [job]
            (found,) = told([entry(1)], [before], figures(jobs, habit, 8 * HOUR, requests=5), alone=True)
            assert found.answer == ("not accepted" if job is None else "accepted")


def call(outcome: Outcome | None = "done", *, prompt: bool = True, at: float = 0.0) -> ToolCall:
    arguments = {"prompt": "a fox"} if prompt else {}
    return ToolCall(
        1, NOON + at, "https://tools.example:443", "tool", arguments, True, outcome, 2.0, (), None
    )


@pytest.mark.parametrize(
    ("made", "live", "sandbox"),
    [
        (call(), True, True),
        (call(prompt=False), True, False),
        (call("unsent"), False, False),
        (call("uncertain"), True, True),
        (call(None), True, True),
        (call(at=-60), True, True),
        (call(at=-100), True, False),
        (call(at=-31 * HOUR), False, False),
    ],
)
def test_a_tools_call_that_may_have_bought_a_clip_leaves_it_open(
    made: ToolCall, live: bool, sandbox: bool
) -> None:
    """Elsewhere any tool may cost money, up to a day later; a sandbox's buys what has a prompt, at once."""
    for rules, habit, open_ in ((LIVE, HABIT, live), (SANDBOX, BOX, sandbox)):
        now = figures([], habit, 8 * HOUR)
        (found,) = told([entry(1)], [FRESH], now, alone=True, rules=rules, tool_calls=[made])
        assert found.answer == ("can't tell" if open_ else "not accepted")
        assert ("agent tool" in " ".join(found.reasons)) == open_
