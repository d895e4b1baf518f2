"""The ledger of a home: what becomes of each submission, and all that is asked about them.

Every call may come from any thread, takes at most a flush of the disk, and is on the disk when it returns.
Where the disk takes no writes, what is about to be paid is refused with LedgerUnavailable, what was learnt is
kept until it does, and `trouble` says so.
"""

from __future__ import annotations

import functools
import sqlite3
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from .. import wire
from ..executions import CellId
from ..secret import Secret
from . import records, search, spend, submissions, sweeps
from .annotations import Annotations
from .billing_samples import Samples
from .classrooms import Classrooms
from .funds import Funds, funds
from .process_locks import Kernel
from .records import (
    CANCELLED,
    INTENDED,
    LOST,
    NOT_ACCEPTED,
    REFUSED,
    SENDING,
    UNCERTAIN,
    Account,
    Entry,
    Intended,
    Spend,
    Submission,
    micro,
)
from .request_log import RequestLog
from .store import Store, touch, unusable
from .sweeps import Sweeps
from .tool_calls import ToolCalls, ToolJobs

BUSY_SECONDS = 20.0  # at the opening: long enough for many kernels on a slow disk
# Each later kernel asks again about a job that the service didn't know; not for ever.
GIVEN_UP_SECONDS = 7 * 86_400.0


class Ledger:
    """All submissions of one home, in `REELBOOK_HOME/ledger.db`. `Ledger.open(home)` makes it.

    Rows belong to an `Account`; a key is in none of them. `requests` is the request budget that the kernels
    share, `samples` what the billing endpoints said, `annotations` what a person put to the entries,
    `overview` what there is of all accounts, `classrooms` which student has which key, `sweeps` the
    sweeps and their cells, `tool_calls` the tools' calls, `tool_jobs` what the clips cost that those bought.
    """

    def __init__(self, store: Store, kernel: Kernel, clock: Callable[[], float]) -> None:
        self._store = store
        self._kernel = kernel
        self._clock = clock
        self._accounts: dict[int, Account] = {}
        self._received: list[str] = []  # ids that the disk doesn't have yet
        self.requests = RequestLog(store, kernel.name)
        self.samples = Samples(store)
        self.annotations = Annotations(store, clock)
        self.overview = Overview(store)
        self.classrooms = Classrooms(store, clock)
        self.sweeps = Sweeps(store, kernel, clock)
        self.tool_calls = ToolCalls(store, clock)
        self.tool_jobs = ToolJobs(store, kernel.name, clock)
        store.on_copy(self._restore_accounts)

    @classmethod
    def open(
        cls, home: Path, *, busy_seconds: float = BUSY_SECONDS, clock: Callable[[], float] = time.time
    ) -> Ledger:
        """The ledger of `home`, made where there is none. Raises LedgerUnavailable where it can't be used.

        Other kernels are waited for `busy_seconds` at most. `clock` gives epoch seconds.
        """
        store = Store.open(home, busy_seconds)
        kernel = Kernel(home)
        try:
            kernel.begin()
        except (OSError, NotImplementedError) as error:
            store.close()
            raise unusable(error, store.path) from error
        return cls(store, kernel, clock)

    @classmethod
    def in_memory_only(cls, home: Path, notice: str, *, clock: Callable[[], float] = time.time) -> Ledger:
        """A ledger that ends with this kernel; `notice` says so, and why."""
        return cls(Store.memory(home, notice), Kernel(home), clock)

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def trouble(self) -> str | None:
        """Why the ledger can't be written now, what is safe and what to do; None if it can."""
        return self._store.trouble

    @property
    def notice(self) -> str | None:
        """What there was to say when it was opened, such as that it was damaged."""
        return self._store.notice

    @property
    def in_memory(self) -> bool:
        """Whether all that is noted ends with this kernel."""
        return self._store.in_memory

    def prove_writable(self) -> None:
        """Raises LedgerUnavailable where nothing can be written down."""
        self._store.write(touch)

    def on_trouble(self, callback: Callable[[], None]) -> None:
        """`callback` is called, on a thread of the ledger's, when `trouble` begins or ends."""
        self._store.on_trouble(callback)

    def close(self) -> str | None:
        """Settles what this kernel has not sent, or not heard of, and closes the file.

        What it has not sent is left unsent: see `intend_again`. Returns what there is to say where the disk
        still takes no writes: the ids that it doesn't have.
        """
        trouble = self._store.trouble
        settle = functools.partial(submissions.settle_kernel, kernel=self._kernel.name, now=self._clock())
        self._store.keep(settle)
        written = self._store.close()
        self._kernel.end(settled=written)
        if written:
            return None
        ids = f" Ids that it doesn't have: {', '.join(self._received)}." if self._received else ""
        return f"{trouble} It was closed all the same, and what was learnt since is lost.{ids}"

    def account(self, base_url: str, key: Secret, *, same_as: Account | None = None) -> Account:
        """The account of `key` at the service of `base_url`: its origin and a salted fingerprint of the key.

        Where the address changes and the service stays, any other name will do for it. With `same_as` the
        key takes that account's place, for good: jobs, limits and spend go on.
        """
        account = self._store.write(lambda db: records.account_of(db, base_url, key, same_as))
        self._accounts[account.id] = account
        return account

    # A submission's life.

    def intend(
        self,
        account: Account,
        submission: Submission,
        *,
        again: bool = False,
        other_cells: Collection[CellId] = (),
        limit_usd: float | None = None,
        limit_since: float | None = None,
    ) -> Intended:
        """Writes down what is about to be sent, before it is. See `intend_many`."""
        (intended,) = self.intend_many(
            account,
            [submission],
            again=again,
            other_cells=other_cells,
            limit_usd=limit_usd,
            limit_since=limit_since,
        )
        return intended

    def intend_many(
        self,
        account: Account,
        batch: Sequence[Submission],
        *,
        again: bool = False,
        other_cells: Collection[CellId] = (),
        limit_usd: float | None = None,
        limit_since: float | None = None,
        withdrawn: Callable[[], bool] = lambda: False,
    ) -> list[Intended]:
        """Writes down a batch as a whole, before its first request: all of it or nothing.

        A submission with a place that an earlier run made already gives that run's entry, `new` being False,
        unless `again`. What `other_cells` made isn't given, though their text may be the same. Raises
        SpendLimitReached where spent + reserved + uncertain + the estimates of the new ones would pass
        `limit_usd`; counted from `limit_since` on, else from the beginning. What `withdrawn` means is said in
        `Store.write`.
        """

        def work(connection: sqlite3.Connection) -> list[Intended]:
            def earlier(each: Submission) -> Entry | None:
                if each.cell is not None:
                    return sweeps.holder(connection, each.cell)
                return None if again else submissions.twin(connection, account.id, each, other_cells)

            twins = [earlier(each) for each in batch]
            if limit_usd is not None:
                new = [each for each, twin in zip(batch, twins, strict=True) if twin is None]
                spend.check_limit(connection, account.id, new, limit_usd, limit_since)
            now = self._clock()
            return [
                Intended(submissions.insert(connection, account.id, each, self._kernel.name, now), True)
                if twin is None
                else Intended(twin, False)
                for each, twin in zip(batch, twins, strict=True)
            ]

        return self._store.write(work, withdrawn=withdrawn)

    def left_unsent(self, account: Account) -> list[Entry]:
        """What was never sent because its kernel ended, oldest first, but for what was asked for again."""
        return self._store.read(lambda connection: submissions.left_unsent(connection, account.id))

    def intend_again(
        self, account: Account, entries: Collection[Entry], *, limit_usd: float | None = None
    ) -> list[Entry]:
        """Writes down that those left unsent are about to be sent: all that still are, or nothing.

        What another kernel was quicker with is left out, so nothing is sent twice. Raises SpendLimitReached
        where all together would pass `limit_usd`.
        """
        wanted = {entry.id for entry in entries}

        def work(connection: sqlite3.Connection) -> list[Entry]:
            left = [entry for entry in submissions.left_unsent(connection, account.id) if entry.id in wanted]
            if limit_usd is not None:
                spend.check_limit(connection, account.id, left, limit_usd, None)
            now = self._clock()
            return [submissions.intend_again(connection, entry.id, self._kernel.name, now) for entry in left]

        return self._store.write(work)

    def sending(self, entry_id: int) -> bool:
        """The request goes out next. False: it was taken back meanwhile, so it must not be sent."""
        changes = {"state": SENDING, "sent_at": self._clock()}
        return self._store.write(
            lambda connection: submissions.change(connection, entry_id, (INTENDED, SENDING), changes)
        )

    def unsent(self, entry_id: int) -> None:
        """The request certainly didn't arrive (429, no connection): it waits for its next attempt."""
        self._change(entry_id, only_from=(SENDING,), state=INTENDED)

    def accepted(
        self,
        entry_id: int,
        request_id: str,
        *,
        estimated_cost_usd: float | None = None,
        estimated_duration_seconds: float | None = None,
    ) -> None:
        """The service took it (interface, POST generate/...): its id, and the estimates that it gave."""
        changes: dict[str, Any] = {
            "state": wire.PENDING,
            "request_id": request_id,
            "accepted_at": self._clock(),
            "estimated_duration_seconds": estimated_duration_seconds,
            "error": None,
        }
        if estimated_cost_usd is not None:
            changes["estimated_cost_micro"] = micro(estimated_cost_usd)
        self._change(entry_id, **changes)
        self._received = [*self._received, request_id] if self._store.trouble else []

    def refused(self, entry_id: int, error: str) -> None:
        """The service said no, or the request never reached it for good: nothing was bought."""
        self._change(entry_id, state=REFUSED, error=error, ended_at=self._clock())

    def uncertain(self, entry_id: int, error: str) -> None:
        """It was sent and never answered: it may be running, and may be billed."""
        self._change(entry_id, state=UNCERTAIN, error=error, ended_at=self._clock())

    def cancelled(self, entry_id: int, *, left_unsent: bool = False) -> bool:
        """Taken back. False if it was sent already, and nothing is changed. See `intend_again`."""
        ended = {"state": CANCELLED, "ended_at": self._clock(), "left_unsent": left_unsent}
        return self._change(entry_id, only_from=(INTENDED,), **ended)

    def status(
        self,
        entry_id: int,
        state: str,
        *,
        progress: float | None = None,
        video_url: str | None = None,
        duration_seconds: float | None = None,
        cost_usd: float | None = None,
        error: str | None = None,
        took: tuple[float, float] | None = None,
        watched: bool = True,
    ) -> None:
        """What the service says of the job (interface, GET status). A late answer never undoes its end.

        `took` are the seconds that a finished job took at least and at most, as far as it was seen; without
        it only the notice is known. `watched` is False where the end was noticed late, so that it teaches no
        forecast.
        """
        heard = {
            "progress": progress,
            "video_url": video_url,
            "actual_seconds": duration_seconds,
            "cost_micro": None if cost_usd is None else micro(cost_usd),
            "error": error,
        }
        changes = {"state": state, **{name: value for name, value in heard.items() if value is not None}}
        known = self._store.read(lambda connection: submissions.row(connection, entry_id))
        heard_before = known is not None and known["abandoned_at"] is None
        if (
            known is not None
            and heard_before
            and all(known[name] == value for name, value in changes.items())
        ):
            return
        now = self._clock()
        self._store.keep(
            lambda connection: submissions.hear(
                connection, entry_id, changes, now, self._kernel.name if watched else None, took
            ),
            flush=known is None or known["state"] != state,
        )

    def downloaded(self, entry_id: int, path: Path | str) -> None:
        """The clip lies whole at `path`."""
        self._change(entry_id, clip_path=str(path), downloaded_at=self._clock(), error=None)

    def abandoned(self, entry_id: int, error: str) -> None:
        """The service says that it doesn't know the job, which stays unfinished for a week from then on."""
        now = self._clock()
        self._store.keep(
            lambda connection: connection.execute(
                "UPDATE entries SET abandoned_at = coalesce(abandoned_at, ?), error = ? WHERE id = ?",
                (now, error, entry_id),
            )
        )

    def settle(self, entry_id: int, *, accepted: bool, request_id: str | None = None) -> None:
        """What became of an uncertain one. With a `request_id` the job can be watched again."""
        if accepted and request_id is not None:
            self.accepted(entry_id, request_id)
        else:
            self._change(entry_id, only_from=(UNCERTAIN,), state=LOST if accepted else NOT_ACCEPTED)

    def billed(self, entry_id: int, cost_usd: float) -> None:
        """What the job really cost in USD, known by other means: 0 for a failed one that wasn't charged."""
        self._change(entry_id, cost_micro=micro(cost_usd))

    # What a new kernel takes up.

    def recover(self, account: Account) -> list[Entry]:
        """Settles what kernels that are gone have left half done, and returns it.

        What they were sending is uncertain now; what they had only written down is cancelled.
        """
        names = self._store.read(lambda connection: submissions.unsent_kernels(connection, account.id))
        recovered: list[Entry] = []
        for name in names:
            if (fate := self._kernel.fate(name)) == "lives":
                continue
            settle = functools.partial(
                submissions.settle_kernel,
                kernel=name,
                now=self._clock(),
                account=account.id,
                sure=fate == "gone",
            )
            recovered += self._store.keep(settle)
            if not self._store.read(functools.partial(submissions.has_unsent, kernel=name)):
                self._kernel.forget(name)
        return recovered

    def unfinished(self, account: Account, *, watched_elsewhere: bool = False) -> list[Entry]:
        """Jobs that were accepted and have no clip here yet, oldest first.

        Left out are those that failed and, unless `watched_elsewhere`, those that another living kernel looks
        after; also those that were given up, once that is a week ago.
        """
        given_up_since = self._clock() - GIVEN_UP_SECONDS
        entries = self._store.read(
            lambda connection: submissions.unfinished(connection, account.id, given_up_since)
        )
        if watched_elsewhere:
            return entries
        names = {entry.kernel for entry in entries} - {self._kernel.name}
        living = {name for name in names if self._kernel.fate(name) == "lives"}
        return [entry for entry in entries if entry.kernel not in living]

    def take_up(self, entry: Entry) -> bool:
        """This kernel looks after the job from now on. False if another one was quicker."""
        return self._store.keep(lambda connection: submissions.take_up(connection, entry, self._kernel.name))

    def is_own(self, entry: Entry) -> bool:
        """Whether this kernel looks after it."""
        return entry.kernel == self._kernel.name

    # Money.

    def spend(self, account: Account, *, since: float | None = None, process: int | None = None) -> Spend:
        """What the account's submissions cost so far, by how sure it is; of one process where it is given."""
        return self._store.read(lambda connection: spend.spend(connection, account.id, since, process))

    def funds(self, account: Account, *, since: float) -> Funds | None:
        """What is left of the account's balance, if anybody heard it since then (epoch seconds)."""
        lives = lambda kernel: self._kernel.fate(kernel) == "lives"  # noqa: E731
        return funds(self._store, account, since=since, lives=lives)

    def _change(self, entry_id: int, *, only_from: tuple[str, ...] = (), **changes: Any) -> bool:
        return self._store.keep(
            lambda connection: submissions.change(connection, entry_id, only_from, changes)
        )

    def _restore_accounts(self, copy: sqlite3.Connection) -> None:
        for account in self._accounts.values():
            records.restore(copy, account)

    def get(self, entry_id: int) -> Entry | None:
        """The entry with that number."""
        row = self._store.read(lambda connection: submissions.row(connection, entry_id))
        return None if row is None else Entry.of(row)

    def by_request_id(self, account: Account | None, request_id: str) -> Entry | None:
        """The newest entry of the service's id, of any account where that is None."""
        return self._store.read(
            lambda connection: submissions.by_request_id(
                connection, None if account is None else account.id, request_id
            )
        )

    def twin(
        self, account: Account, submission: Submission, *, other_cells: Collection[CellId] = ()
    ) -> Entry | None:
        """The entry that `intend` would give back instead of a new one."""
        return self._store.read(
            lambda connection: submissions.twin(connection, account.id, submission, other_cells)
        )

    def cell_ids(self, account: Account, batch: Sequence[Submission]) -> set[CellId]:
        """The cells that asked for the same before, as far as they have ids: each may be another cell."""

        def read(connection: sqlite3.Connection) -> set[CellId]:
            twins = (twin for each in batch for twin in submissions.twins(connection, account.id, each))
            return {twin.place.cell_id for twin in twins if twin.place and twin.place.cell_id}

        return self._store.read(read)

    def find(
        self,
        *,
        account: Account | None = None,
        text: str | None = None,
        since: float | None = None,
        until: float | None = None,
        state: str | Collection[str] | None = None,
        min_cost_usd: float | None = None,
        max_cost_usd: float | None = None,
        experiment: str | None = None,
        mode: str | None = None,
        starred: bool | None = None,
        tag: str | None = None,
        sort: search.Sort = "newest",
        limit: int = 50,
        after: int | None = None,
    ) -> list[Entry]:
        """A page of entries, sorted by time or by cost; `after` is the `id` of the last page's last entry.

        Every word of `text` must begin a word of the prompt or of the note. `since` and `until` (not
        included) are epoch seconds. The cost is the final one, the estimate until it is known.
        """
        wanted = search.Filter(
            text=text,
            since=since,
            until=until,
            state=state,
            min_cost_usd=min_cost_usd,
            max_cost_usd=max_cost_usd,
            experiment=experiment,
            mode=mode,
            starred=starred,
            tag=tag,
        )
        return self.page(account, wanted, sort=sort, limit=limit, after=after)

    def page(
        self,
        account: Account | None,
        wanted: search.Filter,
        *,
        sort: search.Sort = "newest",
        limit: int = 50,
        after: int | None = None,
    ) -> list[Entry]:
        """As `find`, for what was put together before."""
        ready = bool(wanted.text and wanted.text.strip()) and search.index_ready(self._store)
        return self._store.read(
            lambda connection: search.find(
                connection,
                records.all_ids(connection) if account is None else [account.id],
                wanted,
                after=after,
                sort=sort,
                limit=limit,
                indexed=ready,
            )
        )

    def took_seconds(
        self,
        account: Account,
        *,
        mode: str,
        duration_seconds: int | None = None,
        aspect_ratio: str | None = None,
        limit: int = 50,
    ) -> list[tuple[float, float, float | None]]:
        """How long the last clips of this kind took, the last submitted first; None: any length or ratio.

        In seconds: at least, at most, and what the service had estimated.
        """
        return self._store.read(
            lambda connection: submissions.took_seconds(
                connection, account.id, mode, duration_seconds, aspect_ratio, limit
            )
        )


_LAST_CHARACTER = "\U0010ffff"


class Overview:
    """What a home's ledger holds, whoever's key it was bought with."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def accounts(self) -> list[Account]:
        """Every account that ever submitted from this home, oldest first."""
        return self._store.read(
            lambda connection: [
                Account(row["id"], row["origin"], row["fingerprint"])
                for row in connection.execute("SELECT id, origin, fingerprint FROM accounts ORDER BY id")
            ]
        )

    def beginning_with(self, beginning: str, *, limit: int = 10) -> list[Entry]:
        """The entries whose id at the service begins so, newest first."""
        return self._store.read(
            lambda connection: [
                Entry.of(row)
                for row in connection.execute(
                    "SELECT * FROM entries WHERE request_id >= ? AND request_id < ? ORDER BY id DESC LIMIT ?",
                    (beginning, beginning + _LAST_CHARACTER, limit),
                )
            ]
        )
