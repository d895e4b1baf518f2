"""What is believed about one job's remaining time: pure. `polling.py` decides from it whom to ask.

Where the service reports progress, its pace says more than anything else; until then the job's `Pace`, which
it shares with the jobs like it, is all there is.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence

from ... import wire

FIRST_ERROR = 0.35  # of the time left, from one figure of progress: the moment it began is a guess
UNEVEN_ERROR = 0.15  # from two: services don't count evenly
FIGURE_STEP = 0.01
SURPRISE = 0.15  # the share of jobs whose progress foretells nothing, such as those that stay at 99 %
MOST_ASKS_A_MINUTE = 24  # of one job, whatever the key's limit
FIRST_PAUSE_SECONDS = 2.0
LONGEST_PAUSE_SECONDS = 60.0
REST_SHARE = 0.015  # of its age before a job is asked about again: a minute matters less after an hour
SHORTEST_REMAINING_SECONDS = 0.5

Term = tuple[float, float, float]  # weight, median as a logarithm, spread


class Belief:
    """One job that is watched. Times are seconds of one steady clock; ages count from the submission."""

    def __init__(self, pace: Pace, submitted_at: float) -> None:
        self.pace = pace
        self.submitted_at = submitted_at
        self.known_at = submitted_at  # the job ran at this moment
        self.under_way = False
        self.not_before = submitted_at  # later where the job has rested too little, or no answer came
        # The submission is the first of the requests that the job may take in a minute.
        self._asked: deque[float] = deque([submitted_at], maxlen=MOST_ASKS_A_MINUTE)
        self._failures = 0
        self._progress = Progress()
        self._figures: list[tuple[float, float]] = []
        self._pending_until = submitted_at
        self._terms: list[Term] = []
        self._terms_of: tuple[int, float, int] | None = None
        self._longer_than_known = 1.0

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

    def ended(self, now: float, *, completed: bool = True) -> None:
        """The job is known to be finished. One that failed says little about how long others take."""
        self.under_way = False
        if completed:
            self.pace.ended_between(self.known_at - self.submitted_at, now - self.submitted_at)

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
    def progress(self) -> float | None:
        """The job's progress from 0 to 1, None where the service says none."""
        return self._progress.fraction

    def remaining_seconds(self, now: float) -> float | None:
        """The typical time left, for a person to see; None where nothing is known of it."""
        foretold = self._foretold()
        if foretold is not None:
            whole = math.exp(foretold[0])
        elif self.pace.informed:
            whole = self.pace.typical_seconds
        else:
            return None
        return max(0.0, self.submitted_at + whole - now)

    def _refresh(self) -> None:
        state = (self.pace.version, self.known_at, len(self._figures))
        if state != self._terms_of:
            self._terms_of = state
            self._terms = self._weighed()
            self._longer_than_known = _longer(self._terms, self.known_at - self.submitted_at)

    def _weighed(self) -> list[Term]:
        """The job's whole time as weighted lognormal terms; only the weights' ratios mean something."""
        known = self.known_at - self.submitted_at
        # The weights of the pace hold already that this job ran at the age `known`.
        usual = [(w / max(survival(known, m, s), TINY), m, s) for w, m, s in self.pace.parts]
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
        remaining = max((1.0 - high) * (seen - began) / (high - low), SHORTEST_REMAINING_SECONDS)
        whole = seen - self.submitted_at + remaining
        return math.log(whole), math.hypot(error, FIGURE_STEP / (high - low)) * remaining / whole


def _longer(terms: list[Term], seconds: float) -> float:
    """The terms' share of jobs that take longer than `seconds`: `pace.survival`, but quick."""
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


SHORTEST_MEDIAN_SECONDS = 1.5
MEDIAN_STEP = 1.3
MEDIANS = tuple(SHORTEST_MEDIAN_SECONDS * MEDIAN_STEP**k for k in range(30))  # to 50 minutes
SPREADS = (0.2, 0.4, 0.8)  # standard deviations of the time's logarithm
COMMON_SECONDS = 300.0  # with nothing known every median up to here is as likely as any other
HINT_SPREAD = 0.5
HINT_TRUST = 3.0  # how much a fitting hint lifts a median, as a logarithm; a wrong one is soon outvoted
RECORDS_HEARD = 12
RECORD_TRUST = 0.5  # another day's service may be quicker or slower than today's
NEGLIGIBLE = 0.03
UNCHANGED = 0.02
IMPROBABLE = 1e-6
TINY = 1e-12
ROOT_OF_TWO = math.sqrt(2)

_GRID = tuple((math.log(median), spread) for median in MEDIANS for spread in SPREADS)


def survival(seconds: float, log_median: float, spread: float) -> float:
    """The chance that a lognormal time is longer than `seconds`."""
    if seconds <= 0:
        return 1.0
    return 0.5 * math.erfc((math.log(seconds) - log_median) / (spread * ROOT_OF_TWO))


class Pace:
    """What is believed about the whole time of jobs of one kind: mode, clip length and aspect ratio.

    `hint_seconds` is the service's estimate, or None where it may as well be the clip's length;
    `took_seconds` are the times of finished jobs of this kind, the newest last.
    """

    def __init__(self, hint_seconds: float | None = None, took_seconds: Sequence[float] = ()) -> None:
        # Whether anything but what jobs still running say is known of such jobs' times.
        self.informed = bool(took_seconds) or hint_seconds is not None
        self.version = 0  # grows with everything learnt, so that others know what is out of date
        self._scores = [_prior(log_median, hint_seconds) for log_median, _ in _GRID]
        self._weights = [0.0] * len(_GRID)
        self.parts: list[tuple[float, float, float]] = []
        for seconds in took_seconds[-RECORDS_HEARD:]:
            self._record(seconds)
        self._weigh()

    def still_running(self, known: float, age: float) -> None:
        """A job known to run at the age `known` (seconds) still runs at `age`."""
        self._hear(
            math.log(now / before) for before, now in zip(_survivals(known), _survivals(age), strict=True)
        )
        self._weigh()

    def ended_between(self, known: float, age: float) -> None:
        """A job has ended by `age`; that it ran at the age `known` was told before."""
        self.informed = True
        self._hear(
            math.log(max((before - now) / before, IMPROBABLE))
            for before, now in zip(_survivals(known), _survivals(age), strict=True)
        )
        self._weigh()

    def _record(self, seconds: float) -> None:
        around = zip(_survivals(0.9 * seconds), _survivals(1.1 * seconds), strict=True)
        self._hear(RECORD_TRUST * math.log(max(before - after, IMPROBABLE)) for before, after in around)

    def _hear(self, evidence: Iterable[float]) -> None:
        self._scores = [score + said for score, said in zip(self._scores, evidence, strict=True)]

    def _weigh(self) -> None:
        best = max(self._scores)
        weights = [math.exp(score - best) for score in self._scores]
        # What changes hardly isn't worth the time that all who rely on it would take to follow.
        if all(abs(new - old) < UNCHANGED for new, old in zip(weights, self._weights, strict=True)):
            return
        self._weights = weights
        # The few points that count; the rest would only cost time at every decision.
        kept = [(w, *point) for w, point in zip(weights, _GRID, strict=True) if w > NEGLIGIBLE]
        total = sum(w for w, _, _ in kept)
        self.parts = [(w / total, log_median, spread) for w, log_median, spread in kept]
        self.typical_seconds = math.exp(sum(w * log_median for w, log_median, _ in self.parts))
        self.version += 1


def _survivals(seconds: float) -> list[float]:
    """`survival` for the whole grid, never nought."""
    if seconds <= 0:
        return [1.0] * len(_GRID)
    log_seconds, erfc = math.log(seconds), math.erfc
    return [
        0.5 * erfc((log_seconds - log_median) / (spread * ROOT_OF_TWO)) + TINY for log_median, spread in _GRID
    ]


def _prior(log_median: float, hint_seconds: float | None) -> float:
    prior = min(0.0, math.log(COMMON_SECONDS) - log_median)
    if hint_seconds is not None and hint_seconds > 0:
        off = (log_median - math.log(hint_seconds)) / HINT_SPREAD
        prior += HINT_TRUST * math.exp(-0.5 * off * off)
    return prior


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
