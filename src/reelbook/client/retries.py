"""What may be sent again, and when: decisions only, `client.py` carries them out.

The service has no idempotency key, so a paid request goes out again only where it certainly had no effect,
unless its caller asked for more than that.
"""

from __future__ import annotations

import random
from dataclasses import replace

from .. import errors
from ..formatting import dollars

MAX_ATTEMPTS = 4
FIRST_DELAY_SECONDS = 1.0
LONGEST_DELAY_SECONDS = 30.0
NOT_HERE = frozenset({301, 307, 308})  # to be sent elsewhere as it is: nothing was done (RFC 9110, 15.4)

_rng = random.Random()  # noqa: S311 - jitter, no secret; not the one that a notebook seeds


def may_send_again(error: errors.ReelbookError, *, twice: bool) -> bool:
    """Whether a request that ended in `error` may be sent again; with `twice` even if it had its effect."""
    if isinstance(error, errors.RateLimited | errors.ServiceUnreachable):
        return True
    return twice and isinstance(error, errors.AnswerLost | errors.SendInterrupted | errors.ServerError)


def is_uncertain(error: errors.ReelbookError) -> bool:
    """Whether a paid request that ended in `error` may have been accepted all the same."""
    if isinstance(error, errors.UnexpectedAnswer) and error.answer.status in NOT_HERE:
        return False
    return isinstance(error, errors.AnswerLost | errors.ServerError | errors.UnexpectedAnswer)


def delay_seconds(attempt: int) -> float:
    """How long to wait before attempt `attempt` + 1; after a 429 the budget says it, and not this.

    Source: interface, Errors (1 s, doubled each time, at most 30 s), with jitter over the whole span so that
    many clients don't come back together.
    """
    longest = min(LONGEST_DELAY_SECONDS, FIRST_DELAY_SECONDS * 2 ** (attempt - 1))
    return _rng.uniform(0, longest)


class SubmissionRecord:
    """Keeps account of a paid request's attempts; this one keeps none. Each is told before it has its effect.

    A ReelbookError that `sending` raises keeps the attempt from going out, one that `unanswered` raises ends
    the repetitions.
    """

    def sending(self) -> None:
        """The connection stands, and the attempt goes out next."""

    def unsent(self) -> None:
        """The attempt certainly had no effect, and will be made again."""

    def unanswered(self, error: errors.ReelbookError) -> None:
        """The attempt may have been accepted, and `retry_uncertain` is about to repeat it."""


class Paid:
    """A request that must not have its effect twice unasked. See `AsyncClient.submit`."""

    def __init__(self, record: SubmissionRecord | None = None, *, retry_uncertain: bool = False) -> None:
        self.record = SubmissionRecord() if record is None else record
        self.retry_uncertain = retry_uncertain
        self._repeated: list[errors.ReelbookError] = []
        self._held_back: errors.ReelbookError | None = None

    def repeats(self, error: errors.ReelbookError) -> bool:
        """The attempt ended in `error` and may be sent again: tells the caller, who may hold that back."""
        if not is_uncertain(error):
            self.record.unsent()
            return True
        try:
            self.record.unanswered(error)
        except errors.ReelbookError as held_back:
            self._held_back = held_back
            return False
        self._repeated.append(error)
        return True

    def failure(self, error: errors.ReelbookError, cost_usd: float) -> errors.ReelbookError:
        """What the caller is to see of a submission for `cost_usd` whose last attempt ended in `error`."""
        last_is_uncertain = is_uncertain(error)
        uncertain = [*self._repeated, *([error] if last_is_uncertain else [])]
        if not uncertain:
            return error
        answer: errors.Answer | None = getattr(uncertain[-1], "answer", None)
        return errors.SubmissionUncertain(
            f"{uncertain[-1]}{_heard(uncertain[-1])} {_maybe(len(uncertain), cost_usd)} "
            f"{self._ended(error, last_is_uncertain)}",
            estimated_cost_usd=round(cost_usd * len(uncertain), 6),
            answer=answer,
            refusal=None if last_is_uncertain else error,
        )

    def _ended(self, error: errors.ReelbookError, last_is_uncertain: bool) -> str:
        again = f" again after attempt {len(self._repeated) + 1}" if self._repeated else " again"
        if self._held_back is not None:
            return f"It was not sent{again}: {self._held_back}"
        if last_is_uncertain:
            return f"It was not sent{again}."
        return f"It was sent again as asked, and that bought nothing: {error}"


def key_uncertain(failure: errors.ReelbookError, name: str) -> errors.KeyUncertain:
    """What the caller is to see of a key whose answer was lost."""
    answer: errors.Answer | None = getattr(failure, "answer", None)
    return errors.KeyUncertain(
        f"{failure} A key named “{name}” may exist all the same, and its secret can't be seen any "
        "more. It was not asked for again: list the keys and revoke it.",
        name=name,
        answer=answer and replace(answer, extract=""),  # a broken answer may hold the secret
    )


def _heard(error: errors.ReelbookError) -> str:
    """What came instead of an acceptance, for the ledger to keep: the job's id may be in it."""
    answer: errors.Answer | None = getattr(error, "answer", None)
    said = "" if answer is None or answer.status >= 300 else answer.extract.strip()
    return f" It answered: “{said}”." if said and not said.startswith("<") else ""


def _maybe(times: int, cost_usd: float) -> str:
    if times == 1:
        return f"The service may be making this clip all the same, and may bill {dollars(cost_usd)}."
    return (
        f"It was sent {times} times without a clear answer: the service may be making this clip up to "
        f"{times} times, and may bill up to {dollars(cost_usd * times)}."
    )
