"""Experiments: what is submitted within one carries its name in the ledger."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from ..errors import InvalidInput

if TYPE_CHECKING:
    from .job import Job
    from .receipt import Receipt
    from .session import Session

# The innermost one last. Names, no tokens: one Experiment may be entered by several tasks at a time.
_entered: ContextVar[tuple[str, ...]] = ContextVar("reelbook_experiment", default=())


def current_experiment() -> str | None:
    """The name of the experiment that this code runs in, None outside of one."""
    return next(reversed(_entered.get()), None)


class Experiment:
    """Groups submissions under a name: `with session.experiment("fog"):`.

    It holds for the code inside the block, also across an `await`; a button pressed meanwhile is not a part
    of it. The same name may be used again, in another cell or on another day.
    """

    def __init__(self, session: Session, name: str) -> None:
        if not isinstance(name, str) or not name.strip():
            raise InvalidInput("An experiment needs a name. Nothing was sent.")
        self.name = name.strip()
        self._session = session

    def __enter__(self) -> Experiment:
        _entered.set((*_entered.get(), self.name))
        return self

    def __exit__(self, *_: object) -> None:
        _entered.set(_entered.get()[:-1])

    def jobs(self, **filters: Any) -> tuple[Job, ...]:
        """Its jobs, newest first; the filters are those of `Session.jobs`."""
        return self._session.jobs(experiment=self.name, **filters)

    def receipt(self) -> Receipt:
        """What its clips cost, one by one and in all."""
        return self._session.receipt(self.name)

    def __repr__(self) -> str:
        return f"<Experiment “{self.name}”>"
