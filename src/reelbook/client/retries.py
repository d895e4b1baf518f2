"""What may be sent again, and when: decisions only, `client.py` carries them out.

The service has no idempotency key, so a paid request is sent again only where it certainly had no effect,
unless its caller asked for more. A class's room has one, so there it always may be.
"""

import random

from .. import errors

MAX_ATTEMPTS = 4
MAX_KEYED_ATTEMPTS = 12  # two minutes: by then a room that was killed runs again
FIRST_DELAY_SECONDS = 1.0
LONGEST_DELAY_SECONDS = 30.0
NOT_HERE = frozenset({301, 307, 308})  # to be sent elsewhere unchanged: nothing was done (RFC 9110, 15.4)

_rng = random.Random()  # noqa: S311 - jitter, no secret; not the one that a notebook seeds


def may_send_again(error: errors.ReelbookError, *, twice: bool) -> bool:
    """Whether a request that ended in `error` may be sent again; with `twice` even if it took effect."""
    if isinstance(error, errors.RateLimited | errors.ServiceUnreachable):
        return True
    return twice and isinstance(error, errors.AnswerLost | errors.SendInterrupted | errors.ServerError)


def is_uncertain(error: errors.ReelbookError) -> bool:
    """Whether a paid request that ended in `error` may have been accepted all the same."""
    if isinstance(error, errors.UnexpectedAnswer) and error.answer.status in NOT_HERE:
        return False
    return isinstance(error, errors.AnswerLost | errors.ServerError | errors.UnexpectedAnswer)


def delay_seconds(attempt: int) -> float:
    """The wait before attempt `attempt` + 1, in seconds. After a 429 the budget decides it instead.

    Source: interface, Errors (1 s, doubled each time, at most 30 s), with jitter over the whole span so that
    many clients don't come back together.
    """
    longest = min(LONGEST_DELAY_SECONDS, FIRST_DELAY_SECONDS * 2 ** (attempt - 1))
    return _rng.uniform(0, longest)
