"""One account's part of the ledger: its submissions, its money, and what this session has heard of both.

It knows entries by their numbers, and no job. What needs no account (`sending`, `accepted`, `settle`, ...) is
asked of its `ledger` itself.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final

from .. import wire
from ..errors import SpendLimitReached
from ..executions import CellId, current_execution, is_another
from ..formatting import dollars
from ..models import Balance, Usage
from ..requests import JobRequest
from ..secret import Secret
from .funds import Funds
from .ledger import Ledger
from .records import SENDING, UNCERTAIN, Account, EarlierRun, Entry, Marks, Pick, Sample, Spend, Submission
from .request_log import AccountRequests
from .search import Filter, Sort
from .submissions import PlaceCounter
from .sweeps import NewSweep, SweepRecord, sameness
from .tool_calls import ToolJob

USAGE_DAYS: Final = 30
SAMPLES: Final = 200
MANY_ENTRIES: Final = 5000
PROMPTS_PAGE: Final = 200
ALL_ENTRIES: Final = 2**31
RECENT_SECONDS: Final = 3600.0
# A job submitted longer ago has ended, unless its state says otherwise; figures follow an end by then.
LONG_SECONDS: Final = 7 * 86_400.0
LATE_SECONDS: Final = 600.0


class AccountLedger:
    """The ledger as one account of `service` sees it.

    `ledger` is the home's, `requests` the key's request budget, shared with the kernels of the machine.
    `max_spend_usd` limits what the account's clips may cost in all, `opened_at` is when this session began
    (epoch seconds).
    """

    def __init__(self, ledger: Ledger, service: str, key: Secret, *, max_spend_usd: float | None) -> None:
        self.max_spend_usd = max_spend_usd
        self.ledger = ledger
        self.opened_at = time.time()
        self._service = service
        self._account: Account = self.ledger.account(service, key)
        # What a kernel that is gone never sent must neither use up the limit nor be waited for.
        self.ledger.recover(self._account)
        self._places = PlaceCounter()
        self.requests = AccountRequests(self.ledger.requests, self._account)

    def change_key(self, key: Secret) -> None:
        """`key` takes the place of the account's key: jobs, limits and spend go on, requests count anew."""
        self._account = self.ledger.account(self._service, key, same_as=self._account)
        self.requests.change_key(self._account)

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

        Beside each entry stands the earlier run that it is from, None for a new one. Raises
        SpendLimitReached, and then nothing was written down and nothing is sent. Nor is it where it had to
        wait for the file and `withdrawn` says, by then, that nobody wants it any more.
        """
        others: list[CellId] = []
        cell = next((each.place.cell_id for each in batch if each.place is not None), None)
        if cell is not None and not again:
            others = [each for each in self.ledger.cell_ids(self._account, batch) if is_another(each, cell)]
        written = self.ledger.intend_many(
            self._account,
            batch,
            again=again,
            other_cells=others,
            limit_usd=self.max_spend_usd,
            withdrawn=withdrawn,
        )
        return [
            (entry, None if new else each.earlier_run(entry))
            for each, (entry, new) in zip(batch, written, strict=True)
        ]

    def take_back(self, entries: Iterable[Entry], *, left_unsent: bool = False) -> None:
        """What was written down and isn't sent is not to be sent; with `left_unsent` it may be later."""
        for entry in entries:
            self.ledger.cancelled(entry.id, left_unsent=left_unsent)

    def left_unsent(self) -> list[Entry]:
        """What was never sent because its kernel ended, oldest first."""
        self.ledger.recover(self._account)
        return self.ledger.left_unsent(self._account)

    def intend_again(self, entries: Sequence[Entry]) -> list[Entry]:
        """Writes down that those are sent after all. Raises SpendLimitReached, and then none is."""
        return self.ledger.intend_again(self._account, entries, limit_usd=self.max_spend_usd)

    def repeat(self, entry_id: int, request: JobRequest, error: Exception) -> int:
        """What may have been bought goes out again all the same. Returns the number of its new entry.

        The one so far is kept as uncertain, so that both count. Raises SpendLimitReached where another one
        would pass the limit; nothing is changed then.
        """
        entry = self.ledger.get(entry_id)
        assert entry is not None
        again = Submission(request, entry.experiment, entry.place, repeats=entry.id)
        try:
            intended = self.ledger.intend(self._account, again, again=True, limit_usd=self.max_spend_usd)
        except SpendLimitReached as limit:
            more, limited_to = dollars(limit.needed_usd), dollars(limit.limit_usd)
            raise SpendLimitReached(
                f"Another attempt may cost {more} more, and would pass the limit of {limited_to}.",
                limit_usd=limit.limit_usd,
                committed_usd=limit.committed_usd,
                needed_usd=limit.needed_usd,
            ) from None
        said = "It may have been accepted, and may be billed. It was sent again, as asked."
        self.ledger.uncertain(entry.id, f"{error} {said}")
        return intended.entry.id

    def left_over(self, among: Collection[int] | None = None) -> list[Entry]:
        """The unfinished jobs that no living kernel looks after; this one does from now on.

        With `among` only those of these numbers.
        """
        self.ledger.recover(self._account)
        left = self.ledger.unfinished(self._account)
        wanted = [each for each in left if among is None or each.id in among]
        return [entry for entry in wanted if self.ledger.take_up(entry)]

    def took_seconds(self, request: JobRequest) -> list[tuple[float, float, float | None]]:
        """How long the last clips of this kind took, as they were submitted: see `Ledger.took_seconds`."""
        took = self.ledger.took_seconds(
            self._account,
            mode=request.mode,
            duration_seconds=request.duration_seconds,
            aspect_ratio=request.aspect_ratio,
        )
        return took[::-1]

    def took_alike(self, request: JobRequest) -> list[tuple[float, float, float | None]]:
        """The same; where there are none of this kind, of clips of any length and shape."""
        return self.took_seconds(request) or self.ledger.took_seconds(self._account, mode=request.mode)[::-1]

    # What is found again.

    def known(self, request_id: str) -> Entry | None:
        """The entry of the service's id."""
        return self.ledger.by_request_id(self._account, request_id)

    def find(
        self, wanted: Filter, *, sort: Sort = "newest", limit: int, after: int | None = None
    ) -> list[Entry]:
        """A page of the account's entries; see `Ledger.find`."""
        return self.ledger.page(self._account, wanted, sort=sort, limit=limit, after=after)

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
        unfinished = Filter(state=(wire.PENDING, wire.PROCESSING, SENDING))
        under_way = self.find(unfinished, limit=MANY_ENTRIES)
        recent = self.entries_since(at - LONG_SECONDS)
        found = {entry.id: entry for entry in (*under_way, *recent) if entry.state != UNCERTAIN}
        return [each for each in found.values() if each.ended_at is None or each.ended_at > at - LATE_SECONDS]

    def is_here(self, bought: Entry | ToolJob) -> bool:
        """Whether this kernel bought it since this session began."""
        at = bought.called_at if isinstance(bought, ToolJob) else bought.intended_at
        # A kernel's name begins with its process (ledger/process_locks.py).
        return at >= self.opened_at and bought.kernel.startswith(f"{os.getpid()}-")

    # What a person puts to them.

    def mark(self, entry_id: int, marks: Marks) -> Marks:
        """Keeps what a person put to an entry; returns it as it was kept."""
        self.ledger.annotations.set(entry_id, starred=marks.starred, note=marks.note, tags=marks.tags)
        entry = self.ledger.get(entry_id)
        return marks if entry is None else entry.marks

    def tags(self) -> dict[str, int]:
        """The account's tags, and how many entries have each."""
        return self.ledger.annotations.tags(self._account)

    def experiments(self) -> list[str]:
        """The names of the account's experiments, the one used last first."""
        return self.ledger.annotations.experiments(self._account)

    def pick(self, winner: str, among: Sequence[str]) -> None:
        """Keeps which clip a person chose among which, by their ids; unknown ones are left out."""
        known = {each: entry.id for each in among if (entry := self.known(each)) is not None}
        if winner in known:
            self.ledger.annotations.pick(self._account, known[winner], known.values())

    def picks(self, limit: int) -> list[Pick]:
        """The comparisons that were decided, newest first."""
        return self.ledger.annotations.picks(self._account, limit=limit)

    # Sweeps.

    def new_sweep(
        self, name: str, record: Mapping[str, object], planned_seconds: tuple[float, float, float]
    ) -> NewSweep:
        """A sweep as it is written down, at its place in the cell that runs on this thread."""
        place = self._places.place(sameness(record), current_execution())
        return NewSweep(name, record, planned_seconds, place)

    def earlier_sweep(self, new: NewSweep) -> int | None:
        """The sweep that an earlier run of the same cell began."""
        return self.ledger.sweeps.earlier(self._account, new)

    def begin_sweep(self, new: NewSweep, cells: Iterable[int], *, left_out: Collection[int]) -> int:
        """Writes a sweep down, to be run by this kernel. Returns its number."""
        return self.ledger.sweeps.begin(self._account, new, cells, left_out=left_out)

    def sweeps(self) -> list[SweepRecord]:
        """The account's sweeps, newest first."""
        return self.ledger.sweeps.all(self._account)

    def sweep(self, number: int) -> SweepRecord | None:
        """The account's sweep of that number."""
        return self.ledger.sweeps.get(self._account, number)

    def completed(self, requests: Iterable[JobRequest]) -> dict[str, Entry]:
        """By its sameness the newest completed entry of each request that has one."""
        return self.ledger.sweeps.completed(self._account, [each.sameness for each in requests])

    # Money.

    def spend(self) -> Spend:
        """What the account's submissions cost so far, in USD, by how sure it is."""
        return self.ledger.spend(self._account)

    def spend_here(self) -> Spend:
        """The same of what this kernel submitted since this session began."""
        return self.ledger.spend(self._account, since=self.opened_at, process=os.getpid())

    def bought(self, *, experiment: str | None, since: float | None, until: float | None) -> list[Entry]:
        """All that cost something or may have, oldest first."""
        wanted = Filter(experiment=experiment, since=since, until=until)
        found = self.find(wanted, sort="oldest", limit=ALL_ENTRIES)
        return [entry for entry in found if entry.charge != "none"]

    def bought_by_tools(self, *, since: float | None = None, until: float | None = None) -> list[ToolJob]:
        """The finished clips that agent tools bought and a session took up, oldest first."""
        return self.ledger.tool_jobs.list(self._account, since=since, until=until)

    def tool_job_ended(self, request_id: str, *, seconds: float | None, cost_usd: float | None) -> None:
        """A clip that a tool bought is finished; its price is worked out where the service doesn't say it."""
        if cost_usd is None:
            can_be_meant = seconds is not None and 0 < seconds <= 2 * wire.MAX_SECONDS
            cost_usd = wire.cost_usd(seconds if seconds and can_be_meant else wire.DEFAULT_SECONDS)
        self.ledger.tool_jobs.ended(self._account, request_id, seconds=seconds, cost_usd=cost_usd)

    def funds(self) -> Funds | None:
        """What is left of the balance; None where neither this session nor, lately, another one heard it."""
        since = min(self.opened_at, time.time() - RECENT_SECONDS)
        return self.ledger.funds(self._account, since=since)

    def heard(self, told: Balance | Usage, *, asked_at: float) -> None:
        """Keeps what a billing endpoint said, to a question asked at that time (epoch seconds)."""
        known = told.model_dump(include={"total_requests", "total_seconds", "total_cost_usd", "period_days"})
        balance = told.balance_usd if isinstance(told, Balance) else told.current_balance_usd
        sample = Sample(
            time.time(),
            balance_usd=balance,
            total_spent_usd=told.total_spent_usd,
            asked_at=asked_at,
            **known,
        )
        self.ledger.samples.add(self._account, sample)

    def samples(self, *, before: float) -> list[Sample]:
        """What the billing endpoints said before that time (epoch seconds), newest first."""
        return self.ledger.samples.list(self._account, before=before, limit=SAMPLES)

    def money_samples(self, since: float) -> list[Sample]:
        """What the billing endpoints said from that time on (epoch seconds), newest first."""
        return self.ledger.samples.list(self._account, since=since, limit=MANY_ENTRIES)

    def usage_days(self) -> int:
        """The period to ask for, so that the answer can be compared with the one that matters.

        That is the last one before what is uncertain; others may have asked for any period since.
        """
        samples, uncertain = self.ledger.samples, self.uncertain_entries()
        sent_at = uncertain[0].sent_at if uncertain else None
        last = samples.last(self._account, before=sent_at, having="total_requests")
        last = last or samples.last(self._account, having="total_requests")
        return int(last.period_days) if last is not None and last.period_days else USAGE_DAYS
