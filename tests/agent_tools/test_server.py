"""The tool server's client, against the official package's server and against servers that misbehave."""

import asyncio
import json
import logging
import threading
import time
import traceback
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from support.raw_server import Exchange, raw_server
from support.tool_servers import USER, Answer, calls, official, result, scripted, stream

from reelbook import errors
from reelbook.agent_tools import connection
from reelbook.agent_tools.server import ToolServer
from reelbook.agent_tools.types import TextContent, ToolProgress, ToolResult, UnknownContent
from reelbook.version import VERSION

Use = Callable[[ToolServer], Coroutine[Any, Any, Any]]


def using(url: str, use: Use, user_id: str = USER) -> Any:
    """What `use` does with a server, from joining to leaving."""

    async def main() -> Any:
        async with ToolServer(url, user_id) as server:
            return await use(server)

    return asyncio.run(main())


def failing(url: str, use: Use) -> errors.ReelbookError:
    with pytest.raises(errors.ReelbookError) as caught:
        using(url, use)
    assert USER not in str(caught.value)
    for frame, _ in traceback.walk_tb(caught.value.__traceback__):
        if "/reelbook/" in frame.f_code.co_filename:  # a verbose traceback prints what these hold
            assert USER not in repr(frame.f_locals)
    return caught.value


@pytest.mark.parametrize("modern", [True, False])
@pytest.mark.parametrize("as_json", [True, False])
def test_tools_are_listed_and_called(modern: bool, as_json: bool) -> None:
    """In both generations of the protocol, with answers as JSON and as streams; those tell the progress.

    A tool's own failure is a result that says so.
    """
    told: list[ToolProgress] = []

    async def use(server: ToolServer) -> Any:
        slow = await server.call("slow", on_progress=told.append)
        failed = await server.call("add", {"a": "no number"})
        return await server.info(), await server.tools(), await server.call("add", {"a": 1}), slow, failed

    with official(modern=modern, json_response=as_json) as running:
        info, tools, added, slow, failed = using(running.url, use)
    assert (info.name, info.protocol) == ("official", "2026-07-28" if modern else "2025-11-25")
    assert [tool.name for tool in tools] == ["add", "slow", "stuck"]
    assert tools[0].description == "Adds."
    assert tools[0].input_schema["required"] == ["a"]
    assert (added.structured, added.is_error, failed.is_error) == ({"sum": 3}, False, True)
    assert str(slow) == "done"
    if not as_json:
        assert told == [ToolProgress(1, 2, "half"), ToolProgress(2, 2, "all")]
        assert told[0].fraction == 0.5
    assert running.user_ids == {USER}


def test_a_dropped_session_is_joined_anew_and_the_call_made_once() -> None:
    """The server refused it unread, so it is sent again, and carried out a single time."""

    async def use(server: ToolServer) -> Any:
        await server.call("add", {"a": 1})
        running.forget()
        tools = await server.tools()
        running.forget()
        return tools, await server.call("add", {"a": 2})

    with official(modern=False) as running:
        tools, answer = using(running.url, use)
    assert len(tools) == 3
    assert answer.structured == {"sum": 4}
    assert running.calls == ["add", "add"]
    assert running.methods.count("initialize") == 3


def test_a_session_that_is_dropped_at_once_again_is_given_up() -> None:
    """Not asked for without end; nothing was carried out."""
    with official(modern=False) as running:

        async def use(server: ToolServer) -> Any:
            running.forgotten = _Everything()
            await server.call("add", {"a": 2})

        assert isinstance(failing(running.url, use), errors.ToolCallFailed | errors.NotFound)
    assert running.calls == []


class _Everything(set[str]):
    def __contains__(self, value: object) -> bool:
        return value is not None


JSON, TEXT, PAGE = ({"content-type": kind} for kind in ("application/json", "text/plain", "text/html"))


def very_deep(exchange: Exchange, message: Any) -> None:
    deep = "[" * 5000 + "]" * 5000
    body = f'{{"jsonrpc": "2.0", "id": {message["id"]}, "result": {{"content": {deep}}}}}'
    exchange.answer(200, body.encode(), JSON)


LOST: dict[str, Answer] = {
    "no answer": lambda exchange, _: exchange.reset(),
    "half a stream": lambda exchange, _: exchange.send(
        b"HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\ncontent-length: 99\r\n\r\nevent: mess"
    ),
    "empty stream": lambda exchange, _: stream(exchange),
    "server error": lambda exchange, _: exchange.answer(500, f"oops {USER}".encode(), TEXT),
    "garbage": lambda exchange, _: exchange.answer(200, b'{"jsonrpc": ' + USER.encode(), JSON),
    "garbage stream": lambda exchange, _: stream(exchange, f"nonsense {USER}"),
    "nothing to come": lambda exchange, _: exchange.answer(202),
    "a page": lambda exchange, _: exchange.answer(200, b"<h1>Welcome</h1>", PAGE),
    "very deep": very_deep,
}


@pytest.mark.parametrize("answer", LOST.values(), ids=LOST.keys())
def test_a_call_whose_result_is_lost_is_uncertain_and_not_repeated(answer: Answer) -> None:
    """It may have been carried out and billed, which is said; the server sees it once."""
    with scripted(answer) as server:
        error = failing(server.url, lambda tools: tools.call("buy", {}))
        assert isinstance(error, errors.ToolCallUncertain), repr(error)
        assert "may have been carried out" in str(error)
        assert calls(server) == 1


@pytest.mark.parametrize(
    ("streamed", "said"), [(False, "larger than 1 MB"), (True, "exceeded the 1000000 byte limit")]
)
def test_an_answer_that_is_too_large_is_not_read(
    streamed: bool, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call counts as perhaps carried out, and the server can be used on."""
    monkeypatch.setattr(connection, "MAX_ANSWER_BYTES", 1_000_000)

    def huge(exchange: Exchange, message: Any) -> None:
        if message["params"]["arguments"]:
            result(exchange, message, {"content": []})
            return
        value = {"content": [{"type": "text", "text": "x" * 2**20}]}
        if streamed:
            stream(exchange, json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": value}))
        else:
            result(exchange, message, value)

    async def use(server: ToolServer) -> ToolResult:
        with pytest.raises(errors.ToolCallUncertain, match=said):
            await server.call("buy", {})
        return await server.call("buy", {"small": True})

    with scripted(huge) as server:
        assert using(server.url, use) == ToolResult()


def test_a_result_that_fits_no_schema_is_kept() -> None:
    """It may have been paid for: pieces of unknown kinds are there as they came, and nothing is refused."""

    def odd(exchange: Exchange, message: Any) -> None:
        content = [
            {"type": "hologram", "x": 1},
            {"type": "image", "data": "no base64!"},
            {"type": "text", "text": "a"},
        ]
        result(exchange, message, {"content": content, "structuredContent": [1]})

    def listing(exchange: Exchange, message: Any) -> None:
        schema = {"type": "object", "required": ["x"]}
        tools = [
            {"name": "buy", "inputSchema": {"type": "object"}, "outputSchema": schema},
            {"name": "", "odd": 1},
            7,
        ]
        result(exchange, message, {"tools": tools})

    async def use(server: ToolServer) -> Any:
        return await server.tools(), await server.call("buy", {})

    with scripted(odd, listing) as server:
        tools, answer = using(server.url, use)
    assert [tool.name for tool in tools] == ["buy"]
    assert [type(each) for each in answer.content] == [UnknownContent, UnknownContent, TextContent]
    assert answer.structured == [1]


def test_all_pages_are_listed_and_an_endless_listing_ends() -> None:
    """Each page is asked for with the cursor of the one before, a hundred of them at most."""

    def pages(exchange: Exchange, message: Any) -> None:
        number = int(message.get("params", {}).get("cursor", 0))
        tool = {"name": f"t{number}", "inputSchema": {"type": "object"}}
        result(exchange, message, {"tools": [tool], "nextCursor": str(number + 1)})

    with scripted(listing=pages) as server:
        tools = using(server.url, lambda tools: tools.tools())
    assert [tool.name for tool in tools] == [f"t{number}" for number in range(100)]


def test_it_says_which_program_it_is() -> None:
    """By name and version, when it joins."""
    with scripted() as server:
        using(server.url, ToolServer.info)
    joined = next(exchange.body for exchange in server.seen if b'"initialize"' in exchange.body)
    about = json.loads(joined)["params"]["clientInfo"]
    assert (about["name"], about["version"]) == ("reelbook", VERSION)


def test_what_joins_while_the_server_is_left_leaves_it_too() -> None:
    """No connection stays open behind a closed one."""

    async def main(url: str) -> None:
        server = ToolServer(url, USER)
        joining = asyncio.create_task(server.info())
        await asyncio.sleep(0)
        await server.aclose()
        with pytest.raises(errors.SessionClosed):
            await joining
        assert asyncio.all_tasks() == {asyncio.current_task()}

    with scripted() as service:
        asyncio.run(main(service.url))


def test_cancelling_tells_the_server() -> None:
    """The older generation by a notification; the call isn't made again."""

    async def use(server: ToolServer) -> None:
        task = asyncio.create_task(server.call("stuck"))
        await asyncio.to_thread(running.begun.wait, 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with official(modern=False) as running:
        using(running.url, use)
    assert running.methods.count("notifications/cancelled") == 1
    assert running.calls == ["stuck"]


def test_a_deadline_ends_the_waiting_and_tells_the_server() -> None:
    """What the call did until then may be billed, which the error says."""
    with official(modern=False) as running:
        error = failing(running.url, lambda server: server.call("stuck", deadline_seconds=0.2))
    assert isinstance(error, errors.ToolTimeout)
    assert isinstance(error, TimeoutError)
    assert "billed" in str(error)
    assert "notifications/cancelled" in running.methods


def test_one_lost_call_leaves_the_others_alone() -> None:
    """A connection that breaks under one call ends that call and no other."""
    waiting: list[tuple[Exchange, Any]] = []
    arrived = threading.Event()

    def answer(exchange: Exchange, message: Any) -> None:
        if message["params"]["arguments"].get("first"):
            exchange.keep_open()
            waiting.append((exchange, message))
            arrived.set()
        else:
            exchange.reset()

    async def use(server: ToolServer) -> ToolResult:
        first = asyncio.create_task(server.call("buy", {"first": True}))
        await asyncio.to_thread(arrived.wait, 5)
        with pytest.raises(errors.ToolCallUncertain):
            await server.call("buy", {})
        exchange, message = waiting.pop()
        result(exchange, message, {"content": [{"type": "text", "text": "mine"}]})
        return await first

    with scripted(answer) as server:
        assert str(using(server.url, use)) == "mine"


def test_a_question_whose_answer_is_lost_is_no_uncertain_call() -> None:
    """It cost nothing."""
    with scripted(listing=LOST["no answer"]) as server:
        assert type(failing(server.url, lambda tools: tools.tools())) is errors.AnswerLost


def test_the_user_id_goes_to_no_other_origin() -> None:
    """A redirect elsewhere isn't followed, and says what to do."""
    with raw_server(lambda exchange: exchange.answer(200)) as elsewhere:

        def redirect(exchange: Exchange) -> None:
            exchange.answer(307, headers={"location": elsewhere.url})

        with raw_server(redirect) as server:
            error = failing(server.url, lambda tools: tools.tools())
        assert isinstance(error, errors.UnexpectedAnswer)
        assert elsewhere.seen == []
        assert {exchange.header("x-user-id") for exchange in server.seen} == {USER}


@pytest.mark.parametrize("location", ["http:login", "about:blank", "http://xn--/"])
def test_a_redirect_to_no_address_ends_the_one_call_and_no_other(location: str) -> None:
    """The session goes on: what comes next is answered."""

    async def use(server: ToolServer) -> str:
        with pytest.raises(errors.UnexpectedAnswer, match="points elsewhere"):
            await server.call("buy")
        return (await server.tools())[0].name

    def redirect(exchange: Exchange, message: Any) -> None:
        exchange.answer(302, headers={"location": location})

    with scripted(redirect) as server:
        assert using(server.url, use) == "buy"
        assert [each.body for each in server.seen if b'"initialize"' in each.body][1:] == []


def test_a_result_that_came_while_the_loop_slept_is_read() -> None:
    """The call's deadline counts only while the process runs."""

    def late(exchange: Exchange, message: Any) -> None:
        time.sleep(0.3)
        result(exchange, message, {"content": [{"type": "text", "text": "bought"}]})

    async def use(server: ToolServer) -> str:
        await server.info()
        asyncio.get_running_loop().call_later(0.1, time.sleep, 1.2)
        return str(await server.call("buy", deadline_seconds=0.5))

    with scripted(late) as server:
        assert "bought" in using(server.url, use)


@pytest.mark.parametrize("user_id", ["", " ", "a b", "a\nb", "a\r\nX-Evil: 1", "ü"])
def test_a_user_id_that_cannot_be_one_is_refused_before_anything_is_sent(user_id: str) -> None:
    """And isn't quoted."""
    with pytest.raises(errors.ConfigurationError) as caught:
        ToolServer("http://127.0.0.1:9", user_id)
    assert not user_id.strip() or user_id not in str(caught.value)


def test_arguments_that_are_no_json_are_refused_before_anything_is_sent() -> None:
    """Bytes, endless numbers, circles and half a character."""
    circle: list[Any] = []
    circle.append(circle)
    with scripted() as server:
        for bad in (b"bytes", float("nan"), circle, "half a \ud83d"):
            error = failing(server.url, lambda tools, bad=bad: tools.call("buy", {"x": bad}))  # type: ignore[misc]  # bound at once
            assert isinstance(error, errors.InvalidInput)
        assert calls(server) == 0


def test_a_server_that_is_not_there_is_unreachable() -> None:
    """Nothing was sent, and it says so."""
    with raw_server(lambda exchange: None) as gone:
        pass
    error = failing(gone.url, lambda tools: tools.call("buy", {}))
    assert isinstance(error, errors.ServiceUnreachable)
    assert "Nothing was sent" in str(error)


def test_a_proxy_that_cannot_be_used_reaches_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its words aren't taken for the server's."""
    monkeypatch.setenv("HTTPS_PROXY", "no://proxy")
    error = failing("https://tools.example/mcp", lambda tools: tools.call("buy", {}))
    assert isinstance(error, errors.ServiceUnreachable)
    assert "Nothing was sent. (Unknown scheme" in str(error)


def test_the_user_id_is_in_no_log_and_no_repr(caplog: pytest.LogCaptureFixture) -> None:
    """At the finest level, also where the server quotes it in answers that can't be read."""
    caplog.set_level(logging.DEBUG)
    for kind in ("garbage", "garbage stream", "server error"):
        with scripted(LOST[kind]) as server:
            failing(server.url, lambda tools: tools.call("buy", {}))
    assert "HTTP Request: POST" in caplog.text
    assert USER not in caplog.text
    assert USER not in repr(ToolServer("http://127.0.0.1:9", USER))
    assert USER not in repr(vars(ToolServer("http://127.0.0.1:9", USER)))
