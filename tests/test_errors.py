"""The error tree."""

import inspect
import pickle
import re

import pytest

from reelbook import errors
from reelbook.errors import Answer, InsufficientBalance, RateLimited, ReelbookError

ALL = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, ReelbookError)]


def test_the_docstring_draws_every_error_under_its_parent() -> None:
    """The tree in the docstring is the tree of the classes."""
    drawn: dict[str, str] = {}
    stack: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        if found := re.match(r"^([│├└─ ]*)([A-Z]\w+)", line):
            if found[2] not in vars(errors):
                continue
            depth = len(found[1])
            while stack and stack[-1][0] >= depth:
                stack.pop()
            drawn[found[2]] = stack[-1][1] if stack else ""
            stack.append((depth, found[2]))
    real = {kind.__name__: kind.__bases__[0].__name__ for kind in ALL if kind is not ReelbookError}
    assert {**real, **dict.fromkeys(("ReelbookError", "SpendingWarning", "LedgerTrouble"), "")} == drawn


@pytest.mark.parametrize(
    "error",
    [
        InsufficientBalance(
            "low", answer=Answer(402, {"date": "x"}, "y"), balance_usd=0.1, required_usd=0.25
        ),
        RateLimited("slow", answer=Answer(429), retry_after_seconds=3.0),
        errors.JobFailed("no", request_id="req", reason="policy"),
        errors.SubmissionUncertain("?", estimated_cost_usd=0.25, answer=None),
        errors.KeyUncertain("?", name="workshop", answer=Answer(500)),
        errors.DeadlineExceeded("late"),
        errors.SpendingWarning("low", left_usd=0.1),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_survives_pickling_with_what_it_carries(error: Exception) -> None:
    """Text and attributes are the same after a round trip through pickle."""
    again = pickle.loads(pickle.dumps(error))
    assert (type(error), str(error), vars(error)) == (type(again), str(again), vars(again))
