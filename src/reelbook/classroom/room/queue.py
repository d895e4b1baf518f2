"""Sends the room's clips through the teacher's session, in turn.

A job is recorded as handed over before it is submitted, with its id as the label in `once`. So after a kill
at any moment the room finds in the session's ledger what became of it, and buys nothing twice.
"""

import asyncio
import contextlib
import logging
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeVar

from ... import states, wire
from ...account.limits import without_spend_warnings
from ...errors import (
    AuthenticationError,
    InsufficientBalance,
    InvalidInput,
    LedgerUnavailable,
    LinkExpired,
    NotAVideo,
    NotFound,
    PermissionRefused,
    RateLimited,
    ReelbookError,
    SendInterrupted,
    ServiceUnreachable,
    SpendLimitReached,
)
from ...event_thread import Future, until_done
from ...media.images import prepare
from ...requests import JobRequest
from ...session import Job, JobView, Session
from .store import HANDED, QUEUED, UNCERTAIN, RoomJob, RoomStore, State
from .turns import AT_THE_SANDBOX, most_in_flight, most_unsent

_log = logging.getLogger(__name__)

T = TypeVar("T")

FIRST_WAIT_SECONDS: Final = 2.0
LONGEST_WAIT_SECONDS: Final = 60.0
LOOK_SECONDS: Final = 5.0  # how often it checks whether the class's time is over
BALANCE_SECONDS: Final = 30.0  # a balance is asked for at most this often
SANDBOX_AWAKE_SECONDS: Final = 300.0  # and a sandbox's at least this often
FIND_OUT_SECONDS: Final = 10.0  # the wait before finding out about a lost answer, doubled each time
LONGEST_FIND_OUT_SECONDS: Final = 600.0
UNFETCHED_SECONDS: Final = 600.0  # how long a finished clip keeps its student's place without its file
MOST_JOBS: Final = 100_000

# None of these is the clip's fault: it waits, and so do those behind it.
_WAITS: Final[tuple[tuple[type[ReelbookError], str], ...]] = (
    (InsufficientBalance, "The class's balance at the service is used up. Clips wait until it is filled up."),
    (SpendLimitReached, "The teacher's own spending limit is reached. Clips wait until it is raised."),
    (AuthenticationError, "The service doesn't accept the class's key. Clips wait for the teacher."),
    (PermissionRefused, "The service doesn't allow the class's key to do that. Clips wait for the teacher."),
    (RateLimited, "The class's requests of this minute are used up. Clips wait for the next one."),
    (ServiceUnreachable, "The service can't be reached now. Clips wait, and nothing is lost."),
    (LedgerUnavailable, "This computer can't write to its disk. Clips wait, and nothing is lost."),
    (SendInterrupted, "The service doesn't take clips now. Clips wait, and nothing is lost."),
)
_BLAMELESS: Final = tuple(kind for kind, _ in _WAITS)
_NOT_ANSWERED: Final = (
    "It was sent to the service, and the answer was lost: it may be making this clip. Its price stays "
    "reserved until your teacher finds out. It was not sent again."
)
# The service was reached, and had no clip there. Where the network or this computer's disk fails, it waits.
_NOT_GIVEN: Final = (LinkExpired, NotAVideo)
_NO_FILE: Final = (
    "The service made this clip, but doesn't give its file. It was paid for, and it appears on your page if "
    "its file still comes. In your teacher's notebook it is {}."
)


@dataclass
class _Handed:
    """A clip that the session has, until it is settled.

    `unsent`: the service hasn't answered yet. `uncertain`, `without_file`: recorded as such, which may still
    change. `watch_at` is when it may be watched again, `unfetched_since` when fetching its file first failed.
    """

    job: Job
    unsent: bool = False
    uncertain: bool = False
    without_file: bool = False
    watch_at: float = 0.0
    unfetched_since: float | None = None

    @property
    def under_way(self) -> bool:
        """Whether it takes a place at the service."""
        return not self.without_file and (not states.state(self.job.state).final or _open(self.job))


class RoomQueue:
    """Sends the clips whose turn it is, and settles those that ended. Belongs to one event loop."""

    def __init__(self, store: RoomStore, session: Session) -> None:
        self.store = store
        self.session = session
        self.trouble: str | None = None
        self._handed: dict[int, _Handed] = {}  # by the room's numbers
        self._waits_until = 0.0
        self._wait_seconds = 0.0
        self._alone = False
        self._wake = asyncio.Event()
        self._balance_wanted = asyncio.Event()
        self._find_out_wanted = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._unsubscribe: Callable[[], None] = lambda: None

    async def start(self) -> None:
        """Takes up what an earlier run of the room has handed over, and begins to send."""
        self._loop = asyncio.get_running_loop()
        self._unsubscribe = self.session.subscribe(lambda _: self.poke())
        await asyncio.to_thread(self._take_up)
        running = (self._run(), self._ask_balances(), self._find_out_lost())
        self._tasks = [asyncio.create_task(each) for each in running]

    async def close(self) -> None:
        """Stops sending. What was handed over goes on in the session."""
        self._unsubscribe()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def poke(self) -> None:
        """Wakes the queue: there may be something to send or to settle. From any thread."""
        self._set(self._wake)

    def ask_balance(self) -> None:
        """Asks for the balance soon, at most twice a minute. From any thread."""
        self._set(self._balance_wanted)

    def find_out(self) -> None:
        """Finds out what became of clips whose answer was lost, if only this class uses the account."""
        self._alone = True
        self._set(self._find_out_wanted)

    def _set(self, event: asyncio.Event) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(event.set)

    def progress(self, job: RoomJob) -> tuple[str, int | None]:
        """A clip's state in the interface's words, and its percentage, None if it hasn't begun."""
        handed = self._handed.get(job.number) if job.state == HANDED else None
        view = None if handed is None else handed.job.view()
        if view is None or view.state not in (wire.PROCESSING, wire.COMPLETED):
            return wire.PENDING, None
        # A clip that is being fetched is the student's only once it is here.
        return wire.PROCESSING, min(99, round(100 * (view.progress or 0.0)))

    async def _run(self) -> None:
        failed = False
        while True:
            self._wake.clear()
            try:
                if failed:  # a clip that was being handed over is neither in the queue nor the session's
                    await asyncio.to_thread(self._take_up)
                    failed = False
                await asyncio.to_thread(self._settle_ended, self._loop.time())
                await self._send()
            except Exception:
                failed = True
                _log.exception("The queue failed; it goes on")
            wait = self._waits_until - self._loop.time()
            await _set_within(self._wake, wait if 0 < wait < LOOK_SECONDS else LOOK_SECONDS)

    async def _ask_balances(self) -> None:
        sandbox = self.session.service == "sandbox"
        while True:
            self._balance_wanted.clear()
            asked_at = self.store.clock()
            with contextlib.suppress(ReelbookError, sqlite3.Error):  # it is asked again when money is short
                balance = await _answer(self.session.balance)
                known = {"balance_usd": balance.balance_usd, "balance_at": asked_at}
                await asyncio.to_thread(self.store.change, **known)
            await asyncio.sleep(BALANCE_SECONDS)
            # A sandbox that nobody asks ends by itself, and would begin again with a limit of requests.
            await _set_within(self._balance_wanted, SANDBOX_AWAKE_SECONDS if sandbox else None)

    async def _find_out_lost(self) -> None:
        """Finds out about lost answers: soon, then less and less often, and whenever the teacher asks."""
        pause = FIND_OUT_SECONDS
        while True:
            lost = any(each.uncertain for each in list(self._handed.values()))
            if await _set_within(self._find_out_wanted, pause if lost else None):
                self._find_out_wanted.clear()
                pause = FIND_OUT_SECONDS
                if not self._alone:  # an answer was lost just now
                    continue
            alone, self._alone = self._alone, False
            with contextlib.suppress(ReelbookError):  # it is tried again
                await _answer(partial(self.session.reconcile, alone=alone))
            self._wake.set()
            pause = min(LONGEST_FIND_OUT_SECONDS, 2 * pause)

    async def _send(self) -> None:
        now = self._loop.time()
        sandbox = self.session.service == "sandbox"
        limit = None if sandbox else self.session.facts.requests_limit
        most = AT_THE_SANDBOX if sandbox else most_in_flight(limit)
        while now >= self._waits_until:
            handed = self._handed.values()
            unsent = sum(each.unsent for each in handed)
            if sum(each.under_way for each in handed) >= most or unsent >= most_unsent(limit):
                return
            job = await asyncio.to_thread(self.store.hand_over)
            if job is None:
                return
            await asyncio.to_thread(self._submit, job, now)

    # On a thread: these wait for the disk and for the session.

    def _settle_ended(self, now: float) -> None:
        self.store.expire()
        for number, handed in list(self._handed.items()):
            self._look_at(number, handed, now)
        self.store.remove_images()
        if not (self.store.counts().get(QUEUED) or any(each.unsent for each in self._handed.values())):
            self.trouble = None  # no clip waits for its end any more

    def _take_up(self) -> None:
        self.session.resume()  # first settles what the killed process was sending
        jobs = [job for job in self.store.all_jobs() if job.state in (HANDED, UNCERTAIN) or job.without_file]
        left = [job for job in jobs if job.number not in self._handed]
        known = self._known() if left else {}
        for job in left:
            found = known.get(job.request_id)
            if found is not None and (job.state != HANDED or states.state(found.state).charge != "none"):
                # Watched again when it is looked at.
                self._handed[job.number] = _Handed(found, without_file=job.without_file)
            elif job.state == HANDED:  # it wasn't sent; the class may be over by now
                self.store.hand_back(job.number)

    def _known(self) -> dict[str, Job]:
        """The session's jobs for this class by the room's ids for them, including those of killed rooms."""
        file = self.session._ledger.file
        found: dict[str, Job] = {}
        for job in self.session.jobs(experiment=self._experiment, limit=MOST_JOBS):  # the newest first
            entry = None if job.entry_id is None else file.get(job.entry_id)
            label = None if entry is None or entry.place is None else entry.place.label
            if label is not None:
                found.setdefault(label, job)
        return found

    @property
    def _experiment(self) -> str:
        return f"class {self.store.settings().code}"

    def _submit(self, job: RoomJob, now: float) -> None:
        try:
            image = None if job.image is None else prepare((self.store.images / job.image).read_bytes())
            request = replace(JobRequest.of_record(job.request, image))  # validated again
            with self.session.experiment(self._experiment), without_spend_warnings():
                sent = self.session.submit(request, once=job.request_id)
            self._handed[job.number] = _Handed(sent, unsent=True)
        except (InvalidInput, OSError) as error:
            self.store.settle(job.number, "refused", error=str(error))
        except (SpendLimitReached, LedgerUnavailable) as error:
            self._wait(job.number, error, now)

    def _look_at(self, number: int, handed: _Handed, now: float) -> None:
        """Settles the job if it has ended; watches it again if only the watch has ended."""
        job, state = handed.job, handed.job.state
        if handed.unsent and state != states.SENDING:
            handed.unsent = False
            if job.request_id is not None:
                self.trouble, self._wait_seconds = None, 0.0
        if state == states.SENDING or (job.running and state != wire.COMPLETED):
            return
        view = job.view()
        if state == wire.COMPLETED and job.clip is not None:
            clip = job.clip.path
            known = {"clip_path": clip, "seconds": _seconds(job), "service_id": job.request_id}
            self._end(number, "completed", cost_usd=_cost_usd(view), **known)
        elif state == wire.FAILED:
            reason = getattr(job.error, "reason", None) or str(job.error or "The service failed.")
            self._end(number, "failed", cost_usd=view.cost_usd or 0.0, error=reason)
        elif state == states.REFUSED and (error := job.error) and isinstance(error, _BLAMELESS):
            self._wait(number, error, now)
            del self._handed[number]
        elif state in (states.REFUSED, states.NOT_ACCEPTED, states.CANCELLED):
            self._end(
                number, "refused", error=str(job.error or "The service never took it. Nothing was paid.")
            )
        elif state == states.LOST:
            cost = view.estimated_cost_usd or 0.0
            self._end(number, "failed", cost_usd=cost, error="The service took it, and its id never arrived.")
        elif state == states.UNCERTAIN or isinstance(job.error, NotFound):
            if not handed.uncertain:
                self.store.settle(number, "uncertain", error=_NOT_ANSWERED)
                handed.uncertain = True
                self._set(self._find_out_wanted)
        elif _open(job) and not job.running and now >= handed.watch_at:
            if isinstance(job.error, _NOT_GIVEN) and not handed.without_file:
                self._fetch_failed(number, handed, now)
            handed.watch_at = now + (UNFETCHED_SECONDS if handed.without_file else LOOK_SECONDS)
            job.watch()

    def _fetch_failed(self, number: int, handed: _Handed, now: float) -> None:
        """A finished clip couldn't be fetched: after a while it counts as failed and gives up its place."""
        if handed.unfetched_since is None:
            handed.unfetched_since = now
        if now - handed.unfetched_since >= UNFETCHED_SECONDS:
            cost_usd, service_id = _cost_usd(handed.job.view()), handed.job.request_id
            said = _NO_FILE.format(service_id)
            self.store.settle(number, "failed", cost_usd=cost_usd, error=said, service_id=service_id)
            handed.without_file = True

    def _end(self, number: int, state: State, **known: Any) -> None:
        self.store.settle(number, state, **known)  # first: what the disk didn't take is settled later
        del self._handed[number]

    def _wait(self, number: int, error: ReelbookError, now: float) -> None:
        """Nothing was bought, and nothing is wrong with the clip: all wait, longer each time."""
        self.store.hand_back(number)
        self.trouble = next(said for kind, said in _WAITS if isinstance(error, kind))
        self._wait_seconds = min(LONGEST_WAIT_SECONDS, self._wait_seconds * 2 or FIRST_WAIT_SECONDS)
        self._waits_until = now + self._wait_seconds


async def _set_within(event: asyncio.Event, seconds: float | None) -> bool:
    """Waits for the event, at most so long, and returns whether it was set."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()


async def _answer(ask: Callable[[], T]) -> T:
    """What the service says, on a thread that nobody waits for at the end: it may take minutes to answer."""
    future: Future[T] = Future()
    threading.Thread(target=future.carry_out, args=(ask,), daemon=True).start()
    await until_done(future)
    return future.result()


def _open(job: Job) -> bool:
    return job.request_id is not None and job.clip is None and not states.state(job.state).missing


def _cost_usd(view: JobView) -> float:
    """What a finished clip cost: as estimated, where the service doesn't say."""
    return (view.estimated_cost_usd if view.cost_usd is None else view.cost_usd) or 0.0


def _seconds(job: Job) -> float | None:
    said = getattr(job.status, "duration_seconds", None)
    if said is not None:
        return float(said)
    with contextlib.suppress(ReelbookError):
        return None if job.clip is None else job.clip.duration_seconds
    return None
