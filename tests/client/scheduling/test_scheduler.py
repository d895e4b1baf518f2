"""Requests let through as the budget allows, on a virtual clock."""

import asyncio

import pytest
from support import virtual_time

from reelbook.client.responses import Reply
from reelbook.client.scheduling.budget import Budget, Purpose
from reelbook.client.scheduling.estimates import Belief, Pace
from reelbook.client.scheduling.scheduler import Scheduler
from reelbook.errors import ServiceUnreachable

OK = Reply(200, {}, b"{}")


async def one(gate: Scheduler, purpose: Purpose = Purpose.CLICK) -> float:
    """When a request that is answered at once had its turn."""
    async with gate.turn(purpose) as turn:
        turn.answered(OK)
        return asyncio.get_running_loop().time()


def test_the_important_go_first_when_the_budget_is_used_up() -> None:
    """A person's click overtakes a submission that waited longer."""

    async def scene() -> tuple[float, float]:
        gate = Scheduler(Budget(limit=1))
        await one(gate)
        return await asyncio.gather(one(gate, Purpose.SUBMIT), one(gate, Purpose.CLICK))

    submitted, clicked = virtual_time.run(scene())
    assert clicked < submitted


def test_few_submissions_are_out_without_an_answer() -> None:
    """A kill leaves those uncertain: three at a time, and one more with each answer. Questions still go."""

    async def scene() -> tuple[int, int]:
        gate, answered = Scheduler(Budget()), asyncio.Event()
        out, most = 0, 0

        async def submit() -> None:
            nonlocal out, most
            async with gate.turn(Purpose.SUBMIT) as turn:
                out += 1
                most = max(most, out)
                await answered.wait()
                out -= 1
                turn.answered(OK)

        submissions = [asyncio.create_task(submit()) for _ in range(7)]
        await asyncio.sleep(1)
        before = out
        await one(gate)
        answered.set()
        await asyncio.gather(*submissions)
        return before, most

    assert virtual_time.run(scene()) == (3, 3)


def test_cancelling_a_waiter_costs_nothing() -> None:
    """Who gives up leaves the place to the next."""

    async def scene() -> float:
        gate = Scheduler(Budget(limit=1))
        first = await one(gate)
        waiter = asyncio.create_task(one(gate, Purpose.BACKGROUND))
        await asyncio.sleep(1)
        waiter.cancel()
        return await one(gate, Purpose.BACKGROUND) - first

    assert virtual_time.run(scene()) == pytest.approx(60, abs=2)


def test_cancelling_in_the_moment_of_admission_gives_the_place_back() -> None:
    """A place that was given and never used isn't lost."""

    async def scene() -> int:
        loop = asyncio.get_running_loop()
        gate = Scheduler(Budget(limit=1))
        await one(gate)
        waiter = asyncio.create_task(one(gate, Purpose.BACKGROUND))
        await asyncio.sleep(0)
        # A timer of the same moment as the gate's, later in the queue and before the waiter wakes.
        loop.call_at(gate.budget.opens_at(loop.time()), waiter.cancel)
        await asyncio.gather(waiter, return_exceptions=True)
        assert waiter.cancelled()
        return gate.budget.view(loop.time()).left

    assert virtual_time.run(scene()) == 1


def test_a_watch_that_ends_as_its_question_falls_due_takes_no_place() -> None:
    """The gate doesn't stumble over it, and the whole budget is there for the others."""

    async def ask(gate: Scheduler, belief: Belief) -> None:
        async with gate.turn(Purpose.POLL, belief):
            pass

    async def scene() -> tuple[int, list[dict[str, object]]]:
        loop, broken = asyncio.get_running_loop(), list[dict[str, object]]()
        loop.set_exception_handler(lambda _, context: broken.append(context))
        gate = Scheduler(Budget(limit=1))
        await one(gate)
        belief = Belief(Pace(), loop.time() - 3600)
        with gate.watched(belief):
            watch = asyncio.create_task(ask(gate, belief))
            await asyncio.sleep(1)
            gate.change_budget(Budget(limit=10))
            watch.cancel()
            await asyncio.wait([watch])
        return gate.budget.view(loop.time()).left, broken

    assert virtual_time.run(scene()) == (10, [])


def test_an_unreachable_service_costs_no_request() -> None:
    """What never arrived isn't counted."""

    async def scene() -> int:
        gate = Scheduler(Budget(limit=1))
        with pytest.raises(ServiceUnreachable):
            async with gate.turn(Purpose.CLICK):
                raise ServiceUnreachable("refused")
        return gate.budget.view(0).left

    assert virtual_time.run(scene()) == 1


def test_the_answers_of_the_former_key_count_in_its_own_budget() -> None:
    """Its headers say nothing about the new key, whose budget stays whole."""

    async def scene() -> tuple[int, int]:
        gate = Scheduler(Budget(limit=10))
        async with gate.turn(Purpose.CLICK) as turn:
            gate.change_budget(Budget(limit=50))
            turn.answered(Reply(200, {"x-ratelimit-limit": "10", "x-ratelimit-remaining": "0"}, b"{}"))
        await asyncio.sleep(0)
        view = gate.budget.view(asyncio.get_running_loop().time())
        return view.limit, view.left

    assert virtual_time.run(scene()) == (50, 50)


def test_who_waits_for_the_former_key_goes_on_with_the_new_one() -> None:
    """A used-up budget holds nobody back once there is another."""

    async def scene() -> tuple[float, int]:
        gate = Scheduler(Budget(limit=1))
        await one(gate)
        waiting = asyncio.create_task(one(gate, Purpose.SUBMIT))
        await asyncio.sleep(5)
        gate.change_budget(Budget(limit=10))
        began = asyncio.get_running_loop().time()
        return await waiting - began, gate.budget.view(began).left

    assert virtual_time.run(scene()) == (0, 9)


def test_a_request_let_through_in_the_moment_of_the_change_counts_for_the_new_key() -> None:
    """It carries the new key, so neither budget loses count."""

    async def scene() -> tuple[int, int]:
        gate = Scheduler(before := Budget(limit=10))
        task = asyncio.create_task(one(gate))
        while before.view(0).left == 10:  # noqa: ASYNC110 - one step of the loop at a time
            await asyncio.sleep(0)
        gate.change_budget(Budget(limit=50))
        await task
        now = asyncio.get_running_loop().time()
        return before.view(now).left, gate.budget.view(now).left

    assert virtual_time.run(scene()) == (10, 49)
