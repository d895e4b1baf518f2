"""One paid request and its attempts: who is told of them, and which may have been accepted.

`retries.py` decides what may be sent again, `calling.py` sends it; this keeps count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..errors import Answer, KeyUncertain, ReelbookError, SubmissionUncertain
from . import retries

OnSending = Callable[[bool], None]
OnUncertain = Callable[[ReelbookError], None]


class Paid:
    """A request that must not have its effect twice unasked. See `AsyncClient.text_to_video`."""

    def __init__(
        self,
        *,
        retry_uncertain: bool = False,
        on_sending: OnSending | None = None,
        on_uncertain: OnUncertain | None = None,
    ) -> None:
        self.retry_uncertain = retry_uncertain
        self._on_sending = on_sending or (lambda _: None)
        self._on_uncertain = on_uncertain or (lambda _: None)
        self._repeated: list[ReelbookError] = []
        self._held_back: ReelbookError | None = None

    def sending(self) -> None:
        """An attempt goes out next; what this raises keeps it from that."""
        self._on_sending(True)

    def repeats(self, error: ReelbookError) -> bool:
        """The attempt ended in `error` and may be sent again: tells the caller, who may hold that back."""
        if not retries.is_uncertain(error):
            self._on_sending(False)
            return True
        try:
            self._on_uncertain(error)
        except ReelbookError as held_back:
            self._held_back = held_back
            return False
        self._repeated.append(error)
        return True

    def failure(self, error: ReelbookError, cost_usd: float) -> ReelbookError:
        """What the caller is to see of a submission for `cost_usd` whose last attempt ended in `error`."""
        last_is_uncertain = retries.is_uncertain(error)
        uncertain = [*self._repeated, *([error] if last_is_uncertain else [])]
        if not uncertain:
            return error
        answer: Answer | None = getattr(uncertain[-1], "answer", None)
        return SubmissionUncertain(
            f"{uncertain[-1]}{_heard(uncertain[-1])} {_maybe(len(uncertain), cost_usd)} "
            f"{self._ended(error, last_is_uncertain)}",
            estimated_cost_usd=round(cost_usd * len(uncertain), 6),
            answer=answer,
            refusal=None if last_is_uncertain else error,
        )

    def _ended(self, error: ReelbookError, last_is_uncertain: bool) -> str:
        again = f" again after attempt {len(self._repeated) + 1}" if self._repeated else " again"
        if self._held_back is not None:
            return f"It was not sent{again}: {self._held_back}"
        if last_is_uncertain:
            return f"It was not sent{again}."
        return f"It was sent again as asked, and that bought nothing: {error}"


def key_uncertain(failure: ReelbookError, name: str) -> KeyUncertain:
    """What the caller is to see of a key whose answer was lost."""
    answer: Answer | None = getattr(failure, "answer", None)
    return KeyUncertain(
        f"{failure} A key named “{name}” may exist all the same, and its secret can't be seen any "
        "more. It was not asked for again: list the keys and revoke it.",
        name=name,
        answer=answer and replace(answer, extract=""),  # a broken answer may hold the secret
    )


def _heard(error: ReelbookError) -> str:
    """What came instead of an acceptance, for the ledger to keep: the job's id may be in it."""
    answer: Answer | None = getattr(error, "answer", None)
    said = "" if answer is None or answer.status >= 300 else answer.extract.strip()
    return f" It answered: “{said}”." if said and not said.startswith("<") else ""


def _maybe(times: int, cost_usd: float) -> str:
    if times == 1:
        return f"The service may be making this clip all the same, and may bill ${cost_usd:.2f}."
    return (
        f"It was sent {times} times without a clear answer: the service may be making this clip up to "
        f"{times} times, and may bill up to ${cost_usd * times:.2f}."
    )
