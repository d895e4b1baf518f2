"""A call that is over in the very moment in which its connection opens or its request goes out."""

import asyncio
import math
import threading
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from support.live import client_of
from support.raw_server import Exchange

from reelbook import deadlines, errors
from reelbook.client import AsyncClient
from reelbook.client.transport import _Progress

pytestmark = pytest.mark.anyio


@pytest.fixture
async def _late(monkeypatch: pytest.MonkeyPatch) -> None:
    """When a request's head goes out, the minute that it has is over."""
    monkeypatch.setattr(deadlines, "LOOK_SECONDS", math.inf)
    monkeypatch.setattr(deadlines, "MAX_LATE_LOOKS", 0)
    heard, loop, late = _Progress.__call__, asyncio.get_running_loop(), 0
    clock = loop.time
    monkeypatch.setattr(loop, "time", lambda: clock() + late)

    async def sleeps(progress: _Progress, event: str, info: Mapping[str, Any]) -> None:
        nonlocal late
        await heard(progress, event, info)
        if event.endswith("send_request_headers.started"):
            late = 61

    monkeypatch.setattr(_Progress, "__call__", sleeps)


@pytest.mark.usefixtures("_late")
async def test_a_request_that_went_out_whole_may_have_been_accepted() -> None:
    """The service has all of it, though the caller's wait ended before it heard that it was sent."""
    arrived = threading.Event()
    async with client_of(lambda exchange: arrived.set()) as (client, service):
        with pytest.raises(errors.SubmissionUncertain):
            await client.text_to_video("a fox")
        assert arrived.wait(30)
    assert [exchange.body[:1] for exchange in service.seen] == [b"{"]


@pytest.mark.usefixtures("_late")
async def test_a_request_whose_end_was_never_sent_cant_have_been_accepted() -> None:
    """Of the image's parts only the first went out: nothing can have been bought."""
    noise = np.random.default_rng(1).integers(0, 256, (1000, 1000, 3), np.uint8)
    async with client_of(Exchange.hold) as (client, service):
        with pytest.raises(errors.SendInterrupted, match="can't have accepted"):
            await client.image_to_video(noise, "zoom in")
    assert service.seen == []


async def test_a_call_that_is_cancelled_as_it_connects_leaves_no_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It would stay open for as long as the service lets it, and be used by nobody."""
    heard, ended = _Progress.__call__, asyncio.Event()

    async def cancels(progress: _Progress, event: str, info: Mapping[str, Any]) -> None:
        await heard(progress, event, info)
        if event.endswith("connect_tcp.complete"):
            call.cancel()

    async def serves(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert await reader.read() == b""
        writer.close()
        ended.set()

    monkeypatch.setattr(_Progress, "__call__", cancels)
    server = await asyncio.start_server(serves, "127.0.0.1")
    url = "http://{}:{}".format(*server.sockets[0].getsockname())
    async with server, AsyncClient("sk-planted-cancelled", url) as client:
        call = asyncio.ensure_future(client.text_to_video("a fox"))
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.wait_for(ended.wait(), 30)
