"""What to spend the key's next request on: pure, the time is an argument. `watching.py` carries it out.

A question has a price, in seconds of people's waiting: what is lost when it finds the job still running. It
is worth asking once the waiting that it is likely to end outweighs that price. The budget says what may go
out, the beliefs say what is likely; this module only weighs the one against the other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ... import wire
from .budget import Budget, Purpose
from .estimates import MOST_ASKS_A_MINUTE, TINY, Belief

# The shares and limits below were found with tests/benchmarks/bench_polling.py, which shows what they reach.
TIME_SPREAD = 1.3  # how wide the times of like jobs are taken to lie, in typical times
HIGHEST_PRICE = 5.0  # in typical times
JOBS_SHARE = 0.8  # of the key's requests that one job may take: leaves room for a person's click
SUBMIT_SHARE = 0.5  # of a window's places, while submissions wait: else later windows find nothing to ask
SUBMIT_SHARE_OF_FIXED = 0.4  # where a window's last moments still serve for questions
SOON_SECONDS = 30.0
LOOK_AHEAD_SECONDS = 20.0  # a job that ends by then won't need the place that a question takes now
LEAST_NEED = 0.5
LIKELY = 0.6  # a question that may use the places kept for a person's click
LAST_MOMENT_SECONDS = 1.5
LAST_MOMENT_PRICE = 0.1
LONGEST_SILENCE_SECONDS = 300.0
LONGEST_NAP_SECONDS = 5.0
SHORTEST_NAP_SECONDS = 0.25
NAP_SHARE = 0.8


@dataclass(frozen=True)
class Submit:
    """Send the next waiting submission now."""


@dataclass(frozen=True)
class Ask:
    """Ask about `job` now."""

    job: str


@dataclass(frozen=True)
class Wait:
    """Nothing before `until` (seconds of the steady clock), unless something new is known."""

    until: float


Decision = Submit | Ask | Wait


@dataclass(frozen=True)
class _Terms:
    """What a question costs at this moment.

    `turn_seconds` is how long it takes to ask about all jobs once; `few` jobs leave places for what comes;
    `share` is that of the price that has to be paid.
    """

    turn_seconds: float
    most_a_minute: int
    few: bool
    share: float = 1.0


def decide(beliefs: Mapping[str, Belief], waiting: int, budget: Budget, now: float) -> Decision:
    """The best use of the key's next request.

    `beliefs` holds every job that is watched, by its id, and `waiting` counts the submissions that have
    yet to go out. Carry the decision out, tell the budget and the belief, and decide again; decide also when
    a job or a submission comes to it.
    """
    jobs = len(beliefs) + waiting
    opens_at = budget.opens_at(now)
    if opens_at > now:
        return Wait(opens_at)
    keep = budget.kept_free(Purpose.POLL, jobs)
    lost_at = budget.lost_at(now)
    last_moment = math.inf if lost_at is None or keep else lost_at - LAST_MOMENT_SECONDS
    terms = _terms(jobs, budget, keep, now)
    if now >= last_moment:  # what the window's end takes anyway is cheap
        terms = replace(terms, share=LAST_MOMENT_PRICE)
    job, wake_at = _ripest(beliefs, terms, now)
    if now < last_moment:
        wake_at = min(wake_at, last_moment)
    asks_at = budget.opens_at(now, keep)
    # The kept places are for a person's click, and for a clip that is likely to be there.
    if job is not None and asks_at > now and beliefs[job].chance_ended(now) < LIKELY:
        job, wake_at = None, min(asks_at, now + LONGEST_NAP_SECONDS)
    submit_share = SUBMIT_SHARE if lost_at is None else SUBMIT_SHARE_OF_FIXED
    if waiting and (job is None or _submitted_lately(beliefs, budget, now) < submit_share * budget.limit):
        return Submit()
    return Wait(wake_at) if job is None else Ask(job)


def price_seconds(turn_seconds: float, typical_seconds: float) -> float:
    """What a question that finds the job still running costs, in seconds of waiting.

    `turn_seconds` is the time in which the budget could ask about every job once, `typical_seconds` the time
    such a job takes. Times that spread over a span R end at a rate 1/R, and a question every t seconds then
    ends a waiting of t²/2R: the price is such that the jobs together ask just as often as the budget allows.
    """
    price = turn_seconds**2 / (TIME_SPREAD * typical_seconds)
    return min(price, HIGHEST_PRICE * typical_seconds)


def expected_at(belief: Belief, jobs: int, budget: Budget, now: float) -> float:
    """When the next question about a job is to be expected, with `jobs` jobs in all: for a person to see."""
    keep = budget.kept_free(Purpose.POLL, jobs)
    terms = _terms(jobs, budget, keep, now)
    soonest = max(now, belief.may_be_asked_at(terms.most_a_minute))
    late, step = soonest, SHORTEST_NAP_SECONDS
    while step < LONGEST_SILENCE_SECONDS and _ripeness(belief, terms, late) < 1:
        soonest, late, step = late, late + step, 1.5 * step
    while late - soonest > SHORTEST_NAP_SECONDS:
        middle = (soonest + late) / 2
        soonest, late = (soonest, middle) if _ripeness(belief, terms, middle) >= 1 else (middle, late)
    return max(late, budget.opens_at(now, keep))


def _terms(jobs: int, budget: Budget, keep: int, now: float) -> _Terms:
    most = most_asks_a_minute(budget.limit)
    # At the pace of a window, or of what is left for now.
    soon = SOON_SECONDS / max(0.5, budget.places_within(SOON_SECONDS, now, keep))
    turn = jobs * max(budget.window_seconds / max(1, budget.limit - keep), soon)
    return _Terms(max(turn, wire.RATE_WINDOW_SECONDS / most), most, few=keep > 0)


def most_asks_a_minute(limit: int) -> int:
    """How many requests one job may take in a minute, its submission included, of a key's `limit`."""
    return max(1, min(int(JOBS_SHARE * limit), MOST_ASKS_A_MINUTE))


def _ripest(beliefs: Mapping[str, Belief], terms: _Terms, now: float) -> tuple[str | None, float]:
    """The job most worth asking about, or None; and when to look again."""
    best, most, wake_at = None, 1.0, now + LONGEST_NAP_SECONDS
    for job, belief in _candidates(beliefs):
        if (rested_at := belief.may_be_asked_at(terms.most_a_minute)) > now:
            wake_at = min(wake_at, rested_at)
            continue
        ripeness = _ripeness(belief, terms, now)
        if ripeness >= most:
            best, most = job, ripeness
        elif ripeness < 1:
            # It grows about as the square of the silence, or faster: go most of the way and look again.
            silence = now - belief.known_at
            nap = min(NAP_SHARE * silence * (1 / math.sqrt(max(ripeness, 1e-6)) - 1), silence)
            wake_at = min(wake_at, now + max(nap, SHORTEST_NAP_SECONDS))
    return best, wake_at


def _ripeness(belief: Belief, terms: _Terms, now: float) -> float:
    """How much a question is worth its price: asked from 1 on."""
    silence = now - belief.known_at
    price = terms.share * price_seconds(terms.turn_seconds, belief.pace.typical_seconds)
    if terms.few:
        price *= max(LEAST_NEED, 1.0 - belief.chance_ended(now + LOOK_AHEAD_SECONDS))
    chance = belief.chance_ended(now)
    # Only a question that fails costs its price: one that succeeds has to be asked some time anyway.
    costs = price * max(1.0 - chance, TINY)
    ripeness = 0.5 * silence * chance / costs
    if ripeness > 0.5:  # else a rough figure will do
        ripeness = belief.waited_seconds(now, chance) / costs
    # Whatever is believed, nobody is forgotten.
    return max(ripeness, silence / LONGEST_SILENCE_SECONDS)


def _candidates(beliefs: Mapping[str, Belief]) -> list[tuple[str, Belief]]:
    """The jobs among which the ripest must be: of like ones never asked about, only the oldest counts."""
    asked = []
    oldest: dict[int, tuple[str, Belief]] = {}
    for job, belief in beliefs.items():
        if belief.under_way:
            continue
        if belief.asked_before:
            asked.append((job, belief))
            continue
        first = oldest.get(id(belief.pace))
        if first is None or belief.submitted_at < first[1].submitted_at:
            oldest[id(belief.pace)] = job, belief
    return [*asked, *oldest.values()]


def _submitted_lately(beliefs: Mapping[str, Belief], budget: Budget, now: float) -> int:
    return sum(now - belief.submitted_at < budget.window_seconds for belief in beliefs.values())
