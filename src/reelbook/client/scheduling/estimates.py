"""What is believed about one job's remaining time: pure. `polling.py` decides from it whom to ask.

Nobody sees a job end; its end is only noticed. What is learnt of its time is therefore an interval (`Took`):
it still ran at the last answer before, and had ended by the answer that said so. A `Pace` learns from such
intervals how long jobs of one kind take, and a `Belief` adds what is known of one job: that it still runs,
the progress that the service reports, and the service's estimate as far as its estimates proved right.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ... import wire

FIRST_ERROR = 0.35  # of the time left, from one figure of progress: the moment it began is a guess
UNEVEN_ERROR = 0.15  # from two: services don't count evenly
FIGURE_STEP = 0.01
SURPRISE = 0.15  # the share of jobs whose progress foretells nothing, such as those that stay at 99 %
MOST_ASKS_A_MINUTE = 24  # of one job, whatever the key's limit
FIRST_PAUSE_SECONDS = 2.0
LONGEST_PAUSE_SECONDS = 60.0
REST_SHARE = 0.015  # of its age before a job is asked about again: a minute matters less after an hour
SHORTEST_SECONDS = 0.5
TOLD_ERROR_SECONDS = 1.0  # the service's timestamps are whole seconds, and its answer takes a moment

Term = tuple[float, float, float]  # weight, median as a logarithm, spread


class Took(NamedTuple):
    """How long a job took, as far as it is known: more than `at_least` and at most `at_most` seconds.

    `estimated` is what the service had estimated, in seconds, or None.
    """

    at_least: float
    at_most: float
    estimated: float | None = None


@dataclass(frozen=True)
class Outlook:
    """A job's whole time in three figures.

    `typical_seconds` is its median, `spread` the standard deviation of its logarithm. `shared` is the share
    of the variance, from 0 to 1, that the job has in common with the others of its pace: their typical time
    is in doubt, and an answer about one of them is an answer about all.
    """

    typical_seconds: float
    spread: float
    shared: float


class Belief:
    """One job that is watched. Times are seconds of one steady clock; ages count from the submission.

    `estimated_seconds` is how long the service says the job will take, or None where that isn't clear.
    """

    def __init__(self, pace: Pace, submitted_at: float, estimated_seconds: float | None = None) -> None:
        pace.begun()
        self.pace = pace
        self.submitted_at = submitted_at
        self.known_at = submitted_at  # the job ran at this moment
        self.under_way = False
        self.not_before = submitted_at  # later where the job has rested too little, or no answer came
        self._estimated = estimated_seconds if estimated_seconds and estimated_seconds > 0 else None
        # The submission is the first of the requests that the job may take in a minute.
        self._asked: deque[float] = deque([submitted_at], maxlen=MOST_ASKS_A_MINUTE)
        self._failures = 0
        self._progress = Progress()
        self._figures: list[tuple[float, float]] = []
        self._pending_until = submitted_at
        self._terms: list[Term] = []
        self._terms_of: tuple[int, float, int] | None = None
        self._longer_than_known = 1.0
        self._outlook = Outlook(1.0, 1.0, 0.0)

    @property
    def asked_before(self) -> bool:
        """Whether there was a question about the job yet."""
        return len(self._asked) > 1

    def asked(self, now: float) -> None:
        """A request about the job goes out; until `told`, `ended` or `failed` no other one should."""
        self.under_way = True
        self._asked.append(now)

    def may_be_asked_at(self, most_a_minute: int) -> float:
        """When a question about the job may go out that keeps to `most_a_minute` requests of its own."""
        if len(self._asked) < most_a_minute:
            return self.not_before
        return max(self.not_before, self._asked[-most_a_minute] + wire.RATE_WINDOW_SECONDS)

    def asks_within(self, seconds: float, now: float, most_a_minute: int) -> float:
        """How many questions about the job may go out in that time, keeping to `most_a_minute` requests."""
        minute = wire.RATE_WINDOW_SECONDS
        still_count = sum(at > now + min(seconds, minute) - minute for at in self._asked)
        return most_a_minute * max(1.0, seconds / minute) - still_count

    def told(self, progress: float | None, now: float) -> None:
        """The job still runs, at `progress` in the service's own units, or None where it says none."""
        self.under_way, self._failures = False, 0
        before = self._progress.fraction
        self._progress.tell(progress)
        fraction = self._progress.fraction
        if fraction:
            if not self._figures or fraction > (before or 0.0):
                self._figures.append((now, fraction))
        else:
            self._pending_until = now
        self.pace.still_running(self.known_at - self.submitted_at, now - self.submitted_at)
        self.known_at = now
        rest = min(LONGEST_PAUSE_SECONDS, REST_SHARE * (now - self.submitted_at))
        self.not_before = max(self.not_before, now + rest)

    def ended(self, now: float, *, completed: bool = True, told_seconds: float | None = None) -> Took:
        """The job is known to be finished. One that failed says little about how long others take.

        `told_seconds` is its time by the service's own timestamps; it counts where it can be true.
        """
        self.under_way = False
        known, age = self.known_at - self.submitted_at, now - self.submitted_at
        took = Took(known, age, self._estimated)
        if (
            told_seconds is not None
            and known - TOLD_ERROR_SECONDS <= told_seconds <= age + TOLD_ERROR_SECONDS
        ):
            at_least = max(known, told_seconds - TOLD_ERROR_SECONDS)
            took = Took(min(at_least, age), min(age, told_seconds + TOLD_ERROR_SECONDS), self._estimated)
        if completed:
            self.pace.ended(took, known)
        return took

    def failed(self, now: float) -> None:
        """No usable answer came: the next question waits longer each time."""
        self.under_way = False
        pause = min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** min(self._failures, 6))
        self._failures += 1
        self.not_before = max(self.not_before, now + pause)

    def chance_ended(self, now: float) -> float:
        """The chance that the job has ended by `now`, given all that is known."""
        self._refresh()
        longer = _longer(self._terms, now - self.submitted_at)
        return max(0.0, 1.0 - longer / max(self._longer_than_known, TINY))

    def waited_seconds(self, now: float, chance: float) -> float:
        """For how long the clip would by `now` have lain there unknown, on average over all that may be.

        `chance` is `chance_ended(now)`, which whoever asks has at hand.
        """
        # The area under the chance since the last answer, by Simpson's rule.
        middle = self.chance_ended((self.known_at + now) / 2)
        return (now - self.known_at) * (4 * middle + chance) / 6

    @property
    def outlook(self) -> Outlook:
        """The job's whole time, summed up."""
        self._refresh()
        return self._outlook

    @property
    def progress(self) -> float | None:
        """The job's progress from 0 to 1, None where the service says none."""
        return self._progress.fraction

    def remaining_seconds(self, now: float) -> float | None:
        """The typical time left, for a person to see; None where nothing is known of it."""
        foretold = self._foretold()
        if foretold is not None:
            whole = math.exp(foretold[0])
        elif self.pace.informed or self._estimated is not None:
            whole = self.outlook.typical_seconds
        else:
            return None
        return max(0.0, self.submitted_at + whole - now)

    def _refresh(self) -> None:
        state = (self.pace.version, self.known_at, len(self._figures))
        if state != self._terms_of:
            self._terms_of = state
            self._terms = self._weighed()
            self._longer_than_known = _longer(self._terms, self.known_at - self.submitted_at)
            plain = self._terms is self.pace.parts
            self._outlook = self.pace.outlook if plain else _outlook(self._terms, alone=bool(self._figures))

    def _weighed(self) -> list[Term]:
        """The job's whole time as weighted lognormal terms; only the weights' ratios mean something."""
        known = self.known_at - self.submitted_at
        if not known and self._estimated is None:
            return self.pace.parts
        # The weights of the pace hold already that this job ran at the age `known`.
        usual = [(w / max(survival(known, m, s), TINY), m, s) for w, m, s in self.pace.parts]
        if self._estimated is not None:
            trust, whole = self.pace.trust, math.fsum(weight for weight, _, _ in usual)
            usual = [((1 - trust) * weight / whole, m, s) for weight, m, s in usual]
            usual.append((trust, math.log(self._estimated), ESTIMATE_SPREAD))
        foretold = self._foretold()
        if foretold is None:
            return usual
        log_whole, error = foretold
        seen = self._figures[-1][0] - self.submitted_at
        merged = []
        for weight, log_median, spread in usual:
            both = spread * spread + error * error
            centre = (log_median * error * error + log_whole * spread * spread) / both
            fit = weight * math.exp(-((log_median - log_whole) ** 2) / (2 * both)) / math.sqrt(both)
            merged.append((fit, centre, spread * error / math.sqrt(both)))
        return _scaled(merged, 1 - SURPRISE, seen) + _scaled(usual, SURPRISE, seen)

    def _foretold(self) -> tuple[float, float] | None:
        """From the progress: the logarithm of the job's whole time in seconds, and its error."""
        if not self._figures:
            return None
        seen, high = self._figures[-1]
        if len(self._figures) > 1:
            (began, low), error = self._figures[0], UNEVEN_ERROR
        else:  # it began between the last time it was seen pending and now, more likely early
            began, low, error = self._pending_until + 0.25 * (seen - self._pending_until), 0.0, FIRST_ERROR
        risen = max(high - low, TINY)
        remaining = max((1.0 - high) * (seen - began) / risen, SHORTEST_SECONDS)
        whole = seen - self.submitted_at + remaining
        return math.log(whole), math.hypot(error, FIGURE_STEP / risen) * remaining / whole


def _longer(terms: list[Term], seconds: float) -> float:
    """The terms' share of jobs that take longer than `seconds`: `survival`, but quick."""
    if seconds <= 0:
        return math.fsum(weight for weight, _, _ in terms)
    log_seconds, erfc = math.log(seconds), math.erfc
    total = 0.0
    for weight, log_median, spread in terms:
        total += weight * erfc((log_seconds - log_median) / (spread * ROOT_OF_TWO))
    return 0.5 * total


def _scaled(terms: list[Term], share: float, seen: float) -> list[Term]:
    """The terms with such weights that their chance of running at the age `seen` is `share`."""
    whole = max(_longer(terms, seen), TINY)
    return [(share * weight / whole, log_median, spread) for weight, log_median, spread in terms]


def _outlook(terms: list[Term], *, alone: bool = False) -> Outlook:
    """The terms summed up; with `alone` they are one job's, and say nothing of the others."""
    whole = math.fsum(weight for weight, _, _ in terms)
    centre = math.fsum(weight * log_median for weight, log_median, _ in terms) / whole
    between = math.fsum(w * (log_median - centre) ** 2 for w, log_median, _ in terms) / whole
    within = math.fsum(weight * spread * spread for weight, _, spread in terms) / whole
    shared = 0.0 if alone else between / (between + within)
    return Outlook(math.exp(centre), math.sqrt(between + within), shared)


SHORTEST_MEDIAN_SECONDS = 1.0
MEDIAN_STEP = 1.2
MEDIANS = tuple(SHORTEST_MEDIAN_SECONDS * MEDIAN_STEP**k for k in range(45))  # to 50 minutes
# Standard deviations of the time's logarithm, and how likely each is beforehand. The widest stands for two
# queues of different pace, too.
SPREADS = {0.06: 0.5, 0.15: 1.0, 0.35: 2.0, 0.7: 1.0, 1.2: 0.5}
COMMON_SECONDS = (5.0, 300.0)  # with nothing known every median from here to there is as likely as any other
CHANGE_CHANCE = 0.01  # that the service takes up another pace between two jobs
RECORDS_HEARD = 50  # all of a large batch: those that were noticed last took longest
FINEST_SHARE = 0.02  # of a job's time: no interval counts as narrower
ESTIMATE_SPREAD = 0.3  # of the true time around an estimate that is right, as a logarithm
MOST_TRUST = 0.98
NEGLIGIBLE = 0.03
UNCHANGED = 0.02
TINY = 1e-12
ROOT_OF_TWO = math.sqrt(2)

_GRID = tuple((math.log(median), spread) for median in MEDIANS for spread in SPREADS)


def _shares(weights: Sequence[float]) -> list[float]:
    whole = math.fsum(weights)
    return [weight / whole for weight in weights]


_PRIOR = tuple(
    _shares(
        [
            share * min(1.0, median / COMMON_SECONDS[0], COMMON_SECONDS[1] / median)
            for median in MEDIANS
            for share in SPREADS.values()
        ]
    )
)


def survival(seconds: float, log_median: float, spread: float) -> float:
    """The chance that a lognormal time is longer than `seconds`."""
    if seconds <= 0:
        return 1.0
    return 0.5 * math.erfc((math.log(seconds) - log_median) / (spread * ROOT_OF_TWO))


class Pace:
    """What is believed about the whole time of jobs of one kind: mode, clip length and aspect ratio.

    The times are taken to be lognormal, and the belief is a weight for each point of a grid of medians and
    spreads. Every finished job changes the weights by Bayes' rule: a point counts for as much as it made the
    job's interval likely. Between two jobs the service may have changed its pace, so each time a small share
    of the belief goes back to where it began (a hidden Markov model with a fixed share); that share takes
    over within a few jobs where the old belief no longer explains what is seen. Jobs under way count as far
    as they have run. `took` are finished jobs of this kind, in the order of their submissions: in that of
    their ends the long ones of a batch come last, and would look like a change.
    """

    def __init__(self, took: Sequence[Took] = ()) -> None:
        # Whether anything but what jobs still running say is known of such jobs' times.
        self.informed = bool(took)
        self.version = 0  # grows with everything learnt, so that others know what is out of date
        self.trust = 0.5  # the chance that the service's estimates tell how long a job takes
        self.parts: list[Term] = []
        self._finished = list(_PRIOR)
        self._running = [0.0] * len(_GRID)  # logarithms of the chance that all jobs under way still run
        self._weights = [0.0] * len(_GRID)
        self._may_change = False
        for each in took[-RECORDS_HEARD:]:
            self._begin()
            self._learn(each)
        self._weigh()

    def begun(self) -> None:
        """Another job was submitted."""
        if self._may_change:
            self._begin()
            self._weigh()

    def still_running(self, known: float, age: float) -> None:
        """A job known to run at the age `known` (seconds) still runs at `age`."""
        self._move(known, age)
        self._weigh()

    def ended(self, took: Took, known: float) -> None:
        """A job has ended that was known to run at the age `known` (seconds)."""
        self.informed = True
        self._move(known, 0.0)
        self._learn(took)
        self._weigh()

    def _begin(self) -> None:
        """A part of the belief goes back to where it began: the service may have another pace by now.

        Not so between jobs that were submitted before anything was learnt of one of them. Those that take
        longest always end last, and aren't to be taken for a change.
        """
        self._finished = [
            (1 - CHANGE_CHANCE) * share + CHANGE_CHANCE * prior
            for share, prior in zip(self._finished, _PRIOR, strict=True)
        ]
        self._may_change = False

    def _move(self, known: float, age: float) -> None:
        """A job under way counts with the age `age` instead of `known`."""
        ages = zip(self._running, _survivals(known), _survivals(age), strict=True)
        self._running = [score + math.log(later / earlier) for score, earlier, later in ages]

    def _learn(self, took: Took) -> None:
        at_most = max(took.at_most, SHORTEST_SECONDS)
        at_least = min(took.at_least, (1 - FINEST_SHARE) * at_most)
        chances = [
            max(longer - still_longer, TINY)
            for longer, still_longer in zip(_survivals(at_least), _survivals(at_most), strict=True)
        ]
        fitting = [share * chance for share, chance in zip(self._finished, chances, strict=True)]
        if took.estimated is not None and took.estimated > 0:
            log_estimate = math.log(took.estimated)
            right = survival(at_least, log_estimate, ESTIMATE_SPREAD)
            right -= survival(at_most, log_estimate, ESTIMATE_SPREAD)
            right = self.trust * max(right, TINY)
            trust = right / (right + (1 - self.trust) * math.fsum(fitting))
            self.trust = min(max(trust, 1 - MOST_TRUST), MOST_TRUST)
        self._finished = _shares(fitting)
        self._may_change = True

    def _weigh(self) -> None:
        best = max(self._running)
        weights = [w * math.exp(score - best) for w, score in zip(self._finished, self._running, strict=True)]
        heaviest = max(weights)
        weights = [weight / heaviest for weight in weights]
        # What changes hardly isn't worth the time that all who rely on it would take to follow.
        if all(abs(new - old) < UNCHANGED for new, old in zip(weights, self._weights, strict=True)):
            return
        self._weights = weights
        # The few points that count; the rest would only cost time at every decision.
        kept = [(w, *point) for w, point in zip(weights, _GRID, strict=True) if w > NEGLIGIBLE]
        total = math.fsum(w for w, _, _ in kept)
        self.parts = [(w / total, log_median, spread) for w, log_median, spread in kept]
        self.outlook = _outlook(self.parts)
        self.version += 1


def _survivals(seconds: float) -> list[float]:
    """`survival` for the whole grid, never nought."""
    if seconds <= 0:
        return [1.0] * len(_GRID)
    log_seconds, erfc = math.log(seconds), math.erfc
    return [
        0.5 * erfc((log_seconds - log_median) / (spread * ROOT_OF_TWO)) + TINY for log_median, spread in _GRID
    ]


ALMOST = 0.99  # full is said by `completed`, not by a figure


class Progress:
    """One job's progress, fed with the service's figures."""

    def __init__(self) -> None:
        self.fraction: float | None = None
        self._per_unit = 100.0

    def tell(self, raw: float | None) -> None:
        """The service said `raw`."""
        if raw is None or raw < 0:
            return
        if 0 < raw < 1:  # whole numbers count percent, so this service counts to one
            self._per_unit = 1.0
        fraction = min(raw / self._per_unit if raw <= 1 or self._per_unit == 100.0 else raw / 100.0, ALMOST)
        self.fraction = max(fraction, self.fraction or 0.0)
