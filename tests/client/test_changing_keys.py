"""A client whose key is changed while requests are under way."""

from __future__ import annotations

import asyncio
import threading

import pytest
from support import virtual_time
from support.live import client_of
from support.raw_server import Exchange

from reelbook.client.responses import Reply
from reelbook.client.scheduling.budget import Budget, Purpose
from reelbook.client.scheduling.scheduler import Scheduler
from reelbook.errors import BadRequest

pytestmark = pytest.mark.anyio

OLD, NEW = "sk-planted-old", "sk-planted-new"
BALANCE = b'{"balance_usd": 1.0, "total_spent_usd": 0.0}'


async def test_what_is_under_way_finishes_and_the_next_carries_the_new_key() -> None:
    """The former key is done with when its last answer is there, and not before."""
    arrived, go_on = threading.Event(), threading.Event()

    def answer(exchange: Exchange) -> None:
        arrived.set()
        go_on.wait(60)
        exchange.answer(200, BALANCE)

    async with client_of(answer, key=OLD) as (client, service):
        slow = asyncio.create_task(client.balance())
        await asyncio.to_thread(arrived.wait, 10)
        client.use_key(NEW)
        done = asyncio.create_task(client.former_keys_done())
        await asyncio.sleep(0)
        assert not done.done()
        go_on.set()
        assert (await slow).balance_usd == 1.0
        await done
        await client.balance()
    keys = [exchange.header("authorization") for exchange in service.seen]
    assert keys == [f"Bearer {OLD}", f"Bearer {NEW}"]


async def test_no_key_of_the_client_gets_into_an_error() -> None:
    """A service that echoes the former key doesn't put it into an extract either."""
    echo = f'{{"detail": "{OLD} and {NEW}"}}'.encode()
    async with client_of(lambda exchange: exchange.answer(400, echo), key=OLD) as (client, _):
        client.use_key(NEW)
        with pytest.raises(BadRequest) as refused:
            await client.balance()
    assert "sk-planted" not in repr(refused.value) + repr(vars(refused.value))


async def asked(gate: Scheduler, purpose: Purpose = Purpose.CLICK) -> float:
    """When a request that is answered at once had its turn."""
    async with gate.turn(purpose) as turn:
        turn.answered(Reply(200, {}, b"{}"))
        return asyncio.get_running_loop().time()


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
        await asked(gate)
        waiting = asyncio.create_task(asked(gate, Purpose.SUBMIT))
        await asyncio.sleep(5)
        gate.change_budget(Budget(limit=10))
        began = asyncio.get_running_loop().time()
        return await waiting - began, gate.budget.view(began).left

    assert virtual_time.run(scene()) == (0, 9)


def test_a_request_let_through_in_the_moment_of_the_change_counts_for_the_new_key() -> None:
    """It carries the new key, so neither budget loses count."""

    async def scene() -> tuple[int, int]:
        gate = Scheduler(before := Budget(limit=10))
        task = asyncio.create_task(asked(gate))
        while before.view(0).left == 10:  # noqa: ASYNC110 - one step of the loop at a time
            await asyncio.sleep(0)
        gate.change_budget(Budget(limit=50))
        await task
        now = asyncio.get_running_loop().time()
        return before.view(now).left, gate.budget.view(now).left

    assert virtual_time.run(scene()) == (10, 49)
