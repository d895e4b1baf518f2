"""What the figures prove of submissions that were never answered, against accounts whose truth is known."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from session.accounts import HABIT, LATE, NOON, Truth, entry, figures

from reelbook.ledger import Entry, Sample
from reelbook.session import evidence
from reelbook.session.comparing import Told, compare
from reelbook.session.evidence import EVERY_HABIT, SANDBOX, Course, Habit, Rules, Span

HOUR = 3600.0


def told(
    uncertain: list[Entry],
    before: list[Sample],
    now: Sample,
    *,
    others: list[Entry] | None = None,
    alone: bool = False,
    rules: Rules | None = None,
) -> list[Told]:
    at_once = {sample.at: sample.at for sample in before}
    return compare(uncertain, others or [], before, now, rules or Rules(), alone=alone, asked_at=at_once)


def only(*habits: Habit) -> Rules:
    return Rules(habits)


FRESH = figures([], HABIT, -10)


@dataclass(frozen=True)
class Case:
    """One uncertain submission at noon, and what is known of the account."""

    says: str
    now: Sample
    answer: str
    if_alone: str
    before: tuple[Sample, ...] = (FRESH,)
    rules: Rules | None = None


TAKEN = [Truth(1)]
DONE = [Truth(1, 60)]
CASES = [
    Case("nothing from before", figures([], HABIT, 90), "can't tell", "can't tell", before=()),
    Case("nothing moved, a minute later", figures([], HABIT, 60), "can't tell", "can't tell"),
    Case("nothing moved, an hour later", figures([], HABIT, HOUR + 60), "not accepted", "not accepted"),
    Case("charged at once", figures(TAKEN, HABIT, 40), "can't tell", "accepted"),
    Case("counted and charged at the end", figures(DONE, LATE, 120), "can't tell", "accepted"),
    Case(
        "nothing moved, charging at acceptance is known",
        figures([], HABIT, 40),
        "not accepted",
        "not accepted",
        rules=only(HABIT),
    ),
    Case(
        "nothing moved yet, charging at acceptance is known",
        figures([], HABIT, 20),
        "can't tell",
        "can't tell",
        rules=only(HABIT),
    ),
    Case(
        "money alone, an hour later",
        figures([], HABIT, HOUR + 60, usage=False),
        "can't tell",
        "can't tell",
        before=(figures([], HABIT, -10, usage=False),),
    ),
    Case(
        "money alone, a day later",
        figures([], HABIT, 25 * HOUR, usage=False),
        "can't tell",
        "not accepted",
        before=(figures([], HABIT, -10, usage=False),),
    ),
    Case(
        "somebody got back what this one cost",
        figures([Truth(-100, 50, clip=False), Truth(1, 60)], HABIT, 25 * HOUR, usage=False),
        "can't tell",
        "not accepted",
        before=(figures([Truth(-100, 50, clip=False)], HABIT, -10, usage=False),),
    ),
    Case(
        "somebody bought a cheaper clip",
        figures([Truth(5, 50, estimate=0.05, cost=0.05)], HABIT, HOUR + 60),
        "can't tell",
        "can't tell",
    ),
    Case(
        "the balance was topped up, the rest moved",
        replace(figures(TAKEN, HABIT, 40), balance_usd=35.0),
        "can't tell",
        "accepted",
    ),
    Case(
        "the balance was topped up, the rest didn't move",
        replace(figures([], HABIT, 2 * HOUR), balance_usd=35.0),
        "not accepted",
        "not accepted",
    ),
    Case(
        "the balance fell, nothing was spent",
        replace(figures([], HABIT, 2 * HOUR), balance_usd=24.0),
        "can't tell",
        "can't tell",
    ),
    Case(
        "another period was asked for, the money didn't move",
        replace(figures([], HABIT, 2 * HOUR), period_days=7),
        "can't tell",
        "can't tell",
    ),
    Case(
        "an old clip left the period while another was counted",
        replace(figures(DONE, HABIT, 2 * HOUR), total_requests=0, total_cost_usd=0.0, total_seconds=0.0),
        "can't tell",
        "accepted",
    ),
    Case(
        "the sandbox counted one",
        figures([Truth(1)], SANDBOX.habits[0], 10),
        "can't tell",
        "accepted",
        rules=SANDBOX,
    ),
    Case(
        "the sandbox counted none",
        figures([], SANDBOX.habits[0], 10),
        "not accepted",
        "not accepted",
        rules=SANDBOX,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.says)
def test_what_the_figures_carry_is_concluded_and_no_more(case: Case) -> None:
    """Each case has one honest answer, and one more where the person knows that nobody else was there."""
    (plain,) = told([entry(1)], list(case.before), case.now, rules=case.rules)
    (word,) = told([entry(1)], list(case.before), case.now, rules=case.rules, alone=True)
    assert (plain.answer, plain.if_alone, word.answer) == (case.answer, case.if_alone, case.if_alone)


def test_of_equal_ones_only_the_number_can_be_told() -> None:
    """Two alike and one charged: which one can't be told; both charged, or none, is sure."""
    pair = [entry(1), entry(2, sent=0.5)]
    for number, answer in ((0, "not accepted"), (1, "can't tell"), (2, "accepted")):
        now = figures([Truth(1, 60), Truth(2, 70)][:number], HABIT, 2 * HOUR)
        found = told(pair, [FRESH], now, alone=True)
        assert [each.answer for each in found] == [answer, answer]
    found = told(pair, [FRESH], figures(DONE, HABIT, 2 * HOUR), alone=True)
    assert found[0].reasons[1] == "Of 2 alike 1 was accepted; which can't be told."


def test_prices_tell_unequal_ones_apart() -> None:
    """A cheap and a dear one, and the dear one's price is gone: each is sure."""
    pair = [entry(1, estimated_cost_usd=0.05), entry(2, sent=0.5, estimated_cost_usd=0.5)]
    now = figures([Truth(2, 60, estimate=0.5, cost=0.42)], HABIT, 2 * HOUR)
    found = told(pair, [FRESH], now, alone=True)
    assert [each.answer for each in found] == ["not accepted", "accepted"]


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
    now = 2 * HOUR
    (nothing,) = told([entry(1)], [FRESH], figures([mine], HABIT, now), others=[known])
    (more,) = told([entry(1)], [FRESH], figures([mine, Truth(1, 40)], HABIT, now), others=[known], alone=True)
    assert (nothing.answer, more.answer) == ("not accepted", "accepted")


def test_the_habit_is_learnt_where_the_past_shows_it() -> None:
    """An account seen to charge and count a long job at once needs no hour of patience later."""
    long = entry(
        9,
        "completed",
        sent=-3000,
        request_id="r",
        accepted_at=NOON - 2999,
        ended_at=NOON - 1000,
        cost_usd=0.25,
        took_seconds=1999.0,
    )
    job = Truth(-2999.5, -1010)
    past = [figures([job], HABIT, at, requests=3) for at in (-3100, -2500, -900, -10)]
    (plain,) = told([entry(1)], past, figures([job], HABIT, 40), others=[long])
    (unseen,) = told([entry(1)], past[-1:], figures([job], HABIT, 40), others=[long])
    assert (plain.answer, unseen.answer) == ("not accepted", "can't tell")


def test_a_service_that_counts_every_request_is_allowed_for() -> None:
    """The requests of the ledger's own clips count once each, with one status question and two on billing."""
    habit = Habit("end", "end", "all requests", charges_failed=False)
    own = [Truth(10 * n + 5.0, 100 + n) for n in range(3)]
    rows = [known_entry(10 + n, job, HOUR) for n, job in enumerate(own)]
    now = figures(own, habit, 2 * HOUR, requests=len(own) + 2)
    (found,) = told([entry(1)], [FRESH], now, others=rows, rules=only(habit))
    assert found.answer == "not accepted"


def test_a_request_that_the_figures_may_not_have_followed_yet_proves_nothing() -> None:
    """Where an own clip isn't counted yet, the lost one may stand in its place in the count."""
    habit = Habit("acceptance", "acceptance", "all requests", charges_failed=False)
    own = Truth(97.5, 100.5, clip=False, estimate=0.05, cost=0.05, follows=25.0)
    lost = Truth(0.5, 3.5, estimate=0.05, cost=0.0425)
    before = figures([], habit, -1)
    now = figures([own, lost], habit, 122, requests=1 + 2)
    row = replace(entry(1), estimated_cost_usd=0.05)
    (found,) = told([row], [before], now, others=[known_entry(9, own, 122)], alone=True)
    assert found.answer != "not accepted"


def test_an_early_look_survives_what_others_do_later() -> None:
    """Figures from soon after it was sent rule it out, though others have spent since."""
    soon = figures([], HABIT, 100)
    later = figures([Truth(500, 560)], HABIT, 2 * HOUR)
    (found,) = told([entry(1)], [FRESH, soon], later, rules=only(HABIT))
    (without,) = told([entry(1)], [FRESH], later, rules=only(HABIT))
    assert (found.answer, without.answer) == ("not accepted", "can't tell")


def test_when_to_ask_again_is_said() -> None:
    """Too early is said with the moment from which on the same figures would be enough."""
    (found,) = told([entry(1)], [FRESH], figures([], HABIT, 60))
    assert "Ask again after" in found.advice
    assert "running still" in found.reasons[1]


def test_many_unequal_ones_are_not_guessed() -> None:
    """More combinations than can be tried are no reason to guess, or to wait for ever."""
    many = [entry(n, sent=40.0 * n, estimated_cost_usd=0.05 * (1 + n % 10)) for n in range(40)]
    found = told(many, [FRESH], figures([], HABIT, 1700))
    assert {each.answer for each in found} == {"can't tell"}


# An account is made up: a habit, jobs of the ledger's own, those of others, uncertain ones with their truth.
moments = st.integers(-2000, 2000).map(float)
prices = st.sampled_from([0.05, 0.25, 0.5])


@st.composite
def jobs(draw: st.DrawFn, first: float, last: float) -> Truth:
    accepted = draw(st.integers(int(first), int(last))) + 0.5
    estimate = draw(prices)
    ended = accepted + draw(st.sampled_from([3, 40, 200, 900]))
    cost = round(estimate * draw(st.sampled_from([0.85, 1.0, 1.15])), 4)
    return Truth(
        accepted, ended, draw(st.booleans()), estimate, cost, draw(st.sampled_from([0.0, 1.0, 25.0]))
    )


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


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_a_sure_answer_is_true(data: st.DataObject) -> None:
    """Whatever the service's habit, whoever else spends: what is said for sure is so."""
    habit = data.draw(st.sampled_from(EVERY_HABIT))
    now = data.draw(st.sampled_from([1.0, 20.0, 45.0, 120.0, 1500.0, 2 * HOUR, 11 * HOUR, 30 * HOUR]))
    alone = data.draw(st.booleans())
    own = data.draw(st.lists(jobs(-2000, min(int(now), 2000)), max_size=4))
    strangers = [] if alone else data.draw(st.lists(jobs(-2000, min(int(now), 2000)), max_size=3))
    suspects = data.draw(
        st.lists(st.tuples(jobs(0, 0), st.booleans(), st.integers(0, 30)), min_size=1, max_size=4)
    )
    uncertain, taken = [], []
    for number, (job, accepted, late) in enumerate(suspects):
        sent = float(late)
        uncertain.append(replace(entry(number, sent=sent), estimated_cost_usd=job.estimate))
        taken.append(replace(job, accepted=sent + 0.5, ended=job.ended + sent) if accepted else None)
    now += max(row.sent_at or 0.0 for row in uncertain) - NOON + 2
    everything = [*own, *strangers, *(job for job in taken if job is not None)]
    times = sorted(
        {*data.draw(st.lists(moments, max_size=6)), data.draw(st.sampled_from([-1.0, -30.0, -500.0]))}
    )
    samples: list[Sample] = []
    for at in [*(at for at in times if at < now), now]:
        usage = data.draw(st.booleans())
        requests = sum(job.ended + 10 <= at for job in own) + 2 * len(samples)
        samples.append(figures(everything, habit, at, requests=requests, usage=usage or at == now))
    others = [known_entry(100 + n, job, now) for n, job in enumerate(own)]
    found = told(uncertain, samples[:-1], samples[-1], others=others, alone=alone)
    for verdict, truth in zip(found, taken, strict=True):
        if verdict.answer == "accepted":
            assert truth is not None
        elif verdict.answer == "not accepted" and truth is not None:
            # One that failed, unpaid and uncounted, is the same as never taken.
            assert not truth.clip
            assert truth.money(habit.spent_at, habit, math.inf) == 0.0
            compared = any(change.figure == "requests" for change in verdict.changes)
            assert habit.counts in ("clips", "all requests") or not compared


def test_the_made_up_accounts_do_get_sure_answers() -> None:
    """For every habit the truth comes out in the end where the person is alone: the test above can fail."""
    for habit in EVERY_HABIT:
        before = figures([], habit, -10, requests=3)
        for job in (None, Truth(1, 60)):
            jobs = [] if job is None else [job]
            (found,) = told([entry(1)], [before], figures(jobs, habit, 2 * HOUR, requests=5), alone=True)
            assert found.answer == ("not accepted" if job is None else "accepted")


def test_a_job_is_only_looked_at_where_it_may_have_moved_something(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of recent jobs are no reason to wait: each touches few of the readings, and once each."""
    looked: list[Course] = []
    move = evidence._move

    def counted(course: Course, *rest: Any) -> Span:
        looked.append(course)
        return move(course, *rest)

    monkeypatch.setattr(evidence, "_move", counted)
    known = {"request_id": "r", "cost_usd": 0.25, "took_seconds": 60.0}
    others = [
        entry(n, "completed", sent=n * 60, accepted_at=NOON + n * 60, ended_at=NOON + n * 60 + 60, **known)
        for n in range(1, 201)
    ]
    jobs = [Truth(n * 60, n * 60 + 60) for n in range(1, 201)]
    before = [figures(jobs, HABIT, seconds) for seconds in range(0, 13_000, 200)]
    now = figures(jobs, HABIT, 20_000)
    (found,) = told([entry(300, sent=13_000)], before, now, others=others)
    assert found.changes
    # Every job in every reading, for every habit, would be more than a thousand looks at each.
    assert len(looked) < 60 * len(others)
