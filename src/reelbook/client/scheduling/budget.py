"""One key's requests as a budget, learnt from the service's answers: pure, the time is an argument.

Counted in a sliding window from the moment of each answer, which is never earlier than the moment at which
the service counted the request: that is safe for every kind of window. Where the headers show a fixed
window, its end frees all places at once. What to spend the places on is `polling.py`'s part.
"""

from __future__ import annotations

import enum
import math
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Final

from ... import wire
from ..responses import retry_after

MARGIN_SECONDS = 0.05  # clocks tick unevenly; a 429 costs more than this wait
ROUNDING_SECONDS = 1.0  # the reset is a whole number, and nobody says which way it is rounded
FIRST_BACKOFF_SECONDS = 5.0
MOST_KEPT_FREE = 5
YOUNG_SECONDS = 3.0  # a sliding window too may forget a request this much earlier than we do
GUESS_HOLDS_SECONDS = 300.0
FEWEST_A_WINDOW = 3  # no lower limit is concluded from a refusal alone


class Purpose(enum.IntEnum):
    """What a request is for, in the order in which it is let through."""

    CLICK = 0  # a person asked for it and waits
    DOWNLOAD_STATUS = 1  # a link that expired stands between a person and a clip that is ready
    SUBMIT = 2
    POLL = 3
    BACKGROUND = 4


@dataclass(frozen=True)
class BudgetView:
    """What a person may see of the budget: requests `left` of `limit`, and when the next one comes back.

    `free_at` is when each of the places may be used next, soonest first.
    """

    limit: int
    left: int
    back_in_seconds: float | None
    free_at: tuple[float, ...]


@dataclass(frozen=True)
class _Place:
    """One counted request: when, whether the service surely counted it, and whether only a header told."""

    at: float
    sure: bool
    told: bool = False


class Budget:
    """The requests of one key. Call `sent` before and `answered`, `lost` or `unsent` after each one.

    Times are seconds of one steady clock. `limit` is what is believed until a header says otherwise.
    """

    def __init__(
        self, limit: int = wire.DEFAULT_REQUESTS_PER_MINUTE, window_seconds: float = wire.RATE_WINDOW_SECONDS
    ) -> None:
        self.limit = self._documented = limit
        self.window_seconds = window_seconds
        self._places: list[_Place] = []
        self._accepted: deque[float] = deque()  # our own within the last window, whatever headers say
        self._elsewhere: list[float] = []  # requests of other programs that share this budget
        self._in_flight = 0
        self._alone = True  # nothing else was under way with the newest request, so its headers are current
        self._closed_until = 0.0
        self._refusals = 0
        self._guess_holds_until: float | None = None
        self._limit_was_said = False
        self._distrusted_until = 0.0  # headers that led to a 429 don't free places early for a while
        self._fixed_end: float | None = None  # not before this moment a fixed window begins anew
        self._began = float("-inf")  # of a fixed window: what was counted before counts no longer
        self._probe_at: float | None = None
        self._fixed_before = False  # earlier sessions found fixed windows
        self._trial_end: float | None = None  # one that stood on their word alone, until an answer shows
        self.fixed_windows: bool | None = None
        """Whether the key's windows are fixed: None until an answer shows it, False if one contradicts it."""

    def kept_free(self, purpose: Purpose, jobs: int) -> int:
        """Places that a request of this purpose must leave free, with `jobs` jobs under way or waiting.

        A person's click finds room at once while the jobs are few; with many of them every place is needed,
        and a click only goes first.
        """
        if purpose < Purpose.POLL or (purpose == Purpose.POLL and 2 * jobs > self.limit):
            return 0
        return min(self.limit // 5, MOST_KEPT_FREE)

    def opens_at(self, now: float, keep: int = 0) -> float:
        """When one more request fits that leaves `keep` places free; `now` if it does at once."""
        self._forget(now)
        return max(now, self._closed_until, self._fits_at(now, keep))

    def wait_seconds(self, now: float, keep: int = 0) -> float:
        """How long until one more request fits; 0 if it does now."""
        return self.opens_at(now, keep) - now

    def places_within(self, seconds: float, now: float, keep: int = 0) -> int:
        """How many requests fit between `now` and `seconds` later, with `keep` places left free."""
        self._forget(now)
        end = now + seconds
        if self._closed_until > end:
            return 0
        if self._fixed_end is not None and self._fixed_end <= end:
            return self.limit - keep
        busy = sum(at + self.window_seconds + MARGIN_SECONDS > end for at in self._counted())
        return max(0, self.limit - keep - self._in_flight - busy)

    def back_at(self, after: float) -> float:
        """When the first place comes back after that moment; where all are under way, a window later."""
        back = (at + self.window_seconds + MARGIN_SECONDS for at in self._counted())
        return next((at for at in back if at > after), after + self.window_seconds)

    def lost_at(self, now: float) -> float | None:
        """When the places that are free now are lost, because a fixed window ends; None if they are kept."""
        self._forget(now)
        return None if self._fixed_end is None else self._fixed_end - ROUNDING_SECONDS

    def sent(self) -> None:
        """A request goes out."""
        self._alone = self._in_flight == 0
        self._in_flight += 1
        self._probe_at = None

    def unsent(self) -> None:
        """The request certainly never arrived, so nothing was counted."""
        self._in_flight -= 1

    def lost(self, now: float) -> None:
        """No answer came: the service may have counted the request."""
        self._in_flight -= 1
        self._forget(now)
        self._places.append(_Place(now, sure=False))

    def answered(self, status: int, headers: Mapping[str, str], now: float) -> None:
        """An answer came; its headers (names in lower case) correct the count."""
        self._in_flight -= 1
        self._forget(now)
        accepted = status < 300
        self._places.append(_Place(now, sure=accepted))
        if accepted:
            self._accepted.append(now)
        said = read(headers)
        if status == 429 and said.remaining:
            self._distrusted_until = now + GUESS_HOLDS_SECONDS  # there is something left, and there isn't
        distrusted = now < self._distrusted_until
        if said.limit is not None and not distrusted:
            self.limit, self._limit_was_said = said.limit, True
        if said.remaining is not None and said.remaining <= self.limit and not distrusted:
            self._correct(self.limit - said.remaining, said, now)
        if status == 429:
            self._refused(said, now)
            return
        self._refusals = 0
        unsure = said.remaining == 0 if self._fixed_end is None else not self.fixed_windows
        if unsure and said.reset is not None and not distrusted:
            # A fixed window opens as a whole at its reset: one request will show whether this one does.
            self._probe_at = now + said.reset + ROUNDING_SECONDS + MARGIN_SECONDS

    @property
    def told_limit(self) -> int | None:
        """The limit as the service says it in its headers; None where it says none."""
        return self.limit if self._limit_was_said else None

    def elsewhere(
        self, at: Sequence[float], limit: int | None = None, *, fixed_windows: bool = False
    ) -> None:
        """All that other programs sent with this key lately, by the moments from which it counts.

        `limit` is what the service told them, and `fixed_windows` whether they or earlier sessions found the
        key's windows to be fixed. What is seen here is believed before it.
        """
        self._fixed_before = fixed_windows
        if limit is not None and not self._limit_was_said and self._guess_holds_until is None:
            self.limit = limit
        before = len(self._elsewhere)
        self._elsewhere = sorted(moment for moment in at if moment > self._began)
        # What a header told of before is among them now.
        for _ in range(len(self._elsewhere) - before):
            told = next((place for place in self._places if place.told), None)
            if told is None:
                break
            self._places.remove(told)

    def view(self, now: float) -> BudgetView:
        """The budget as a person may see it. Changes nothing, so any thread may ask."""
        fixed_end = math.inf if self._fixed_end is None else self._fixed_end
        # One without an answer counts from its answer on.
        used = [*self._counted(), *(now for _ in range(self._in_flight))] if fixed_end > now else []
        back = (min(at + self.window_seconds + MARGIN_SECONDS, fixed_end) for at in used)
        back_at = [at for at in back if at > now]
        free = [now] * (self.limit - len(back_at))
        # Of more than the limit only the last ones make room.
        free_at = tuple(max(at, self._closed_until) for at in [*free, *back_at][-self.limit :])
        left = sum(at <= now for at in free_at)
        return BudgetView(self.limit, left, None if left else free_at[0] - now, free_at)

    def _fits_at(self, now: float, keep: int) -> float:
        counted = self._counted()
        too_many = self._in_flight + len(counted) - max(1, self.limit - keep) + 1
        if too_many <= 0:
            return now
        if too_many > len(counted):  # those under way fill it: an answer will tell
            return now + 1.0
        fits = counted[too_many - 1] + self.window_seconds + MARGIN_SECONDS
        if self._fixed_end is not None:
            fits = min(fits, self._fixed_end)
        if self._probe_at is not None and self._in_flight == 0:
            fits = min(fits, self._probe_at)
        return fits

    def _counted(self) -> list[float]:
        """The moments from which requests count, oldest first."""
        own = [place.at for place in tuple(self._places)]
        return sorted(own + self._elsewhere) if self._elsewhere else own

    def _correct(self, used: int, said: RateHeaders, now: float) -> None:
        while len(self._places) + len(self._elsewhere) < used - self._in_flight:
            self._places.append(_Place(now, sure=False, told=True))  # somebody else's
        if self._fixed_end is None and used <= 1 and said.reset is not None and not self._elsewhere:
            # A sliding window forgets its only request after its whole length, a bucket has it back after the
            # time of one place: any other end is that of a fixed window that began before. One that comes
            # even sooner counts at the first request only, in case a bucket rounds its last place up.
            one_place = self.window_seconds / self.limit
            sooner = len(self._places) == 1 and 0 < said.reset < one_place - ROUNDING_SECONDS
            later = one_place + ROUNDING_SECONDS < said.reset < self.window_seconds - ROUNDING_SECONDS
            if sooner or later:
                self.fixed_windows = True
            if sooner or later or (self._fixed_before and self.fixed_windows is None):
                self._fixed_end = now + said.reset + ROUNDING_SECONDS + MARGIN_SECONDS
        # With others under way the header may be older than what is known.
        if not self._alone or self._in_flight or self._elsewhere:
            return
        young = now - self.window_seconds + YOUNG_SECONDS
        end = -math.inf if said.reset is None else now + said.reset + MARGIN_SECONDS
        if self._fixed_end is not None and not self.fixed_windows and end > self._fixed_end + MARGIN_SECONDS:
            # An end that is put off belongs to a new window, or to none.
            self._trial_end, self._fixed_end = self._fixed_end, None
        fresh = 1
        if self._trial_end is not None:
            fresh = sum(place.at > self._trial_end - YOUNG_SECONDS for place in self._places)
        before = sum(place.sure and place.at > young for place in self._places[:-fresh])
        if self._fixed_end is None and used <= fresh and before >= 2:
            # Young requests vanished, so a window began anew: a sliding one forgets the old ones only.
            self.fixed_windows = True
            self._fixed_end = now + self.window_seconds + MARGIN_SECONDS
        elif self._trial_end is not None and used > fresh:
            self.fixed_windows = False
        self._trial_end = None
        if self._fixed_end is not None:
            self._end_of_window(said, now, first=used <= 1)
        while len(self._places) > used:
            unsure = next((i for i, place in enumerate(self._places) if not place.sure), 0)
            del self._places[unsure]

    def _end_of_window(self, said: RateHeaders, now: float, *, first: bool) -> None:
        if said.reset is not None:
            # Every reset bounds the end of its window from above; one far off belongs to another window.
            end = now + said.reset + ROUNDING_SECONDS + MARGIN_SECONDS
            near = self._fixed_end is not None and abs(end - self._fixed_end) < 1.5 * ROUNDING_SECONDS
            self._fixed_end = min(end, self._fixed_end) if near and self._fixed_end is not None else end
        elif first:
            self._fixed_end = now + self.window_seconds + MARGIN_SECONDS

    def _refused(self, said: RateHeaders, now: float) -> None:
        self._refusals += 1
        self.fixed_windows = False
        accepted = len(self._accepted)
        if accepted >= self.limit:  # the headers promised room that wasn't there
            self._distrusted_until = now + GUESS_HOLDS_SECONDS
        distrusted = now < self._distrusted_until
        if distrusted:
            self._fixed_end = None
            self._places = [*(_Place(at, sure=True) for at in self._accepted), _Place(now, sure=False)]
        if (distrusted or not self._limit_was_said) and accepted >= FEWEST_A_WINDOW:
            self.limit = min(self.limit, accepted)
            self._limit_was_said = False
            self._guess_holds_until = now + GUESS_HOLDS_SECONDS
        wait = said.retry_after
        if wait is None and said.reset is not None and not distrusted:
            wait = said.reset + ROUNDING_SECONDS
        if wait is None:
            wait = min(self.window_seconds, FIRST_BACKOFF_SECONDS * 2 ** min(self._refusals - 1, 6))
        self._closed_until = now + max(wait, 0.5) + MARGIN_SECONDS

    def _forget(self, now: float) -> None:
        if self._guess_holds_until is not None and self._guess_holds_until <= now:
            self._guess_holds_until = None
            if not self._limit_was_said:
                self.limit = self._documented
        if self._fixed_end is not None and self._fixed_end <= now and not self.fixed_windows:
            # Not seen here yet: the next answer will show whether a window began anew.
            self._trial_end, self._fixed_end = self._fixed_end, None
        if self._fixed_end is not None and self._fixed_end <= now:
            self._places.clear()
            self._elsewhere.clear()
            while self._fixed_end <= now:
                self._began, self._fixed_end = self._fixed_end, self._fixed_end + self.window_seconds
        oldest = now - self.window_seconds - MARGIN_SECONDS
        while self._places and self._places[0].at <= oldest:
            del self._places[0]
        while self._elsewhere and self._elsewhere[0] <= oldest:
            del self._elsewhere[0]
        while self._accepted and self._accepted[0] <= oldest:
            self._accepted.popleft()


# Ten times the documented maximum. More is a quota of a month, or nonsense, and says nothing of a minute.
MOST_A_MINUTE: Final = 10 * wire.MAX_REQUESTS_PER_MINUTE


@dataclass(frozen=True)
class RateHeaders:
    """The limit, the requests `remaining`, and the seconds until `reset`; each None where not said or absurd.

    `retry_after` is the wait in seconds that the service asks for.
    """

    limit: int | None
    remaining: int | None
    reset: float | None
    retry_after: float | None


def read(headers: Mapping[str, str]) -> RateHeaders:
    """The rate headers of one answer; the names are in lower case."""
    limit, remaining = _number(headers, wire.RATE_LIMIT), _number(headers, wire.RATE_REMAINING)
    if limit is not None and limit > MOST_A_MINUTE:
        limit = remaining = None
    if limit is not None and limit < 1:
        limit = None
    if remaining is not None and (remaining < 0 or (limit is not None and remaining > limit)):
        remaining = None
    return RateHeaders(
        None if limit is None else int(limit),
        None if remaining is None else int(remaining),
        reset_seconds(headers),
        retry_after(headers),
    )


def reset_seconds(headers: Mapping[str, str], wall: float | None = None) -> float | None:
    """`X-RateLimit-Reset` as seconds to wait, whether it is that, an epoch in seconds or one in milliseconds.

    Epochs are read against the answer's own `Date`, so that a wrong clock here does no harm; `wall` is the
    epoch time to use where there is none. None where the header is absent or makes no sense for a limit per
    minute.
    """
    value = _number(headers, wire.RATE_RESET)
    if value is None or value < 0:
        return None
    if value > 1e8:
        seconds = value / 1000 if value > 1e11 else value
        sent = _date(headers)
        if sent is None:
            sent = time.time() if wall is None else wall
        value = max(0.0, seconds - sent)
    return value if value <= 2 * wire.RATE_WINDOW_SECONDS else None


def _number(headers: Mapping[str, str], name: str) -> float | None:
    try:
        value = float(headers.get(name.lower(), ""))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _date(headers: Mapping[str, str]) -> float | None:
    try:
        return parsedate_to_datetime(headers["date"]).timestamp()
    except (KeyError, ValueError, TypeError):
        return None
