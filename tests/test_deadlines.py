"""Deadlines that count only while the process runs."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from filelock import FileLock, Timeout
from ledger.doubles import Clock
from support import virtual_time
from support.virtual_time import VirtualLoop

from reelbook import deadlines
from reelbook.deadlines import LOOK_SECONDS, MAX_LATE_LOOKS, Countdown, Deadline


def wait_out(clock: Clock, countdown: Countdown, *, late: float = 0.0) -> float:
    """Looks until the time is up, each time `late` seconds after the pause; how long that took."""
    began = clock.now
    while pause := countdown.next_pause():
        clock.now += pause + late
    return clock.now - began


def test_without_sleep_it_counts_what_the_clock_says() -> None:
    """The last pause is as short as it has to be."""
    clock = Clock(100.0)
    assert wait_out(clock, Countdown(60.2, clock)) == pytest.approx(60.2)


@pytest.mark.parametrize("before", [0.5, 30.0, 60.0])
def test_the_time_asleep_isnt_counted(before: float) -> None:
    """Whenever a sleep of two minutes comes, what was left before it is left after it."""
    clock = Clock(100.0)
    countdown = Countdown(60, clock)
    while clock.now < 100 + before:
        clock.now += countdown.next_pause()
    clock.now += 120
    assert max(LOOK_SECONDS, 60 - before) == pytest.approx(wait_out(clock, countdown))


def test_who_is_always_late_still_ends() -> None:
    """Each pause takes ten seconds: the time ends a few looks later, and not never."""
    clock = Clock(100.0)
    looks = 60 / LOOK_SECONDS + MAX_LATE_LOOKS
    assert wait_out(clock, Countdown(60, clock), late=10) == pytest.approx(looks * (10 + LOOK_SECONDS))


def test_a_deadline_passes_when_the_loops_clock_says_so() -> None:
    """On time, as asyncio's own, and an endless one not at all."""

    async def waits() -> float:
        loop = asyncio.get_running_loop()
        began = loop.time()
        async with Deadline(None) as endless:
            with pytest.raises(TimeoutError):
                async with Deadline(7.3):
                    await asyncio.sleep(100)
        assert endless.spent == pytest.approx(7.3)
        return loop.time() - began

    assert virtual_time.run(waits()) == pytest.approx(7.3)


def test_a_deadline_lets_the_loop_read_what_came_while_it_slept() -> None:
    """What takes some turns of the loop after the waking is done; the deadline doesn't come between."""

    async def waits() -> str:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        arrived = asyncio.Event()

        def sleep() -> None:
            loop._jumping.now += 90
            arrived.set()

        loop.call_later(1, sleep)
        async with Deadline(1.2):
            await arrived.wait()
            for _ in range(20):
                await asyncio.sleep(0)
            return "read"

    assert virtual_time.run(waits()) == "read"


def test_a_renewed_deadline_begins_anew_and_a_passed_one_doesnt() -> None:
    """Ten times nine seconds pass, then ten in which nothing renews it."""

    async def renewed() -> None:
        async with Deadline(10) as deadline:
            for _ in range(10):
                await asyncio.sleep(9)
                deadline.renew(10)
            try:
                await asyncio.sleep(20)
            finally:
                deadline.renew(10)

    async def waits() -> float:
        loop = asyncio.get_running_loop()
        began = loop.time()
        with pytest.raises(TimeoutError):
            await renewed()
        return loop.time() - began

    assert virtual_time.run(waits()) == pytest.approx(100)


def test_another_cancellation_isnt_taken_for_the_deadline() -> None:
    """Who is cancelled from outside hears of that, and no timer is left."""

    async def waits() -> None:
        async with Deadline(10):
            await asyncio.sleep(100)

    async def cancelled() -> None:
        task = asyncio.create_task(waits())
        await asyncio.sleep(5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    virtual_time.run(cancelled())


def test_a_lock_is_waited_for_while_the_process_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who sleeps while another one holds the lock still waits for it afterwards."""
    monkeypatch.setattr(deadlines, "LOOK_SECONDS", 0.1)
    clock = Clock(100.0)
    held = FileLock(tmp_path / "lock", thread_local=False)
    tries = []

    class Sleepy(FileLock):
        def acquire(self, *args: object, **options: object) -> object:  # type: ignore[override] # passed on
            tries.append(options)
            clock.now += 90
            if len(tries) == 3:
                held.release()
            return super().acquire(*args, **options)  # type: ignore[arg-type] # passed on

    monkeypatch.setattr(Countdown.__init__, "__defaults__", (clock,))
    held.acquire()
    with deadlines.acquire(Sleepy(tmp_path / "lock"), 0.25):
        assert len(tries) == 3


def test_a_lock_that_stays_held_isnt_waited_for_without_end(tmp_path: Path) -> None:
    """The time is up after the seconds given."""
    path = tmp_path / "lock"
    with FileLock(path), ThreadPoolExecutor(1) as another:
        waiting = another.submit(deadlines.acquire, FileLock(path), 0.1)
        assert isinstance(waiting.exception(10), Timeout)
