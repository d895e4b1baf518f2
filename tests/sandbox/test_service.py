"""The sandbox's state, put together: without a socket, on the test's own loop."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sandbox.doubles import NOON, InstantExecutor
from support.waiting import until

from reelbook.sandbox import service as module
from reelbook.sandbox.clock import Clock
from reelbook.sandbox.service import SandboxService
from reelbook.web.payloads import wanted_from_text

FOX = wanted_from_text({"prompt": "a fox", "seed": 7})
Use = Callable[[SandboxService], Awaitable[Any]]


def using(home: Path, use: Use, **settings: Any) -> Any:
    """What `use` does with a service, from its start to its end."""

    async def main() -> Any:
        service = SandboxService(home, **{"make_executor": InstantExecutor, "clock": Clock(NOON), **settings})
        await service.start()
        try:
            return await use(service)
        finally:
            await service.close()

    return asyncio.run(main())


def test_a_revoked_notebook_key_is_replaced_at_the_next_start(tmp_path: Path) -> None:
    """Without one no session could come in; meanwhile it lets nobody in."""

    async def use(service: SandboxService) -> str:
        key = service.access.api_key.reveal()
        found = service.accounts.authenticate(key)
        assert found is not None
        assert found.rate_limit == 7
        service.accounts.revoke(found.key_id)
        assert service.accounts.authenticate(key) is None
        return key

    assert using(tmp_path, use, rate_limit=7) != using(tmp_path, use, rate_limit=7)


def test_whoever_is_gone_in_the_middle_of_a_move_leaves_it_whole(tmp_path: Path) -> None:
    """A request that is cancelled while the disk is busy neither strands a job nor has it charged twice."""

    async def cancelled(service: SandboxService, work: Awaitable[Any]) -> None:
        with service.store.transaction():  # nothing else can be written meanwhile
            asking = asyncio.ensure_future(work)
            for _ in range(10):
                await asyncio.sleep(0)
            asking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asking

    async def use(service: SandboxService) -> Any:
        await cancelled(service, service.accept(FOX))
        await asyncio.to_thread(
            until, lambda: any(row["video"] for row in service.store.read("SELECT video FROM jobs"))
        )
        service.clock.advance(10)
        await cancelled(service, service.balance())
        return await service.balance()

    assert using(tmp_path, use, pace=10) == {"balance_usd": 24.75, "total_spent_usd": 0.25}


def test_it_ends_by_itself_when_nobody_uses_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any job under way keeps it, and so does any use for a while."""
    now = [0.0]
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(module, "TICK_SECONDS", 0.001)

    async def use(service: SandboxService) -> None:
        ended = asyncio.Event()
        service.end = ended.set
        await service.accept(FOX)
        now[0] = 61.0
        await asyncio.to_thread(until, lambda: service.idle_seconds == 0)
        service.clock.advance(10)
        await asyncio.to_thread(until, lambda: service.jobs.under_way == 0)
        now[0] = 120.0
        service.note_use()
        now[0] = 180.0
        await asyncio.to_thread(service.accounts.save_uses)
        assert not ended.is_set()
        now[0] = 181.0
        await asyncio.wait_for(ended.wait(), 60)

    using(tmp_path, use, pace=10, idle_minutes=1)
