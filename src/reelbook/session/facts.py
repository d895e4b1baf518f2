"""What a session knows without asking."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Facts:
    """What is known without asking: the balance in USD as last heard, less what the key's clips cost since;
    the key's request budget; and the limit in USD that this session was given for the key's clips.
    """

    balance_usd: float | None
    requests_left: int
    requests_limit: int
    requests_back_in_seconds: float | None
    max_spend_usd: float | None = None
