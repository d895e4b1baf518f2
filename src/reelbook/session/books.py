"""Keeps a session's jobs in the ledger: intent before the request, id after it, every change of state."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from .. import wire
from ..errors import SpendLimitReached
from ..executions import current_execution, is_another
from ..ledger import (
    SENDING,
    UNCERTAIN,
    Account,
    CellId,
    Entry,
    Ledger,
    Pick,
    Reruns,
    Sample,
    Spend,
    ToolCalls,
    ToolJob,
    Wanted,
)
from ..ledger.search import Filter, Sort
from ..models import (
    Accepted,
    Balance,
    Completed,
    Failed,
    JobStatus,
    Usage,
)
from ..requests import JobRequest
from ..secret import Secret
from .entries import earlier_run_of, marks_of, wanted_of
from .experiment import current_experiment
from .job import EarlierRun, Job, Marks, state_of
from .sharing import LedgerRequests

USAGE_DAYS: Final = 30
SAMPLES: Final = 200
MANY_ENTRIES: Final = 5000
ALL_ENTRIES: Final = 2**31
RECENT_SECONDS: Final = 3600.0
# A job submitted longer ago has ended, unless its state says otherwise; figures follow an end by then.
LONG_SECONDS: Final = 7 * 86_400.0
LATE_SECONDS: Final = 600.0


class LedgerTrouble(UserWarning):
    """The ledger's file can't be used; the session goes on in memory."""


class Books:
    """One account's part of the ledger.

    A job without an entry, taken up by a foreign id, is left out; of one that a tool bought the cost is kept.
    """

    def __init__(self, home: Path, service: str, key: Secret, *, max_spend_usd: float | None) -> None:
        self.max_spend_usd = max_spend_usd
        self._ledger = Ledger.open(home)
        self._service = service
        self._account: Account = self._ledger.account(service, key)
        # What a kernel that is gone never sent must neither use up the limit nor be waited for.
        self._ledger.recover(self._account)
        self._reruns = Reruns()
        self._opened_at = time.time()
        self.asked_at: dict[float, float] = {}  # by the time at which this session heard the answer
        self._heard: tuple[float, float] | None = None  # the balance, and what had been spent by then
        self.requests = LedgerRequests(self._ledger, self._account)

    def change_key(self, key: Secret) -> None:
        """`key` takes the place of the account's key: jobs, limits and spend go on, requests count anew."""
        self._account = self._ledger.account(self._service, key, same_as=self._account)
        self.requests.change_key(self._account)

    def close(self) -> None:
        """Settles what isn't sent and closes the file."""
        self._ledger.close()

    @property
    def tool_calls(self) -> ToolCalls:
        """The calls of the agent tools."""
        return self._ledger.tool_calls

    @property
    def in_memory(self) -> bool:
        """Whether what is written down ends with this kernel."""
        return self._ledger.in_memory

    @property
    def trouble(self) -> str | None:
        """What is wrong with the ledger's file; None if all is well."""
        return self._ledger.trouble

    def spend(self) -> Spend:
        """What the account's submissions cost so far, in USD, by how sure it is."""
        return self._ledger.spend(self._account)

    def spend_here(self) -> Spend:
        """The same of what this kernel submitted since this session began."""
        return self._ledger.spend(self._account, since=self._opened_at, process=os.getpid())

    def bought(self, *, experiment: str | None, since: float | None, until: float | None) -> list[Entry]:
        """All that cost something or may have, oldest first."""
        wanted = Filter(experiment=experiment, since=since, until=until)
        found = self.find(wanted, sort="oldest", limit=ALL_ENTRIES)
        return [entry for entry in found if entry.charge != "none"]

    def bought_by_tools(self, *, since: float | None = None, until: float | None = None) -> list[ToolJob]:
        """The finished clips that agent tools bought and a session took up, oldest first."""
        return self._ledger.tool_jobs.list(self._account, since=since, until=until)

    def take_back(self, entries: Sequence[Entry], *, left_unsent: bool = False) -> None:
        """What was written down and isn't sent is not to be sent; with `left_unsent` it may be later."""
        for entry in entries:
            self._ledger.cancelled(entry.id, left_unsent=left_unsent)

    def left_unsent(self) -> list[Entry]:
        """What was never sent because its kernel ended, oldest first."""
        self._ledger.recover(self._account)
        return self._ledger.left_unsent(self._account)

    def intend_again(self, entries: Sequence[Entry]) -> list[Entry]:
        """Writes down that those are sent after all. Raises SpendLimitReached, and then none is."""
        return self._ledger.intend_again(self._account, entries, limit_usd=self.max_spend_usd)

    def likely_balance_usd(self) -> float | None:
        """The balance as last heard, less what this key's clips cost since; None if nobody heard it lately.

        Another session of this machine may have heard it, within the last hour.
        """
        if self._heard is not None:
            balance, spent_then = self._heard
            return balance - max(0.0, self._submitted_usd() - spent_then)
        last = self._ledger.samples.last(self._account, having="balance_usd")
        if last is None or last.balance_usd is None or last.at < time.time() - RECENT_SECONDS:
            return None
        return last.balance_usd - self._submitted_usd(since=last.at)

    def _submitted_usd(self, *, since: float | None = None) -> float:
        # A tool may have waited for its clip, which the balance heard at its end holds already.
        known = self._ledger.spend(self._account, since=since)
        return known.spent_usd - known.tools_usd

    def wanted(self, requests: Sequence[JobRequest], *, once: str | None) -> list[Wanted]:
        """What is to be written down of them, each at its place in the cell that runs on this thread."""
        execution = current_execution()
        return [
            self._reruns.placed(
                wanted_of(request, current_experiment()),
                cell=execution.cell if execution else None,
                run=execution.run if execution else None,
                cell_id=execution.cell_id if execution else None,
                once=once,
            )
            for request in requests
        ]

    def intend(
        self, wanted: Sequence[Wanted], *, again: bool, withdrawn: Callable[[], bool]
    ) -> list[tuple[Entry, EarlierRun | None]]:
        """Writes down what will be sent, all or nothing. Equals of this cell's earlier run are given back.

        Beside each entry stands the earlier run that it is from, None for a new one. Raises
        SpendLimitReached, and then nothing was written down and nothing is sent. Nor is it where it had to
        wait for the file and `withdrawn` says, by then, that nobody wants it any more.
        """
        others: list[CellId] = []
        cell = next((each.place.cell_id for each in wanted if each.place is not None), None)
        if cell is not None and not again:
            others = [each for each in self._ledger.cell_ids(self._account, wanted) if is_another(each, cell)]
        written = self._ledger.intend_many(
            self._account,
            wanted,
            again=again,
            other_cells=others,
            limit_usd=self.max_spend_usd,
            withdrawn=withdrawn,
        )
        return [
            (entry, None if new else earlier_run_of(entry, each))
            for each, (entry, new) in zip(wanted, written, strict=True)
        ]

    def find(
        self, wanted: Filter, *, sort: Sort = "newest", limit: int, after: int | None = None
    ) -> list[Entry]:
        """A page of the account's entries; see `Ledger.find`."""
        return self._ledger.page(self._account, wanted, sort=sort, limit=limit, after=after)

    def mark(self, entry_id: int, marks: Marks) -> Marks:
        """Keeps what a person put to an entry; returns it as it was kept."""
        self._ledger.marks.set(entry_id, starred=marks.starred, note=marks.note, tags=marks.tags)
        entry = self._ledger.get(entry_id)
        return marks if entry is None else marks_of(entry)

    def tags(self) -> dict[str, int]:
        """The account's tags, and how many entries have each."""
        return self._ledger.marks.tags(self._account)

    def experiments(self) -> list[str]:
        """The names of the account's experiments, the one used last first."""
        return self._ledger.marks.experiments(self._account)

    def entry(self, job: Job) -> Entry | None:
        """What is written down of the job."""
        return None if job.entry_id is None else self._ledger.get(job.entry_id)

    def pick(self, winner: str, among: Sequence[str]) -> None:
        """Keeps which clip a person chose among which, by their ids; unknown ones are left out."""
        known = {each: entry.id for each in among if (entry := self.known(each)) is not None}
        if winner in known:
            self._ledger.marks.pick(self._account, known[winner], known.values())

    def picks(self, limit: int) -> list[Pick]:
        """The comparisons that were decided, newest first."""
        return self._ledger.marks.picks(self._account, limit=limit)

    def by_id(self, entry_id: int) -> Entry | None:
        """The entry of that number."""
        return self._ledger.get(entry_id)

    def heard_balance(self, balance: Balance, *, asked_at: float) -> None:
        """Keeps what was said of the balance, to a question asked at that time (epoch seconds)."""
        self._ledger.samples.add(
            self._account,
            Sample(
                self._heard_at(asked_at, balance.balance_usd),
                balance_usd=balance.balance_usd,
                total_spent_usd=balance.total_spent_usd,
            ),
        )

    def heard_usage(self, usage: Usage, *, asked_at: float) -> None:
        """Keeps what was said of the usage, to a question asked at that time (epoch seconds)."""
        self._ledger.samples.add(
            self._account,
            Sample(
                self._heard_at(asked_at, usage.current_balance_usd),
                balance_usd=usage.current_balance_usd,
                total_spent_usd=usage.total_spent_usd,
                total_requests=usage.total_requests,
                total_seconds=usage.total_seconds,
                total_cost_usd=usage.total_cost_usd,
                period_days=usage.period_days,
            ),
        )

    def _heard_at(self, asked_at: float, balance_usd: float | None) -> float:
        now = time.time()
        if balance_usd is not None:
            self._heard = balance_usd, self._submitted_usd()
        self.asked_at[now] = asked_at
        return now

    def samples(self, *, before: float) -> list[Sample]:
        """What the billing endpoints said before that time (epoch seconds), newest first."""
        return self._ledger.samples.list(self._account, before=before, limit=SAMPLES)

    def money_samples(self, since: float) -> list[Sample]:
        """What the billing endpoints said from that time on (epoch seconds), newest first."""
        return self._ledger.samples.list(self._account, since=since, limit=MANY_ENTRIES)

    def entries_since(self, since: float) -> list[Entry]:
        """What was submitted from that time on (epoch seconds), newest first."""
        return self.find(Filter(since=since), limit=MANY_ENTRIES)

    def is_here(self, bought: Entry | ToolJob) -> bool:
        """Whether this kernel bought it since this session began."""
        at = bought.called_at if isinstance(bought, ToolJob) else bought.intended_at
        # A kernel's name begins with its process (ledger/process_locks.py).
        return at >= self._opened_at and bought.kernel.startswith(f"{os.getpid()}-")

    def usage_days(self) -> int:
        """The period to ask for, so that the answer can be compared with the one that matters.

        That is the last one before what is uncertain; others may have asked for any period since.
        """
        samples, uncertain = self._ledger.samples, self.uncertain_entries()
        sent_at = uncertain[0].sent_at if uncertain else None
        last = samples.last(self._account, before=sent_at, having="total_requests")
        last = last or samples.last(self._account, having="total_requests")
        return int(last.period_days) if last is not None and last.period_days else USAGE_DAYS

    def uncertain_entries(self) -> list[Entry]:
        """What was sent and never answered, oldest first."""
        return self.find(Filter(state=UNCERTAIN), sort="oldest", limit=MANY_ENTRIES)

    def others_since(self, at: float) -> list[Entry]:
        """The entries that may have moved money or counts since then; uncertain ones aside."""
        unfinished = Filter(state=(wire.PENDING, wire.PROCESSING, SENDING))
        under_way = self.find(unfinished, limit=MANY_ENTRIES)
        recent = self.find(Filter(since=at - LONG_SECONDS), limit=MANY_ENTRIES)
        found = {entry.id: entry for entry in (*under_way, *recent) if entry.state != UNCERTAIN}
        return [each for each in found.values() if each.ended_at is None or each.ended_at > at - LATE_SECONDS]

    def settle(self, entry: Entry, *, accepted: bool) -> None:
        """What became of an uncertain one: accepted and billed without its id, or nothing paid."""
        self._ledger.settle(entry.id, accepted=accepted)

    def left_over(self) -> list[Entry]:
        """The unfinished jobs that no living kernel looks after; this one does from now on."""
        self._ledger.recover(self._account)
        return [entry for entry in self._ledger.unfinished(self._account) if self._ledger.take_up(entry)]

    def known(self, request_id: str) -> Entry | None:
        """The entry of the service's id."""
        return self._ledger.by_request_id(self._account, request_id)

    def took_seconds(self, request: JobRequest) -> list[float]:
        """How long the last clips of this kind took, the newest last."""
        took = self._ledger.took_seconds(
            self._account,
            mode=request.mode,
            duration_seconds=request.duration_seconds,
            aspect_ratio=request.aspect_ratio,
        )
        return took[::-1]

    def sending(self, job: Job) -> bool:
        """The request goes out next; False if it was taken back."""
        return job.entry_id is None or self._ledger.sending(job.entry_id)

    def unsent(self, job: Job) -> None:
        """The request had no effect and waits for its next attempt."""
        if job.entry_id is not None:
            self._ledger.unsent(job.entry_id)

    def repeat(self, job: Job, error: Exception) -> None:
        """The request may have been bought and goes out again all the same: as an entry of its own.

        The one so far is kept as uncertain, so that both count. Raises SpendLimitReached where another one
        would pass the limit; nothing is changed then.
        """
        entry = None if job.entry_id is None else self._ledger.get(job.entry_id)
        if entry is None or job.request is None:
            return
        wanted = replace(wanted_of(job.request, entry.experiment), place=entry.place, repeats=entry.id)
        try:
            intended = self._ledger.intend(self._account, wanted, again=True, limit_usd=self.max_spend_usd)
        except SpendLimitReached as limit:
            message = f"Another attempt may cost ${limit.needed_usd:.2f} more, and would pass the limit of "
            raise SpendLimitReached(
                f"{message}${limit.limit_usd:.2f}.",
                limit_usd=limit.limit_usd,
                committed_usd=limit.committed_usd,
                needed_usd=limit.needed_usd,
            ) from None
        said = "It may have been accepted, and may be billed. It was sent again, as asked."
        self._ledger.uncertain(entry.id, f"{error} {said}")
        job.entry_id = intended.entry.id

    def accepted(self, job: Job, accepted: Accepted) -> None:
        """The service took it: its id is on the disk when this returns."""
        if job.entry_id is not None:
            self._ledger.accepted(
                job.entry_id,
                accepted.request_id,
                estimated_cost_usd=accepted.estimated_cost_usd or None,  # as the job's card shows it
                estimated_duration_seconds=accepted.estimated_duration_seconds,
            )

    def refused(self, job: Job, error: Exception) -> None:
        """Nothing was bought."""
        if job.entry_id is not None:
            self._ledger.refused(job.entry_id, str(error))

    def uncertain(self, job: Job, error: Exception) -> None:
        """It may have been bought."""
        if job.entry_id is not None:
            self._ledger.uncertain(job.entry_id, str(error))

    def abandoned(self, job: Job, error: Exception) -> None:
        """The service says again and again that it doesn't know it."""
        if job.entry_id is not None:
            self._ledger.abandoned(job.entry_id, str(error))

    def cancelled(self, job: Job) -> bool:
        """Taken back; False if it was sent already."""
        return job.entry_id is None or self._ledger.cancelled(job.entry_id)

    def heard(self, job: Job, status: JobStatus) -> None:
        """The service's answer about the job."""
        done = status if isinstance(status, Completed) else None
        if job.entry_id is None:
            if job.request_id is not None and done is not None:
                seconds, cost = done.duration_seconds, done.cost_usd
                if cost is None:
                    can_be_meant = seconds is not None and 0 < seconds <= 2 * wire.MAX_SECONDS
                    cost = wire.cost_usd(seconds if seconds and can_be_meant else wire.DEFAULT_SECONDS)
                self._ledger.tool_jobs.ended(self._account, job.request_id, seconds=seconds, cost_usd=cost)
            return
        self._ledger.status(
            job.entry_id,
            state_of(status),
            progress=job.view().progress,
            video_url=done.video_url if done else None,
            duration_seconds=done.duration_seconds if done else None,
            cost_usd=done.cost_usd if done else None,
            error=status.error if isinstance(status, Failed) else None,
        )

    def downloaded(self, job: Job, path: Path) -> None:
        """The clip lies whole at `path`."""
        if job.entry_id is not None:
            self._ledger.downloaded(job.entry_id, path)
