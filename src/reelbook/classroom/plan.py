"""What opening a classroom would do, said before anything is done: how many keys, how long, at what cost.

It reads the ledger and asks nobody.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ..account.balance import Facts
from ..errors import ConfigurationError, InvalidInput
from ..ledger import LedgerFile
from ..ledger.classrooms import Classroom
from . import handouts
from .address import address_for_students
from .classroom import MAX_SPEND_USD, RATE_LIMIT, checked_options
from .provisioning import Work, checked_name
from .roster import unique

if TYPE_CHECKING:
    from ..session.session import Session

LISTS: Final = 2  # the keys are listed before the first one is made, and after the last
WINDOW_SECONDS: Final = 60.0

T = TypeVar("T")


@dataclass(frozen=True)
class ClassPlan:
    """What `open_classroom` would do with the same arguments.

    `problems` says what is wrong, by the argument that it is about: students, name, rate_limit,
    max_spend_usd, folder, address. `continued` is the classroom that it goes on with; that one's name, limits
    and folder hold then. `keys` are to be made, in about `seconds`; all students together may spend
    `max_cost_usd`. `folder` is None where it can't be used.
    """

    students: tuple[str, ...]
    continued: Classroom | None
    name: str
    rate_limit: int
    max_spend_usd: float
    folder: Path | None
    keys: int
    seconds: float
    max_cost_usd: float
    problems: Mapping[str, str]


def plan_classroom(
    session: Session,
    students: Sequence[str],
    *,
    name: str | None = None,
    rate_limit: Any = None,
    max_spend_usd: Any = None,
    folder: Path | None = None,
    address: str | None = None,
) -> ClassPlan:
    """The plan for these arguments, of `open_classroom`. Sends nothing; never raises for what they are.

    An `address` is looked at where it is given: finding one may take seconds.
    """
    problems: dict[str, str] = {}

    def tried(about: str, check: Callable[..., T], *arguments: Any, otherwise: T) -> T:
        try:
            return check(*arguments)
        except (InvalidInput, ConfigurationError) as error:
            problems[about] = str(error)
            return otherwise

    names = unique(students)
    if not names:
        problems["students"] = "There are no names yet."
    with LedgerFile.open(session.home) as ledger:
        work = Work(session, ledger, lambda _: None)
        continued = work.continued(name, names)
        if continued is not None:
            called, limit, spend = continued.name, continued.rate_limit, continued.max_spend_usd
            place = tried("folder", handouts.checked, Path(continued.folder), otherwise=None)
        else:
            wanted = tried("name", checked_name, name, otherwise=None)
            called = work.free_name(wanted) if wanted else ""
            limit, _ = tried("rate_limit", checked_options, rate_limit, None, otherwise=(RATE_LIMIT, 0.0))
            _, spend = tried(
                "max_spend_usd", checked_options, None, max_spend_usd, otherwise=(0, MAX_SPEND_USD)
            )
            place = tried("folder", handouts.checked, folder or work.folder(called), True, otherwise=None)
            if address is not None:
                tried("address", address_for_students, session, address, otherwise=None)
    seated = {seat.student: seat for seat in continued.seats} if continued else {}
    everybody = seated.keys() | set(names)
    keys = (len(continued.missing) if continued else 0) + len(everybody - seated.keys())
    return ClassPlan(
        students=names,
        continued=continued,
        name=called,
        rate_limit=limit,
        max_spend_usd=spend,
        folder=place,
        keys=keys,
        seconds=seconds_for(keys + LISTS, session.facts),
        max_cost_usd=len(everybody) * spend,
        problems=problems,
    )


def seconds_for(requests: int, facts: Facts) -> float:
    """About how long so many requests take under the key's limit, if nothing else uses it."""
    over = requests - facts.requests_left
    if over <= 0:
        return 0.0
    back = WINDOW_SECONDS if facts.requests_left else facts.requests_back_in_seconds or WINDOW_SECONDS
    return back + (math.ceil(over / max(1, facts.requests_limit)) - 1) * WINDOW_SECONDS
