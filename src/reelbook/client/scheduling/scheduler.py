"""Lets one key's requests through: `budget.py` says what fits, `polling.py` whom to ask, this waits.

What a person waits for goes first; submissions and questions about jobs take turns as `polling.py` weighs
them; the rest goes out where there is room.
"""

from __future__ import annotations

import asyncio
import functools
import itertools
import math
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Protocol

from ...errors import LedgerUnavailable, ServiceUnreachable, SubmissionCancelled
from ..responses import Reply
from .budget import Budget, Purpose
from .estimates import Belief
from .polling import WATCHED_SECONDS, Ask, Decision, Wait, decide, expected_at

# What is out without an answer when the process is killed is uncertain, and may have been bought.
SUBMISSIONS_AT_A_TIME = 3
OVERDUE_SECONDS = 60.0  # so long the unimportant waits for room; then one of it goes out all the same


class SharedRequests(Protocol):
    """One key's requests as the programs of this machine share them. Times are the event loop's."""

    def enter(self, now: float, fits: Callable[[Sequence[float], int | None, bool], bool]) -> int | None:
        """Notes a request if `fits` says so of the moments from which the others' requests count.

        It is also given the key's limit as the service told the others, None if it didn't, and whether the
        key's windows were found to be fixed. No other program's request comes between the two. None where it
        doesn't fit.
        """

    def answered(self, place: int, now: float, limit: int | None, fixed_windows: bool | None) -> None:
        """The request was answered, or lost, at `now`; `limit` is the key's as the service says it.

        `fixed_windows` is whether the key's windows are fixed, None where nothing has shown it yet.
        """

    def give_back(self, place: int) -> None:
        """The request never reached the service."""


@dataclass(frozen=True)
class _Admitted:
    """A request that may go out: purpose, the budget it counts in, its place among the shared ones."""

    purpose: Purpose
    budget: Budget
    place: int | None


@dataclass
class _Waiter:
    """One request that waits."""

    purpose: Purpose
    since: float
    future: asyncio.Future[_Admitted]


class Turn:
    """One request's place in the budget; `answered` is to be called with its reply."""

    def __init__(self) -> None:
        self.reply: Reply | None = None

    def answered(self, reply: Reply) -> None:
        self.reply = reply


class Scheduler:
    """One key's door. Belongs to the event loop that uses it; times are that loop's."""

    def __init__(self, budget: Budget | None = None, shared: SharedRequests | None = None) -> None:
        self.budget = budget or Budget()
        self._shared = shared
        self._queues: dict[Purpose, deque[_Waiter]] = {purpose: deque() for purpose in Purpose}
        self._beliefs: dict[str, Belief] = {}
        self._askers: dict[str, _Waiter] = {}
        self._submitting = 0
        self._accepted: deque[float] = deque()  # when the newest jobs were, until they are watched
        self._names = itertools.count(1)
        self._timer: asyncio.Handle | None = None

    def change_budget(self, budget: Budget) -> None:
        """Another key is used from now on. What is under way stays counted in the budget it went out with."""
        self.budget = budget
        self._look()

    def hear_of_others(self) -> None:
        """The budget learns what other programs sent with this key, as before each request of its own."""
        if self._shared is None:
            return

        def hear(elsewhere: Sequence[float], limit: int | None, fixed_windows: bool) -> bool:
            self.budget.elsewhere(elsewhere, limit, fixed_windows=fixed_windows)
            return False  # nothing is sent

        self._shared.enter(asyncio.get_running_loop().time(), hear)

    @contextmanager
    def watched(self, belief: Belief) -> Iterator[str]:
        """While a job is watched: the name under which its questions wait for their `turn`."""
        name = f"job {next(self._names)}"
        self._beliefs[name] = belief
        if self._accepted:
            self._accepted.popleft()
        try:
            yield name
        finally:
            del self._beliefs[name]
            self._look()

    @asynccontextmanager
    async def turn(self, purpose: Purpose, job: str | None = None) -> AsyncIterator[Turn]:
        """Waits until a request of this purpose may go out; the body sends it.

        `job` is the name of a watched job: then this waits until a question about it is worth a request.
        """
        admitted = await self._wait(purpose, job)
        if admitted.budget is not self.budget:  # the key was changed in the very moment
            self._give_back(admitted)
            admitted = self._let_out(purpose, None)
        turn = Turn()
        arrived = True
        try:
            yield turn
        except (ServiceUnreachable, SubmissionCancelled, LedgerUnavailable):  # it never went out
            arrived = False
            raise
        finally:
            if purpose is Purpose.SUBMIT and turn.reply is not None and turn.reply.status < 300:
                self._accepted.append(asyncio.get_running_loop().time())
            self._settle(admitted, turn.reply, arrived=arrived)

    def next_question_at(self, job: str) -> float:
        """When the next question about a watched job is to be expected."""
        now = asyncio.get_running_loop().time()
        return expected_at(job, self._beliefs, len(self._queues[Purpose.SUBMIT]), self.budget, now)

    async def _wait(self, purpose: Purpose, job: str | None) -> _Admitted:
        loop = asyncio.get_running_loop()
        waiter = _Waiter(purpose, loop.time(), loop.create_future())
        if job is None:
            self._queues[purpose].append(waiter)
        else:
            self._askers[job] = waiter
        self._look()
        try:
            return await waiter.future
        except asyncio.CancelledError:
            if waiter.future.cancelled():
                self._look()
            else:  # let through and cancelled in the same moment
                self._settle(waiter.future.result(), None, arrived=False)
            raise
        finally:
            if job is not None:
                self._askers.pop(job, None)

    def _let_out(self, purpose: Purpose, place: int | None) -> _Admitted:
        self.budget.sent()
        self._submitting += purpose is Purpose.SUBMIT
        return _Admitted(purpose, self.budget, place)

    def _settle(self, admitted: _Admitted, reply: Reply | None, *, arrived: bool) -> None:
        if not arrived:
            self._give_back(admitted)
            return
        now, budget = asyncio.get_running_loop().time(), admitted.budget
        self._submitting -= admitted.purpose is Purpose.SUBMIT
        if reply is None:
            budget.lost(now)
        else:
            budget.answered(reply.status, reply.headers, now)
        if self._shared is not None and admitted.place is not None:
            self._shared.answered(admitted.place, now, budget.told_limit, budget.fixed_windows)
        self._look()

    def _give_back(self, admitted: _Admitted) -> None:
        admitted.budget.unsent()
        self._submitting -= admitted.purpose is Purpose.SUBMIT
        if self._shared is not None and admitted.place is not None:
            self._shared.give_back(admitted.place)
        self._look()

    def _look(self) -> None:
        """Decides again in a moment, when whoever was just answered has drawn the conclusions."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_soon(self._admit)

    def _admit(self) -> None:
        self._timer = None
        loop = asyncio.get_running_loop()
        now = loop.time()
        for purpose, queue in self._queues.items():
            self._queues[purpose] = deque(waiter for waiter in queue if not waiter.future.done())
        # One whose watch was ended a moment ago would get a place that nobody gives back.
        self._askers = {job: waiter for job, waiter in self._askers.items() if not waiter.future.done()}
        while True:
            chosen = self._next(now)
            if isinstance(chosen, float):
                if chosen < math.inf:
                    self._timer = loop.call_at(chosen, self._admit)
                return
            waiter, keep, job = chosen
            place = None
            if self._shared is not None:
                place = self._shared.enter(now, functools.partial(self._fits, now, keep))
                if place is None:
                    continue  # the others were quicker, as the budget knows now
            if job is None:
                self._queues[waiter.purpose].popleft()
            else:
                self._beliefs[job].asked(now)
                del self._askers[job]
            waiter.future.set_result(self._let_out(waiter.purpose, place))

    def _fits(
        self, now: float, keep: int, elsewhere: Sequence[float], limit: int | None, fixed_windows: bool
    ) -> bool:
        self.budget.elsewhere(elsewhere, limit, fixed_windows=fixed_windows)
        return self.budget.opens_at(now, keep) <= now

    def _next(self, now: float) -> tuple[_Waiter, int, str | None] | float:
        """Who goes next, what it leaves free, and its job; or when to decide again."""
        budget, jobs = self.budget, self._jobs
        unimportant = self._first(Purpose.BACKGROUND)
        overdue = unimportant is not None and unimportant.since + OVERDUE_SECONDS <= now
        urgent = self._first(Purpose.CLICK) or self._first(Purpose.DOWNLOAD_STATUS)
        if urgent := urgent or (unimportant if overdue else None):
            opens_at = budget.opens_at(now)
            return opens_at if opens_at > now else (urgent, 0, None)
        wake_at = math.inf
        if jobs:
            decision = self._decide(now)
            if isinstance(decision, Ask):
                return self._askers[decision.job], 0, decision.job
            if isinstance(decision, Wait):
                wake_at = decision.until
            elif self._submitting < SUBMISSIONS_AT_A_TIME:  # else an answer wakes it
                return self._queues[Purpose.SUBMIT][0], 0, None
        for purpose in (Purpose.POLL, Purpose.BACKGROUND):
            if (waiter := self._first(purpose)) is None:
                continue
            keep = budget.kept_free(purpose, jobs)
            opens_at = budget.opens_at(now, keep)
            if opens_at <= now:
                return waiter, keep, None
            wake_at = min(wake_at, opens_at)
        if unimportant is not None:
            wake_at = min(wake_at, unimportant.since + OVERDUE_SECONDS)
        return wake_at

    def _decide(self, now: float) -> Decision:
        # One whose watch is busy with the last answer can't be asked about at this moment.
        there = {
            name: belief for name, belief in self._beliefs.items() if name in self._askers or belief.under_way
        }
        while self._accepted and self._accepted[0] <= now - WATCHED_SECONDS:
            self._accepted.popleft()
        sent = self._submitting + len(self._accepted)
        return decide(there, len(self._queues[Purpose.SUBMIT]), self.budget, now, sent=sent)

    @property
    def _jobs(self) -> int:
        return len(self._beliefs) + len(self._queues[Purpose.SUBMIT])

    def _first(self, purpose: Purpose) -> _Waiter | None:
        queue = self._queues[purpose]
        return queue[0] if queue else None
