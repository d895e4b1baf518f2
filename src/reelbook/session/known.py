"""What is known of a job, as values: all of it at one moment, what a card shows of that, a person's marks.

`job.py` holds the latest of them and tells who listens.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from .. import wire
from ..errors import ReelbookError
from ..ledger import CANCELLED, INTENDED, LOST, NOT_ACCEPTED, REFUSED, SENDING, UNCERTAIN, KnownBy
from ..models import JobStatus

if TYPE_CHECKING:
    from .clip import Clip

FINAL = frozenset({wire.COMPLETED, wire.FAILED, REFUSED, UNCERTAIN, CANCELLED, LOST, NOT_ACCEPTED})

# The interface doesn't name them, so a service that uses one means something of its own.
_OWN = frozenset({INTENDED, SENDING, REFUSED, CANCELLED, UNCERTAIN, LOST, NOT_ACCEPTED})


@dataclass(frozen=True)
class Marks:
    """What a person put to a job; kept by the ledger, never sent to the service."""

    starred: bool = False
    note: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Known:
    """All that is known of a job at one moment. Times are the session's clock, in seconds."""

    began_at: float
    accepted_at: float | None = None  # None: as `began_at`, or not yet
    state: str = SENDING
    request_id: str | None = None
    status: JobStatus | None = None
    watched: bool = True
    progress: float | None = None
    ends_at: float | None = None
    ended_at: float | None = None
    asked_at: float | None = None
    next_ask_at: float | None = None
    estimated_cost_usd: float | None = None
    estimated_duration_seconds: float | None = None
    cost_usd: float | None = None
    balance_before_usd: float | None = None
    balance_after_usd: float | None = None
    error: ReelbookError | None = None
    downloaded: float | None = None
    clip: Clip | None = None
    unanswered: int = 0
    given_up: bool = False  # the service said again and again that it doesn't know the job
    marks: Marks = Marks()


@dataclass(frozen=True)
class EarlierRun:
    """The run that submitted a job which a later one got back.

    `known_by` is what it was recognised by: its cell's id, its cell's text alone, or the label in `once`.
    `notebook` is the path of its notebook, None where that isn't known.
    """

    at: datetime
    known_by: KnownBy
    notebook: str | None = None


@dataclass(frozen=True)
class JobView:
    """What a card shows of a job; times in seconds, relative to now. None: not known.

    `state` is `sending` (not answered yet), `pending`, `processing`, `completed`, `failed`, `refused` (the
    service said no at the submission), `uncertain` (sent, never answered), `lost` (it was accepted, its id
    never arrived), `not accepted` (it turned out not to be), `cancelled` (taken back before it was sent), or
    a word of the service's own. `progress` and `download` go from 0 to 1; a completed clip whose `download`
    is None waits for its turn to be fetched. `from_earlier_run`: the cell was run again, and this is the job
    that its earlier run submitted; `earlier_run` says which run that was.
    `unanswered`: so many attempts before the last were never answered, and may be billed too. `unheard`: it
    was taken up by its id, and the service hasn't said anything of it yet.
    """

    state: str
    watched: bool
    progress: float | None
    elapsed_seconds: float
    remaining_seconds: float | None
    took_seconds: float | None
    asked_seconds_ago: float | None
    next_ask_in_seconds: float | None
    waiting_seconds: float | None
    estimated_cost_usd: float | None
    cost_usd: float | None
    balance_before_usd: float | None
    balance_after_usd: float | None
    error: str | None
    download: float | None
    from_earlier_run: bool = False
    earlier_run: EarlierRun | None = None
    unanswered: int = 0
    unheard: bool = False


def state_of(status: JobStatus) -> str:
    """The state that the service names; set apart where its word means something else here."""
    return f"{status.status} by the service" if status.status in _OWN else status.status
