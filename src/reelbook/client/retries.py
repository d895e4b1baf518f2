"""What may be sent again, and when: decisions only, `client.py` carries them out.

The service has no idempotency key, so a paid request goes out again only where it certainly had no effect.
"""

from __future__ import annotations

import random

from ..errors import (
    AnswerLost,
    RateLimited,
    ReelbookError,
    SendInterrupted,
    ServerError,
    ServiceUnreachable,
    UnexpectedAnswer,
)

MAX_ATTEMPTS = 4
FIRST_DELAY_SECONDS = 1.0
LONGEST_DELAY_SECONDS = 30.0


def may_send_again(error: ReelbookError, *, paid: bool) -> bool:
    """Whether a request that ended in `error` may be sent again without a risk of paying twice."""
    if isinstance(error, RateLimited | ServiceUnreachable):
        return True
    return not paid and isinstance(error, AnswerLost | SendInterrupted | ServerError)


def is_uncertain(error: ReelbookError) -> bool:
    """Whether a paid request that ended in `error` may have been accepted all the same."""
    return isinstance(error, AnswerLost | ServerError | UnexpectedAnswer)


def delay_seconds(attempt: int, error: ReelbookError, rng: random.Random) -> float:
    """How long to wait before attempt `attempt` + 1: what the service asked for, else full jitter.

    Source: interface, Errors (1 s, doubled each time, at most 30 s), with jitter over the whole span so that
    many clients don't come back together.
    """
    if isinstance(error, RateLimited) and error.retry_after_seconds is not None:
        return error.retry_after_seconds
    return rng.uniform(0, min(LONGEST_DELAY_SECONDS, FIRST_DELAY_SECONDS * 2 ** (attempt - 1)))
