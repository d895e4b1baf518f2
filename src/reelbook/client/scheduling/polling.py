"""What to spend the key's next request on: pure, the time is an argument. `scheduler.py` carries it out.

To play it with paper cards: every job in progress is a card that says when it was submitted, when it was last
known to run, and how long such jobs take. The key's requests are coins; each comes back a minute after it is
spent. While you hold a coin, look at the cards. For each, guess how long its clip has been lying there
finished with nobody knowing: a question ends that waiting. Set against it the price of a question in vain:
the time until there is a coin for that job again, when all the others have had theirs. Spare coins are spread
over the time in which the job may end, so the more there are, the cheaper a question is; and where it isn't
known how long such jobs take, one question answers for all of them, so they share its price. Ask about the
card whose waiting most outweighs the price times the chance that you ask in vain. If none does, submit, but
keep a coin back for each card that is likely to end within `SHORT_SECONDS` of its submission, and ask about
such a short job before you submit another. Where long jobs are worth a question and submissions wait, they
take turns: the submissions get half of a minute's coins.
"""

from dataclasses import dataclass

from .budget import DOUBT_SECONDS, MARGIN_SECONDS, MOMENT_SECONDS, WINDOW_SECONDS, Budget, Purpose
from .estimates import Belief

# A place kept for a job this short brings its clip home sooner by more than it delays another submission.
SHORT_SECONDS = WINDOW_SECONDS / 5
NOTICED_SECONDS = 0.3  # nobody notices if a clip is there so much sooner


@dataclass(frozen=True)
class Submit:
    """Send the next waiting submission now."""


@dataclass(frozen=True)
class Ask:
    belief: Belief


@dataclass(frozen=True)
class Wait:
    """Nothing before `until` (seconds of the steady clock), unless something new is known."""

    until: float


Decision = Submit | Ask | Wait


def decide(beliefs: list[Belief], waiting: int, budget: Budget, now: float, *, sent: int = 0) -> Decision:
    """The best use of the key's next request.

    `beliefs` are those of all watched jobs; `waiting` submissions are yet to be sent, and `sent` ones not yet
    answered. Decide again once budget and belief were told, and when a job or a submission is added.
    """
    opens_at = budget.opens_at(now)
    if opens_at > now:
        return Wait(opens_at)
    table = _Table(beliefs, waiting, sent, budget, now)
    ripest, ripe_at = table.ripest()
    asks_at = budget.opens_at(now, table.kept_free)
    # The places that are kept for a person's click may also go to a clip that is likely to be done.
    if ripest is not None and asks_at > now and ripest.chance_ended(now) < 0.5:
        ripest, ripe_at = None, min(asks_at, now + MOMENT_SECONDS)
    if waiting and table.may_submit(ripest):
        return Submit()
    if ripest is not None:
        return Ask(ripest)
    return Wait(ripe_at)


def expected_at(belief: Belief, beliefs: list[Belief], waiting: int, budget: Budget, now: float) -> float:
    """When the next question about a job is to be expected: for a person to see."""
    table = _Table(beliefs, waiting, 0, budget, now)
    ripe_at = table.ripe_at(belief, now + DOUBT_SECONDS)
    return max(ripe_at, budget.opens_at(now, table.kept_free))


class _Table:
    """The cards and coins at `now`: what a question about each job is worth, and what the budget allows."""

    def __init__(self, beliefs: list[Belief], waiting: int, sent: int, budget: Budget, now: float) -> None:
        self.beliefs, self.waiting, self.sent, self.now = beliefs, waiting, sent, now
        self.limit = budget.limit
        self.jobs = len(beliefs) + waiting + sent
        self.kept_free = budget.kept_free(Purpose.POLL, self.jobs)
        self.unheard_of = not budget.heard_of and not any(belief.under_way for belief in beliefs)
        self.free_at = sorted(budget.view(now).free_at)
        if self.free_at[0] > now:  # one may be sent all the same: a fixed window has probably begun anew
            self.free_at = [now] * budget.limit
        self.free = self._places_until(now)
        # A question for each job that isn't being asked about, after a submission where that waits.
        self.needed = sum(not belief.under_way for belief in beliefs) + sent + 2 * waiting

    def may_submit(self, ripest: Belief | None) -> bool:
        """Whether the next place goes to a submission; `ripest` is the job worth a question, if any."""
        if ripest is not None:
            if self._chance_short(ripest) > 0.5:
                return False
            lately = self.now - WINDOW_SECONDS + MOMENT_SECONDS  # answers take a moment
            submitted = self.sent + sum(belief.submitted_at > lately for belief in self.beliefs)
            return 2 * submitted < self.limit
        if self.free >= self.needed:
            return True
        if not self.beliefs:  # the first ones tell what the others will be like
            return 2 * self.sent < self.limit
        kept = sum(self._chance_short(belief) for belief in self.beliefs)
        # Those that aren't watched yet are like them, and so is the next one.
        return self.free > round(kept * (1 + (self.sent + 1) / len(self.beliefs)))

    def ripest(self) -> tuple[Belief | None, float]:
        """The job most worth asking about, or None; and when one will be worth it."""
        ripest, ripe_at = None, self.now + DOUBT_SECONDS
        most = 0.0 if self.unheard_of else 1.0  # where nothing is known about the key, one question finds out
        candidates: dict[object, Belief] = {}
        for belief in sorted(self.beliefs, key=lambda belief: belief.submitted_at):
            if not belief.under_way:
                # Of like jobs about which no more is known, the oldest is the ripest.
                candidates.setdefault(belief if belief.heard_of else belief.pace, belief)
        for belief in candidates.values():
            ripeness = self._ripeness(belief, self.now)
            if ripeness >= most:
                ripest, most = belief, ripeness
            elif ripest is None:
                ripe_at = self.ripe_at(belief, ripe_at)
        return ripest, ripe_at

    def ripe_at(self, belief: Belief, until: float) -> float:
        """When the job will be worth a question if nothing happens before; `until` if not by then."""
        early, late = self.now, until
        while late - early > MARGIN_SECONDS and self._ripeness(belief, late) >= 1:
            middle = (early + late) / 2
            early, late = (early, middle) if self._ripeness(belief, middle) >= 1 else (middle, late)
        return late

    def _chance_short(self, belief: Belief) -> float:
        """The chance that the job is a short one; zero where it is known to run longer."""
        return 0.0 if belief.under_way else belief.chance_ended(belief.submitted_at + SHORT_SECONDS)

    def _ripeness(self, belief: Belief, now: float) -> float:
        """What a question is worth, as a multiple of its price: asked from 1 on."""
        # A single job leaves free what is kept for a person's click, however few the jobs are.
        if now < belief.may_be_asked_at(self.limit - self.kept_free):
            return 0.0
        # Only a question in vain costs its price: one that succeeds has to be asked some time anyway.
        chance = belief.chance_ended(now)
        costs = self._price_seconds(belief, now) * (1.0 - chance)
        worth = belief.waited_seconds(now, chance) / costs if costs else DOUBT_SECONDS
        # No job is forgotten. With places to spare, one of a kind is asked about now and then, more rarely
        # with its age, in case the kind's pace has changed.
        forgotten = (now - belief.known_at) / DOUBT_SECONDS
        silence = now - max(other.known_at for other in self.beliefs if other.pace is belief.pace)
        pause = 2 * WINDOW_SECONDS / max(self.free - self.needed, 0.1)
        pause = max(pause, (now - belief.submitted_at) * MOMENT_SECONDS / WINDOW_SECONDS)
        return max(worth, forgotten, silence / pause)

    def _price_seconds(self, belief: Belief, now: float) -> float:
        """What a question in vain about the job costs, in seconds of waiting.

        With n spare questions for each job, spread evenly over the time in which it may end, the clip waits
        for about the spread/(n + 1), and each question in vain is worth an nth of that. With none to spare,
        the job can only be asked about again when everybody else has had a place.
        """
        outlook, age = belief.outlook, now - belief.submitted_at
        # Jobs that share their doubt count as one, until an answer about one of them is on its way.
        alike = [other for other in self.beliefs if other.pace is belief.pace]
        shared = 0.0 if any(other.under_way for other in alike) else outlook.shared
        apart = 1 - shared * (1 - 1 / (len(alike) + self.waiting))
        laps, number = divmod(max(self.needed, self.limit), self.limit)
        price = self.free_at[number] + laps * WINDOW_SECONDS - now
        # Its end lies within three spreads to each side, but nobody looks further ahead than two ages.
        span = min(6 * outlook.spread, 2.0) * age
        each = (self._places_until(now + span) - self.needed) / (self.jobs * apart)
        each = min(each, belief.asks_within(span, now, self.limit - self.kept_free))
        if each > 0:
            price = min(price, outlook.spread * age / (each * (each + 1)))
        return max(NOTICED_SECONDS, price) * apart

    def _places_until(self, at: float) -> int:
        return sum(1 + int((at - free_at) / WINDOW_SECONDS) for free_at in self.free_at if free_at <= at)
