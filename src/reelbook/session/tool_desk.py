"""A tool's call under way, and the desk that joins the server and writes every call down."""

from __future__ import annotations

import concurrent.futures
import time
from collections.abc import Callable, Generator, Mapping
from typing import Any

from ..client.tool_reading import found_jobs
from ..client.tool_values import OnProgress, ToolProgress, ToolResult
from ..client.tools import ToolServer
from ..errors import (
    ConfigurationError,
    InvalidInput,
    ReelbookError,
    ServiceUnreachable,
    ToolCallUncertain,
    WaitTimeout,
)
from ..ledger import ToolCalls
from ..ledger.tool_calls import Outcome
from ..secret import Secret
from .engine import Engine, ended, ended_within

_CANCELLED = "The call was ended before its result came. It may have been carried out, and billed."


class ToolRun:
    """A call of a tool that is under way. `await run`, or `run.result()`, gives its ToolResult.

    To end the waiting of `await` (Stop) ends the call too, and the server is told.
    """

    def __init__(self, engine: Engine, tool: str, arguments: Mapping[str, Any]) -> None:
        self.tool = tool
        self.arguments = arguments
        self.progress: ToolProgress | None = None
        self._engine = engine
        self._future: concurrent.futures.Future[ToolResult]

    def __repr__(self) -> str:
        return f"<ToolRun {self.tool} {'done' if self.done else 'under way'}>"

    def __await__(self) -> Generator[Any, None, ToolResult]:
        return self._wait().__await__()

    @property
    def future(self) -> concurrent.futures.Future[ToolResult]:
        """The same, for code that speaks futures; to cancel it ends the call."""
        return self._future

    @property
    def done(self) -> bool:
        """Whether it has ended, one way or another."""
        return self._future.done()

    def result(self, timeout: float | None = None) -> ToolResult:
        """Waits for the result, for code that can't await. Ctrl-C or a timeout in seconds end only that.

        Raises WaitTimeout, and what `ToolServer.call` raises.
        """
        self._engine.refuse_own_thread()
        if not ended_within(self._future, timeout):
            raise WaitTimeout(f"{self.tool} gave no result within {timeout:g} s. It goes on.")
        try:
            return self._future.result()
        except concurrent.futures.CancelledError:
            raise ToolCallUncertain(_CANCELLED) from None

    def cancel(self) -> None:
        """Ends the call and tells the server. It may have been carried out already."""
        self._future.cancel()

    def on_end(self, callback: Callable[[ToolRun], object]) -> None:
        """`callback` is called with this when it ends, on a thread of Reelbook's, which it must not stop."""
        self._future.add_done_callback(lambda _: callback(self))

    async def _wait(self) -> ToolResult:
        try:
            await ended(self._future)
        except BaseException:
            self.cancel()
            raise
        if self._future.cancelled():
            raise ToolCallUncertain(_CANCELLED)
        return self._future.result()


class ToolDesk:
    """Joins the server and writes its calls down, on an engine's thread."""

    def __init__(self, engine: Engine, calls: ToolCalls) -> None:
        self._engine = engine
        self._calls = calls
        self._server: ToolServer | None = None
        self._place: tuple[str, str] | None = None

    async def server(self, mcp_url: str, user_id: Secret) -> ToolServer:
        """The server at this address for this user, the same one as long as neither changes."""
        place = (mcp_url, user_id.fingerprint)
        if self._server is None or self._place != place:
            former, self._server = self._server, ToolServer(mcp_url, user_id, spawn=self._engine.spawn)
            self._place = place
            if former is not None:
                await former.aclose()
        return self._server

    async def call(
        self,
        mcp_url: str,
        user_id: Secret,
        run: ToolRun,
        on_progress: OnProgress | None,
        deadline_seconds: float | None,
    ) -> ToolResult:
        """Calls a tool, written down before and after."""

        def tell(progress: ToolProgress) -> None:
            run.progress = progress
            if on_progress is not None:
                on_progress(progress)

        server = await self.server(mcp_url, user_id)
        number = self._calls.add(mcp_url, user_id, run.tool, run.arguments)
        began = time.monotonic()
        outcome: Outcome = "cancelled"
        error: str | None = None
        result: ToolResult | None = None
        try:
            result = await server.call(
                run.tool, run.arguments, on_progress=tell, deadline_seconds=deadline_seconds
            )
            outcome = "tool error" if result.is_error else "done"
            # A server that echoes what it was sent must not put the user id into the ledger.
            error = user_id.masked(str(result)) if result.is_error else None
        except ReelbookError as failed:
            outcome, error = _outcome(failed), str(failed)
            raise
        finally:
            jobs = () if result is None else found_jobs(result)
            self._calls.ended(
                number,
                outcome,
                took_seconds=time.monotonic() - began,
                request_ids=tuple(dict.fromkeys(job.request_id for job in jobs if job.request_id)),
                error=error,
            )
        return result

    async def close(self) -> None:
        """Leaves the server."""
        if self._server is not None:
            await self._server.aclose()


def _outcome(error: ReelbookError) -> Outcome:
    if isinstance(error, ToolCallUncertain):
        return "uncertain"
    return "unsent" if isinstance(error, ServiceUnreachable | ConfigurationError | InvalidInput) else "failed"
