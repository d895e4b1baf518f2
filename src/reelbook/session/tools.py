"""The agent tool server from a notebook: listed, called, and every call kept in the ledger.

A tool server needs no key of the service, so `connect_tools()` does without a session; a `Session` does the
same for the server that belongs to it.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import settings
from ..client.downloads import LONGEST_SECONDS, limit_bytes
from ..client.tool_values import OnProgress, Prompt, Resource, Tool, ToolResult, ToolServerInfo
from ..client.tools import ToolServer, checked_arguments
from ..errors import ConfigurationError, InvalidInput
from ..ledger import Ledger, ToolCall, ToolCalls
from ..ledger.accounts import origin
from ..secret import Secret
from .engine import Engine
from .tool_desk import ToolDesk, ToolRun

if TYPE_CHECKING:
    from .books import Books
    from .connection import Connection
    from .money import Money


class Tooling(ABC):
    """What a `Session` and the `Tools` of `connect_tools()` do with their tool server."""

    _engine: Engine
    __desk: ToolDesk | None = None

    def tools(self) -> list[Tool]:
        """The tools that the server offers, asked for now. Their words are the server's own.

        Raises ConfigurationError where no tool server is configured or `reelbook[agents]` isn't installed.
        """
        return list(self._ask(ToolServer.tools))

    def ask_for_tools(self) -> concurrent.futures.Future[tuple[Tool, ...]]:
        """As `tools()`, for code that can't wait: returns at once. Raises ConfigurationError."""
        self._engine.refuse_closed()
        place = self._tool_place()

        async def ask() -> tuple[Tool, ...]:
            server = await self._tool_desk.server(*(place or await self._moved_place()))
            return await server.tools()

        return self._engine.submit(ask())

    def tool_server(self) -> ToolServerInfo:
        """Who the tool server says it is."""
        info: ToolServerInfo = self._ask(ToolServer.info)
        return info

    def tool_resources(self) -> list[Resource]:
        """The resources that the tool server offers."""
        return list(self._ask(ToolServer.resources))

    def tool_prompts(self) -> list[Prompt]:
        """The prompts that the tool server offers."""
        return list(self._ask(ToolServer.prompts))

    async def call_tool(self, name: str, /, **arguments: Any) -> ToolResult:
        """Calls a tool and waits for its result. **A call may cost money**, and no spending limit stops it.

        What a clip cost that it bought counts once `session.job(id)` took that up and it has ended.
        Each call is kept in the ledger. It is sent once: see `ToolServer.call` for what is raised. Stop, or
        cancelling the task, ends the call too. For progress, a deadline or code that can't await, use
        `start_tool`.
        """
        return await self.start_tool(name, arguments)

    def start_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_progress: OnProgress | None = None,
        deadline_seconds: float | None = None,
    ) -> ToolRun:
        """Calls a tool and returns at once; `run.result()` waits for it. A call may cost money.

        `on_progress` is called with a ToolProgress on a thread of Reelbook's. After `deadline_seconds` (ten
        minutes, if left out) the server is told to stop. Raises InvalidInput and ConfigurationError before
        anything is sent.
        """
        given = checked_arguments(name, arguments)
        self._engine.refuse_closed()
        place = self._tool_place()
        run = ToolRun(self._engine, name, given)

        async def call() -> ToolResult:
            url, user_id = place or await self._moved_place()
            try:
                return await self._tool_desk.call(url, user_id, run, on_progress, deadline_seconds)
            finally:
                self._tool_called()

        run._future = self._engine.submit(call())
        return run

    def tool_calls(self, limit: int = 20) -> list[ToolCall]:
        """The last calls of this home by the ledger, the newest first."""
        self._engine.refuse_closed()
        return self._tool_ledger().recent(limit)

    def _ask(self, question: Callable[[ToolServer], Any]) -> Any:
        self._engine.refuse_closed()
        place = self._tool_place()

        async def ask() -> Any:
            return await question(await self._tool_desk.server(*(place or await self._moved_place())))

        return self._engine.call(ask())

    @property
    def _tool_desk(self) -> ToolDesk:
        if self.__desk is None:
            self.__desk = ToolDesk(self._engine, self._tool_ledger())
        return self.__desk

    @abstractmethod
    def _tool_ledger(self) -> ToolCalls:
        """Where the calls are kept."""

    @abstractmethod
    def _tool_place(self) -> tuple[str, Secret] | None:
        """Where the tool server is and who asks, found on the caller's thread as Colab's secrets must be.

        None where only the engine's thread can find out, by `_moved_place`.
        """

    async def _moved_place(self) -> tuple[str, Secret]:
        return configured()

    @abstractmethod
    def _tool_called(self) -> None:
        """A call has ended, and may have cost money."""


class SessionTools(Tooling):
    """The part of a `Session` that talks to the tool server: the sandbox's own, or the configured one."""

    home: Path
    _books: Books
    _connection: Connection
    _money: Money

    def fetch_link(self, url: str) -> Path:
        """Fetches a video that a tool's result points at, once, and returns its file.

        From https and from the tool server's own address only, and without key or user id. Raises
        InvalidInput and DownloadFailed.
        """
        place = self._tool_place()

        async def fetch() -> Path:
            own, _ = place or await self._moved_place()
            if not url.lower().startswith("https:") and origin(url) != origin(own):
                raise InvalidInput("This link is neither https nor the tool server's own. It wasn't fetched.")
            name = hashlib.sha256(url.encode()).hexdigest()[:32]
            path = self.home / "clips" / "links" / f"{name}.mp4"
            most = limit_bytes(LONGEST_SECONDS)
            return await self._connection.client.download(url, path, max_bytes=most)

        return self._engine.call(fetch())

    def _tool_called(self) -> None:
        self._money.moved()

    def _tool_ledger(self) -> ToolCalls:
        return self._books.tool_calls

    def _tool_place(self) -> tuple[str, Secret] | None:
        return None if self._connection.sandbox is not None else configured()

    async def _moved_place(self) -> tuple[str, Secret]:
        await self._connection.reach()
        sandbox = self._connection.sandbox
        assert sandbox is not None
        return sandbox.mcp_url, Secret.of(sandbox.user_id)


class Tools(Tooling):
    """A tool server without a session. Made by `reelbook.connect_tools()`; `close()` ends it."""

    def __init__(self, mcp_url: str, user_id: Secret, home: Path) -> None:
        ToolServer(mcp_url, user_id)  # raises for what can't be used, before a thread is started
        self.mcp_url = mcp_url
        self._place = (mcp_url, user_id)
        self._ledger = Ledger.open(home)
        self._engine = Engine("reelbook-tools")
        self._engine.on_close(self._close_ledger)

    def __repr__(self) -> str:
        return f"<Tools {self.mcp_url}{' closed' if self._engine.closed else ''}>"

    def __enter__(self) -> Tools:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leaves the server and ends the thread."""
        self._engine.close()

    async def _close_ledger(self) -> None:
        self._ledger.close()

    def _tool_called(self) -> None:
        """Without a session there is no balance to ask for."""

    def _tool_ledger(self) -> ToolCalls:
        return self._ledger.tool_calls

    def _tool_place(self) -> tuple[str, Secret] | None:
        return self._place


def connect_tools(
    mcp_url: str | None = None,
    user_id: str | Secret | None = None,
    *,
    home: str | os.PathLike[str] | None = None,
    ask: bool = False,
) -> Tools:
    """Connects to an agent tool server, without a key of the service.

    What is left out comes from `REELBOOK_MCP_URL` and `REELBOOK_USER_ID`, as all settings do; `ask=True`
    prompts for what is missing. `home` is the folder of the ledger. Raises ConfigurationError.
    """
    user_id = None if user_id is None else Secret.of(user_id)  # verbose tracebacks print arguments
    return Tools(*configured(mcp_url, user_id, ask=ask), settings.home(home))


def configured(
    mcp_url: str | None = None, user_id: Secret | None = None, *, ask: bool = False
) -> tuple[str, Secret]:
    """The configured tool server and user id. Raises ConfigurationError that says what is missing."""
    address = settings.find(settings.MCP_URL, mcp_url, ask=ask)
    user = settings.find(settings.USER_ID, user_id, ask=ask)
    if address is None and user is None:
        raise ConfigurationError(
            f"No agent tool server is configured. Set {settings.MCP_URL} and {settings.USER_ID}, which the "
            "dashboard's API page has. The sandbox has its own: connect('sandbox')."
        )
    if address is None:
        raise ConfigurationError(f"The agent tool server's address is missing. Set {settings.MCP_URL}.")
    if user is None:
        raise ConfigurationError(
            f"The user id for the agent tool server is missing. Set {settings.USER_ID}; the dashboard's API "
            "page has it."
        )
    return address.value.reveal(), user.value
