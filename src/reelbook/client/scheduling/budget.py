"""One key's requests as a budget, learnt from the service's answers: pure, the time is an argument.

A request counts for a whole window from the moment of its answer, which is never earlier than when the
service counted it. That is safe for every kind of window: sliding, fixed, or a bucket that refills bit by
bit. Answers tell what comes back sooner: one that says that fewer requests are used than are counted here
frees the rest, and when none is left, one request is sent at the reset that was announced. If the window is
fixed, its answer shows that all are back; if it slides, the oldest is back by then anyway.
"""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ... import wire
from ..responses import RateHeaders, rate_headers

WINDOW_SECONDS: Final = wire.RATE_WINDOW_SECONDS
MARGIN_SECONDS = 0.05  # clocks tick unevenly; a 429 costs more than this wait
BACK_SECONDS: Final = WINDOW_SECONDS + MARGIN_SECONDS  # a place is free again so long after its use
MOMENT_SECONDS = 1.0  # the service gives whole seconds, rounded either way; and nobody notices less
FIRST_PAUSE_SECONDS = 4.0  # after a fault, or a 429 that doesn't say how long; doubled after each further one
DOUBT_SECONDS = 300.0  # whatever is believed is tested again after so long
CLICK_SHARE = 0.2  # of a key's requests, kept free for a person's clicks


class Purpose(enum.IntEnum):
    """What a request is for, in order of priority."""

    CLICK = 0  # a person asked for it and waits
    DOWNLOAD_STATUS = 1  # an expired link stands between a person and a finished clip
    SUBMIT = 2
    POLL = 3
    BACKGROUND = 4


@dataclass(frozen=True)
class BudgetView:
    """The budget as a person sees it: requests `left` of `limit`, and when the next one comes back.

    `free_at` is when each place may be used next, soonest first.
    """

    limit: int
    left: int
    back_in_seconds: float | None
    free_at: tuple[float, ...]


def pause_seconds(faults: int) -> float:
    return min(WINDOW_SECONDS, FIRST_PAUSE_SECONDS * 2.0 ** min(faults - 1, 10))


class Budget:
    """The requests of one key. Call `sent` before and `answered`, `lost` or `unsent` after each one.

    Times are seconds of one steady clock. `limit` is what is believed until a header says otherwise.
    """

    def __init__(self, limit: int = wire.DEFAULT_REQUESTS_PER_MINUTE) -> None:
        self.limit = self._documented = limit
        self.heard_of = False  # whether the service has answered a request yet
        self.told_limit: int | None = None  # by the service's headers
        self._places: list[float] = []  # when requests were answered, lost, or reported by a header alone
        self._elsewhere: list[float] = []  # requests of other programs that share this budget
        self._accepted: list[float] = []  # our own within the last window, whatever headers say
        self._in_flight = 0
        self._alone = True  # nothing else was in flight with the newest request, so its headers are current
        self._closed_until = 0.0
        self._refusals = 0
        self._distrusted_until: float | None = None  # headers that led to a 429 aren't believed for a while
        self._probe_at: float | None = None  # when one request shows whether a fixed window began anew

    def kept_free(self, purpose: Purpose, jobs: int) -> int:
        """The places that a request of this purpose must leave free, with `jobs` jobs in progress or waiting.

        With few jobs, a click finds a free place at once; with many, all are needed, and it only goes first.
        """
        if purpose < Purpose.POLL or (purpose == Purpose.POLL and 2 * jobs > self.limit):
            return 0
        return int(CLICK_SHARE * self.limit)

    def opens_at(self, now: float, keep: int = 0) -> float:
        """When one more request fits that leaves `keep` places free; `now` if it fits at once."""
        self._forget(now)
        opens_at = self.view(now).free_at[min(keep, self.limit - 1)]
        if self._probe_at is None or self._in_flight:
            return opens_at
        return min(opens_at, max(now, self._probe_at, self._closed_until))

    def sent(self) -> None:
        self._alone = self._in_flight == 0
        self._in_flight += 1
        self._probe_at = None

    def unsent(self) -> None:
        """The request certainly never arrived, so it wasn't counted."""
        self._in_flight -= 1

    def lost(self, now: float) -> None:
        """No answer came: the service may have counted the request."""
        self._in_flight -= 1
        self._places.append(now)

    def answered(self, status: int, headers: Mapping[str, str], now: float) -> None:
        """An answer came; its headers (names in lower case) correct the count."""
        self._in_flight -= 1
        self.heard_of = True
        self._forget(now)
        self._places.append(now)
        if status < 300:
            self._accepted.append(now)
        said = rate_headers(headers)
        if status == 429 and (said.remaining or len(self._accepted) >= self.limit):
            self._distrusted_until = now + DOUBT_SECONDS  # they promised a place, and there was none
        if self._distrusted_until is not None:
            said = RateHeaders(retry_after=said.retry_after)
        if said.limit is not None:
            self.limit = self.told_limit = said.limit
        if said.remaining is not None and said.remaining <= self.limit:
            self._correct(self.limit - said.remaining, now)
        if status == 429:
            self._refused(said, now)
            return
        self._refusals = 0
        # A limit of one isn't probed: its only reset may have been computed before the request was counted.
        if said.remaining == 0 and said.reset is not None and self.limit > 1:
            self._probe_at = now + said.reset + MOMENT_SECONDS + MARGIN_SECONDS

    def elsewhere(self, at: Sequence[float], limit: int | None = None) -> None:
        """All that other programs have sent with this key lately, by the moments from which it counts.

        `limit` is what the service told them; what is seen here takes precedence.
        """
        self._elsewhere = sorted(at)
        if limit is not None and self.told_limit is None and self._distrusted_until is None:
            self.limit = limit

    def view(self, now: float) -> BudgetView:
        """The budget as a person sees it. Changes nothing, so any thread may ask."""
        # A request without an answer counts from its answer on.
        used = [*sorted([*self._places, *self._elsewhere]), *[now] * self._in_flight]
        back_at = [at for each in used if (at := each + BACK_SECONDS) > now]
        free = [now] * (self.limit - len(back_at))
        # Of more than the limit only the last ones make room.
        free_at = tuple(max(at, self._closed_until) for at in [*free, *back_at][-self.limit :])
        left = sum(at <= now for at in free_at)
        return BudgetView(self.limit, left, None if left else free_at[0] - now, free_at)

    def _correct(self, used: int, now: float) -> None:
        counted = len(self._places) + len(self._elsewhere)
        self._places += [now] * (used - self._in_flight - counted)  # somebody else's
        # With others in flight the header may be older than what is known.
        if self._alone and not self._in_flight and not self._elsewhere:
            del self._places[: max(0, counted - used)]

    def _refused(self, said: RateHeaders, now: float) -> None:
        self._refusals += 1
        # So few may only mean that somebody else uses the key.
        few = len(self._accepted) <= CLICK_SHARE * self._documented
        if not (self.told_limit or few) and self._distrusted_until is None:
            self._distrusted_until = now + DOUBT_SECONDS
        if self._distrusted_until is not None:  # only our own count is left to go by
            self._places = [*self._accepted, now]
            self.told_limit = None
            self.limit = self.limit if few else min(self.limit, len(self._accepted))
        wait = said.retry_after
        if wait is None and said.reset is not None:
            wait = said.reset + MOMENT_SECONDS
        if wait is None:
            wait = pause_seconds(self._refusals)
        self._closed_until = now + max(wait, MOMENT_SECONDS) + MARGIN_SECONDS

    def _forget(self, now: float) -> None:
        if self._distrusted_until is not None and self._distrusted_until <= now:
            self._distrusted_until, self.limit = None, self._documented
        oldest = now - BACK_SECONDS
        for moments in (self._places, self._elsewhere, self._accepted):
            del moments[: sum(at <= oldest for at in moments)]
