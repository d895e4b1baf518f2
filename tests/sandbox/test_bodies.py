"""What is left of a request's body when its answer is ready."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import pytest
from starlette.types import Message

from reelbook.sandbox import bodies
from reelbook.sandbox.bodies import Body

pytestmark = pytest.mark.anyio


def coming(*messages: Message) -> tuple[Body, list[Message]]:
    """A body that arrives in these messages and then stays silent; and those not received yet."""
    left = list(messages)

    async def receive() -> Message:
        if not left:
            await asyncio.Event().wait()
        return left.pop(0)

    return Body(receive), left


def pieces(*data: bytes) -> Iterable[Message]:
    last = len(data) - 1
    return ({"type": "http.request", "body": each, "more_body": at < last} for at, each in enumerate(data))


async def test_what_the_application_left_is_read_to_the_end() -> None:
    """And no further: the next message is that the client is gone."""
    body, left = coming(*pieces(b"one", b"two", b"three"), {"type": "http.disconnect"})
    assert (await body.receive())["body"] == b"one"
    await body.drain()
    assert [message["type"] for message in left] == ["http.disconnect"]
    await body.drain()
    assert len(left) == 1


async def test_an_endless_body_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """By its bytes, or by the time."""
    monkeypatch.setattr(bodies, "MOST_DRAINED_BYTES", 5)
    body, left = coming(*pieces(b"one", b"two", b"three", b"four"))
    await body.drain()
    assert len(left) == 2
    monkeypatch.setattr(bodies, "DRAIN_SECONDS", 0.01)
    silent, _ = coming()
    await asyncio.wait_for(silent.drain(), 5)


async def test_a_client_is_gone_or_still_there() -> None:
    """It is waited for as long as asked."""
    gone, _ = coming(*pieces(b"rest"), {"type": "http.disconnect"})
    assert await gone.gone_within(5)
    there, _ = coming(*pieces(b"rest"))
    assert not await there.gone_within(0.01)
