"""The agent tool server over MCP's streamable HTTP (interface, "What the service does").

The package that speaks the protocol is an extra, imported when a server is joined and not before.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import warnings
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from .. import errors, settings
from ..deadlines import Deadline
from ..formatting import terminal_line
from ..secret import Secret
from . import parsing
from .failures import ExchangeFailed, Note, error_of
from .types import OnProgress, Tool, ToolResult, ToolServerInfo

if TYPE_CHECKING:
    from .connection import Spawn, ToolConnection

INSTALL = "pip install 'mcp>=2.3,<3'"
JOIN_SECONDS = 30.0
LIST_SECONDS = 60.0
CALL_SECONDS = 600.0
LEAVE_SECONDS = 3.0

T = TypeVar("T")


def is_installed() -> bool:
    """Whether the extra `agents` is installed, without importing any of it."""
    try:
        return all(importlib.util.find_spec(name) is not None for name in ("mcp", "httpx2"))
    except ImportError:
        return False


class ToolServer:
    """The tools of one server for one user. Belongs to the event loop that uses it.

        async with rb.ToolServer(mcp_url, user_id) as server:
            tools = await server.tools()
            result = await server.call(tools[0].name, {"prompt": "a fox"})

    It connects at the first request, and again when the server has dropped the session. `spawn` starts a task
    on the loop, which holds the connection. Raises ConfigurationError for an invalid address or user id; the
    first request raises it where the extra `agents` isn't installed.
    """

    def __init__(self, mcp_url: str, user_id: str | Secret, *, spawn: Spawn | None = None) -> None:
        user_id = Secret.of(user_id)  # verbose tracebacks print arguments
        address = Secret.of(mcp_url)
        mcp_url = ""
        settings.checked_mcp_url(address)
        self.url = address.reveal().strip()
        if spawn is None and (said := settings.insecure(self.url, "user id")):
            warnings.warn(said, settings.InsecureAddress, stacklevel=2)
        self.user_id = settings.checked_key(user_id, "user id")
        self._spawn = spawn or asyncio.create_task
        self._lock = asyncio.Lock()
        self._connection: ToolConnection | None = None
        self._closed = False

    def __repr__(self) -> str:
        return f"ToolServer({self.url!r})"

    async def __aenter__(self) -> ToolServer:
        await self.info()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def info(self) -> ToolServerInfo:
        """Who the server says it is. Joins it if that hasn't happened yet."""
        return await self._query(lambda connection: connection.info())

    async def tools(self) -> tuple[Tool, ...]:
        """All tools that the server offers, asked for now."""
        listed = await self._query(lambda connection: connection.tools())
        return tuple({tool.name: tool for tool in map(parsing.tool, listed) if tool}.values())

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_progress: OnProgress | None = None,
        deadline_seconds: float | None = None,
    ) -> ToolResult:
        """Calls a tool, once, and returns what it answered. A call may cost money.

        `on_progress` is called on the loop with the server's progress. Cancelling the task that waits here
        tells the server that nobody is waiting; so does `deadline_seconds` (default: ten minutes) when it
        passes, with ToolTimeout. What a tool reports as its own failure is a result with `is_error`.

        It is sent again only where the server refused it unread, because it had dropped the session. Raises
        ToolCallFailed where the server answers with an error, ToolCallUncertain where the call may have been
        carried out and its result is lost, ServiceUnreachable where nothing was sent, AuthenticationError for
        an unknown user id, and InvalidInput.
        """
        given = checked_arguments(name, arguments)
        seconds = CALL_SECONDS if deadline_seconds is None else deadline_seconds
        note = Note()
        try:
            raw = await self._sent(lambda each: each.call(name, given, on_progress, note), seconds)
        except ExchangeFailed:
            raise error_of(note, self.user_id, paid=True) from None
        except TimeoutError:
            if not note.began:
                raise errors.ServiceUnreachable(
                    "No connection to the tool server was made before the deadline. Nothing was sent."
                ) from None
            raise errors.ToolTimeout(
                f"No result of {_short(name)} came within {seconds:g} s. The server was told that nobody "
                "is waiting; the call may still be carried out, and billed."
            ) from None
        if raw.get("resultType") == "input_required":
            raise errors.ToolCallFailed(
                "The tool asks for more input than its arguments, which Reelbook can't give."
            )
        return parsing.result(raw)

    async def aclose(self) -> None:
        """Leaves the server. Safe to call twice."""
        self._closed = True
        connection, self._connection = self._connection, None
        if connection is None:
            return
        connection.leave()
        await asyncio.wait({connection.task}, timeout=LEAVE_SECONDS)
        connection.task.cancel()
        await asyncio.wait({connection.task}, timeout=LEAVE_SECONDS)

    async def _query(self, ask: Callable[[ToolConnection], Awaitable[T]]) -> T:
        """Sends a request that costs nothing, and returns its answer. Raises ReelbookError."""
        try:
            return await self._sent(ask, LIST_SECONDS)
        except ExchangeFailed as failed:
            raise error_of(failed.note, self.user_id) from None
        except TimeoutError:
            raise errors.DeadlineExceeded("The tool server didn't answer in time.") from None

    async def _sent(self, send: Callable[[ToolConnection], Awaitable[T]], seconds: float) -> T:
        """Returns what `send` returns; tries once more where the server had dropped the session.

        Such a request was refused unread. Raises ExchangeFailed, TimeoutError and, on joining, ReelbookError.
        """
        async with Deadline(seconds):
            connection = await self._join()
            try:
                return await send(connection)
            except ExchangeFailed as failed:
                if not failed.note.session_gone:
                    raise
                failed.note.began = False
            connection.leave()
            if self._connection is connection:
                self._connection = None
            return await send(await self._join())

    async def _join(self) -> ToolConnection:
        """The joined session with the server. Raises ReelbookError and TimeoutError."""
        async with self._lock:
            if not self._closed and (self._connection is None or self._connection.task.done()):
                self._connection = await self._joined()
            if self._closed or self._connection is None:
                await self.aclose()  # of a connection that was made meanwhile
                raise errors.SessionClosed("The connection to the tool server is closed.")
            return self._connection

    async def _joined(self) -> ToolConnection:
        try:
            # It takes half a second, which would block the loop.
            module = await asyncio.to_thread(importlib.import_module, ".connection", __package__)
        except ImportError as absent:
            raise errors.ConfigurationError(
                f"Agent tools need a package that isn't installed ({absent.name}). Install it: {INSTALL}"
            ) from None
        connection: ToolConnection = module.ToolConnection(self.url, self.user_id, self._spawn)
        try:
            async with Deadline(JOIN_SECONDS):
                await asyncio.shield(connection.ready)
        except BaseException as error:
            connection.task.cancel()
            if isinstance(error, ExchangeFailed):
                raise error_of(error.note, self.user_id) from None
            raise
        return connection


def checked_arguments(name: str, arguments: Mapping[str, Any] | None) -> dict[str, Any]:
    """A call's arguments as JSON. Raises InvalidInput before anything is sent."""
    if not isinstance(name, str) or not name.strip():
        raise errors.InvalidInput("A tool has a name. session.tools() lists them.")
    try:
        text = json.dumps([name, dict(arguments or {})], allow_nan=False, ensure_ascii=False)
        given: dict[str, Any] = json.loads(text.encode())[1]
    except (TypeError, ValueError, RecursionError) as error:
        reason = (str(error) or type(error).__name__)[:200]
        raise errors.InvalidInput(
            f"The arguments of {_short(name)} can't be sent as JSON: {reason}."
        ) from None
    return given


def _short(name: str) -> str:
    return f"“{terminal_line(name, 60)}”"
