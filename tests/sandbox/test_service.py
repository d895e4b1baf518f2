"""The sandbox's state, put together: without a socket, on the test's own loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sandbox.doubles import NOON, InstantExecutor

from reelbook.sandbox import service as module
from reelbook.sandbox.accounts import BalanceTooLow
from reelbook.sandbox.clock import Clock
from reelbook.sandbox.jobs import Job
from reelbook.sandbox.payloads import Wanted
from reelbook.sandbox.service import Service

FOX = Wanted("text-to-video", "a fox", 5, "16:9", 7)
Use = Callable[[Service], Awaitable[Any]]


def using(home: Path, use: Use, **settings: Any) -> Any:
    """What `use` does with a service, from its start to its end."""

    async def main() -> Any:
        service = Service(home, **{"make_executor": InstantExecutor, "clock": Clock(NOON), **settings})
        await service.start()
        try:
            return await use(service)
        finally:
            await service.close()

    return asyncio.run(main())


def test_a_job_is_accepted_as_it_was_asked_for(tmp_path: Path) -> None:
    """Under an id of its own, with a seed drawn where any will do."""

    async def use(service: Service) -> None:
        job = await service.submit(FOX)
        other = await service.submit(replace(FOX, seed=-1))
        assert (job.prompt, job.duration_seconds, job.aspect_ratio, job.seed) == ("a fox", 5, "16:9", 7)
        assert (job.state, job.accepted_at, job.planned_seconds) == ("pending", NOON, 10)
        assert job.request_id != other.request_id
        assert 0 <= other.seed < module.RANDOM_SEEDS

    using(tmp_path, use, pace=10)


def test_the_next_job_alone_fails_as_it_was_told_to(tmp_path: Path) -> None:
    """One that couldn't be paid doesn't count."""

    async def use(service: Service) -> None:
        service.settings = replace(service.settings, fail_next="no")
        with pytest.raises(BalanceTooLow):
            await service.submit(FOX)
        service.accounts.set_balance(5)
        jobs = [await service.submit(FOX) for _ in range(2)]
        assert [job.failure for job in jobs] == ["no", None]

    using(tmp_path, use, balance_usd=0.1)


def test_only_an_active_key_lets_in(tmp_path: Path) -> None:
    """By the scheme that the interface names; a revoked notebook key is replaced at the next start."""

    async def use(service: Service) -> str:
        key = service.access.api_key.reveal()
        found = service.key_of(f"bearer {key}")
        assert found is not None
        assert found.rate_limit == 7
        assert [service.key_of(text) for text in ("", key, f"Basic {key}", "Bearer sk-no")] == [None] * 4
        service.accounts.revoke(found.key_id)
        assert service.key_of(f"Bearer {key}") is None
        return key

    first, second = using(tmp_path, use, rate_limit=7), using(tmp_path, use, rate_limit=7)
    assert first != second


def test_jobs_go_on_after_a_restart(tmp_path: Path) -> None:
    """With the balance as it was left."""

    async def begin(service: Service) -> Job:
        return await service.submit(FOX)

    async def go_on(service: Service) -> tuple[str, float]:
        service.clock.advance(10)
        while (found := await service.jobs.find(job.request_id)) is None or found.under_way:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        return found.state, service.accounts.balance()["balance_usd"]

    job = using(tmp_path, begin, pace=10, balance_usd=5)
    assert using(tmp_path, go_on, pace=10) == ("completed", 4.75)


def test_it_ends_by_itself_when_nobody_uses_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any use, and any job under way, keeps it."""
    monkeypatch.setattr(module, "TICK_SECONDS", 0.01)

    async def use(service: Service) -> None:
        ended = asyncio.Event()
        service.end = ended.set
        job = await service.submit(FOX)
        await asyncio.sleep(0.1)
        assert not ended.is_set()
        service.clock.advance(10)
        await asyncio.wait_for(ended.wait(), 10)
        assert (idle := service.idle_seconds) > 0.03
        service.note_use()
        assert service.idle_seconds < idle
        assert (await service.jobs.find(job.request_id) or job).state == "completed"

    using(tmp_path, use, pace=10, idle_minutes=0.03 / 60)
