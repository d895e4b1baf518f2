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
from reelbook.sandbox.clock import Clock
from reelbook.sandbox.payloads import Refused, wanted_from_text
from reelbook.sandbox.service import SandboxService

FOX = wanted_from_text({"prompt": "a fox", "seed": 7})
HERE = "http://here:1"
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


async def ended(service: SandboxService, request_id: str) -> Any:
    """The status of a job when it has come to its end."""
    while (body := await service.status(request_id, HERE))["status"] in ("pending", "processing"):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    return body


def test_a_job_is_answered_from_its_acceptance_to_its_clip(tmp_path: Path) -> None:
    """Kept as it was asked for; the clip lies below the address that the client reached."""

    async def use(service: SandboxService) -> None:
        accepted = await service.accept(FOX)
        request_id = accepted["request_id"]
        assert accepted == {
            "request_id": request_id,
            "status": "pending",
            "estimated_cost_usd": 0.25,
            "estimated_duration_seconds": 5,
        }
        job = await service.jobs.find(request_id)
        assert job is not None
        assert (job.request, job.accepted_at, job.planned_seconds) == (FOX.request, NOON, 10)
        assert (await service.status(request_id, HERE))["status"] == "pending"
        service.clock.advance(10)
        done = await ended(service, request_id)
        assert done["cost_usd"] == 0.25
        assert done["video_url"].startswith(f"{HERE}/videos/")
        service.expire(done["video_url"].rpartition("/")[2], 410)
        assert (await service.status(request_id, HERE))["video_url"].endswith("?link=1")
        assert await service.balance() == {"balance_usd": 24.75, "total_spent_usd": 0.25}
        assert (await service.usage(7))["total_cost_usd"] == 0.25

    using(tmp_path, use, pace=10)


def test_a_seed_is_drawn_where_any_will_do(tmp_path: Path) -> None:
    """Another one for each job, which is drawn with it again after a restart."""

    async def use(service: SandboxService) -> set[int]:
        any_seed = wanted_from_text({"prompt": "a fox"})
        jobs = [await service.jobs.find((await service.accept(any_seed))["request_id"]) for _ in range(2)]
        return {job.request["seed"] for job in jobs if job is not None}

    seeds = using(tmp_path, use, pace=10)
    assert len(seeds) == 2
    assert all(0 <= seed < module.RANDOM_SEEDS for seed in seeds)


def test_what_cant_be_paid_or_found_is_refused(tmp_path: Path) -> None:
    """With both amounts, and the failure that was planned waits for the next job; an unknown id is a 404."""

    async def use(service: SandboxService) -> None:
        service.settings = replace(service.settings, fail_next="no")
        with pytest.raises(Refused, match=r"Current balance: \$0\.10, required: \$0\.25") as caught:
            await service.accept(FOX)
        with pytest.raises(Refused, match="No such request_id") as missing:
            await service.status("req_none", HERE)
        assert (caught.value.status, missing.value.status) == (402, 404)
        service.accounts.set_balance(5)
        jobs = [await service.jobs.find((await service.accept(FOX))["request_id"]) for _ in range(2)]
        assert [job and job.failure for job in jobs] == ["no", None]

    using(tmp_path, use, pace=10, balance_usd=0.1)


def test_only_an_active_key_lets_in(tmp_path: Path) -> None:
    """By the scheme that the interface names; a revoked notebook key is replaced at the next start."""

    async def use(service: SandboxService) -> str:
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


def test_it_ends_by_itself_when_nobody_uses_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any use, and any job under way, keeps it."""
    monkeypatch.setattr(module, "TICK_SECONDS", 0.01)

    async def use(service: SandboxService) -> None:
        ended = asyncio.Event()
        service.end = ended.set
        request_id = (await service.accept(FOX))["request_id"]
        await asyncio.sleep(0.1)
        assert not ended.is_set()
        service.clock.advance(10)
        await asyncio.wait_for(ended.wait(), 10)
        assert (idle := service.idle_seconds) > 0.03
        service.note_use()
        assert service.idle_seconds < idle
        assert (await service.status(request_id, HERE))["status"] == "completed"

    using(tmp_path, use, pace=10, idle_minutes=0.03 / 60)
