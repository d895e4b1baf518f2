"""What to spend the key's next request on: pure, the time is an argument. `scheduler.py` carries it out.

A question has a price, in seconds of people's waiting: what is lost when it finds the job still running. It
is worth asking once the waiting that it is likely to end outweighs that price. The price follows from how
many questions the budget has to spare, the waiting from what is believed of the jobs. Where the typical time
of like jobs is in doubt, one question answers for all of them, so doubt makes it cheap.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from .budget import Budget, Purpose
from .estimates import MOST_ASKS_A_MINUTE, TINY, Belief

# The figures below were found with tests/benchmarks/bench_polling.py, which shows what they reach.

# The price of a question that fails.
SCARCITY = 0.72  # in spreads, where each job has one question to spare
TURNS = 1.2  # in turns, where there is none to spare
LATER_SHARE = 0.5  # of the time until a place comes back, where only a later window has some to spare
LOST_TURN = 2.0  # in the time until a fixed window ends, where the job can't be asked again before that
LOST_WINDOW = 30.0  # likewise, where the whole batch then takes a window longer
LOWEST_PRICE_SECONDS = 0.3
ENOUGH = 2.0  # questions to spare for what jobs share; more of them say the same again
LEARNING = 0.35  # how much doubt that jobs share lowers the price where none is to spare: a power
LAST_MOMENT_PRICE = 0.1  # of the price, for places that a window's end takes anyway
LAST_MOMENT_SECONDS = 1.5

# How far ahead the budget is looked at.
SPAN = 6.4  # spreads in which the ends of like jobs lie
LONGEST_SPAN = 2.0  # ages: where little is known, the near future counts
WIDEST_SPREAD = 1.8

# Who gets the places.
SOON = 0.44  # of the time until a place comes back: one is kept for a job whose end is noticed by then
SOON_IF_LONG = 0.2  # likewise, while the jobs aren't surely short
SURELY = 1.3  # spreads after its typical time at which a job is asked about that has one question
SHORT = 0.75  # of a window: jobs that surely take less are asked about before others are submitted
SUBMIT_SHARE = 0.5  # of a window's places, while submissions wait: else later windows find nothing to ask
SUBMIT_SHARE_OF_FIXED = 0.4  # where a window's last moments still serve for questions
JOBS_SHARE = 0.8  # of the key's requests that one job may take: leaves room for a person's click
LIKELY = 0.6  # a question that may use the places kept for a person's click

MOMENT_SECONDS = 2.0  # over which the places of one lot come back, since answers take their time
WATCHED_SECONDS = 0.5  # a job that was accepted so long ago and isn't watched will not be
LONGEST_SILENCE_SECONDS = 300.0
LONGEST_NAP_SECONDS = 5.0
SHORTEST_NAP_SECONDS = 0.25
NAP_SHARE = 0.8
OVERSLEPT = 1.5  # ripeness that a nap mustn't reach


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
class _Supply:
    """What the budget has to give at a moment, and what the jobs need of it.

    `places` requests fit at once, and the next one comes back after `back_seconds`; `keep` of them are left
    free for what comes. The `jobs`, of which `waiting` have yet to be submitted and `sent` aren't watched
    yet, need `needed` requests at the least, beside the `asked` questions that are on their way.
    `alike` counts the jobs of each pace, and `answering` holds the paces of which an answer is on its way.
    Places come back `in_lots` where windows are fixed.
    `share` is that of its price which a question has to pay.
    """

    budget: Budget
    now: float
    keep: int
    jobs: int
    waiting: int
    sent: int
    places: int
    back_seconds: float
    needed: int
    asked: int
    alike: Counter[int]
    answering: frozenset[int]
    in_lots: bool
    share: float = 1.0

    @property
    def slack(self) -> int:
        """How many places the last window has left over if every question succeeds."""
        spare = self.places - self.needed
        return spare if spare >= 0 else spare % self.budget.limit

    @property
    def turn_seconds(self) -> float:
        """How long it takes to ask about every job once."""
        return self.jobs * self.budget.window_seconds / self.budget.limit

    def places_within(self, seconds: float) -> float:
        """How many requests the budget allows in that time."""
        budget, window = self.budget, self.budget.window_seconds
        later = max(0.0, seconds - window) / window * (budget.limit - self.keep)
        return budget.places_within(min(seconds, window), self.now) + later


def decide(
    beliefs: Mapping[str, Belief], waiting: int, budget: Budget, now: float, *, sent: int = 0
) -> Decision:
    """The best use of the key's next request.

    `beliefs` holds every job that is watched, by its id, `waiting` counts the submissions that have yet to
    go out, and `sent` those that did and aren't watched yet. Carry the decision out, tell the budget and the
    belief, and decide again; decide also when a job or a submission comes to it.
    """
    opens_at = budget.opens_at(now)
    if opens_at > now:
        return Wait(opens_at)
    supply = _supply(beliefs, waiting, sent, budget, now)
    lost_at = budget.lost_at(now)
    last_moment = math.inf if lost_at is None or supply.keep else lost_at - LAST_MOMENT_SECONDS
    if now >= last_moment:  # what the window's end takes anyway is cheap
        supply = replace(supply, share=LAST_MOMENT_PRICE)
    job, wake_at = _ripest(beliefs, supply, now)
    if now < last_moment:
        wake_at = min(wake_at, last_moment)
    asks_at = budget.opens_at(now, supply.keep)
    # The kept places are for a person's click, and for a clip that is likely to be there.
    if job is not None and asks_at > now and beliefs[job].chance_ended(now) < LIKELY:
        job, wake_at = None, min(asks_at, now + LONGEST_NAP_SECONDS)
    if waiting and _may_submit(beliefs, job, supply, now):
        return Submit()
    if job is not None:
        return Ask(job)
    return Wait(min(wake_at, now + WATCHED_SECONDS) if sent else wake_at)


def expected_at(job: str, beliefs: Mapping[str, Belief], waiting: int, budget: Budget, now: float) -> float:
    """When the next question about a job is to be expected: for a person to see."""
    belief, supply = beliefs[job], _supply(beliefs, waiting, 0, budget, now)
    soonest = max(now, belief.may_be_asked_at(most_asks_a_minute(budget.limit)))
    late, step = soonest, SHORTEST_NAP_SECONDS
    while step < LONGEST_SILENCE_SECONDS and _ripeness(belief, supply, late) < 1:
        soonest, late, step = late, late + step, 1.5 * step
    while late - soonest > SHORTEST_NAP_SECONDS:
        middle = (soonest + late) / 2
        soonest, late = (soonest, middle) if _ripeness(belief, supply, middle) >= 1 else (middle, late)
    return max(late, budget.opens_at(now, supply.keep))


def most_asks_a_minute(limit: int) -> int:
    """How many requests one job may take in a minute, its submission included, of a key's `limit`."""
    return max(1, min(int(JOBS_SHARE * limit), MOST_ASKS_A_MINUTE))


def price_seconds(spread_seconds: float, spare: float, highest: float) -> float:
    """What a question that finds the job still running costs, in seconds of waiting.

    `spread_seconds` is how uncertain the job's end is, and `spare` how many questions about it may fail.
    With n to spare they are spread evenly over the time in which the end may lie, one every spread/n, and a
    waiting of about spread/n² is what each of them is there to end. With less than one, the question has to
    wait until failing is as rare as that, which comes to spread/n. `highest` is the price where none is to
    spare.
    """
    if spare <= 0:
        return max(LOWEST_PRICE_SECONDS, highest)
    price = SCARCITY * spread_seconds / (spare * max(1.0, spare))
    return max(LOWEST_PRICE_SECONDS, min(price, highest))


def _supply(beliefs: Mapping[str, Belief], waiting: int, sent: int, budget: Budget, now: float) -> _Supply:
    jobs = len(beliefs) + waiting + sent
    asked = sum(belief.under_way for belief in beliefs.values())
    # Where none is free and one may go out all the same, a new window is likely to have begun.
    places = budget.places_within(MOMENT_SECONDS, now) or budget.limit
    back_at = budget.back_at(now + MOMENT_SECONDS) if places < budget.limit else now + budget.window_seconds
    if (lost_at := budget.lost_at(now)) is not None:
        back_at = min(back_at, max(now, lost_at))
    return _Supply(
        budget,
        now,
        keep=budget.kept_free(Purpose.POLL, jobs),
        jobs=jobs,
        waiting=waiting,
        sent=sent,
        places=places,
        back_seconds=back_at - now,
        needed=len(beliefs) - asked + sent + 2 * waiting,
        asked=asked,
        alike=Counter(id(belief.pace) for belief in beliefs.values()),
        answering=frozenset(id(belief.pace) for belief in beliefs.values() if belief.under_way),
        in_lots=lost_at is not None,
    )


def _may_submit(beliefs: Mapping[str, Belief], ripe: str | None, supply: _Supply, now: float) -> bool:
    """Whether the next place is a submission's; `ripe` is the job that is worth a question now, if any.

    A place that is used now comes back after b seconds. If it is kept for a job that ends in r seconds, that
    job's end is known b - r sooner; the job that isn't submitted meanwhile is known its own time later. Among
    jobs that are alike, and that are submitted one by one, keeping pays while they take less than b/2. So a
    place is kept for every job that will be known soon, and the rest is for submissions. Where windows are
    fixed, a question in vain costs so much that only those count that will be worth asking.
    """
    budget = supply.budget
    if ripe is not None:
        if _surely_short(beliefs[ripe], budget):
            return False
        share = SUBMIT_SHARE_OF_FIXED if supply.in_lots else SUBMIT_SHARE
        return _submitted_lately(beliefs, budget, now) < share * budget.limit
    if supply.places >= supply.needed:
        return True
    if not beliefs:  # the first ones say what the others will be like
        return supply.sent < SUBMIT_SHARE * budget.limit
    short = _surely_short(next(iter(beliefs.values())), budget)
    soon = now + (SOON if short else SOON_IF_LONG) * supply.back_seconds
    if supply.in_lots:
        worth_asking = (not b.under_way and _ripeness(b, supply, soon) >= 1 for b in beliefs.values())
        kept = float(sum(worth_asking))
    else:
        kept = sum(_chance_known(belief, soon, tried=supply.slack > 0) for belief in beliefs.values())
    # Those that were sent are like them, and so is the next one.
    return supply.places - 1 >= round(kept * (1 + (supply.sent + 1) / len(beliefs)))


def _surely_short(belief: Belief, budget: Budget) -> bool:
    """Whether the job surely takes less than a window."""
    outlook = belief.outlook
    return outlook.typical_seconds * math.exp(SURELY * outlook.spread) < SHORT * budget.window_seconds


def _chance_known(belief: Belief, at: float, *, tried: bool) -> float:
    """The chance that the job's end is noticed by `at`: with one question, asked when it surely has ended.

    When that is depends on the typical time, which may be in doubt; where it can't be `tried` out, because
    there are no questions to spare, only a likely end counts.
    """
    outlook, age = belief.outlook, at - belief.submitted_at
    if age <= 0:
        return 0.0
    beyond = math.log(age / outlook.typical_seconds)
    shared = max(outlook.spread * math.sqrt(outlook.shared), 0.05)
    alone = outlook.spread * math.sqrt(1 - outlook.shared)
    chance = 0.5 * math.erfc((SURELY * alone - beyond) / (shared * math.sqrt(2)))
    return chance if tried else float(chance > LIKELY)


def _ripest(beliefs: Mapping[str, Belief], supply: _Supply, now: float) -> tuple[str | None, float]:
    """The job most worth asking about, or None; and when to look again."""
    best, most, wake_at = None, 1.0, now + LONGEST_NAP_SECONDS
    most_a_minute = most_asks_a_minute(supply.budget.limit)
    for job, belief in _candidates(beliefs):
        if (rested_at := belief.may_be_asked_at(most_a_minute)) > now:
            wake_at = min(wake_at, rested_at)
            continue
        ripeness = _ripeness(belief, supply, now)
        if ripeness >= most:
            best, most = job, ripeness
        elif ripeness < 1:
            # It grows about as the square of the silence, or much faster where the end is well known: go most
            # of the way, but not beyond the moment, and look again.
            silence = now - belief.known_at
            nap = min(NAP_SHARE * silence * (1 / math.sqrt(max(ripeness, 1e-6)) - 1), silence, wake_at - now)
            while nap > SHORTEST_NAP_SECONDS and _ripeness(belief, supply, now + nap) > OVERSLEPT:
                nap /= 2
            wake_at = min(wake_at, now + max(nap, SHORTEST_NAP_SECONDS))
    return best, wake_at


def _ripeness(belief: Belief, supply: _Supply, now: float) -> float:
    """How much a question is worth its price: asked from 1 on."""
    silence = now - belief.known_at
    chance = belief.chance_ended(now)
    # Only a question that fails costs its price: one that succeeds has to be asked some time anyway.
    costs = _costs(belief, supply, now) * max(1.0 - chance, TINY)
    ripeness = 0.5 * silence * chance / costs
    if ripeness > 0.5:  # else a rough figure will do
        ripeness = belief.waited_seconds(now, chance) / costs
    # Whatever is believed, nobody is forgotten.
    return max(ripeness, silence / LONGEST_SILENCE_SECONDS)


def _costs(belief: Belief, supply: _Supply, now: float) -> float:
    """What it costs to ask about the job in vain, in seconds of its own waiting.

    As far as jobs share their doubt they are as good as one: a question about one of them is asked for the
    waiting of all, and fewer of them are needed. One at a time: its answer says what the next one is worth.
    """
    outlook, alike = belief.outlook, supply.alike[id(belief.pace)]
    apart = 1.0 if id(belief.pace) in supply.answering else 1 - outlook.shared * (1 - 1 / alike)
    jobs = supply.jobs * apart
    age = max(now - belief.submitted_at, 1.0)
    span = min(SPAN * outlook.spread, LONGEST_SPAN) * age
    # A question whose answer is on its way may have to be asked again.
    places = supply.places_within(span) - supply.needed - supply.asked
    spare = min(places / jobs, max(ENOUGH, places / supply.jobs))
    at_hand = supply.places - supply.needed
    if at_hand >= jobs:  # enough to find out how long such jobs take, whatever else is short
        spare = max(spare, at_hand / jobs)
    # A job that has used up its own requests of a minute has to wait, whatever the budget holds.
    spare = min(spare, belief.asks_within(span, now, most_asks_a_minute(supply.budget.limit)))
    if supply.slack:
        highest = LATER_SHARE * supply.back_seconds
    else:  # one in vain takes another window, and all come a place later
        highest = TURNS * max(supply.back_seconds, supply.turn_seconds)
    price = price_seconds(min(outlook.spread, WIDEST_SPREAD) * age, spare, highest)
    if at_hand < 0 and supply.in_lots:
        # Places come back as a lot: asked a moment too early, the job waits for the next one. Doubt that is
        # shared is worth a question all the same.
        lost = LOST_TURN * apart
        if not (supply.slack or (supply.waiting and _surely_short(belief, supply.budget))):
            # The last lot has none to spare either, so one in vain puts off the end of the whole batch.
            # Without any job's time to go by, doubt isn't worth that.
            lost = LOST_WINDOW * (apart if belief.pace.informed else 1.0)
        price = max(price, lost * supply.back_seconds)
    return supply.share * price * math.pow(apart, 1.0 if spare > 0 or supply.slack else LEARNING)


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
    window = budget.window_seconds - MOMENT_SECONDS
    return sum(now - belief.submitted_at < window for belief in beliefs.values())
