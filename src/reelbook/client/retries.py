"""What may be sent again, and when: decisions only, `calling.py` carries them out.

The service has no idempotency key, so a paid request goes out again only where it certainly had no effect,
unless its caller asked for more than that.
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
NOT_HERE = frozenset({301, 307, 308})  # to be sent elsewhere as it is: nothing was done (RFC 9110, 15.4)
QUOTA = 10.0  # repetitions: a whole minute's requests of the default key; more in a row is no hiccup
REFILL = 0.5  # of a repetition for a success: six of them make up for a call that failed to its last attempt


def may_send_again(error: ReelbookError, *, paid: bool, retry_uncertain: bool = False) -> bool:
    """Whether a request that ended in `error` may be sent again.

    A paid one only without a risk of paying twice, or with `retry_uncertain`, which takes that risk.
    """
    if isinstance(error, RateLimited | ServiceUnreachable):
        return True
    return (not paid or retry_uncertain) and isinstance(error, AnswerLost | SendInterrupted | ServerError)


def is_uncertain(error: ReelbookError) -> bool:
    """Whether a paid request that ended in `error` may have been accepted all the same."""
    if isinstance(error, UnexpectedAnswer) and error.answer.status in NOT_HERE:
        return False
    return isinstance(error, AnswerLost | ServerError | UnexpectedAnswer)


def delay_seconds(attempt: int, error: ReelbookError, rng: random.Random) -> float:
    """How long to wait before attempt `attempt` + 1: what the service asked for, else full jitter.

    Source: interface, Errors (1 s, doubled each time, at most 30 s), with jitter over the whole span so that
    many clients don't come back together.
    """
    if isinstance(error, RateLimited) and error.retry_after_seconds is not None:
        return error.retry_after_seconds
    return rng.uniform(0, min(LONGEST_DELAY_SECONDS, FIRST_DELAY_SECONDS * 2 ** (attempt - 1)))


class RetryQuota:
    """How many repetitions a client may make before successes earn it more: a token bucket, as botocore's.

    Few attempts a call don't bound a hundred calls. A client that meets failure after failure soon sends each
    request once only, and so adds no load to a service that is down.
    """

    def __init__(self) -> None:
        self.left = QUOTA

    def take(self, error: ReelbookError) -> bool:
        """Whether a request that ended in `error` may be repeated as far as the quota goes; takes its price.

        A 429 is no failure of the service and is paced by the key's budget, so it costs nothing.
        """
        if isinstance(error, RateLimited):
            return True
        if self.left < 1:
            return False
        self.left -= 1
        return True

    def succeeded(self, taken: int = 0) -> None:
        """A call came to its answer: what its own repetitions took comes back, and a little more."""
        self.left = min(QUOTA, self.left + max(taken, REFILL))
