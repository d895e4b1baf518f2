"""What agent tools may have moved of the account's figures: clips that they bought, and calls of which nobody
knows what they cost. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from ..ledger import ToolCall, ToolJob
from .evidence import COST_SPREAD, Course, Span

# What a call bought may be charged when it is done; nothing in the interface says how long that takes.
LINGERS_SECONDS: Final = 24 * 3600.0


@dataclass(frozen=True)
class ToolMoney:
    """The ways of the clips that tools bought, and when calls were made whose cost isn't known, in order."""

    courses: tuple[Course, ...] = ()
    unknown_at: tuple[float, ...] = ()

    def unknown_in(self, span: Span) -> float | None:
        """The last call of unknown cost that may have moved a figure in that time; None if none may."""
        found = (at for at in self.unknown_at if at < span.high and at + LINGERS_SECONDS > span.low)
        return max(found, default=None)


NO_TOOLS: Final = ToolMoney()


def tool_money(
    calls: Sequence[ToolCall], jobs: Sequence[ToolJob], known: Collection[str], *, sandbox: bool
) -> ToolMoney:
    """What follows from the home's `calls` and from the clips that they bought, whose cost is known.

    `known` are the ids of jobs that the ledger counts. In a sandbox all share one balance, and only tools
    with a prompt buy something; elsewhere a user id may be another account's, and any tool may cost money.
    """
    counted = {*known, *(job.request_id for job in jobs)}
    unknown = (
        call.at
        for call in calls
        if call.outcome != "unsent"
        and not (call.request_ids and counted.issuperset(call.request_ids))
        and not (sandbox and "prompt" not in call.arguments)
    )
    return ToolMoney(tuple(_course(job, sandbox=sandbox) for job in jobs), tuple(sorted(unknown)))


def _course(job: ToolJob, *, sandbox: bool) -> Course:
    since = job.called_at if sandbox else -math.inf
    return Course(
        accepted=Span(since, job.answered_at),
        ended=Span(since, job.ended_at),
        estimate_usd=job.cost_usd * (1 + COST_SPREAD),
        cost_usd=Span(job.cost_usd, job.cost_usd),
        outcome="clip",
        sure=sandbox,
    )
