"""What became of submissions whose answer was lost: asks for the figures, and keeps what is sure.

What the figures say is decided in `reconcile_rules.py`.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from ..errors import AuthenticationError, ServiceError
from ..formatting import local
from ..ledger import Ledger, Sample
from ..ledger.tool_calls import KEPT
from .balance import BalanceTracker
from .connection import Connection
from .reconcile_rules import FIELDS, LIVE, SANDBOX, Change, Evidence, Finding, compare, value, written

SAMPLES: Final = 200


@dataclass(frozen=True)
class Comparison:
    """What the figures say of each submission without an answer, oldest first, and the figures themselves.

    `before_at` and `now_at` are when they were taken, `before_at` the earliest; None where there are none.
    """

    findings: tuple[Finding, ...] = ()
    before_at: datetime | None = None
    now_at: datetime | None = None
    changes: tuple[Change, ...] = ()
    now_figures: str = ""


class Reconciler:
    """Compares for one session, on its thread."""

    def __init__(self, connection: Connection, ledger: Ledger, balance: BalanceTracker) -> None:
        self._connection = connection
        self._ledger = ledger
        self._balance = balance
        self._rules = SANDBOX if connection.service == "sandbox" else LIVE

    async def compare(self, *, alone: bool) -> Comparison:
        """Asks for balance and usage once each, and settles in the ledger what is sure."""
        if not self._ledger.uncertain_entries():
            return Comparison()
        await self._connection.reach()
        now = await self._ask()
        findings = await asyncio.to_thread(self._findings, now, alone)
        for each in findings:
            if each.answer != "can't tell":
                self._ledger.settle(each.entry.id, accepted=each.answer == "accepted")
        changes = tuple(dict.fromkeys(change for each in findings for change in each.changes))
        return Comparison(
            tuple(findings),
            before_at=min((change.before_at for change in changes), default=None),
            now_at=local(now.at),
            changes=changes,
            now_figures=", ".join(
                f"{figure} {written(figure, found)}"
                for figure in FIELDS
                if (found := value(figure, now)) is not None
            ),
        )

    async def _ask(self) -> Sample:
        # By the time before the questions: what was posted by then is in the answers.
        began = time.time()
        balance = await self._balance.balance()
        figures = Sample(began, balance_usd=balance.balance_usd, total_spent_usd=balance.total_spent_usd)
        try:
            usage = await self._balance.usage(self._ledger.usage_days())
        except AuthenticationError:
            raise
        except ServiceError:
            return figures  # the money alone tells something too
        spent = balance.total_spent_usd if usage.total_spent_usd is None else usage.total_spent_usd
        return Sample(
            began,
            balance_usd=balance.balance_usd,
            total_spent_usd=spent,
            total_requests=usage.total_requests,
            total_seconds=usage.total_seconds,
            total_cost_usd=usage.total_cost_usd,
            period_days=usage.period_days,
        )

    def _findings(self, now: Sample, alone: bool) -> list[Finding]:
        samples = self._ledger.samples.list(before=now.at, limit=SAMPLES)
        oldest = min((each.at for each in samples), default=now.at)
        evidence = Evidence(
            uncertain=self._ledger.uncertain_entries(),
            others=self._ledger.others_since(oldest),
            samples=samples,
            now=now,
            rules=self._rules,
            tool_calls=self._ledger.tool_calls.recent(KEPT),
        )
        return compare(evidence, alone=alone)
