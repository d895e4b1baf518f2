"""What carries the requests to a tool server, and what is noted of them on their way."""

import asyncio
import logging
from typing import Any

import pytest
from support.raw_server import Exchange, Handler, raw_server
from support.tool_servers import USER

from reelbook.agent_tools.connection import MAX_REFUSAL_BYTES, Carrier, current_note
from reelbook.agent_tools.failures import Note
from reelbook.secret import Secret

pytestmark = pytest.mark.anyio


CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}


async def asked(url: str, target: str | None = None, body: Any = CALL, **headers: str) -> tuple[Any, Note]:
    """The answer to a POST of the package's, and what was noted on its way."""
    note = Note()
    current_note.set(note)
    async with Carrier(url, Secret(USER)) as carrier:
        async with carrier.stream("POST", target or url, json=body, headers=headers) as response:
            await response.aread()
    return response, note


def answering(status: int, body: bytes, kind: str = "application/json", **headers: str) -> Handler:
    return lambda exchange: exchange.answer(status, body, {"content-type": kind, **headers})


async def test_the_user_id_goes_to_the_servers_own_origin_only() -> None:
    """Another one gets the request without it, even where it was put there."""
    with raw_server(answering(200, b"{}")) as own, raw_server(answering(200, b"{}")) as other:
        await asked(own.url)
        await asked(own.url, other.url, **{"X-User-ID": USER})
    assert [own.seen[0].header("x-user-id"), other.seen[0].header("x-user-id")] == [USER, None]
    assert own.seen[0].header("accept-encoding") == "identity"


@pytest.mark.parametrize(
    ("status", "body", "said", "gone"),
    [
        (403, b'{"error": {"message": "not you"}}', "not you", False),
        (402, b'{"detail": "too little"}', "too little", False),
        (400, b"Bad request: no valid session id", "Bad request: no valid session id", True),
        (404, b"<html>not found</html>", "", True),
        (500, b'{"odd": 1}', "", False),
    ],
)
async def test_a_refusals_own_words_are_noted(status: int, body: bytes, said: str, gone: bool) -> None:
    """And whether it was refused because its session is gone, so that it can't have been carried out."""
    with raw_server(answering(status, body)) as server:
        _, note = await asked(server.url, **{"Mcp-Session-Id": "s1"})
    assert (note.status, note.said, note.session_gone) == (status, said, gone)


async def test_an_endless_refusal_is_cut_off() -> None:
    """What is read of it is enough to quote."""
    with raw_server(answering(500, b"x" * (10 * MAX_REFUSAL_BYTES))) as server:
        _, note = await asked(server.url)
    assert MAX_REFUSAL_BYTES < len(note.said) < 5 * MAX_REFUSAL_BYTES


async def test_a_notification_waits_for_no_answer_and_notes_nothing() -> None:
    """Whether it arrives is not worth the connection; a stream for unasked news isn't opened at all."""
    notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    with raw_server(Exchange.reset) as server:
        response, note = await asked(server.url, body=notification)
        async with Carrier(server.url, Secret(USER)) as carrier:
            assert (await carrier.get(server.url)).status_code == 405
            assert (await carrier.delete(server.url)).status_code == 202
    assert (response.status_code, note) == (202, Note())
    assert [exchange.first_line.split()[0] for exchange in server.seen] == ["POST", "DELETE"]


def test_notes_are_each_tasks_own() -> None:
    """And the package logs nothing while one is kept: an answer may quote the user id."""
    log = logging.getLogger("mcp.client.streamable_http")
    record = log.makeRecord(log.name, logging.ERROR, "", 0, USER, (), None)
    assert log.filter(record)
    first, second = Note(), Note()

    async def within(note: Note) -> bool:
        current_note.set(note)
        await asyncio.sleep(0)
        return current_note.get() is note and not log.filter(record)

    async def main() -> list[bool]:
        return [*await asyncio.gather(within(first), within(second))]

    assert asyncio.run(main()) == [True, True]
    assert current_note.get() is None
