"""How a service counts the days of its usage, inferred from what it said; pure.

"rolling" days are 24 hours counted back from the moment of asking, "calendar" days begin at midnight UTC. The
interface doesn't say which (GET billing/usage), so a reading is believed only where the other one can't be.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final

from .usage import CENT_PART, SETTLED_SECONDS, Reading, Totals, began_at

READINGS: Final[tuple[Reading, ...]] = ("rolling", "calendar")
# The ledger's times are those at which an end was noticed.
NOTICED_SECONDS: Final = 900.0

Moments = Sequence[tuple[float, float]]


def infer(answers: Sequence[Totals], moments: Moments = (), own: Moments = ()) -> Reading | None:
    """The reading that fits, None while both do.

    `moments` are (epoch seconds, total spent in USD), `own` are (epoch seconds, USD) of this ledger's clips.
    """
    told = sorted({*moments, *((a.at, a.spent_usd) for a in answers if a.spent_usd is not None)})
    fitting = [reading for reading in READINGS if not _contradicted(reading, answers, told, own)]
    if len(fitting) == 1:
        return fitting[0]
    votes = {_vote(answer, own) for answer in answers} - {None}
    return votes.pop() if len(votes) == 1 and fitting else None


def _contradicted(reading: Reading, answers: Sequence[Totals], told: Moments, own: Moments) -> bool:
    """Whether money would have gone back in time, or a clip of one's own would be missing."""
    points = sorted(
        (at, answer.spent_usd - answer.usd)
        for answer in answers
        if answer.spent_usd is not None
        and answer.at - (at := began_at(answer.at, answer.days, reading)) >= SETTLED_SECONDS
    )
    for (at, spent), (later, by_then) in itertools.pairwise(points):
        if spent > by_then + CENT_PART or (later - at < 1.0 and by_then - spent > CENT_PART):
            return True
        mine = sum(usd for when, usd in own if at + NOTICED_SECONDS < when < later - NOTICED_SECONDS)
        if by_then - spent < mine - CENT_PART:
            return True
    return any(
        (at <= moment - SETTLED_SECONDS and spent > total + CENT_PART)
        or (at >= moment and spent < total - CENT_PART)
        for at, spent in points
        for moment, total in told
    )


def _vote(answer: Totals, own: Moments) -> Reading | None:
    """The reading in which the answer is exactly what this ledger knows of, where the other one isn't."""
    fits = []
    for reading in READINGS:
        since = began_at(answer.at, answer.days, reading)
        if any(abs(at - since) < NOTICED_SECONDS for at, _ in own):
            return None
        mine = sum(usd for at, usd in own if since < at <= answer.at)
        if mine and abs(mine - answer.usd) <= CENT_PART:
            fits.append(reading)
    return fits[0] if len(fits) == 1 else None
