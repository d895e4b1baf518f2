"""Keeps a session's jobs in the ledger: intent before the request, id after it, every change of state."""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..ledger import Account, Entry, Intended, Ledger, Reruns, Sample, Spend, Wanted
from ..media.images import thumbnail
from ..models import Accepted, Balance, Completed, Failed, JobStatus, Usage
from ..secret import Secret
from .cells import current_execution
from .clip import Clip
from .experiment import current_experiment
from .job import Job, JobRequest


class LedgerTrouble(UserWarning):
    """The ledger's file can't be used; the session goes on in memory."""


class Books:
    """One account's part of the ledger. A job without an entry, taken up by a foreign id, is left out."""

    def __init__(self, home: Path, service: str, key: Secret, *, max_spend_usd: float | None) -> None:
        self.max_spend_usd = max_spend_usd
        self._ledger = Ledger.open(home)
        self._account: Account = self._ledger.account(service, key)
        self._reruns = Reruns()
        if self._ledger.trouble:
            warnings.warn(self._ledger.trouble, LedgerTrouble, stacklevel=4)

    def close(self) -> None:
        """Settles what isn't sent and closes the file."""
        self._ledger.close()

    @property
    def trouble(self) -> str | None:
        """What is wrong with the ledger's file; None if all is well."""
        return self._ledger.trouble

    def spend(self) -> Spend:
        """What the account's submissions cost so far, in USD, by how sure it is."""
        return self._ledger.spend(self._account)

    def intend(self, requests: Sequence[JobRequest], *, again: bool, once: str | None) -> list[Intended]:
        """Writes down what will be sent, all or nothing. Equals of this cell's earlier run are given back.

        Raises SpendLimitReached, and then nothing was written down and nothing is sent.
        """
        execution = current_execution()
        wanted = [
            self._reruns.placed(
                _wanted(request, current_experiment()),
                cell=execution.cell if execution else None,
                run=execution.run if execution else None,
                once=once,
            )
            for request in requests
        ]
        return self._ledger.intend_many(self._account, wanted, again=again, limit_usd=self.max_spend_usd)

    def find(self, **filters: Any) -> list[Entry]:
        """A page of the account's entries; see `Ledger.find`."""
        return self._ledger.find(account=self._account, **filters)

    def heard_balance(self, balance: Balance) -> None:
        """Keeps what was said of the balance."""
        self._ledger.samples.add(
            self._account,
            Sample(time.time(), balance_usd=balance.balance_usd, total_spent_usd=balance.total_spent_usd),
        )

    def heard_usage(self, usage: Usage) -> None:
        """Keeps what was said of the usage."""
        self._ledger.samples.add(
            self._account,
            Sample(
                time.time(),
                balance_usd=usage.current_balance_usd,
                total_spent_usd=usage.total_spent_usd,
                total_requests=usage.total_requests,
                total_seconds=usage.total_seconds,
                total_cost_usd=usage.total_cost_usd,
                period_days=usage.period_days,
            ),
        )

    def left_over(self) -> list[Entry]:
        """The unfinished jobs that no living kernel looks after; this one does from now on."""
        self._ledger.recover(self._account)
        return [entry for entry in self._ledger.unfinished(self._account) if self._ledger.take_up(entry)]

    def known(self, request_id: str) -> Entry | None:
        """The entry of the service's id."""
        return self._ledger.by_request_id(self._account, request_id)

    def sending(self, job: Job) -> bool:
        """The request goes out next; False if it was taken back."""
        return job.entry_id is None or self._ledger.sending(job.entry_id)

    def unsent(self, job: Job) -> None:
        """The request had no effect and waits for its next attempt."""
        if job.entry_id is not None:
            self._ledger.unsent(job.entry_id)

    def accepted(self, job: Job, accepted: Accepted) -> None:
        """The service took it: its id is on the disk when this returns."""
        if job.entry_id is not None:
            self._ledger.accepted(
                job.entry_id,
                accepted.request_id,
                estimated_cost_usd=accepted.estimated_cost_usd,
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

    def cancelled(self, job: Job) -> bool:
        """Taken back; False if it was sent already."""
        return job.entry_id is None or self._ledger.cancelled(job.entry_id)

    def heard(self, job: Job, status: JobStatus) -> None:
        """The service's answer about the job."""
        if job.entry_id is None:
            return
        done = status if isinstance(status, Completed) else None
        self._ledger.status(
            job.entry_id,
            status.status,
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


def request_of(entry: Entry) -> JobRequest:
    """What was asked for, as far as the ledger keeps it: an image's pixels aren't."""
    return JobRequest(
        mode="image-to-video" if entry.mode == "image-to-video" else "text-to-video",
        prompt=entry.prompt,
        duration_seconds=entry.duration_seconds,
        aspect_ratio=entry.aspect_ratio,  # type: ignore[arg-type]  # checked before it was written
        seed=entry.seed,
    )


def clip_of(entry: Entry, request: JobRequest, *, sandbox: bool) -> Clip | None:
    """The entry's clip, if it still lies where it was put."""
    if entry.request_id is None or entry.clip_path is None or not Path(entry.clip_path).exists():
        return None
    return Clip(
        Path(entry.clip_path),
        entry.request_id,
        request=request,
        cost_usd=entry.cost_usd,
        took_seconds=entry.took_seconds,
        sandbox=sandbox,
    )


def _wanted(request: JobRequest, experiment: str | None) -> Wanted:
    image = request.image
    return Wanted(
        mode=request.mode,
        prompt=request.prompt,
        duration_seconds=request.duration_seconds,
        estimated_cost_usd=request.estimated_cost_usd,
        aspect_ratio=request.aspect_ratio,
        seed=request.seed,
        image_digest=hashlib.sha256(image.data).hexdigest() if image else None,
        image_thumbnail=thumbnail(image.data) if image else None,
        experiment=experiment,
    )
