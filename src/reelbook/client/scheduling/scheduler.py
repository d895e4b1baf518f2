"""Lets one key's requests out in turn: `budget.py` says when one fits, `polling.py` whom to ask about.

What a person waits for goes first; submissions and questions about jobs take turns as `polling.py` weighs
them; the rest goes where there is room.
"""

import asyncio
import functools
import math
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Protocol

from ...errors import LedgerUnavailable, ServiceUnreachable, SubmissionCancelled
from ..responses import Reply
from .budget import WINDOW_SECONDS, Budget, Purpose
from .estimates import Belief
from .polling import Ask, Decision, Wait, decide, expected_at

# Requests without an answer when the process is killed are uncertain, and may have bought something.
SUBMISSIONS_AT_A_TIME = 3


class SharedRequests(Protocol):
    """One key's requests as the programs of this machine share them. Times are the event loop's."""

    def enter(self, now: float, fits: Callable[[Sequence[float], int | None], bool]) -> int | None:
        """Notes a request and returns its place; None if `fits` refuses it.

        `fits` gets the moments from which the others' requests count, and the limit that they were told.
        """

    def answered(self, place: int, limit: int | None) -> None:
        """The request was answered, or lost, just now; `limit` is the key's as the service says it."""

    def give_back(self, place: int) -> None:
        """The request never reached the service."""


class Turn:
    """One request that waits for its place in the budget; call `answered` with its reply."""

    def __init__(self, purpose: Purpose, belief: Belief | None) -> None:
        loop = asyncio.get_running_loop()
        self.purpose = purpose
        self.belief = belief
        self.since = loop.time()
        self.admitted: asyncio.Future[Budget] = loop.create_future()  # the budget in which it counts
        self.place: int | None = None  # among the requests that other programs see
        self.reply: Reply | None = None

    def answered(self, reply: Reply) -> None:
        self.reply = reply


class Scheduler:
    """The queue of one key's requests. Belongs to the event loop that uses it; times are that loop's."""

    def __init__(self, budget: Budget | None = None, shared: SharedRequests | None = None) -> None:
        self.budget = budget or Budget()
        self._shared = shared
        self._waiting: list[Turn] = []  # in the order of their arrival
        self._beliefs: list[Belief] = []
        self._submitting = 0
        self._timer: asyncio.Handle | None = None

    def change_budget(self, budget: Budget) -> None:
        """Another key is used from now on. What is in flight stays counted in the budget it was sent with."""
        self.budget = budget
        self._look()

    def hear_of_others(self) -> None:
        """Has the budget learn what other programs sent with this key, as before each request of its own."""
        if self._shared is not None:
            now = asyncio.get_running_loop().time()
            # Nothing is sent, so nothing fits.
            self._shared.enter(now, lambda at, limit: self._fits(now, 0, at, limit) and False)

    @contextmanager
    def watched(self, belief: Belief) -> Iterator[None]:
        """Lets questions about a job have a `turn`, for as long as it is watched."""
        self._beliefs.append(belief)
        try:
            yield
        finally:
            self._beliefs.remove(belief)
            self._look()

    @asynccontextmanager
    async def turn(self, purpose: Purpose, belief: Belief | None = None) -> AsyncIterator[Turn]:
        """Waits until a request may be sent, with a `belief` until it is worth it; the body sends it."""
        turn = Turn(purpose, belief)
        self._waiting.append(turn)
        self._look()
        try:
            budget = await turn.admitted
        except asyncio.CancelledError:
            if turn.admitted.cancelled():
                self._look()
            else:  # admitted and cancelled at the same moment
                self._settle(turn, turn.admitted.result(), arrived=False)
            raise
        if budget is not self.budget:  # the key was changed at that very moment
            self._settle(turn, budget, arrived=False)
            budget, turn.place = self._let_out(turn), None
        arrived = True
        try:
            yield turn
        except (ServiceUnreachable, SubmissionCancelled, LedgerUnavailable):  # it was never sent
            arrived = False
            raise
        finally:
            self._settle(turn, budget, arrived=arrived)

    def next_question_at(self, belief: Belief) -> float:
        now = asyncio.get_running_loop().time()
        return expected_at(belief, self._beliefs, self._count(Purpose.SUBMIT), self.budget, now)

    def _let_out(self, turn: Turn) -> Budget:
        self.budget.sent()
        self._submitting += turn.purpose is Purpose.SUBMIT
        return self.budget

    def _settle(self, turn: Turn, budget: Budget, *, arrived: bool) -> None:
        now = asyncio.get_running_loop().time()
        self._submitting -= turn.purpose is Purpose.SUBMIT
        if not arrived:
            budget.unsent()
        elif turn.reply is None:
            budget.lost(now)
        else:
            budget.answered(turn.reply.status, turn.reply.headers, now)
        if self._shared is not None and turn.place is not None:
            if arrived:
                self._shared.answered(turn.place, budget.told_limit)
            else:
                self._shared.give_back(turn.place)
        self._look()

    def _look(self) -> None:
        """Decides again as soon as the caller that was just answered has taken note of its answer."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_soon(self._admit)

    def _admit(self) -> None:
        loop = asyncio.get_running_loop()
        now, self._timer = loop.time(), None
        # A turn that was cancelled a moment ago would take a place that nobody gives back.
        self._waiting = [turn for turn in self._waiting if not turn.admitted.done()]
        while not isinstance(chosen := self._next(now), float):
            turn, keep = chosen
            if self._shared is not None:
                turn.place = self._shared.enter(now, functools.partial(self._fits, now, keep))
                if turn.place is None:
                    continue  # the others were quicker, as the budget now knows
            self._waiting.remove(turn)
            if turn.belief is not None:
                turn.belief.asked(now)
            turn.admitted.set_result(self._let_out(turn))
        if chosen < math.inf:
            self._timer = loop.call_at(chosen, self._admit)

    def _fits(self, now: float, keep: int, elsewhere: Sequence[float], limit: int | None) -> bool:
        self.budget.elsewhere(elsewhere, limit)
        return self.budget.opens_at(now, keep) <= now

    def _next(self, now: float) -> tuple[Turn, int] | float:
        """The next turn, and how many places it leaves free; or when to decide again."""
        budget, jobs = self.budget, len(self._beliefs) + self._count(Purpose.SUBMIT)
        unimportant = self._first(Purpose.BACKGROUND)
        # What found no room for a whole window is sent all the same.
        overdue_at = math.inf if unimportant is None else unimportant.since + WINDOW_SECONDS
        urgent = self._first(Purpose.CLICK) or self._first(Purpose.DOWNLOAD_STATUS)
        if urgent := urgent or (unimportant if overdue_at <= now else None):
            opens_at = budget.opens_at(now)
            return opens_at if opens_at > now else (urgent, 0)
        wake_at = overdue_at
        if jobs:
            decision = self._decide(now)
            if isinstance(decision, Ask):
                return next(turn for turn in self._waiting if turn.belief is decision.belief), 0
            if isinstance(decision, Wait):
                wake_at = min(wake_at, decision.until)
            elif self._submitting < SUBMISSIONS_AT_A_TIME and (submission := self._first(Purpose.SUBMIT)):
                return submission, 0  # else an answer wakes it
        if unimportant is not None:
            keep = budget.kept_free(Purpose.BACKGROUND, jobs)
            opens_at = budget.opens_at(now, keep)
            if opens_at <= now:
                return unimportant, keep
            wake_at = min(wake_at, opens_at)
        return wake_at

    def _decide(self, now: float) -> Decision:
        # A job whose watch is busy with the last answer can't be asked about at this moment.
        waiting = {turn.belief for turn in self._waiting}
        there = [belief for belief in self._beliefs if belief in waiting or belief.under_way]
        return decide(there, self._count(Purpose.SUBMIT), self.budget, now, sent=self._submitting)

    def _count(self, purpose: Purpose) -> int:
        return sum(turn.purpose is purpose for turn in self._waiting)

    def _first(self, purpose: Purpose) -> Turn | None:
        return next((turn for turn in self._waiting if turn.purpose is purpose), None)
