"""A plan: what a sweep would buy, what that costs and how long it takes, before anything is bought."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ..client.forecast import forecast
from ..client.scheduling.estimates import Pace, Took
from ..errors import ReelbookError
from ..formatting import count, dollars, exact_dollars
from ..requests import JobRequest
from ..session import Session
from ..session.session import may_wait
from .articles import article_notes

CONFIRM_ABOVE_USD: Final = 1.00


@dataclass(frozen=True)
class Plan:
    """What would be bought, and what is known about it beforehand.

        plan = sweep.plan(session)
        print(plan)

    Of all `clips`, `found` are in the ledger already and cost nothing. `balance_left_usd` and
    `limit_left_usd` are what the rest leaves, None if that is unknown or there is no limit. `seconds` is the
    time until all are done: early, likely and late. `problems` say why it can't be bought, `notes` what to
    know about its prompts before paying.
    """

    clips: int
    cost_usd: float
    found: int
    balance_left_usd: float | None
    limit_left_usd: float | None
    seconds: tuple[float, float, float]
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def bought(self) -> int:
        """How many clips have to be made and paid."""
        return self.clips - self.found

    def __str__(self) -> str:
        said = [count(self.clips, "clip")]
        if self.found:
            said.append(f"{self.found} of them in the ledger already")
        if self.bought:
            said.append(f"about {dollars(self.cost_usd)}, here in {duration(self.seconds)}")
        else:
            said.append("nothing to pay")
        left = [
            f"leaves {exact_dollars(amount)} of the {what}"
            for what, amount in (("balance", self.balance_left_usd), ("limit", self.limit_left_usd))
            if amount is not None and amount >= 0
        ]
        return " ".join([", ".join([*said, *left]) + ".", *self.problems, *self.notes])

    __repr__ = __str__


def plan(session: Session, requests: Sequence[JobRequest], template: str = "") -> Plan:
    """The plan for a template's requests. Buys and writes nothing.

    Asks for a balance that isn't known or isn't enough, as credits may have been added, unless it is to
    answer at once.
    """
    there = session._ledger.sweeps.found(requests)
    missing = [each for each in requests if each.sameness not in there]
    cost = round(sum(each.estimated_cost_usd for each in missing), 6)
    known = session.facts.balance_usd
    if missing and (known is None or known < cost) and may_wait():
        with contextlib.suppress(ReelbookError):
            session.balance()
    balance = session.facts.balance_usd if missing else None
    limit = session.spending().left_usd
    balance_left = None if balance is None else round(balance - cost, 6)
    limit_left = None if limit is None else round(limit - cost, 6)
    problems = []
    if missing and limit_left is not None and limit_left < 0:
        problems.append(
            f"{count(len(missing), 'clip')} for about {exact_dollars(cost)} would pass the spending limit, "
            f"which leaves {exact_dollars(limit or 0.0)}. Raise the limit, or ask for less."
        )
    if balance_left is not None and balance_left < 0:
        problems.append(
            f"The balance of {exact_dollars(max(0.0, balance or 0.0))} doesn't cover "
            f"{count(len(missing), 'clip')} for about {exact_dollars(cost)}. Add credits, or ask for less."
        )
    return Plan(
        clips=len(requests),
        cost_usd=cost,
        found=len(requests) - len(missing),
        balance_left_usd=balance_left,
        limit_left_usd=limit_left,
        seconds=_forecast(session, missing),
        problems=tuple(problems),
        notes=article_notes(template, [each.prompt for each in missing]),
    )


def _forecast(session: Session, requests: Sequence[JobRequest]) -> tuple[float, float, float]:
    """When all of these would be done, in seconds from now: early, likely and late."""
    paces: dict[tuple[object, ...], Pace] = {}
    kinds = [(each.mode, each.duration_seconds, each.aspect_ratio) for each in requests]
    for kind, request in zip(kinds, requests, strict=True):
        if kind not in paces:
            paces[kind] = Pace([Took(*each) for each in session._ledger.took_seconds(request, alike=True)])
    budget = session._thread.run(session._client.budget_beside_others)
    return forecast([paces[kind] for kind in kinds], budget, session._thread.now())


def duration(seconds: tuple[float, float, float]) -> str:
    """A range of seconds in words, as "4 to 6 min" or "1.6 to 2.2 h"."""
    early, _, late = seconds
    size, unit = (1, "s") if late < 90 else (60, "min") if late < 5400 else (3600, "h")
    low, high = (f"{round(each / size, unit == 'h'):g}" for each in (early, late))
    if low == high:
        return f"about {high} {unit}"
    return f"up to {high} {unit}" if low == "0" else f"{low} to {high} {unit}"
