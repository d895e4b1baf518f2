"""What is believed about one job's time: pure. `polling.py` decides from it whom to ask.

A job's end is noticed only when it is asked about, so its time is known as an interval (`Took`): longer than
at the last answer before the end, at most as long as at the answer that reported it. A `Pace` learns from
such intervals how long jobs of one kind take. A `Belief` adds what is known about one job: that it still
runs, its reported progress, and the service's estimate as far as its estimates have proved right.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import NamedTuple

from .budget import MOMENT_SECONDS, WINDOW_SECONDS, pause_seconds

# The times of like jobs are taken to be lognormal, with one of these medians (seconds, to about an hour) and
# one of these spreads (the standard deviation of the logarithm; the widest also covers two queues).
MEDIANS = tuple(1.2**k for k in range(46))
SPREADS = (0.1, 0.35, 1.0)
USUAL_SECONDS = (5.0, 300.0)  # with nothing known, every median in between is equally likely
CHANGE_CHANCE = 0.01  # that the service changes its pace between two jobs
SURPRISE = 0.15  # the share of jobs whose progress predicts nothing, such as those that stay at 99 %
PERCENT = 0.01
QUEUE_LOOK_SECONDS = 10.0  # a place in a queue is asked for at least this often, for a person to see
TINY = sys.float_info.epsilon  # instead of zero, which can't be divided by

_GRID = [(math.log(median), spread) for median in MEDIANS for spread in SPREADS]
_USUAL = [
    min(1.0, median / USUAL_SECONDS[0], USUAL_SECONDS[1] / median) for median in MEDIANS for _ in SPREADS
]
_PRIOR = [weight / math.fsum(_USUAL) for weight in _USUAL]


class Took(NamedTuple):
    """How long a job took: more than `at_least`, at most `at_most` seconds. `estimated` is the service's."""

    at_least: float
    at_most: float
    estimated: float | None = None


class Term(NamedTuple):
    """A part of a belief: a lognormal time and its weight."""

    weight: float
    log_median: float
    spread: float


class Outlook(NamedTuple):
    """A job's whole time: its median in seconds, and the standard deviation of its logarithm.

    `shared` is the share of the variance, from 0 to 1, that it has in common with the jobs of its pace.
    """

    typical_seconds: float
    spread: float
    shared: float


class Belief:
    """One watched job. Times are seconds of one steady clock; ages count from the submission.

    `estimated_seconds` is how long the service says the job will take, None where that isn't clear.
    """

    def __init__(self, pace: Pace, submitted_at: float, estimated_seconds: float | None = None) -> None:
        pace.begun()
        self.pace = pace
        self.submitted_at = submitted_at
        self.known_at = submitted_at  # the job ran at this moment
        self.under_way = False
        self.progress: float | None = None  # from 0 to 1, never backwards; None where the service gives none
        self._estimated = estimated_seconds if estimated_seconds and estimated_seconds > 0 else None
        self._requests = [submitted_at]
        self._faults = 0
        self._not_before = submitted_at
        self._figures: list[tuple[float, float]] = []  # moments at which the progress had risen, and to what
        self._pending_until = submitted_at
        self._queue_seconds = 0.0
        self._terms: list[Term] = []
        self._terms_of: tuple[int, float] | None = None
        self._outlook: Outlook | None = None
        self._longer_than_known = 1.0

    @property
    def heard_of(self) -> bool:
        """Whether a question about the job was answered, or failed."""
        return self.known_at > self.submitted_at or self._faults > 0

    def asked(self, now: float) -> None:
        """A question about the job is sent; until `told`, `ended` or `failed` there should be no other."""
        self.under_way = True
        self._requests.append(now)

    def may_be_asked_at(self, most_a_minute: int) -> float:
        """When it may be asked about, at `most_a_minute` requests of its own, its submission included."""
        del self._requests[:-most_a_minute]
        full = len(self._requests) == most_a_minute
        return max(self._not_before, self._requests[0] + WINDOW_SECONDS if full else 0.0)

    def asks_within(self, seconds: float, now: float, most_a_minute: int) -> float:
        """How many more questions about the job may be sent within `seconds`."""
        recent = sum(at > now + seconds - WINDOW_SECONDS for at in self._requests)
        return most_a_minute * max(1.0, seconds / WINDOW_SECONDS) - recent

    def queued(self, seconds: float | None, now: float) -> None:
        """The job waits for its turn, for about `seconds` if that is known: its own time hasn't begun."""
        self.pace.still_running(self.known_at - self.submitted_at, 0.0)
        self.under_way, self._faults = False, 0
        self.progress, self._figures = None, []  # of an attempt that is over
        self.submitted_at = self.known_at = self._pending_until = now
        self._queue_seconds = seconds or 0.0
        self._not_before = now + min(max(self._queue_seconds / 2, MOMENT_SECONDS), QUEUE_LOOK_SECONDS)

    def told(self, progress: float | None, now: float) -> None:
        """The job still runs, at `progress` in the service's own units, or None where it gives none."""
        self.under_way, self._faults, self._queue_seconds = False, 0, 0.0
        before = self.progress or 0.0
        if progress is not None and progress >= 0:
            # Whole numbers are percent; and only `completed` says that it is full.
            fraction = progress if 0 < progress < 1 else PERCENT * progress
            self.progress = max(before, min(fraction, 1 - PERCENT))
        if not self.progress:
            self._pending_until = now
        elif self.progress > before:
            self._figures.append((now, self.progress))
        self.pace.still_running(self.known_at - self.submitted_at, now - self.submitted_at)
        self.known_at = now

    def ended(self, now: float, *, completed: bool = True) -> Took:
        """The job is known to be finished. One that failed says little about how long others take."""
        self.under_way = False
        took = Took(self.known_at - self.submitted_at, now - self.submitted_at, self._estimated)
        if completed:
            self.pace.ended(took)
        return took

    def failed(self, now: float) -> None:
        """No usable answer came: the next question waits longer each time."""
        self.under_way = False
        self._faults += 1
        self._not_before = now + pause_seconds(self._faults)

    def chance_ended(self, now: float) -> float:
        self._refresh()
        longer = _longer(self._terms, now - self.submitted_at)
        return max(0.0, 1.0 - longer / self._longer_than_known)

    def waited_seconds(self, now: float, chance: float) -> float:
        """How long the clip would have lain there unnoticed, on average; `chance` is `chance_ended(now)`."""
        # The area under the chance since the last answer, by Simpson's rule.
        middle = self.chance_ended((self.known_at + now) / 2)
        return (now - self.known_at) * (4 * middle + chance) / 6

    @property
    def outlook(self) -> Outlook:
        self._refresh()
        if self._outlook is None:
            whole = math.fsum(term.weight for term in self._terms)
            centre = math.fsum(term.weight * term.log_median for term in self._terms) / whole
            between = math.fsum(term.weight * (term.log_median - centre) ** 2 for term in self._terms) / whole
            within = math.fsum(term.weight * term.spread**2 for term in self._terms) / whole
            shared = 0.0 if self._figures else between / (between + within)
            self._outlook = Outlook(math.exp(centre), math.sqrt(between + within), shared)
        return self._outlook

    def remaining_seconds(self, now: float) -> float | None:
        """The typical time left, for a person to see; None where nothing is known."""
        if self._figures:
            whole = math.exp(self._foretold().log_median)
        elif self.pace.informed or self._estimated is not None:
            whole = self.outlook.typical_seconds
        else:
            return None
        return max(0.0, self.submitted_at + self._queue_seconds + whole - now)

    def _refresh(self) -> None:
        state = (self.pace.version, self.known_at)
        if state != self._terms_of:
            self._terms_of, self._terms, self._outlook = state, self._weighed(), None
            self._longer_than_known = _longer(self._terms, self.known_at - self.submitted_at) + TINY

    def _weighed(self) -> list[Term]:
        """The job's whole time as weighted lognormal terms; only the ratios of the weights matter."""
        known = self.known_at - self.submitted_at
        # The pace's weights already include that this job ran when it was last heard of.
        terms = [
            Term(term.weight / (_survival(known, *term[1:]) + TINY), *term[1:]) for term in self.pace.parts
        ]
        if self._estimated is not None:
            estimated = Term(1.0, math.log(self._estimated), SPREADS[1])
            terms = [*_scaled(terms, 1 - self.pace.trust), *_scaled([estimated], self.pace.trust)]
        if self._figures:
            seen = self._figures[-1][0] - self.submitted_at
            terms = [*_scaled([self._foretold()], 1 - SURPRISE, seen), *_scaled(terms, SURPRISE, seen)]
        return terms

    def _foretold(self) -> Term:
        """The job's whole time as its progress predicts it."""
        (began, low), (seen, high) = self._figures[0], self._figures[-1]
        error = SPREADS[0]  # of the time left: services don't count evenly
        if len(self._figures) == 1:  # it may have begun at any time since it was last seen pending
            began, low, error = (self._pending_until + seen) / 2, 0.0, SPREADS[-1]
        risen = max(high - low, TINY)
        remaining = (1.0 - high) * (seen - began) / risen + TINY
        whole = seen - self.submitted_at + remaining
        return Term(1.0, math.log(whole), math.hypot(error, PERCENT / risen) * remaining / whole + TINY)


class Pace:
    """What is believed about the whole time of jobs of one kind: mode, clip length and aspect ratio.

    The belief is a weight for each point of a grid of medians and spreads. Every finished job changes the
    weights by Bayes' rule: a point gains by how likely it made the job's interval. The service may change its
    pace between two jobs, so each time a small share of the belief returns to where it began (a hidden Markov
    model with a fixed share). Jobs in progress count as far as they have run. `took` are finished jobs of
    this kind in the order of their submissions: in the order of their ends, the long ones of a batch come
    last and would look like a change.
    """

    def __init__(self, took: Sequence[Took] = ()) -> None:
        self.informed = bool(took)  # whether more is known than what jobs in progress say
        self.version = 0  # grows with everything learnt, so that others see what is out of date
        self.trust = 0.5  # the chance that the service's estimates predict how long a job takes
        self.parts: list[Term] = []  # the terms of the belief that matter
        self._finished = _PRIOR
        self._running = [0.0] * len(_GRID)  # logarithms of the chance that all jobs in progress still run
        self._may_change = False
        for each in took:
            self._change()
            self._learn(each)
        self._weigh()

    def begun(self) -> None:
        # Jobs submitted before one of them had ended share a pace: the slowest always end last.
        if self._may_change:
            self._change()
            self._weigh()

    def still_running(self, known: float, age: float) -> None:
        """A job known to run at the age `known` (seconds) still runs at `age`."""
        ages = zip(self._running, _survivals(known), _survivals(age), strict=True)
        self._running = [score + math.log(later / earlier) for score, earlier, later in ages]
        self._weigh()

    def ended(self, took: Took) -> None:
        self.informed = True
        self.still_running(took.at_least, 0.0)  # it no longer runs, and counts as finished instead
        self._learn(took)
        self._weigh()

    def _change(self) -> None:
        """A part of the belief returns to where it began: the service may have another pace by now."""
        self._finished = [
            (1 - CHANGE_CHANCE) * share + CHANGE_CHANCE * prior
            for share, prior in zip(self._finished, _PRIOR, strict=True)
        ]
        self.trust += CHANGE_CHANCE * (0.5 - self.trust)
        self._may_change = False

    def _learn(self, took: Took) -> None:
        # Where an interval is narrower than the jobs' own spread, that says nothing.
        blur = math.exp(SPREADS[0] / 2)
        at_most = max(took.at_most, took.at_least, MEDIANS[0]) * blur
        at_least = min(took.at_least, took.at_most) / blur
        intervals = zip(self._finished, _survivals(at_least), _survivals(at_most), strict=True)
        fitting = [share * (longer - still_longer + TINY) for share, longer, still_longer in intervals]
        whole = math.fsum(fitting)
        if took.estimated is not None and took.estimated > 0:
            estimated = Term(self.trust, math.log(took.estimated), SPREADS[1])
            right = _longer([estimated], at_least) - _longer([estimated], at_most) + TINY
            self.trust = right / (right + (1 - self.trust) * whole)
        self._finished = [weight / whole for weight in fitting]
        self._may_change = True

    def _weigh(self) -> None:
        # By logarithms: where answers contradict each other, every weight would be too small for a number.
        scores = [math.log(w + TINY) + s for w, s in zip(self._finished, self._running, strict=True)]
        best = max(scores)
        weights = [math.exp(score - best) for score in scores]
        # What counts less than a change of pace would only cost time at every decision.
        kept = [Term(w, *point) for w, point in zip(weights, _GRID, strict=True) if w >= CHANGE_CHANCE]
        self.parts = _scaled(kept, 1.0)
        self.version += 1


def _survival(seconds: float, log_median: float, spread: float) -> float:
    """The chance that a lognormal time is longer than `seconds`."""
    if seconds <= 0:
        return 1.0
    return 0.5 * math.erfc((math.log(seconds) - log_median) / (spread * math.sqrt(2)))


def _survivals(seconds: float) -> list[float]:
    """`_survival` for the whole grid, never zero."""
    return [_survival(seconds, *point) + TINY for point in _GRID]


def _longer(terms: Sequence[Term], seconds: float) -> float:
    """`_survival` of all terms by their weights, written out: every decision asks for it a thousand times."""
    if seconds <= 0:
        return math.fsum([weight for weight, _, _ in terms])
    log, erfc, root = math.log(seconds), math.erfc, math.sqrt(2)
    return math.fsum(
        [weight * (0.5 * erfc((log - median) / (spread * root))) for weight, median, spread in terms]
    )


def _scaled(terms: Sequence[Term], share: float, seen: float = 0.0) -> list[Term]:
    """The terms, weighted so that their chance of running at the age `seen` is `share`."""
    whole = max(_longer(terms, seen), TINY)
    return [term._replace(weight=share * term.weight / whole) for term in terms]
