"""A service whose truth is known: what was used when, told as totals of `days`, and the questions it got."""

import math
from dataclasses import dataclass, field, replace
from random import Random

import pytest

from reelbook.account.usage import KnownUsage, Reading, Totals, UsageSpan, began_at, next_days, spans

DAY = 86_400.0
MIDNIGHT = 20_000 * DAY
AFTERNOON = MIDNIGHT + 14 * 3600


@dataclass
class Service:
    """Events are (moment, USD); a dollar is 20 seconds and 2 requests."""

    events: list[tuple[float, float]]
    reading: Reading = "rolling"
    late: float = 0.0
    tells_spent: bool = True
    answers: list[Totals] = field(default_factory=list)

    def used(self, since: float, now: float) -> float:
        """USD dated after `since` and posted by `now`."""
        return sum(usd for at, usd in self.events if since < at <= now - self.late)

    def usage(self, days: int, now: float) -> Totals:
        usd = self.used(began_at(now, days, self.reading), now)
        spent = self.used(-math.inf, now) if self.tells_spent else None
        self.answers.append(Totals(now, days, usd, 20 * usd, 2 * usd, spent))
        return self.answers[-1]

    def truth(self, span: UsageSpan) -> float:
        return sum(usd for at, usd in self.events if span.from_at < at <= span.to_at)


def refine(
    service: Service, now: float, *, days: int = 30, kept: tuple[Totals, ...] = ()
) -> tuple[KnownUsage, int]:
    """Asks as a session would, every six seconds; what is known then, and how many questions it took."""
    known = KnownUsage(days, now, kept, reading=service.reading)
    asked: list[int] = []
    while (wanted := next_days(known, asked)) is not None:
        asked.append(wanted)
        known = replace(known, answers=(*known.answers, service.usage(wanted, now + 6 * (len(asked) - 1))))
    return known, len(asked)


def assert_right(service: Service, known: KnownUsage) -> None:
    """Every span's money is what was spent in it, and so are its seconds and requests where they are told."""
    for span in spans(known):
        truth = service.truth(span)
        assert span.usd == pytest.approx(truth, abs=1e-6)
        assert span.seconds in (None, pytest.approx(20 * truth, abs=0.01))
        assert span.requests in (None, pytest.approx(2 * truth, abs=0.01))


def busy(seed: int, days: int, share: float, now: float = AFTERNOON) -> list[tuple[float, float]]:
    """An uneven history: that share of the days, at random, has a few clips each."""
    random = Random(seed)
    chosen = random.sample(range(days), round(days * share))
    return [
        (now - (day + random.uniform(0.02, 0.98)) * DAY, random.randint(1, 40) * 0.25)
        for day in chosen
        for _ in range(random.randint(1, 4))
    ]
