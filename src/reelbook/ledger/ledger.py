"""The ledger: what becomes of each submission of an account, what it cost, and all that is asked about both.

`LedgerFile` is the file of a home, for what needs no account: classrooms, tool calls, everybody's entries.
`LedgerFile.ledger(service, key)` is the `Ledger` of one account in it, and `Ledger.open` does both at once.

Every call may come from any thread, takes at most a flush of the disk, and is on the disk when it returns.
Where the disk takes no writes, what is about to be paid is refused with LedgerUnavailable, what was learnt is
kept until it does, and `trouble` says so.
"""

from __future__ import annotations

import functools
import os
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from .. import wire
from ..errors import SpendLimitReached
from ..executions import CellId, current_execution, is_another
from ..formatting import dollars
from ..requests import JobRequest
from ..secret import Secret
from ..states import CANCELLED, INTENDED, LOST, NOT_ACCEPTED, REFUSED, SENDING, UNCERTAIN, names
from . import records, search, spend, submissions, sweeps
from .annotations import Annotations
from .billing_samples import Samples
from .classrooms import Classrooms
from .funds import Funds, funds
from .places import PlaceCounter
from .process_locks import Kernel
from .records import Account, EarlierRun, Entry, Spend, Submission, micro
from .request_log import RequestLog
from .search import EVERYTHING, Filter, Sort
from .store import Store, touch, unusable
from .sweeps import Sweeps
from .tool_calls import ToolCalls, ToolJob, ToolJobs

BUSY_SECONDS: Final = 20.0  # at the opening: long enough for many kernels on a slow disk
# Each later kernel asks again about a job that the service didn't know; not for ever.
GIVEN_UP_SECONDS: Final = 7 * 86_400.0
USAGE_DAYS: Final = 30
MANY_ENTRIES: Final = 5000
PROMPTS_PAGE: Final = 200
ALL_ENTRIES: Final = 2**31
RECENT_SECONDS: Final = 3600.0
# A job submitted longer ago has ended, unless its state says otherwise; figures follow an end by then.
LONG_SECONDS: Final = 7 * 86_400.0
LATE_SECONDS: Final = 600.0
_LAST_CHARACTER: Final = "\U0010ffff"


class LedgerFile:
    """The ledger of one home, `REELBOOK_HOME/ledger.db`, whoever's key its rows were bought with.

    `LedgerFile.open(home)` makes it. Rows belong to an `Account`; a key is in none of them. `classrooms` says
    which student has which key, `tool_calls` are the tools' calls.
    """

    def __init__(self, store: Store, kernel: Kernel, clock: Callable[[], float]) -> None:
        self._store = store
        self._kernel = kernel
        self._clock = clock
        self._accounts: dict[int, Account] = {}
        self.received: list[str] = []  # ids that the disk doesn't have yet
        self.classrooms = Classrooms(store, clock)
        self.tool_calls = ToolCalls(store, clock)
        store.on_copy(self._restore_accounts)

    @classmethod
    def open(
        cls, home: Path, *, busy_seconds: float = BUSY_SECONDS, clock: Callable[[], float] = time.time
    ) -> LedgerFile:
        """The file of `home`, made where there is none. Raises LedgerUnavailable where it can't be used.

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
    def in_memory_only(cls, home: Path, notice: str, *, clock: Callable[[], float] = time.time) -> LedgerFile:
        """A ledger that ends with this kernel; `notice` says so, and why."""
        return cls(Store.memory(home, notice), Kernel(home), clock)

    def __enter__(self) -> LedgerFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ledger(self, service: str, key: Secret, *, max_spend_usd: float | None = None) -> Ledger:
        """The ledger of `key` at `service`: an address, of which the origin counts, or any other name.

        Where the address changes and the service stays, any other name will do for it.
        """
        return Ledger(self, self.account(records.origin(service), key), max_spend_usd=max_spend_usd)

    def account(self, origin: str, key: Secret, *, same_as: Account | None = None) -> Account:
        """The account of `key`, known by a salted fingerprint, at the service of that origin.

        With `same_as` the key takes that account's place, for good: jobs, limits and spend go on.
        """
        account = self._store.write(lambda db: records.account_of(db, origin, key, same_as))
        self._accounts[account.id] = account
        return account

    def accounts(self) -> list[Account]:
        """Every account that ever submitted from this home, oldest first."""
        return self._store.read(
            lambda db: [
                Account(row["id"], row["origin"], row["fingerprint"])
                for row in db.execute("SELECT id, origin, fingerprint FROM accounts ORDER BY id")
            ]
        )

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

        What it has not sent is left unsent: see `Ledger.intend_again`. Returns what there is to say where the
        disk still takes no writes: the ids that it doesn't have.
        """
        trouble = self._store.trouble
        settle = functools.partial(submissions.settle_kernel, kernel=self._kernel.name, now=self._clock())
        self._store.keep(settle)
        written = self._store.close()
        self._kernel.end(settled=written)
        if written:
            return None
        ids = f" Ids that it doesn't have: {', '.join(self.received)}." if self.received else ""
        return f"{trouble} It was closed all the same, and what was learnt since is lost.{ids}"

    def get(self, entry_id: int) -> Entry | None:
        """The entry with that number."""
        row = self._store.read(lambda db: submissions.row(db, entry_id))
        return None if row is None else Entry.of(row)

    def by_request_id(self, request_id: str) -> Entry | None:
        """The newest entry of the service's id."""
        return self._store.read(lambda db: submissions.by_request_id(db, None, request_id))

    def beginning_with(self, beginning: str, *, limit: int = 10) -> list[Entry]:
        """The entries whose id at the service begins so, newest first."""
        return self._store.read(
            lambda db: [
                Entry.of(row)
                for row in db.execute(
                    "SELECT * FROM entries WHERE request_id >= ? AND request_id < ? ORDER BY id DESC LIMIT ?",
                    (beginning, beginning + _LAST_CHARACTER, limit),
                )
            ]
        )

    def find(
        self,
        wanted: Filter = EVERYTHING,
        *,
        sort: Sort = "newest",
        limit: int = 50,
        after: int | None = None,
    ) -> list[Entry]:
        """A page of all accounts' entries; see `Ledger.find`."""
        accounts = [account.id for account in self.accounts()]
        return search.page(self._store, accounts, wanted, sort=sort, limit=limit, after=after)

    def _restore_accounts(self, copy: sqlite3.Connection) -> None:
        for account in self._accounts.values():
            records.restore(copy, account)


class Ledger:
    """One account's submissions and money, and what a session has heard of both. It knows entries, no jobs.

    `file` is the home's ledger that it is a part of. `max_spend_usd` limits what the account's clips may cost
    in all; `opened_at` is when the session began (epoch seconds). `requests` is the key's request budget,
    shared with the kernels of the machine, `samples` what the billing endpoints said, `annotations` what a
    person put to the entries, `sweeps` the sweeps and their cells, `tool_calls` the tools' calls, `tool_jobs`
    what the clips cost that those bought.
    """

    def __init__(self, file: LedgerFile, account: Account, *, max_spend_usd: float | None = None) -> None:
        self.file = file
        self.account = account
        self.max_spend_usd = max_spend_usd
        self.opened_at = time.time()
        self._store = file._store
        self._kernel = file._kernel
        self._clock = file._clock
        self._places = PlaceCounter()
        self.requests = RequestLog(self._store, self._kernel.name, account)
        self.samples = Samples(self._store, account)
        self.annotations = Annotations(self._store, account, self._clock)
        self.sweeps = Sweeps(self._store, account, self._kernel, self._clock, self._places)
        self.tool_calls = file.tool_calls
        self.tool_jobs = ToolJobs(self._store, account, self._kernel.name, self._clock)
        # What a kernel that is gone never sent must neither use up the limit nor be waited for.
        self.recover()

    @classmethod
    def open(
        cls,
        home: Path,
        service: str,
        key: Secret,
        *,
        max_spend_usd: float | None = None,
        busy_seconds: float = BUSY_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> Ledger:
        """The ledger of `key` at `service` in `home`; leaving its context closes the file.

        See `LedgerFile.open` and `LedgerFile.ledger`.
        """
        file = LedgerFile.open(home, busy_seconds=busy_seconds, clock=clock)
        try:
            return file.ledger(service, key, max_spend_usd=max_spend_usd)
        except BaseException:
            file.close()
            raise

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def change_key(self, key: Secret) -> None:
        """`key` takes the place of the account's key: jobs, limits and spend go on, requests count anew."""
        self.account = self.file.account(self.account.origin, key, same_as=self.account)
        self.requests.account = self.account

    # Submissions.

    def submissions(
        self, requests: Sequence[JobRequest], *, experiment: str | None = None, once: str | None = None
    ) -> list[Submission]:
        """The requests as they are written down, each at its place in the cell that runs on this thread."""
        execution = current_execution()
        return [
            Submission(request, experiment, self._places.place(request.sameness, execution, once=once))
            for request in requests
        ]

    def intend(
        self,
        batch: Sequence[Submission],
        *,
        again: bool = False,
        withdrawn: Callable[[], bool] = lambda: False,
    ) -> list[tuple[Entry, EarlierRun | None]]:
        """Writes down what will be sent, all or nothing. Equals of this cell's earlier run are given back.

        Beside each entry stands the earlier run that it is from, None for a new one; with `again` all are
        new. Raises SpendLimitReached where spent + reserved + uncertain + the estimates of the new ones would
        pass `max_spend_usd`, and then nothing was written down and nothing is sent. Nor is it where it had to
        wait for the file and `withdrawn` says, by then, that nobody wants it any more (see `Store.write`).
        """
        others: list[CellId] = []
        cell = next((each.place.cell_id for each in batch if each.place is not None), None)
        if cell is not None and not again:
            others = [each for each in self._cell_ids(batch) if is_another(each, cell)]

        def earlier(db: sqlite3.Connection, each: Submission) -> Entry | None:
            if each.cell is not None:
                return sweeps.holder(db, each.cell)
            return None if again else submissions.twin(db, self.account.id, each, others)

        def work(db: sqlite3.Connection) -> list[tuple[Entry, EarlierRun | None]]:
            twins = [earlier(db, each) for each in batch]
            self._check_limit(db, [each for each, twin in zip(batch, twins, strict=True) if twin is None])
            now = self._clock()
            return [
                (submissions.insert(db, self.account.id, each, self._kernel.name, now), None)
                if twin is None
                else (twin, each.earlier_run(twin))
                for each, twin in zip(batch, twins, strict=True)
            ]

        return self._store.write(work, withdrawn=withdrawn)

    def take_back(self, entries: Iterable[Entry], *, left_unsent: bool = False) -> None:
        """What was written down and isn't sent is not to be sent; with `left_unsent` it may be later."""
        for entry in entries:
            self.cancelled(entry.id, left_unsent=left_unsent)

    def left_unsent(self) -> list[Entry]:
        """What was never sent because its kernel ended, oldest first, but for what was asked for again."""
        self.recover()
        return self._store.read(lambda db: submissions.left_unsent(db, self.account.id))

    def intend_again(self, entries: Collection[Entry]) -> list[Entry]:
        """Writes down that those left unsent are about to be sent: all that still are, or nothing.

        What another kernel was quicker with is left out, so nothing is sent twice. Raises SpendLimitReached
        where all together would pass `max_spend_usd`.
        """
        wanted = {entry.id for entry in entries}

        def work(db: sqlite3.Connection) -> list[Entry]:
            left = [entry for entry in submissions.left_unsent(db, self.account.id) if entry.id in wanted]
            self._check_limit(db, left)
            now = self._clock()
            return [submissions.intend_again(db, entry.id, self._kernel.name, now) for entry in left]

        return self._store.write(work)

    def repeat(self, entry_id: int, request: JobRequest, error: Exception) -> int:
        """What may have been bought goes out again all the same. Returns the number of its new entry.

        The one so far is kept as uncertain, so that both count. Raises SpendLimitReached where another one
        would pass the limit; nothing is changed then.
        """
        entry = self.get(entry_id)
        assert entry is not None
        again = Submission(request, entry.experiment, entry.place, repeats=entry.id)
        try:
            ((repeated, _),) = self.intend([again], again=True)
        except SpendLimitReached as limit:
            more, limited_to = dollars(limit.needed_usd), dollars(limit.limit_usd)
            raise SpendLimitReached(
                f"Another attempt may cost {more} more, and would pass the limit of {limited_to}.",
                limit_usd=limit.limit_usd,
                committed_usd=limit.committed_usd,
                needed_usd=limit.needed_usd,
            ) from None
        said = "It may have been accepted, and may be billed. It was sent again, as asked."
        self.uncertain(entry.id, f"{error} {said}")
        return repeated.id

    def sending(self, entry_id: int) -> bool:
        """The request goes out next. False: it was taken back meanwhile, so it must not be sent."""
        changes = {"state": SENDING, "sent_at": self._clock()}
        return self._store.write(lambda db: submissions.change(db, entry_id, (INTENDED, SENDING), changes))

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
        self.file.received = [*self.file.received, request_id] if self._store.trouble else []

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
        known = self._store.read(lambda db: submissions.row(db, entry_id))
        heard_before = known is not None and known["abandoned_at"] is None
        if (
            known is not None
            and heard_before
            and all(known[name] == value for name, value in changes.items())
        ):
            return
        now = self._clock()
        self._store.keep(
            lambda db: submissions.hear(
                db, entry_id, changes, now, self._kernel.name if watched else None, took
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
            lambda db: db.execute(
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

    # What a new kernel takes up.

    def recover(self) -> list[Entry]:
        """Settles what kernels that are gone have left half done, and returns it.

        What they were sending is uncertain now; what they had only written down is cancelled.
        """
        names = self._store.read(lambda db: submissions.unsent_kernels(db, self.account.id))
        recovered: list[Entry] = []
        for name in names:
            if (fate := self._kernel.fate(name)) == "lives":
                continue
            settle = functools.partial(
                submissions.settle_kernel,
                kernel=name,
                now=self._clock(),
                account=self.account.id,
                sure=fate == "gone",
            )
            recovered += self._store.keep(settle)
            if not self._store.read(functools.partial(submissions.has_unsent, kernel=name)):
                self._kernel.forget(name)
        return recovered

    def left_over(self, among: Collection[int] | None = None) -> list[Entry]:
        """The unfinished jobs that no living kernel looks after; this one does from now on.

        With `among` only those of these numbers.
        """
        self.recover()
        left = self.unfinished()
        wanted = [each for each in left if among is None or each.id in among]
        return [entry for entry in wanted if self.take_up(entry)]

    def unfinished(self, *, watched_elsewhere: bool = False) -> list[Entry]:
        """Jobs that were accepted and have no clip here yet, oldest first.

        Left out are those that failed and, unless `watched_elsewhere`, those that another living kernel looks
        after; also those that were given up, once that is a week ago.
        """
        given_up_since = self._clock() - GIVEN_UP_SECONDS
        entries = self._store.read(lambda db: submissions.unfinished(db, self.account.id, given_up_since))
        if watched_elsewhere:
            return entries
        names = {entry.kernel for entry in entries} - {self._kernel.name}
        living = {name for name in names if self._kernel.fate(name) == "lives"}
        return [entry for entry in entries if entry.kernel not in living]

    def take_up(self, entry: Entry) -> bool:
        """This kernel looks after the job from now on. False if another one was quicker."""
        return self._store.keep(lambda db: submissions.take_up(db, entry, self._kernel.name))

    def is_own(self, entry: Entry) -> bool:
        """Whether this kernel looks after it."""
        return entry.kernel == self._kernel.name

    def took_seconds(self, request: JobRequest) -> list[tuple[float, float, float | None]]:
        """How long the last clips of this kind took, as they were submitted.

        In seconds: at least, at most, and what the service had estimated.
        """
        return self._took_seconds(request.mode, request.duration_seconds, request.aspect_ratio)

    def took_alike(self, request: JobRequest) -> list[tuple[float, float, float | None]]:
        """The same; where there are none of this kind, of clips of any length and shape."""
        return self.took_seconds(request) or self._took_seconds(request.mode, None, None)

    # What is found again.

    def get(self, entry_id: int) -> Entry | None:
        """The entry with that number."""
        return self.file.get(entry_id)

    def by_request_id(self, request_id: str) -> Entry | None:
        """The newest entry of the service's id."""
        return self._store.read(lambda db: submissions.by_request_id(db, self.account.id, request_id))

    def find(
        self,
        wanted: Filter = EVERYTHING,
        *,
        sort: Sort = "newest",
        limit: int = 50,
        after: int | None = None,
    ) -> list[Entry]:
        """A page of entries, sorted by time or by cost; `after` is the `id` of the last page's last entry."""
        return search.page(self._store, [self.account.id], wanted, sort=sort, limit=limit, after=after)

    def prompts(self, text: str, limit: int) -> list[str]:
        """The prompts with these words, the one used last first and each once."""
        wanted, found = Filter(text=text), dict[str, None]()
        page = self.find(wanted, limit=PROMPTS_PAGE)
        while page and len(found) < limit:
            found.update(dict.fromkeys(entry.prompt for entry in page))
            full = len(page) == PROMPTS_PAGE
            page = self.find(wanted, limit=PROMPTS_PAGE, after=page[-1].id) if full else []
        return list(found)[:limit]

    def entries_since(self, since: float) -> list[Entry]:
        """What was submitted from that time on (epoch seconds), newest first."""
        return self.find(Filter(since=since), limit=MANY_ENTRIES)

    def uncertain_entries(self) -> list[Entry]:
        """What was sent and never answered, oldest first."""
        return self.find(Filter(state=UNCERTAIN), sort="oldest", limit=MANY_ENTRIES)

    def others_since(self, at: float) -> list[Entry]:
        """The entries that may have moved money or counts since then; uncertain ones aside."""
        under_way = self.find(Filter(state=names(group="under way")), limit=MANY_ENTRIES)
        recent = self.entries_since(at - LONG_SECONDS)
        found = {entry.id: entry for entry in (*under_way, *recent) if entry.state != UNCERTAIN}
        return [each for each in found.values() if each.ended_at is None or each.ended_at > at - LATE_SECONDS]

    def is_here(self, bought: Entry | ToolJob) -> bool:
        """Whether this kernel bought it since this session began."""
        at = bought.called_at if isinstance(bought, ToolJob) else bought.intended_at
        # A kernel's name begins with its process (ledger/process_locks.py).
        return at >= self.opened_at and bought.kernel.startswith(f"{os.getpid()}-")

    # Money.

    def spend(self, *, since: float | None = None, process: int | None = None) -> Spend:
        """What the account's submissions cost so far, in USD, by how sure it is.

        Of those from `since` on (epoch seconds) and of one process, where they are given.
        """
        return self._store.read(lambda db: spend.spend(db, self.account.id, since, process))

    def spend_here(self) -> Spend:
        """The same of what this kernel submitted since this session began."""
        return self.spend(since=self.opened_at, process=os.getpid())

    def bought(self, *, experiment: str | None, since: float | None, until: float | None) -> list[Entry]:
        """All that cost something or may have, oldest first."""
        wanted = Filter(experiment=experiment, since=since, until=until)
        found = self.find(wanted, sort="oldest", limit=ALL_ENTRIES)
        return [entry for entry in found if entry.charge != "none"]

    def funds(self, *, since: float | None = None) -> Funds | None:
        """What is left of the balance; None where nobody heard it since then (epoch seconds).

        Left out, that is the last hour and this session.
        """
        if since is None:
            since = min(self.opened_at, time.time() - RECENT_SECONDS)
        lives = lambda kernel: self._kernel.fate(kernel) == "lives"  # noqa: E731
        return funds(self._store, self.account, since=since, lives=lives)

    def usage_days(self) -> int:
        """The period to ask for, so that the answer can be compared with the one that matters.

        That is the last one before what is uncertain; others may have asked for any period since.
        """
        samples, uncertain = self.samples, self.uncertain_entries()
        sent_at = uncertain[0].sent_at if uncertain else None
        last = samples.last(before=sent_at, having="total_requests")
        last = last or samples.last(having="total_requests")
        return int(last.period_days) if last is not None and last.period_days else USAGE_DAYS

    # Helpers.

    def _change(self, entry_id: int, *, only_from: tuple[str, ...] = (), **changes: Any) -> bool:
        return self._store.keep(lambda db: submissions.change(db, entry_id, only_from, changes))

    def _check_limit(self, db: sqlite3.Connection, new: Sequence[Submission | Entry]) -> None:
        if self.max_spend_usd is not None:
            spend.check_limit(db, self.account.id, new, self.max_spend_usd, None)

    def _cell_ids(self, batch: Sequence[Submission]) -> set[CellId]:
        """The cells that asked for the same before, as far as they have ids: each may be another cell."""

        def read(db: sqlite3.Connection) -> set[CellId]:
            twins = (twin for each in batch for twin in submissions.twins(db, self.account.id, each))
            return {twin.place.cell_id for twin in twins if twin.place and twin.place.cell_id}

        return self._store.read(read)

    def _took_seconds(
        self, mode: str, duration_seconds: int | None, aspect_ratio: str | None
    ) -> list[tuple[float, float, float | None]]:
        took = self._store.read(
            lambda db: submissions.took_seconds(db, self.account.id, mode, duration_seconds, aspect_ratio, 50)
        )
        return took[::-1]
