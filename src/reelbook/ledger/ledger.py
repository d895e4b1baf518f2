"""The ledger: what became of each of an account's submissions, what it cost, and the queries about both.

`LedgerFile` is the file of a home, for what needs no account: tool calls, everybody's entries.
`LedgerFile.ledger(service, key)` is the `Ledger` of one account in it.

Any thread may call it. A call waits for one flush of the disk at most, and its result is on the disk when it
returns. If the disk takes no writes, nothing may be bought (LedgerUnavailable); what is learnt meanwhile is
kept until the disk is back, and `store.trouble` says so.
"""

from __future__ import annotations

import functools
import json
import sqlite3
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from .. import states, wire
from ..models import Completed, Failed, JobStatus, state_of
from ..requests import JobRequest
from ..secret import Secret
from . import money, records, sweeps
from .records import Account, EarlierRun, Entry, Marks, Spend, Submission, place_columns, stored
from .request_log import RequestLog
from .search import Entries, marks, matching
from .store import Store
from .sweeps import Sweeps
from .tool_calls import ToolCalls, ToolJobs
from .votes import Votes

# Later kernels keep asking about a job that the service didn't know, but not for ever.
GIVEN_UP_SECONDS: Final = 7 * wire.DAY_SECONDS
RECENT_SECONDS: Final = 3600.0
TIMES_KEPT: Final = 50

# These gave no clip, so they may be asked for again. A failed one may have been billed all the same.
_NOT_MADE: Final = (*states.names(charge="none"), wire.FAILED)
_ENDED: Final = (wire.COMPLETED, wire.FAILED)

TookSeconds = tuple[float, float, float | None]
"""How long a job took at least and at most, and what the service had estimated."""


class LedgerFile(Entries):
    """The ledger of one home, `REELBOOK_HOME/ledger.db`, with the rows of every key but without the keys."""

    def __init__(self, store: Store) -> None:
        super().__init__(store, None)
        self.received: list[str] = []  # ids that aren't on the disk yet
        store.troubled.subscribe(self._forget_what_is_written)
        self.tool_calls = ToolCalls(store, None)

    @classmethod
    def open(cls, home: Path, *, clock: Callable[[], float] = time.time) -> LedgerFile:
        """The file of `home`, created if there is none; `clock` returns epoch seconds.

        Waits up to 20 s for other kernels. Raises LedgerUnavailable where it can't be used.
        """
        return cls(Store(home, clock=clock))

    @classmethod
    def in_memory_only(cls, home: Path, notice: str) -> LedgerFile:
        """A ledger that ends with this kernel; `notice` says so, and why."""
        return cls(Store(home, in_memory=notice))

    def __enter__(self) -> LedgerFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ledger(self, service: str, key: Secret, *, max_spend_usd: float | None = None) -> Ledger:
        """The ledger of `key` at `service`: an address, or a name for one whose address changes."""
        return Ledger(self, self.account(wire.origin(service), key), max_spend_usd=max_spend_usd)

    def account(self, origin: str, key: Secret, *, same_as: Account | None = None) -> Account:
        """The account of `key` (by a salted fingerprint) at that service, created if there is none.

        With `same_as` the key replaces that account's key for good: the rows stay the account's, only the
        requests of the two keys are counted separately.
        """

        def work(db: sqlite3.Connection) -> Account:
            named = (origin, records.fingerprint(db, key))
            if same_as is not None:
                db.execute(
                    "INSERT OR REPLACE INTO later_keys (origin, fingerprint, account) VALUES (?, ?, ?)",
                    (*named, same_as.id),
                )
            later = "SELECT account FROM later_keys WHERE origin = ? AND fingerprint = ?"
            row = db.execute(later, named).fetchone()
            if row is None:
                db.execute("INSERT OR IGNORE INTO accounts (origin, fingerprint) VALUES (?, ?)", named)
                own = "SELECT id FROM accounts WHERE origin = ? AND fingerprint = ?"
                row = db.execute(own, named).fetchone()
            return Account(row[0], *named)

        return self.store.write(work)

    def accounts(self) -> list[Account]:
        """Every account that was ever used from this home, oldest first."""
        return [Account(*row) for row in self.store.rows("SELECT * FROM accounts ORDER BY id")]

    def close(self) -> str | None:
        """Settles what this kernel didn't send or got no answer to, and closes the file.

        If the disk still takes no writes, returns a text for the person, with the ids that are lost.
        """
        now, kernel = self.store.clock(), self.store.kernel.name
        # Where there is nothing to settle, a disk that takes no writes loses nothing.
        if self.store.row(f"SELECT 1 FROM entries WHERE {_UNSENT} AND kernel = ?", kernel):  # noqa: S608 - our own words
            self.store.keep(lambda db: _settle(db, kernel, now))
        trouble = self.store.trouble
        if self.store.close():
            return None
        ids = f" Ids that it doesn't have: {', '.join(self.received)}." if self.received else ""
        return f"{trouble} It was closed all the same, and what was learnt since is lost.{ids}"

    def _forget_what_is_written(self) -> None:
        if self.store.trouble is None:
            self.received = []


class Ledger(Entries):
    """One account's submissions and money, and what a session heard of both. It knows entries, not jobs.

    `file` is the home's ledger, of which it is a part. `max_spend_usd` limits what all the account's clips
    may cost. `requests` is the key's request budget, shared with the machine's other kernels; `samples` is
    what the billing endpoints said, `votes` which of two clips people preferred, `sweeps` the sweeps and
    their cells, `tool_calls` the calls of agent tools, `tool_jobs` what the clips cost that those bought.
    """

    def __init__(self, file: LedgerFile, account: Account, *, max_spend_usd: float | None = None) -> None:
        super().__init__(file.store, account.id)
        self.file = file
        self.account = account
        self.max_spend_usd = max_spend_usd
        self._opened_at, self._opened = self.store.clock(), time.monotonic()
        self.requests = RequestLog(self.store, account)
        self.samples = money.Samples(self.store, account.id)
        self.votes = Votes(self.store, account.id)
        self.sweeps = Sweeps(self.store, account.id)
        self.tool_calls = file.tool_calls
        self.tool_jobs = ToolJobs(self.store, account.id)
        # What a dead kernel never sent must not count towards the limit or be waited for.
        self.recover()

    @property
    def opened_at(self) -> float:
        """When the session began (epoch seconds); earlier by as much as the clock was set back since."""
        by_now = self.store.clock() - (time.monotonic() - self._opened)
        self._opened_at = min(self._opened_at, by_now)  # kept: jobs submitted meanwhile have these times
        return self._opened_at

    def add_key(self, key: Secret) -> Account:
        """Has later kernels find the account by this key too: jobs, limit and spend are the same."""
        return self.file.account(self.account.origin, key, same_as=self.account)

    def use_key(self, account: Account) -> None:
        """Counts requests as those of the key that `add_key` recorded."""
        self.account = self.requests.account = account

    def intend(
        self, batch: Sequence[Submission], *, withdrawn: Callable[[], bool] = lambda: False
    ) -> list[tuple[Entry, EarlierRun | None]]:
        """Records what will be sent, all or nothing; returns each entry, and the earlier run that bought it.

        A submission that an earlier run of this cell made gets that run's entry. Raises SpendLimitReached if
        spent + reserved + uncertain + the new estimates would exceed `max_spend_usd`; nothing is recorded
        then. Nor is it if the file had to be waited for and `withdrawn` says meanwhile that nobody wants it
        any more (see `Store.write`).
        """

        def earlier(db: sqlite3.Connection, each: Submission) -> Entry | None:
            return self._twin(db, each) if each.cell is None else sweeps.holder(db, each.cell)

        def work(db: sqlite3.Connection) -> list[tuple[Entry, EarlierRun | None]]:
            twins = [earlier(db, each) for each in batch]
            new = [each.request for each, twin in zip(batch, twins, strict=True) if twin is None]
            costs = [each.estimated_cost_usd for each in new]
            money.check_limit(db, self.account.id, costs, self.max_spend_usd)
            now = self.store.clock()
            return [
                (self._insert(db, each, now), None) if twin is None else (twin, each.earlier_run(twin))
                for each, twin in zip(batch, twins, strict=True)
            ]

        # Once before, as this may read notebooks, which are remembered: no transaction waits for that.
        self.store.read(lambda db: [self._twin(db, each) for each in batch])
        return self.store.write(work, withdrawn=withdrawn)

    def left_unsent(self) -> list[Entry]:
        """What was never sent because its kernel ended, oldest first, unless it was asked for again."""
        self.recover()
        return self._entries(_LEFT_UNSENT, self.account.id)

    def intend_again(self, entries: Collection[Entry]) -> list[Entry]:
        """Records that these are about to be sent after all, except those that another kernel took.

        Raises SpendLimitReached, and records nothing, if together they would exceed `max_spend_usd`.
        """
        wanted = {entry.id for entry in entries}

        def work(db: sqlite3.Connection) -> list[Entry]:
            left = [entry for entry in matching(db, _LEFT_UNSENT, self.account.id) if entry.id in wanted]
            costs = [each.estimated_cost_usd for each in left]
            money.check_limit(db, self.account.id, costs, self.max_spend_usd)
            changes = {"state": states.INTENDED, "left_unsent": 0, "kernel": self.store.kernel.name}
            changes |= {"intended_at": self.store.clock(), "ended_at": None, "error": None}
            for entry in left:
                _change(db, entry.id, (), changes)
            return [again for entry in left for again in matching(db, "id = ?", entry.id)]

        return self.store.write(work)

    def repeat(self, entry_id: int, request: JobRequest, error: Exception) -> int:
        """Records that an entry that may have been accepted is sent again. Returns the new entry's number.

        The old entry stays uncertain, so both count. Raises SpendLimitReached, and changes nothing then.
        """
        entry = self.get(entry_id)
        assert entry is not None
        again = Submission(
            request,
            entry.sameness,
            entry.experiment,
            entry.place,
            again=True,
            repeats=entry.id,
            template=entry.record.get("template"),
            slots=entry.record.get("slots", {}),
        )
        ((repeated, _),) = self.intend([again])
        said = "It may have been accepted, and may be billed. It was sent again, as asked."
        self.ended(entry.id, states.UNCERTAIN, f"{error} {said}")
        return repeated.id

    def sending(self, entry_id: int) -> bool:
        """Marks an entry as about to be sent. False: it was taken back meanwhile and must not be sent."""
        changes = {"state": states.SENDING, "sent_at": self.store.clock()}
        return self.store.write(lambda db: _change(db, entry_id, (states.INTENDED, states.SENDING), changes))

    def unsent(self, entry_id: int) -> None:
        """The request certainly didn't arrive (429, no connection), so it waits for the next attempt."""
        self._change(entry_id, only_from=(states.SENDING,), state=states.INTENDED)

    def accepted(
        self,
        entry_id: int,
        request_id: str,
        *,
        estimated_cost_usd: float | None = None,
        estimated_duration_seconds: float | None = None,
    ) -> None:
        """The service accepted it, with this id and these estimates (interface, POST generate/...)."""
        known: dict[str, Any] = {}
        if estimated_cost_usd is not None:
            known["estimated_cost_usd"] = estimated_cost_usd
        self._change(
            entry_id,
            state=wire.PENDING,
            request_id=request_id,
            accepted_at=self.store.clock(),
            ended_at=None,  # one that was uncertain is in progress again
            estimated_duration_seconds=estimated_duration_seconds,
            error=None,
            **known,
        )
        if self.store.trouble is not None:
            self.file.received.append(request_id)

    def ended(self, entry_id: int, state: str, error: str | None = None) -> None:
        """It ended as `refused` or `cancelled`, and nothing was paid; or `uncertain`, and may be billed."""
        self._change(entry_id, state=state, error=error, ended_at=self.store.clock())

    def cancelled(self, entry_id: int, *, left_unsent: bool = False) -> bool:
        """Cancels it; with `left_unsent` it may be sent later. False if it was sent already."""
        ended = {"state": states.CANCELLED, "ended_at": self.store.clock(), "left_unsent": left_unsent}
        return self._change(entry_id, only_from=(states.INTENDED,), **ended)

    def status(
        self,
        entry_id: int,
        status: JobStatus,
        *,
        progress: float | None = None,
        took: tuple[float, float] | None = None,
    ) -> None:
        """Records what the service says about the job (interface, GET status); `progress` is its card's.

        A job that has ended is only changed by other news of its end. `took`: how many seconds a finished
        job took at least and at most, as far as that was watched.
        """
        state = state_of(status)
        heard: dict[str, Any] = {"state": state, "progress": progress}
        if isinstance(status, Completed):
            heard |= {"video_url": status.video_url, "actual_seconds": status.duration_seconds}
        if isinstance(status, Failed):
            heard["error"] = status.error
        if isinstance(status, Completed | Failed):
            heard["cost_usd"] = status.cost_usd
        news = stored({name: value for name, value in heard.items() if value is not None})
        now, ends = self.store.clock(), status.finished

        def work(db: sqlite3.Connection) -> None:
            known = db.execute(_ROW, (entry_id,)).fetchone()
            if known is None or (known["state"] in _ENDED and not ends):
                return
            changes = dict(news)
            if known["abandoned_at"] is not None:
                changes = {"error": None, **news, "abandoned_at": None}
            if ends and known["ended_at"] is None:
                changes["ended_at"] = now
                # A job taken up from another kernel may have ended long before anybody asked.
                seen_through = known["kernel"] == self.store.kernel.name and not known["resumed"]
                if state == wire.COMPLETED and seen_through and known["accepted_at"] is not None:
                    changes["took_seconds"] = max(0.0, now - known["accepted_at"])
                    if took is not None:  # by a clock that nobody sets
                        changes["took_at_least"], changes["took_at_most"] = took
                        changes["took_seconds"] = took[1]
            _change(db, entry_id, (), changes)

        known = self.store.row(_ROW, entry_id)
        # Most answers say nothing new and cost no write.
        if known is None or known["abandoned_at"] or any(known[name] != news[name] for name in news):
            self.store.keep(work, flush=known is None or known["state"] != state)

    def downloaded(self, entry_id: int, path: Path | str) -> None:
        self._change(entry_id, clip_path=str(path), downloaded_at=self.store.clock(), error=None)

    def abandoned(self, entry_id: int, error: str) -> None:
        """The service doesn't know the job, which stays unfinished for a week from the first time on."""
        given_up = "UPDATE entries SET abandoned_at = coalesce(abandoned_at, ?), error = ? WHERE id = ?"
        values = (self.store.clock(), error, entry_id)
        self.store.keep(lambda db: db.execute(given_up, values))

    def settle(self, entry_id: int, *, accepted: bool) -> None:
        """Records what became of an uncertain one."""
        after = states.LOST if accepted else states.NOT_ACCEPTED
        self._change(entry_id, only_from=(states.UNCERTAIN,), state=after)

    def mark(self, entry_id: int, marks: Marks) -> Marks:
        """Keeps a person's marks on an entry, trimmed and each tag once; returns what was kept."""
        tags = tuple(dict.fromkeys(filter(None, (" ".join(tag.split()) for tag in marks.tags))))
        kept = replace(marks, note=marks.note.strip(), tags=tags)
        marked = "UPDATE entries SET picked_at = ?, note = ?, tags = ? WHERE id = ?"
        values = (kept.picked_at, kept.note, json.dumps(tags, ensure_ascii=False), entry_id)
        self.store.keep(lambda db: db.execute(marked, values), flush=False)
        return kept

    def recover(self) -> None:
        """Settles what dead kernels left half done, in every account: see `_settle`."""
        for (name,) in self.store.rows(f"SELECT DISTINCT kernel FROM entries WHERE {_UNSENT}"):  # noqa: S608 - our own words
            if (fate := self.store.kernel.fate(name)) != "lives":
                sure = fate == "gone"
                self.store.keep(functools.partial(_settle, kernel=name, now=self.store.clock(), sure=sure))
                self.store.kernel.forget(name)
        self.store.kernel.forget_long_gone()

    def left_over(self, among: Collection[int] | None = None) -> list[Entry]:
        """Takes up the unfinished jobs that no living kernel watches; only those in `among`, if given."""
        self.recover()
        left = [each for each in self.unfinished() if among is None or each.id in among]
        return [each for each in left if self.is_own(each) or self.take_up(each)]

    def unfinished(self, *, watched_elsewhere: bool = False) -> list[Entry]:
        """Jobs that were accepted and have no clip here yet, oldest first.

        Not those that failed, were taken back or were given up more than a week ago; nor, unless
        `watched_elsewhere`, those that another living kernel watches.
        """
        entries = self._entries(
            "account = ? AND request_id IS NOT NULL AND clip_path IS NULL "
            "AND state <> 'failed' AND state <> 'cancelled' "  # as the index has it
            "AND coalesce(abandoned_at >= ?, 1) ORDER BY id",
            self.account.id,
            self.store.clock() - GIVEN_UP_SECONDS,
        )
        names = {entry.kernel for entry in entries} - {self.store.kernel.name}
        living = {name for name in names if self.store.kernel.lives(name)}
        return [entry for entry in entries if watched_elsewhere or entry.kernel not in living]

    def take_up(self, entry: Entry) -> bool:
        """Has this kernel watch the job from now on. False if another kernel was quicker."""
        taken = "UPDATE entries SET kernel = ?, resumed = 1 WHERE id = ? AND kernel = ?"
        values = (self.store.kernel.name, entry.id, entry.kernel)
        return self.store.keep(lambda db: db.execute(taken, values).rowcount == 1)

    def is_own(self, entry: Entry) -> bool:
        return entry.kernel == self.store.kernel.name

    def took_seconds(self, request: JobRequest, *, alike: bool = False) -> list[TookSeconds]:
        """How long the last clips of this kind took, in the order of submission (see `Pace`).

        If none was watched: nothing, or with `alike` the times of clips of any length and shape.
        """
        took = self._took(
            "mode = ? AND duration_seconds = ? AND aspect_ratio IS ?",
            *(request.mode, request.duration_seconds, request.aspect_ratio),
        )
        return took or (self._took("mode = ?", request.mode) if alike else [])

    def spend(self, *, here: bool = False) -> Spend:
        """What the account's submissions cost; `here`: those of this kernel in this session."""
        since = self.opened_at if here else None
        return self.store.read(lambda db: money.sums(db, self.account.id, since)[0])

    def paid(self, since: float) -> list[money.PaidClip]:
        """The clips whose end and cost were noticed after that time (epoch seconds)."""
        return self.store.read(lambda db: money.paid(db, self.account.id, since, self.opened_at))

    def funds(self) -> money.Funds | None:
        """What is left of the balance; None where nobody has heard it in this session or the last hour."""
        now = self.store.clock()
        since = min(self.opened_at, now - RECENT_SECONDS)
        lives = self.store.kernel.lives
        return self.store.read(lambda db: money.funds(db, self.account.id, since, now, lives))

    def _change(self, entry_id: int, *, only_from: tuple[str, ...] = (), **changes: Any) -> bool:
        return self.store.keep(lambda db: _change(db, entry_id, only_from, changes))

    def _took(self, wanted: str, *values: object) -> list[TookSeconds]:
        """The times of clips that one kernel watched from beginning to end, the last submitted last."""
        rows = self.store.rows(
            "SELECT coalesce(took_at_least, 0.0), coalesce(took_at_most, took_seconds), "  # noqa: S608 - our own words
            "estimated_duration_seconds FROM entries WHERE account = ? AND took_seconds IS NOT NULL "
            f"AND {wanted} ORDER BY id DESC LIMIT {TIMES_KEPT}",
            *(self.account.id, *values),
        )
        return [tuple(row) for row in reversed(rows)]

    def _insert(self, db: sqlite3.Connection, new: Submission, now: float) -> Entry:
        """A new entry, intended; an equal one that was left unsent isn't sent any more."""
        db.execute(
            "UPDATE entries SET left_unsent = 0 WHERE id = (SELECT min(id) FROM entries "
            "WHERE account = ? AND sameness = ? AND left_unsent = 1)",
            (self.account.id, new.sameness),
        )
        values = {
            "account": self.account.id,
            "state": states.INTENDED,
            **records.request_columns(new),
            "experiment": new.experiment,
            "repeats": new.repeats,
            **place_columns(new.place),
            "kernel": self.store.kernel.name,
            "intended_at": now,
            "estimated_cost_usd": new.request.estimated_cost_usd,
        }
        entry = Entry.of(records.insert(db, "entries", values))
        if new.cell is not None:
            sweeps.assign(db, new.cell, entry.id)
        return entry

    def _twin(self, db: sqlite3.Connection, new: Submission) -> Entry | None:
        """The newest equal submission of this cell that may have bought something; by the cell's id first."""
        place = new.place
        if place is None or new.again:
            return None
        own_id = None if place.cell_id is None else place.cell_id.id
        # A union, because SQLite wouldn't use the two indexes for an OR.
        one = "SELECT id FROM entries WHERE account = ? AND {} = ? AND nth = ? AND sameness = ?"
        equal = matching(
            db,
            f"id IN ({one.format('cell')} UNION ALL {one.format('cell_id')}) "
            f"AND state NOT IN ({marks(_NOT_MADE)}) ORDER BY coalesce(cell_id = ?, 0) DESC, id DESC",
            *(self.account.id, place.cell, place.nth, new.sameness),
            *(self.account.id, own_id, place.nth, new.sameness),
            *(*_NOT_MADE, own_id),
        )
        return next((each for each in equal if not records.are_two_cells(each.place, place)), None)


# States are literals where an index has them: SQLite wouldn't use it otherwise.
_UNSENT: Final = "state IN ('intended', 'sending')"
_LEFT_UNSENT: Final = "account = ? AND left_unsent = 1 ORDER BY id"
_ROW: Final = "SELECT * FROM entries WHERE id = ?"


def _change(
    db: sqlite3.Connection, entry_id: int, only_from: tuple[str, ...], changes: dict[str, Any]
) -> bool:
    """Changes an entry, only from certain states where any are given. Returns whether it did."""
    condition = f" AND state IN ({marks(only_from)})" if only_from else ""
    columns = stored(changes)
    cursor = db.execute(
        f"UPDATE entries SET {', '.join(f'{name} = ?' for name in columns)} WHERE id = ?{condition}",  # noqa: S608 - our own column names
        (*columns.values(), entry_id, *only_from),
    )
    return cursor.rowcount == 1


def _settle(db: sqlite3.Connection, kernel: str, now: float, *, sure: bool = True) -> None:
    """Makes what a kernel was sending uncertain, and cancels what it hadn't sent.

    Unless `sure`, its rows may be out of date, so what it hadn't sent is uncertain too.
    """
    sent = "The kernel ended while this was being sent. It may be running, and may be billed."
    unsent = "The kernel ended before this was sent. Nothing was paid. session.resume(unsent=True) sends it."
    unsure = "The kernel that was to send this lost its disk and ended. It may have been sent."
    words = {
        states.SENDING: (states.UNCERTAIN, sent),
        states.INTENDED: (states.CANCELLED, unsent) if sure else (states.UNCERTAIN, unsure),
    }
    for before, (after, error) in words.items():
        db.execute(
            "UPDATE entries SET state = ?, error = ?, ended_at = ?, left_unsent = (? AND repeats IS NULL) "  # noqa: S608 - our own words
            f"WHERE {_UNSENT} AND state = ? AND kernel = ?",
            (after, error, now, after == states.CANCELLED, before, kernel),
        )
