"""What the line at the top of the Studio says."""

from typing import Any, Final

from reelbook import wire
from reelbook.account import Facts
from reelbook.account.limits import SpendNotice, spend_notices
from reelbook.ledger import Spend
from reelbook.models import Balance

from ..formatting import LITTLE_USD, count, dollars

KEY_REFUSED: Final = "The service refuses this key"
REPLACE_KEY: Final = "Replace key"


def facts_words(
    service: str, facts: Facts, *, running: int = 0, spend: Spend | None = None
) -> dict[str, Any]:
    """The line at the top of the Studio; `running` is the number of running jobs.

    `spend` is what counts towards the spending limit, None if unknown. "low" names what would last for only a
    few clips of the usual length. If the service refuses the key, "refused" says so instead.
    """
    near: tuple[SpendNotice, ...] = ()
    if spend is not None:
        each_usd, limit_usd = wire.cost_usd(wire.DEFAULT_SECONDS), facts.max_spend_usd
        near = spend_notices(
            0.0, spend=spend, limit_usd=limit_usd, balance_usd=facts.balance_usd, each_usd=each_usd
        )
    low = {each.kind for each in near}
    balance = "" if facts.balance_usd is None else dollars(facts.balance_usd)
    if facts.key_trouble:  # nothing that is left is of use
        return {"service": service, "refused": KEY_REFUSED, "running": running}
    return {
        "service": service,
        "balance": f"{balance}, running low" if "balance" in low else balance,
        "limit_left": _limit_words(facts.max_spend_usd, spend, low="limit" in low),
        "low": sorted(low),
        "left": facts.requests_left,
        "limit": facts.requests_limit,
        "text": f"{count(facts.requests_left, 'request')} left",
        "running": running,
    }


def balance_words(facts: Facts) -> str:
    """What is left of the balance, and the service's own figure where that is more."""
    if facts.balance_usd is None:
        return ""
    left, to_come = dollars(facts.balance_usd), dollars(facts.to_come_usd)
    if to_come == dollars(0):
        return left
    return (
        f"{left} ({dollars(facts.balance_usd + facts.to_come_usd)} less {to_come} that clips may still cost)"
    )


def balance_heard(balance: Balance) -> str:
    """What a press on a button came to that is off for want of money."""
    return f"The balance is {dollars(balance.balance_usd)}."


def _limit_words(limit_usd: float | None, spend: Spend | None, *, low: bool) -> str:
    if limit_usd is None or spend is None:
        return ""
    left = limit_usd - spend.committed_usd
    said = dollars(left) if left >= LITTLE_USD else "nothing"
    return f"{'only ' if low and left >= LITTLE_USD else ''}{said} of {dollars(limit_usd)} left"
