"""How near the money's end is, pure: what a submission leaves of the spending limit and of the balance.

Only from what was heard before; nothing is asked for it. Who says it where is left to the callers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

from .. import wire
from ..formatting import exact_dollars
from ..ledger import Spend

# The last fifth of a limit is a few clips: enough to finish a thought, or to raise the limit in good time.
LIMIT_SHARE: Final = 0.8
# So few more clips like it are a few minutes of trying; adding credits takes as long.
FEW_CLIPS: Final = 5
_LEAST_USD: Final = 1e-9

Kind = Literal["limit", "balance"]


@dataclass(frozen=True)
class Spending:
    """What this session's clips cost so far by the ledger, and what its limit leaves, in USD.

    `spent_usd` is billed, `reserved_usd` is for clips on their way, `uncertain_usd` for those that were never
    answered or failed, and for what the service's figures are short of its price: all of what was submitted
    by this kernel since the session began. `limit_usd` is `max_spend`, None without one. It is for all clips
    of the key: `counted_usd` is what they count, those of earlier sessions included. Of what was billed,
    `tools_usd` is for clips that agent tools bought, as far as they were taken up and have ended.
    """

    spent_usd: float
    reserved_usd: float
    uncertain_usd: float
    limit_usd: float | None
    counted_usd: float
    tools_usd: float = 0.0

    @property
    def left_usd(self) -> float | None:
        """What may still be submitted under the limit; None without one."""
        return None if self.limit_usd is None else max(0.0, round(self.limit_usd - self.counted_usd, 6))

    def __str__(self) -> str:
        said = f"This session spent {exact_dollars(self.spent_usd)}"
        if self.tools_usd:
            said += f" ({exact_dollars(self.tools_usd)} of it through agent tools)"
        beside = [
            f"{exact_dollars(amount)} {word}"
            for amount, word in (
                (self.reserved_usd, "is reserved for clips on their way"),
                (self.uncertain_usd, "is uncertain"),
            )
            if amount
        ]
        said = ", ".join([said, *beside])
        if self.limit_usd is None or self.left_usd is None:
            return f"{said}; no limit is set."
        own = self.spent_usd + self.reserved_usd + self.uncertain_usd
        earlier = self.counted_usd - own
        counted = f", {exact_dollars(earlier)} of earlier clips counted" if earlier > _LEAST_USD else ""
        left, limit = exact_dollars(self.left_usd), exact_dollars(self.limit_usd)
        return f"{said}; {left} of the limit of {limit} is left{counted}."


@dataclass(frozen=True)
class Nearing:
    """That a submission nears the end of something: `left_usd` is what it leaves of it, `text` says so.

    `stage` 1: not much is left. 2: not enough for another clip like it. 3: perhaps not enough for this one.
    """

    kind: Kind
    stage: int
    left_usd: float
    text: str


def nearing(
    estimate_usd: float,
    *,
    spend: Spend,
    limit_usd: float | None,
    balance_usd: float | None,
    each_usd: float | None = None,
) -> tuple[Nearing, ...]:
    """What is to be said of a submission of `estimate_usd`, where `spend` is what counts before it.

    `balance_usd` is the balance as last heard; clips on their way may still be taken from it. `each_usd` is
    the dearest clip of a batch. A submission that would pass the limit is refused elsewhere, so nothing is
    said of it here.
    """
    each = estimate_usd if each_usd is None else each_usd
    said = []
    if limit_usd is not None and (near := _limit(estimate_usd, each, spend.committed_usd, limit_usd)):
        said.append(near)
    if balance_usd is not None and (near := _balance(estimate_usd, each, spend.reserved_usd, balance_usd)):
        said.append(near)
    return tuple(said)


def _limit(estimate_usd: float, each_usd: float, committed_usd: float, limit_usd: float) -> Nearing | None:
    left = _exact(limit_usd - committed_usd - estimate_usd)
    if left < 0:
        return None
    said = f"This leaves {exact_dollars(left)} of your limit of {exact_dollars(limit_usd)}"
    if left < each_usd:
        return Nearing("limit", 2, left, f"{said}: not enough for another clip like it.")
    if left <= limit_usd * (1 - LIMIT_SHARE) + _LEAST_USD:
        return Nearing("limit", 1, left, f"{said}.")
    return None


def _balance(estimate_usd: float, each_usd: float, reserved_usd: float, balance_usd: float) -> Nearing | None:
    left = _exact(balance_usd - reserved_usd - estimate_usd)
    if left < 0:
        beside = (
            f", and {exact_dollars(reserved_usd)} of it is for clips on their way" if reserved_usd else ""
        )
        text = f"The balance was {exact_dollars(balance_usd)}{beside}: perhaps not enough for this."
        return Nearing("balance", 3, left, text)
    more = math.floor(left / wire.PRICE_USD_PER_SECOND + _LEAST_USD)
    said = f"This leaves about {exact_dollars(left)} of the balance, enough for {more} more second"
    said += "." if more == 1 else "s."
    if left < each_usd:
        return Nearing("balance", 2, left, said)
    return Nearing("balance", 1, left, said) if left < FEW_CLIPS * each_usd else None


def _exact(amount_usd: float) -> float:
    """To a millionth of a dollar, as the ledger counts, and without the sign of nothing."""
    return round(amount_usd, 6) + 0.0
