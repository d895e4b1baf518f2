"""The ledger's values and words. Times are epoch seconds, amounts USD, lengths seconds; None: not known.

In the file, amounts are whole micro-USD, so that a limit is compared exactly.
"""

from __future__ import annotations

import functools
import hashlib
import json
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Final, TypeVar

from .. import states
from ..executions import CellId, KnownBy, Place, is_another
from ..formatting import local
from ..requests import JobRequest
from ..secret import Secret
from ..wire import MICRO

T = TypeVar("T")

PRICE: Final = "coalesce(cost_micro, estimated_cost_micro)"  # in SQL; in Python `Entry.price_usd`
MOST_USD: Final = 1e9  # many of them add up to less than the file's integers hold


@dataclass(frozen=True)
class Account:
    """One key at one service, by its `fingerprint`. A key that replaced another has that one's `id`."""

    id: int
    origin: str
    fingerprint: str


@dataclass(frozen=True)
class SweepCell:
    """A cell of a sweep, and the entry that it had when it was read, if any.

    A submission for it buys nothing if the cell has another entry by now, or the entry's state has changed.
    `found`: the entry existed before, and cost nothing.
    """

    sweep: int
    number: int
    entry: Entry | None = None
    found: bool = False
    left_out: bool = False

    @property
    def state(self) -> str:
        return cell_state(None if self.entry is None else self.entry.shown_state, left_out=self.left_out)


def cell_state(job: str | None, *, left_out: bool) -> str:
    """A cell's state, by that of its job, if it has one."""
    if left_out:
        return states.LEFT_OUT
    return states.PLANNED if job in (None, states.CANCELLED) else job


@dataclass(frozen=True)
class Submission:
    """A request that is about to be sent, and what the ledger keeps with it.

    `sameness` is that of what was asked for: a cell that left the seed random gets its clip back, whichever
    seed was drawn. `place` is None for what may be bought any number of times: by a script or a button;
    `again` ignores an equal one at its place. `repeats` is the number of the uncertain entry that it sends
    again, `retry_uncertain` allows that. `template` is a sweep's, `slots` are what filled it.
    """

    request: JobRequest
    sameness: str
    experiment: str | None = None
    place: Place | None = None
    again: bool = False
    retry_uncertain: bool = False
    repeats: int | None = None
    cell: SweepCell | None = None
    template: str | None = None
    slots: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, asked: JobRequest, **kept: Any) -> Submission:
        """The submission of what was asked for. A random seed is drawn here, for every way to submit."""
        return cls(asked.with_seed(), asked.sameness, **kept)

    def earlier_run(self, entry: Entry) -> EarlierRun:
        """The run that submitted `entry`, which this one gets back."""
        at = local(entry.intended_at)
        if self.place is None or entry.place is None:
            return EarlierRun(at, "sweep")
        cell_id = entry.place.cell_id
        notebook = None if cell_id is None else cell_id.notebook
        return EarlierRun(at, self.place.known_by(entry.place), notebook)


@dataclass(frozen=True)
class Marks:
    """A person's marks on a job; kept by the ledger, never sent to the service."""

    picked_at: float | None = None
    note: str = ""
    tags: tuple[str, ...] = ()

    @property
    def picked(self) -> bool:
        return self.picked_at is not None


@dataclass(frozen=True)
class EarlierRun:
    """The run that submitted a job which a later one got back.

    `known_by` is how it was recognised: by its cell's id, its cell's text alone, a pool of threads that this
    cell may share with another, the label in `once`, or its place in a sweep. `notebook` is a path, or None.
    """

    at: datetime
    known_by: KnownBy
    notebook: str | None = None


# The parts of a request with columns of their own, for searches and statistics; the rest is JSON.
_ASKED: Final = ("mode", "prompt", "duration_seconds", "aspect_ratio")


@dataclass(frozen=True, slots=True)
class Entry:
    """One submission and all that became of it.

    `record` is what was asked for, as in `JobRequest.record`, and a sweep's `template` and `slots`;
    `actual_seconds` is the clip's length, `duration_seconds` the one asked for. `kernel` looks after it.
    `took_seconds` is from its acceptance to its end, None unless one kernel watched all of it.
    """

    id: int
    account_id: int
    state: str
    mode: str
    prompt: str
    duration_seconds: int
    record: Mapping[str, Any]
    sameness: str
    experiment: str | None
    place: Place | None
    kernel: str
    intended_at: float
    sent_at: float | None
    accepted_at: float | None
    ended_at: float | None
    downloaded_at: float | None
    abandoned_at: float | None
    request_id: str | None
    estimated_cost_usd: float
    cost_usd: float | None
    estimated_duration_seconds: float | None
    actual_seconds: float | None
    took_seconds: float | None
    progress: float | None
    video_url: str | None
    clip_path: str | None
    error: str | None
    marks: Marks

    @classmethod
    def of(cls, row: sqlite3.Row) -> Entry:
        marks = Marks(row["picked_at"], row["note"], tuple(json.loads(row["tags"])))
        return read(
            cls, row, account_id=row["account"], record=_record(row), place=place_of(row), marks=marks
        )

    @property
    def shown_state(self) -> str:
        """The state as a person reads it: what is only recorded counts as being sent."""
        return states.SENDING if self.state == states.INTENDED else self.state

    @property
    def request(self) -> JobRequest:
        """What was asked for, as far as it is kept: an image's pixels aren't."""
        return JobRequest.of_record(self.record)

    @property
    def image_digest(self) -> str | None:
        """Tells its image apart from others; None without one."""
        return self.record.get("image")

    @property
    def repeat_key(self) -> str:
        """The idempotency key of its attempts, which no other submission of any home has."""
        mark = f"{self.id} {self.intended_at!r} {self.prompt}"
        return hashlib.sha256(mark.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    @property
    def price_usd(self) -> float:
        """What it cost, or the estimate until that is known."""
        return self.estimated_cost_usd if self.cost_usd is None else self.cost_usd

    @property
    def charge(self) -> states.Charge:
        """How certain it is that its price has to be paid, in the words of `Spend`."""
        known, given_up = self.cost_usd is not None, self.abandoned_at is not None
        return states.charge_of(self.state, cost_known=known, abandoned=given_up)


@dataclass(frozen=True)
class Spend:
    """What an account's submissions cost, in USD, by how certain it is.

    `spent_usd` is billed, as the service says; `reserved_usd` is for clips in progress; `uncertain_usd` is
    for those that were never answered, that failed (the interface doesn't say whether they are charged) or
    that can't be asked about any more, and for the amount by which the service's figures are below its price.
    Of what was spent, `tools_usd` is for clips that agent tools bought and a session took up.
    """

    spent_usd: float
    reserved_usd: float
    uncertain_usd: float
    tools_usd: float = 0.0

    @property
    def committed_usd(self) -> float:
        """The sum of all three: what the account may have to pay so far."""
        return round(self.spent_usd + self.reserved_usd + self.uncertain_usd, 6)


@dataclass(frozen=True)
class Sample:
    """What the billing endpoints said at one moment (epoch seconds); None is what wasn't asked for."""

    at: float
    balance_usd: float | None = None
    total_spent_usd: float | None = None
    total_requests: float | None = None
    total_seconds: float | None = None
    total_cost_usd: float | None = None
    period_days: float | None = None
    asked_at: float | None = None


def _record(row: sqlite3.Row) -> dict[str, Any]:
    record: dict[str, Any] = {name: row[name] for name in _ASKED}
    if row["request"] is not None:
        kept: dict[str, Any] = json.loads(row["request"])
        return record | kept
    # Written before requests were kept as JSON.
    return record | {
        "seed": None if row["seed"] is None else int(row["seed"]),
        "image": row["image_digest"],
    }


def request_columns(new: Submission) -> dict[str, object]:
    record = new.request.record()
    asked = {name: record.pop(name, None) for name in _ASKED}
    if new.template is not None:
        record |= {"template": new.template, "slots": dict(new.slots)}
    return {**asked, "request": json.dumps(record, ensure_ascii=False), "sameness": new.sameness}


def read(kind: Callable[..., T], row: sqlite3.Row, **others: Any) -> T:
    """The dataclass in a row, each field from the column of its name, except the `others`; amounts in USD."""
    for name, column in _columns(kind, frozenset(others)):
        value = row[column]
        others[name] = value if name == column or value is None else value / MICRO
    return kind(**others)


@functools.cache
def _columns(kind: Any, but: frozenset[str]) -> list[tuple[str, str]]:
    names = (each.name for each in fields(kind))
    return [(name, _column(name)) for name in names if name not in but]


def _column(name: str) -> str:
    return f"{name.removesuffix('_usd')}_micro" if name.endswith("_usd") else name


def stored(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by the names of their columns: amounts in USD become whole micro-USD."""
    return {
        _column(name): micro(value) if name.endswith("_usd") and value is not None else value
        for name, value in values.items()
    }


def insert(db: sqlite3.Connection, table: str, values: Mapping[str, Any]) -> sqlite3.Row:
    """Inserts a row and returns it. Amounts are given in USD."""
    columns = stored(values)
    names, marks = ", ".join(columns), ", ".join("?" * len(columns))
    row: sqlite3.Row = db.execute(
        f"INSERT INTO {table} ({names}) VALUES ({marks}) RETURNING *",  # noqa: S608 - our own names
        tuple(columns.values()),
    ).fetchone()
    return row


def micro(amount_usd: float) -> int:
    """USD as whole micro-USD, within what a service can mean."""
    return round(max(-MOST_USD, min(MOST_USD, amount_usd)) * MICRO)


def fingerprint(connection: sqlite3.Connection, secret: Secret) -> str:
    """Tells secrets apart by the file's own salt, without revealing them."""
    salt = connection.execute("SELECT salt FROM salt").fetchone()["salt"]
    return hashlib.blake2b(secret.reveal().encode(), key=salt, digest_size=8).hexdigest()


def place_of(row: sqlite3.Row) -> Place | None:
    if row["cell"] is None:
        return None
    name = None if row["cell_id"] is None else CellId(row["cell_id"], row["opening"], row["notebook"])
    return Place(row["cell"], row["nth"], name)


def are_two_cells(then: Place | None, now: Place) -> bool:
    """Whether these are certainly places in two cells, by the cells' ids where both have one."""
    return bool(then and then.cell_id and now.cell_id and is_another(then.cell_id, now.cell_id))


def place_columns(place: Place | None) -> dict[str, object]:
    if place is None:
        return {}
    name = place.cell_id
    known = {} if name is None else {"cell_id": name.id, "opening": name.opening, "notebook": name.notebook}
    return {"cell": place.cell, "nth": place.nth, **known}
