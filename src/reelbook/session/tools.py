"""The agent tool server from a notebook: its tools are listed and called, and the ledger keeps every call.

A tool server needs no key of the service, so `connect_tools()` needs no session; a `Session` does the same
for the server that belongs to it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any, Self, TypeVar

from .. import errors, settings
from ..account.limits import caller_warner
from ..agent_tools.parsing import found_jobs
from ..agent_tools.server import ToolServer, checked_arguments
from ..agent_tools.types import OnProgress, Tool, ToolProgress, ToolResult, ToolServerInfo
from ..event_thread import EventThread, Future, until_done
from ..ledger import Ledger, LedgerFile, ToolCall
from ..ledger.tool_calls import Outcome
from ..secret import Secret

T = TypeVar("T")
ToolAddress = tuple[str, Secret]  # the server's address and the user id


class ToolRun:
    """A call of a tool in progress. `await run` or `run.result()` returns its ToolResult.

    Stopping an `await` ends the call, and the server is told. `progress` is the last ToolProgress.
    """

    def __init__(self, thread: EventThread, tool: str, arguments: Mapping[str, Any]) -> None:
        self.tool = tool
        self.arguments = arguments
        self.progress: ToolProgress | None = None
        self._thread = thread
        self._future: Future[ToolResult]

    def __repr__(self) -> str:
        return f"<ToolRun {self.tool} {'done' if self.done else 'under way'}>"

    def __await__(self) -> Generator[Any, None, ToolResult]:
        return self._wait().__await__()

    @property
    def done(self) -> bool:
        """Whether it has ended, one way or another."""
        return self._future.done()

    def result(self, timeout: float | None = None) -> ToolResult:
        """Waits for the result, for code that can't await. Raises WaitTimeout, and as `ToolServer.call`."""
        self._thread.refuse_own_thread()
        if not self._future.wait(timeout):
            raise errors.WaitTimeout(f"{self.tool} gave no result within {timeout:g} s. It goes on.")
        return self._ended()

    def cancel(self) -> None:
        """Ends the call and tells the server. It may already have been carried out."""
        self._future.cancel()

    def on_end(self, callback: Callable[[ToolRun], object]) -> None:
        """Calls `callback` with this run when it ends, on a Reelbook thread, which it must not block."""
        self._future.add_done_callback(lambda _: callback(self))

    async def _wait(self) -> ToolResult:
        try:
            await until_done(self._future)
        except BaseException:
            self.cancel()
            raise
        return self._ended()

    def _ended(self) -> ToolResult:
        try:
            return self._future.result()
        except CancelledError:
            raise errors.ToolCallUncertain(
                "The call was ended before its result came. It may have been carried out, and billed."
            ) from None


class Tooling:
    """What a `Session` and the `Tools` of `connect_tools()` have in common: a tool server, and an end."""

    _thread: EventThread
    _ledger: Ledger | LedgerFile
    __server: ToolServer | None = None
    __place: tuple[str, str] | None = None

    def __enter__(self) -> Self:
        return self

    @property
    def closed(self) -> bool:
        return self._thread.closed

    def tools(self) -> list[Tool]:
        """The tools that the server offers, asked for now, in the server's own words.

        Raises ConfigurationError where no tool server is configured or the extra `agents` isn't installed.
        """
        return list(self._thread.call(self._asked(ToolServer.tools)))

    def _tool_server(self) -> ToolServerInfo:
        return self._thread.call(self._asked(ToolServer.info))

    def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        /,
        *,
        on_progress: OnProgress | None = None,
        deadline_seconds: float | None = None,
        **named: Any,
    ) -> ToolRun:
        """Calls a tool, once. **A call may cost money**, and no spending limit stops it.

            result = await session.call_tool("wait_for_video", request_id="…")
            result = session.call_tool("wait_for_video", {"request_id": "…"}).result()  # can't await

        Returns at once; arguments are given by name, or as a mapping. `on_progress` is called with each
        ToolProgress on a Reelbook thread. After `deadline_seconds` (default: ten minutes) the server is told
        to stop, as it is when Stop is pressed during an await.

        The ledger keeps each call. The cost of a clip that it bought counts once `session.job(id)` has taken
        that up and it has ended. Raises InvalidInput and ConfigurationError before anything is sent; for what
        waiting raises see `ToolServer.call`.
        """
        given = checked_arguments(name, {**(arguments or {}), **named})
        run = ToolRun(self._thread, name, given)

        def tell(progress: ToolProgress) -> None:
            run.progress = progress
            if on_progress is not None:
                on_progress(progress)

        async def call(server: ToolServer) -> ToolResult:
            try:
                return await self._recorded(server, name, given, tell, deadline_seconds)
            finally:
                self._tool_called()

        run._future = self._thread.submit(self._asked(call))
        return run

    def tool_calls(self, limit: int = 20) -> list[ToolCall]:
        """The last calls of this home by the ledger, newest first."""
        return self._ledger.tool_calls.recent(limit)

    def _list_tools(self) -> Future[tuple[Tool, ...]]:
        """As `tools()`, for a panel, which can't wait. Raises ConfigurationError."""
        return self._thread.submit(self._asked(ToolServer.tools))

    def _asked(self, question: Callable[[ToolServer], Awaitable[T]]) -> Coroutine[Any, Any, T]:
        """Asks the tool server; its connection is kept as long as its address and user id stay the same."""
        self._thread.refuse_closed()
        place = self._tool_address()
        if self.__place is None and place is not None and (said := settings.insecure(place[0], "user id")):
            caller_warner()(settings.InsecureAddress(said))

        async def ask() -> T:
            url, user_id = place or await self._find_tool_address()
            known = (url, user_id.fingerprint)
            if self.__server is None or self.__place != known:
                former, self.__place = self.__server, known
                self.__server = ToolServer(url, user_id, spawn=self._thread.spawn)
                if former is not None:
                    await former.aclose()
            return await question(self.__server)

        return ask()

    async def _recorded(
        self,
        server: ToolServer,
        tool: str,
        arguments: Mapping[str, Any],
        on_progress: OnProgress,
        deadline_seconds: float | None,
    ) -> ToolResult:
        calls, user_id = self._ledger.tool_calls, server.user_id
        number = calls.add(server.url, user_id, tool, arguments)
        began = time.monotonic()
        outcome: Outcome = "cancelled"
        error: str | None = None
        request_ids: tuple[str, ...] = ()
        try:
            result = await server.call(
                tool, arguments, on_progress=on_progress, deadline_seconds=deadline_seconds
            )
            outcome = "tool error" if result.is_error else "done"
            # A server that echoes what it was sent must not get the user id into the ledger.
            error = user_id.masked(str(result)) if result.is_error else None
            request_ids = tuple(dict.fromkeys(job.request_id for job in found_jobs(result) if job.request_id))
            return result
        except errors.ReelbookError as failed:
            outcome, error = _outcome(failed), str(failed)
            raise
        finally:
            took = time.monotonic() - began
            calls.ended(number, outcome, took_seconds=took, request_ids=request_ids, error=error)

    # What a `Session` or `Tools` says of itself.

    def _tool_address(self) -> ToolAddress | None:
        """The server's address and the user id; None where `_find_tool_address` is to find out."""
        raise NotImplementedError  # each kind's own

    async def _find_tool_address(self) -> ToolAddress:
        raise NotImplementedError  # only asked where there is no `_tool_address`: of a session on its sandbox

    def _tool_called(self) -> None:
        """A call has ended, and may have cost money."""


class Tools(Tooling):
    """A tool server without a session. Made by `reelbook.connect_tools()`.

        tools = rb.connect_tools(mcp_url, user_id)
        print([tool.name for tool in tools.tools()])
        result = tools.call_tool("get_balance").result()
        tools.close()

    `close()` ends the connection, after which `closed` is True. The calls stay in the ledger.
    """

    _ledger: LedgerFile

    def __init__(self, mcp_url: str, user_id: Secret, home: Path) -> None:
        settings.checked_mcp_url(mcp_url)  # before a thread is started
        settings.checked_key(user_id, "user id")
        self.mcp_url = mcp_url
        self._place = (mcp_url, user_id)
        self._ledger = LedgerFile.open(home)
        self._thread = EventThread("reelbook-tools")
        self._thread.closing.append(self._close_ledger)

    def __repr__(self) -> str:
        return f"<Tools {self.mcp_url}{' closed' if self.closed else ''}>"

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leaves the server and ends the thread."""
        self._thread.close()

    async def _close_ledger(self) -> None:
        self._ledger.close()

    def _tool_address(self) -> ToolAddress | None:
        return self._place


def connect_tools(
    mcp_url: str | None = None,
    user_id: str | Secret | None = None,
    *,
    home: str | os.PathLike[str] | None = None,
    ask: bool = False,
) -> Tools:
    """Connects to an agent tool server, without a key of the service.

        tools = rb.connect_tools(mcp_url, user_id)
        rb.ToolExplorer(tools)

    What is left out comes from `REELBOOK_MCP_URL` and `REELBOOK_USER_ID`, as all settings do; `ask=True`
    prompts for what is missing. `home` is the folder of the ledger. Raises ConfigurationError, and
    LedgerUnavailable where `home` can't be written.
    """
    user_id = None if user_id is None else Secret.of(user_id)  # verbose tracebacks print arguments
    tools = Tools(*configured(mcp_url, user_id, ask=ask), settings.home(home))
    if (notice := tools._ledger.store.notice) is not None:  # a damaged ledger was put aside
        caller_warner()(errors.LedgerTrouble(notice))
    return tools


def configured(
    mcp_url: str | None = None, user_id: Secret | None = None, *, ask: bool = False
) -> tuple[str, Secret]:
    """The configured tool server and user id. Raises ConfigurationError, saying what is missing."""
    address = settings.find(settings.MCP_URL, mcp_url, ask=ask)
    user = settings.find(settings.USER_ID, user_id, ask=ask)
    if address is None or user is None:
        names = ((settings.MCP_URL, address), (settings.USER_ID, user))
        missing = " and ".join(name for name, found in names if found is None)
        raise errors.ConfigurationError(
            f"The agent tool server isn't configured: set {missing}, as the dashboard's API page shows it. "
            'The sandbox has its own: connect("sandbox").'
        )
    return address.value.reveal(), user.value


def _outcome(error: errors.ReelbookError) -> Outcome:
    if isinstance(error, errors.ToolCallUncertain):
        return "uncertain"
    unsent = errors.ServiceUnreachable | errors.ConfigurationError | errors.InvalidInput
    return "unsent" if isinstance(error, unsent) else "failed"
