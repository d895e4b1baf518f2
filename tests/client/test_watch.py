"""Batches watched through one gate on a virtual clock, against a service that enforces its limit."""

import asyncio
import random
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import Self

import pytest
from benchmarks.polling_bound import time_to_all
from benchmarks.simulated_service import SimulatedService, World, draw
from support import virtual_time

from reelbook import errors, models
from reelbook.client.responses import Reply
from reelbook.client.scheduling.budget import Budget, Purpose
from reelbook.client.scheduling.estimates import Belief, Pace
from reelbook.client.scheduling.scheduler import Scheduler, SharedRequests
from reelbook.client.watch import watch
from reelbook.errors import Answer

LATENCY_SECONDS = 0.2
LOGNORMAL = "lognormal(60 s, 0.35)"


def now() -> float:
    return asyncio.get_running_loop().time()


async def answers() -> bool:
    """The service answers other questions."""
    return True


class Client:
    """Submits and watches on a simulated service, whose answers take a moment each way."""

    def __init__(self, service: SimulatedService, shared: SharedRequests | None = None) -> None:
        self.service = service
        self.gate = Scheduler(Budget(), shared)
        self.pace = Pace()
        self.asked: list[int] = []

    async def submit(self) -> int:
        async with self.gate.turn(Purpose.SUBMIT) as turn:
            await asyncio.sleep(LATENCY_SECONDS / 2)
            status, headers = self.service.submit(now())
            number = len(self.service.submitted_at) - 1
            await asyncio.sleep(LATENCY_SECONDS / 2)
            turn.answered(Reply(status, headers, b""))
        assert status == 200
        return number

    async def ask(self, job: int, belief: Belief) -> models.JobStatus:
        async with self.gate.turn(Purpose.POLL, belief) as turn:
            self.asked.append(job)
            await asyncio.sleep(LATENCY_SECONDS / 2)
            status, headers, ended, progress = self.service.ask(job, now())
            await asyncio.sleep(LATENCY_SECONDS / 2)
            turn.answered(Reply(status, headers, b""))
        if status == 429:
            raise errors.RateLimited("used up", answer=Answer(429))
        about = {"request_id": str(job), "progress": progress}
        return models.job_status({**about, "status": "completed" if ended else "processing"})

    async def watch(self, job: int) -> None:
        belief = Belief(self.pace, now())
        async for _ in watch(self.gate, belief, partial(self.ask, job, belief), answers):
            pass

    async def one(self) -> float:
        await self.watch(await self.submit())
        return now()

    async def batch(self, jobs: int) -> list[float]:
        return await asyncio.gather(*(self.one() for _ in range(jobs)))


class Shared:
    """The requests that a gate shares with the `others`, kept in memory."""

    def __init__(self, others: Self | None = None) -> None:
        self._at: dict[int, tuple[Shared, float]] = {} if others is None else others._at
        self._told: list[int | None] = [None] if others is None else others._told

    def enter(self, now: float, fits: Callable[[Sequence[float], int | None], bool]) -> int | None:
        others = [at for gate, at in self._at.values() if gate is not self and at > now - 60]
        if not fits(others, self._told[0]):
            return None
        self._at[len(self._at)] = self, now
        return len(self._at) - 1

    def answered(self, place: int, limit: int | None) -> None:
        self._at[place] = self, now()
        self._told[0] = limit

    def give_back(self, place: int) -> None:
        del self._at[place]


@pytest.mark.parametrize("fixed", [False, True], ids=["sliding", "fixed"])
@pytest.mark.parametrize(("jobs", "most"), [(1, 1.15), (4, 1.2), (12, 1.35), (20, 1.4)])
def test_a_batch_comes_home_without_a_refusal(jobs: int, most: float, fixed: bool) -> None:
    """Though answers take a moment, all are known near the time of somebody who knows the future."""
    ratios = []
    for seed in range(6):
        world = draw(random.Random(seed), LOGNORMAL, jobs, 10, fixed=fixed, progress=False)

        async def scene(world: World = world) -> tuple[SimulatedService, float]:
            began = now()
            phase = None if world.phase is None else began + world.phase
            service = SimulatedService(replace(world, phase=phase))
            return service, max(await Client(service, Shared()).batch(jobs)) - began

        service, took = virtual_time.run(scene())
        assert service.refused == 0
        ratios.append(took / time_to_all(world))
    assert min(ratios) >= 1
    assert fmean(ratios) <= most


def test_two_programs_that_share_a_key_keep_to_its_limit() -> None:
    """Neither is refused, and both bring home all of theirs."""
    service = SimulatedService(World(10, [60.0 + job for job in range(12)]))

    async def scene() -> list[list[float]]:
        shared = Shared()
        clients = Client(service, shared), Client(service, Shared(shared))
        return await asyncio.gather(*(client.batch(6) for client in clients))

    home = virtual_time.run(scene())
    assert [len(batch) for batch in home] == [6, 6]
    assert service.refused == 0


def test_a_limit_that_one_program_was_told_holds_for_the_other() -> None:
    """A second program doesn't wait for places of a key whose limit is larger than the usual one."""
    service = SimulatedService(World(100, [60.0] * 30))

    async def scene() -> float:
        shared = Shared()
        first, second = Client(service, shared), Client(service, Shared(shared))
        for _ in range(12):
            await first.submit()
        before = now()
        await second.submit()
        return now() - before

    assert virtual_time.run(scene()) < 1


def test_a_click_finds_room_while_few_jobs_are_watched() -> None:
    """With four jobs under way a person's request goes out at once, at any moment."""
    service = SimulatedService(World(10, [90.0] * 4))

    async def scene() -> float:
        client = Client(service)
        jobs = asyncio.create_task(client.batch(4))
        longest = 0.0
        while not jobs.done():
            await asyncio.sleep(20)
            before = now()
            async with client.gate.turn(Purpose.CLICK) as turn:
                longest = max(longest, now() - before)
                turn.answered(Reply(*service.ask(0, now())[:2], b""))
        return longest

    assert virtual_time.run(scene()) < 1
    assert service.refused == 0


def test_what_is_unimportant_is_not_forgotten() -> None:
    """Beside fifty jobs that need every request, the balance is asked for within two minutes."""
    service = SimulatedService(World(10, [600.0] * 50))

    async def scene() -> float:
        client = Client(service)
        jobs = asyncio.create_task(client.batch(50))
        await asyncio.sleep(90)
        before = now()
        async with client.gate.turn(Purpose.BACKGROUND) as turn:
            waited = now() - before
            turn.answered(Reply(*service.ask(0, now())[:2], b""))
        jobs.cancel()
        return waited

    assert virtual_time.run(scene()) < 121


def test_a_watch_that_is_left_asks_no_more() -> None:
    """Leaving the loop over a watch's observations ends its questions; the other job's go on."""
    service = SimulatedService(World(10, [40.0, 40.0]))

    async def scene() -> list[int]:
        client = Client(service)
        first, second = await client.submit(), await client.submit()
        belief = Belief(client.pace, now())
        watching = watch(client.gate, belief, partial(client.ask, first, belief), answers)
        async with aclosing(watching) as observations:
            async for _ in observations:
                break
        before = len(client.asked)
        await client.watch(second)
        return client.asked[before:]

    asked_later = virtual_time.run(scene())
    assert set(asked_later) == {1}


class Refusing:
    """A job's questions at a gate of their own; `said` gives the answer to each, by the time it was asked."""

    def __init__(
        self, said: Callable[[float], models.JobStatus | Exception], *, answers: bool = True
    ) -> None:
        self.asked: list[float] = []
        self._said = said
        self._answers = answers

    async def watch(self, **options: float) -> list[models.JobStatus]:
        """Watches the job, and returns the statuses that were told."""
        began, gate = now(), Scheduler()
        belief, told = Belief(Pace(), began), []

        async def ask() -> models.JobStatus:
            async with gate.turn(Purpose.POLL, belief) as turn:
                self.asked.append(now() - began)
                turn.answered(Reply(200, {}, b""))
            said = self._said(self.asked[-1])
            if isinstance(said, Exception):
                raise said
            return said

        async def answers() -> bool:
            return self._answers

        async for seen in watch(gate, belief, ask, answers, **options):
            told += [seen.status] if seen.status else []
        return told


GONE = errors.NotFound("unknown", answer=Answer(404))
DONE = models.job_status({"request_id": "r", "status": "completed"})
PROCESSING = models.job_status({"request_id": "r", "status": "processing"})


def test_after_faults_the_questions_become_rare_and_go_on() -> None:
    """A service that fails for ten minutes is asked ever more rarely, and the clip still comes home."""
    broken = errors.ServerError("broken", answer=Answer(500))
    service = Refusing(lambda at: broken if at < 600 else DONE)
    virtual_time.run(service.watch())
    assert 600 < service.asked[-1] < 661
    assert len(service.asked) < 20


@pytest.mark.parametrize(
    "refusal",
    [GONE, errors.PermissionRefused("no", answer=Answer(403)), errors.BadRequest("no", answer=Answer(400))],
    ids=["404", "403", "400"],
)
@pytest.mark.parametrize("until", [45.0, 540.0], ids=["one or two answers", "a deploy"])
def test_refusals_that_pass_do_not_end_a_watch(refusal: errors.ServiceError, until: float) -> None:
    """A job that a proxy or a new release doesn't know for a while comes home all the same."""
    service = Refusing(lambda at: refusal if 33 <= at < until else DONE if at >= until else PROCESSING)
    assert virtual_time.run(service.watch())[-1] == DONE
    assert len(service.asked) < 25


def test_a_job_that_the_service_says_again_and_again_not_to_know_is_given_up() -> None:
    """After ten minutes of it, and a dozen questions that became rare."""
    service = Refusing(lambda _: GONE)
    with pytest.raises(errors.NotFound):
        virtual_time.run(service.watch())
    assert 600 <= service.asked[-1] - service.asked[0] < 661
    assert len(service.asked) < 16


def test_without_patience_a_few_answers_are_asked_for_all_the_same() -> None:
    """One stray refusal says nothing; five within a minute are believed."""
    service = Refusing(lambda _: GONE)
    with pytest.raises(errors.NotFound):
        virtual_time.run(service.watch(patience_seconds=0.0))
    assert len(service.asked) == 5
    assert service.asked[-1] - service.asked[0] < 70


def test_a_service_that_knows_nothing_at_all_is_asked_on_and_on() -> None:
    """Then it is the address or a proxy that is wrong, and not the job."""
    service = Refusing(lambda at: GONE if at < 3600 else DONE, answers=False)
    assert virtual_time.run(service.watch()) == [DONE]
    assert len(service.asked) < 80


def test_each_status_in_between_renews_the_patience() -> None:
    """Refusals on and off for hours don't add up."""
    service = Refusing(lambda at: DONE if at > 7200 else GONE if int(at / 300) % 2 else PROCESSING)
    assert virtual_time.run(service.watch())[-1] == DONE
