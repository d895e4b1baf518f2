"""What the service answers, however it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from sandbox.doubles import NOON, InstantExecutor
from starlette.requests import Request

from reelbook.sandbox import answers
from reelbook.sandbox.clock import Clock
from reelbook.sandbox.payloads import Refused, Wanted
from reelbook.sandbox.service import Service

FOX = Wanted("text-to-video", "a fox", 5, "16:9", 7)
HERE = "http://here:1"


def using(home: Path, use: Callable[[Service], Awaitable[None]], **settings: Any) -> None:
    async def main() -> None:
        service = Service(home, make_executor=InstantExecutor, clock=Clock(NOON), pace=10, **settings)
        await service.start()
        try:
            await use(service)
        finally:
            await service.close()

    asyncio.run(main())


def test_a_job_is_answered_from_its_acceptance_to_its_clip(tmp_path: Path) -> None:
    """The clip lies below the address that the client reached."""

    async def use(service: Service) -> None:
        accepted = await answers.submitted(service, FOX)
        request_id = accepted["request_id"]
        assert accepted == {
            "request_id": request_id,
            "status": "pending",
            "estimated_cost_usd": 0.25,
            "estimated_duration_seconds": 5,
        }
        assert (await answers.status(service, request_id, HERE))["status"] == "pending"
        service.clock.advance(10)
        while (done := await answers.status(service, request_id, HERE))["status"] != "completed":  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        assert done["cost_usd"] == 0.25
        assert done["video_url"].startswith(f"{HERE}/videos/")
        video = done["video_url"].rpartition("/")[2]
        service.faults.expire(video, 410)
        assert (await answers.status(service, request_id, HERE))["video_url"].endswith("?link=1")
        assert await answers.balance(service) == {"balance_usd": 24.75, "total_spent_usd": 0.25}
        assert (await answers.usage(service, 7))["total_cost_usd"] == 0.25

    using(tmp_path, use)


def test_what_cant_be_paid_or_found_is_refused(tmp_path: Path) -> None:
    """With both amounts; never with less than nothing."""

    async def use(service: Service) -> None:
        with pytest.raises(Refused, match=r"Current balance: \$0\.10, required: \$0\.25") as caught:
            await answers.submitted(service, FOX)
        assert caught.value.status == 402
        with pytest.raises(Refused) as missing:
            await answers.status(service, "req_none", HERE)
        assert missing.value.status == 404

    using(tmp_path, use, balance_usd=0.1)


def test_the_address_is_the_one_that_the_client_used() -> None:
    """By name, number or another port: it works for that client."""
    scope = {
        "type": "http",
        "scheme": "https",
        "path": "/",
        "headers": [(b"host", b"room:8000")],
        "server": ("127.0.0.1", 1),
        "query_string": b"",
    }
    assert answers.reached_at(Request(scope)) == "https://room:8000"
