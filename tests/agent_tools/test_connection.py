"""One session with a tool server, in a task of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from client.tool_doubles import USER, calls, official, result, scripted
from support.raw_server import Exchange

import reelbook
from reelbook.agent_tools.connection import ToolConnection
from reelbook.agent_tools.failures import Failed, Note
from reelbook.agent_tools.types import ToolProgress
from reelbook.secret import Secret

pytestmark = pytest.mark.anyio


async def joined(url: str, use: Callable[[ToolConnection], Awaitable[Any]]) -> Any:
    """What `use` does with a session, from joining to leaving."""
    connection = ToolConnection(url, Secret(USER), asyncio.create_task)
    try:
        await connection.ready
        return await use(connection)
    finally:
        connection.leave()
        await connection.task


@pytest.mark.parametrize("modern", [True, False])
async def test_both_generations_of_the_protocol_are_agreed_on(modern: bool) -> None:
    """The newer one is tried first; who the server is comes with it."""

    async def use(connection: ToolConnection) -> Any:
        return connection.info(), await connection.tools()

    with official(modern=modern) as running:
        info, tools = await joined(running.url, use)
    assert (info.name, info.protocol) == ("official", "2026-07-28" if modern else "2025-11-25")
    assert [tool["name"] for tool in tools] == ["add", "slow", "stuck", "regional"]


async def test_a_result_comes_as_it_is_and_its_progress_before_it() -> None:
    """The package's own reading of it is passed by."""
    told: list[ToolProgress] = []
    with official() as running:
        raw = await joined(running.url, lambda connection: connection.call("slow", {}, told.append, Note()))
    assert raw["content"][0]["text"] == "done"
    assert told == [ToolProgress(1, 2, "half"), ToolProgress(2, 2, "all")]

    def odd(exchange: Exchange, message: Any) -> None:
        result(exchange, message, {"content": [{"type": "hologram"}], "odd": 1})

    with scripted(odd) as server:
        raw = await joined(server.url, lambda connection: connection.call("buy", {}, None, Note()))
    assert (raw["content"], raw["odd"]) == ([{"type": "hologram"}], 1)


async def test_a_refused_call_fails_with_what_is_known() -> None:
    """The server's error, and that the request had gone out."""

    def refuse(exchange: Exchange, message: Any) -> None:
        exchange.answer(403, b'{"error": "not you"}', {"content-type": "application/json"})

    with scripted(refuse) as server:
        with pytest.raises(Failed) as failed:
            await joined(server.url, lambda connection: connection.call("buy", {}, None, Note()))
        assert calls(server) == 1
    assert (failed.value.note.status, failed.value.note.said) == (403, "not you")
    assert failed.value.note.began


async def test_a_server_that_isnt_there_is_told_by_ready() -> None:
    """The task ends by itself."""
    with official() as running:
        pass
    connection = ToolConnection(running.url, Secret(USER), asyncio.create_task)
    with pytest.raises(Failed) as failed:
        await connection.ready
    await asyncio.wait_for(connection.task, 5)
    assert failed.value.note.failure == "unsent"


async def test_it_says_which_program_it_is() -> None:
    """By name and version."""

    async def use(connection: ToolConnection) -> None:
        """Joining is enough."""

    with scripted() as server:
        await joined(server.url, use)
    assert any(
        f'"version":"{reelbook.__version__}"'.encode() in exchange.body.replace(b" ", b"")
        for exchange in server.seen
    )
