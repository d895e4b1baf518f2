"""How long jobs of one kind take, learnt while they run: pure. `belief.py` applies it to each single job.

A mixture of lognormal distributions: every pair of a median and a spread has a weight, and each answer about
a job moves the weights (Bayes' rule). The jobs of a batch tend to be alike, so they share one `Pace`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

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
