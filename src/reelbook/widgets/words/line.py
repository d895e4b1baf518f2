"""What the line on top of the Studio says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .basics import dollars

if TYPE_CHECKING:
    from reelbook.session import Facts


def facts_words(service: str, facts: Facts, *, running: int = 0) -> dict[str, Any]:
    """The line on top of the Studio; `running` is how many jobs are on their way."""
    left, limit = max(0, min(facts.requests_left, facts.requests_limit)), facts.requests_limit
    return {
        "service": service,
        "balance": "" if facts.balance_usd is None else dollars(facts.balance_usd),
        "left": left,
        "limit": limit,
        "text": f"{left} request{'' if left == 1 else 's'} left",
        "running": running,
    }
