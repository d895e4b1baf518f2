"""What a session knows without asking."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Facts:
    """What is known without asking: the balance in USD as last heard, and the key's request budget."""

    balance_usd: float | None
    requests_left: int
    requests_limit: int
    requests_back_in_seconds: float | None
