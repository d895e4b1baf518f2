"""What a ToolExplorer asks of a session, or of a tool server without one."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from reelbook import settings
from reelbook.client.tool_values import OnProgress, Tool, ToolResult
from reelbook.client.tools import is_installed
from reelbook.errors import InvalidInput
from reelbook.ledger import ToolCall
from reelbook.session import Job, Session
from reelbook.session.tools import Tools


class Run(Protocol):
    """A call under way."""

    @property
    def done(self) -> bool:
        """Whether it has ended, one way or another."""

    def result(self, timeout: float | None = None) -> ToolResult:
        """What it gave. Raises ReelbookError."""

    def cancel(self) -> None:
        """Ends it, and tells the server."""

    def on_end(self, callback: Callable[[Any], object]) -> None:
        """`callback` is called, on any thread, when it has ended."""


class ToolSource(Protocol):
    """Lists, calls and remembers."""

    @property
    def where(self) -> str:
        """The server, as a person knows it; empty where none is known."""

    @property
    def sandbox(self) -> bool:
        """Whether it is the sandbox's."""

    def list_tools(self) -> concurrent.futures.Future[tuple[Tool, ...]]:
        """Begins to ask for all tools. Raises ReelbookError."""

    def call(self, name: str, arguments: Mapping[str, Any], on_progress: OnProgress) -> Run:
        """Begins a call. Raises ReelbookError."""

    def recent(self, limit: int) -> Sequence[ToolCall]:
        """The last calls by the ledger, the latest first."""

    def job(self, request_id: str) -> Job:
        """The job of this id, watched. Raises ReelbookError."""

    def fetch(self, url: str) -> Path:
        """The file of a clip that a result points at; waits for it. Raises ReelbookError."""


class SessionSource:
    """A session's tool server, or one without a session, whose results can't be taken up."""

    def __init__(self, session: Session | Tools) -> None:
        self._session = session
        self.sandbox = isinstance(session, Session) and session.service == "sandbox"

    @property
    def where(self) -> str:
        if isinstance(self._session, Tools):
            address = self._session.mcp_url
        elif self._session.sandbox is not None:
            address = self._session.sandbox.mcp_url
        else:
            found = settings.find(settings.MCP_URL)
            address = found.value.reveal() if found is not None else ""
        return urlsplit(address).netloc.rpartition("@")[2]

    def list_tools(self) -> concurrent.futures.Future[tuple[Tool, ...]]:
        return self._session.ask_for_tools()

    def call(self, name: str, arguments: Mapping[str, Any], on_progress: OnProgress) -> Run:
        return self._session.start_tool(name, arguments, on_progress=on_progress)

    def recent(self, limit: int) -> Sequence[ToolCall]:
        return self._session.tool_calls(limit)

    def job(self, request_id: str) -> Job:
        return self._with_key().job(request_id)

    def fetch(self, url: str) -> Path:
        return self._with_key().fetch_link(url)

    def _with_key(self) -> Session:
        if isinstance(self._session, Session):
            return self._session
        raise InvalidInput(
            "Jobs and clips are taken up with a key of the service: ToolExplorer(reelbook.connect())."
        )


def tools_offered(session: Session) -> bool:
    """Whether there is a tool server to be explored: the extra is installed, and a server is configured."""
    return is_installed() and (session.service == "sandbox" or settings.find(settings.MCP_URL) is not None)
