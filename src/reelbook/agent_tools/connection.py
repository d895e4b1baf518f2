"""One session with a tool server, on the official `mcp` package: with `http`, all that needs it.

No object and no error of that package, or of its HTTP library, leaves this module: a request holds the user
id. What a request met on its way is noted beside it, since the package's own errors don't tell whether a call
that may be paid for can have arrived.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import mcp_types
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from pydantic import ValidationError

from ..secret import Secret
from .failures import MAX_ANSWER_BYTES, Failed, Note
from .http import Carrier, current_note, noted
from .parsing import progress as read_progress
from .types import OnProgress, ToolServerInfo

MAX_PAGES = 100
MAX_LISTED = 5000

Spawn = Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]


class ToolConnection:
    """A session that is being joined, or was, by a task of its own.

    `ready` is done when it can be used, or with Failed.
    """

    _session: ClientSession

    def __init__(self, url: str, user_id: Secret, spawn: Spawn) -> None:
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._over = asyncio.Event()
        self.task = spawn(self._live(url, user_id))

    def leave(self) -> None:
        """Lets the task leave the server."""
        self._over.set()

    def info(self) -> ToolServerInfo:
        """Who the server says it is."""
        named = self._session.server_info
        return ToolServerInfo(
            name=named.name if named else "",
            version=named.version if named else "",
            protocol=self._session.protocol_version or "",
            instructions=self._session.instructions,
        )

    async def tools(self) -> list[Any]:
        """All tools that the server lists, as they came, page by page. Raises Failed."""
        tools: list[Any] = []
        asked: set[str | None] = set()
        cursor: str | None = None  # of the first page, and of none after the last
        while cursor not in asked and len(asked) < MAX_PAGES and len(tools) < MAX_LISTED:
            asked.add(cursor)
            page, cursor = await self._page(cursor)
            tools += page
        return tools[:MAX_LISTED]

    async def call(
        self, name: str, arguments: Mapping[str, Any], on_progress: OnProgress | None, note: Note
    ) -> Mapping[str, Any]:
        """The result of a call as it came. Cancelling this tells the server so. Raises Failed."""
        request = mcp_types.CallToolRequest(
            params=mcp_types.CallToolRequestParams(name=name, arguments=dict(arguments))
        )

        async def tell(progress: float, total: float | None, message: str | None) -> None:
            if on_progress is not None and (told := read_progress(progress, total, message)) is not None:
                on_progress(told)

        for listed in (False, True):
            with noted(note):
                try:
                    # Whether the result fits its schema is no reason to lose it: the package doesn't check.
                    await self._session.send_request(
                        request,
                        mcp_types.EmptyResult,
                        progress_callback=None if on_progress is None else tell,
                    )
                except ValidationError:
                    pass
                except MCPError as error:
                    _refused(note, error)
            if note.code != mcp_types.HEADER_MISMATCH or listed:
                break
            # Refused because arguments belong into headers too: only a listing tells which.
            await self._page(None)
            note.code, note.said = None, ""
        if note.raw is None:
            raise Failed(note)
        return note.raw

    async def _page(self, cursor: str | None) -> tuple[list[Any], str | None]:
        """One page of the list of tools, and the cursor of the next one."""
        params = mcp_types.PaginatedRequestParams(cursor=cursor) if cursor else None
        note = Note()
        allowed = None
        with noted(note):
            try:
                listed = await self._session.list_tools(params=params)
                # The package leaves out those that the protocol forbids to use.
                allowed = {tool.name for tool in listed.tools}
            except ValidationError:
                pass
            except MCPError as error:
                _refused(note, error)
        if note.raw is None:
            raise Failed(note)
        tools = note.raw.get("tools")
        tools = tools if isinstance(tools, list) else []
        if allowed is not None:
            tools = [tool for tool in tools if tool.get("name") in allowed]
        following = note.raw.get("nextCursor")
        return tools, following if isinstance(following, str) and following else None

    async def _live(self, url: str, user_id: Secret) -> None:
        """Joins, and stays until it is over. Enters and leaves in one task, as the package demands."""
        note = Note()
        current_note.set(note)
        try:
            async with (
                Carrier(url, user_id) as http,
                streamable_http_client(url, http_client=http, max_sse_event_size=MAX_ANSWER_BYTES) as streams,
                ClientSession(
                    dispatcher=_Keeping(*streams),
                    client_info=mcp_types.Implementation(name="reelbook", version=_version()),
                ) as self._session,
            ):
                await self._agree(note)
                self.ready.set_result(None)
                await self._over.wait()
        except Exception as error:
            _refused(note, _first(error))
        finally:
            if not self.ready.done():
                self.ready.set_exception(Failed(note))
                self.ready.exception()  # looked at, also where nobody waits any more

    async def _agree(self, note: Note) -> None:
        """Agrees on the protocol's version: first by the newer generation's question, then by handshake."""
        try:
            await self._session.discover()
        except (MCPError, RuntimeError, ValidationError):
            if note.failure or note.status in (401, 403):
                raise
            await self._session.initialize()


def _refused(note: Note, error: BaseException) -> None:
    """Notes what the package made of it: the server's own error, or its own words where none came."""
    status = note.status or 0
    if status < 400:  # beyond, these are the package's words for a status
        note.said = note.said or str(error) or type(error).__name__
    if not isinstance(error, MCPError):
        return
    note.code = error.code
    # With a good status these tell of a stream that ended, or of a body that can't be read.
    unread = 200 <= status < 300 and error.code == mcp_types.PARSE_ERROR
    if note.failure is None and (status == 202 or unread or error.code == mcp_types.CONNECTION_CLOSED):
        note.failure = "lost" if note.began else "unsent"


class _Keeping(JSONRPCDispatcher):
    """Notes each result as it came, before the package finds something in it that it doesn't know."""

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: Any = None, **others: Any
    ) -> dict[str, Any]:
        raw = await super().send_raw_request(method, params, opts, **others)
        if (note := current_note.get()) is not None:
            note.raw = raw
        return raw


def _version() -> str:
    # Not imported: the package's own module stands on a floor above.
    return str(vars(sys.modules[__name__.partition(".")[0]])["__version__"])


def _first(error: BaseException) -> BaseException:
    """What really happened, out of the groups that a group of tasks makes of it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
