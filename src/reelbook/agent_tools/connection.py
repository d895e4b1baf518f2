"""One session with a tool server, on the official `mcp` package: outside the sandbox, only this needs it.

No object or error of that package, or of its HTTP library, leaves this module: a request holds the user id.
It is sent to the server's own origin only. What happens to a request is noted beside it, since the package's
own errors don't tell whether a call that may cost money can have arrived.
"""

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, TypeVar

import httpx2
import mcp_types
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from pydantic import ValidationError

from .. import settings, wire
from ..deadlines import Deadline
from ..secret import Secret
from ..version import VERSION
from .failures import ExchangeFailed, Note
from .types import OnProgress, ToolProgress, ToolServerInfo

MAX_PAGES = 100
MAX_LISTED = 5000
CONNECT_SECONDS = 10.0
NOTIFY_SECONDS = 10.0
LEAVE_SECONDS = 1.0
MAX_ANSWER_BYTES = 50_000_000
MAX_REFUSAL_BYTES = 64 << 10

_NEVER_SENT = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.UnsupportedProtocol,
    httpx2.ProxyError,
)
# The words of servers that answer 400 where the protocol wants 404.
_NO_SESSION = re.compile(
    r"\b(no|not|invalid|unknown|missing|expired)\b.{0,20}\bsession"
    r"|\bsession\b.{0,20}\b(not found|invalid|unknown|expired)",
    re.IGNORECASE,
)

current_note: ContextVar[Note | None] = ContextVar("reelbook_tool_note", default=None)


class _Unlogged(logging.Filter):
    """Drops what the package would log about our requests: an answer may quote the user id."""

    def filter(self, record: logging.LogRecord) -> bool:
        return current_note.get() is None


for _name in ("mcp.client.streamable_http", "mcp.shared.jsonrpc_dispatcher", "client"):
    logging.getLogger(_name).addFilter(_Unlogged())

T = TypeVar("T")
Spawn = Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]


class ToolConnection:
    """A session held by a task of its own. `ready` is done when it can be used, or with ExchangeFailed."""

    _session: ClientSession

    def __init__(self, url: str, user_id: Secret, spawn: Spawn) -> None:
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._over = asyncio.Event()
        self.task = spawn(self._live(url, user_id))

    def leave(self) -> None:
        self._over.set()

    async def info(self) -> ToolServerInfo:
        named = self._session.server_info
        return ToolServerInfo(
            name=named.name if named else "",
            version=named.version if named else "",
            protocol=self._session.protocol_version or "",
        )

    async def tools(self) -> list[Any]:
        """All tools that the server lists, not validated, page by page. Raises ExchangeFailed."""
        tools: list[Any] = []
        asked: set[str | None] = set()
        cursor: str | None = None  # of the first page, and again after the last
        while cursor not in asked and len(asked) < MAX_PAGES and len(tools) < MAX_LISTED:
            asked.add(cursor)
            params = mcp_types.PaginatedRequestParams(cursor=cursor) if cursor else None
            page, listed = await _received(self._session.list_tools(params=params), Note())
            # The package leaves out those that the protocol forbids using.
            allowed = None if listed is None else {tool.name for tool in listed.tools}
            found = page.get("tools")
            for tool in found if isinstance(found, list) else []:
                if allowed is None or tool.get("name") in allowed:
                    tools.append(tool)
            following = page.get("nextCursor")
            cursor = following if isinstance(following, str) and following else None
        return tools[:MAX_LISTED]

    async def call(
        self, name: str, arguments: Mapping[str, Any], on_progress: OnProgress | None, note: Note
    ) -> Mapping[str, Any]:
        """The result of a call, not validated. Cancelling this tells the server so. Raises ExchangeFailed."""
        request = mcp_types.CallToolRequest(
            params=mcp_types.CallToolRequestParams(name=name, arguments=dict(arguments))
        )

        async def tell(progress: float, total: float | None, message: str | None) -> None:
            if on_progress is not None:
                on_progress(ToolProgress(progress, total, message))

        progress_callback = None if on_progress is None else tell
        # A result that doesn't fit its schema mustn't be lost: the package doesn't check.
        send = self._session.send_request(request, mcp_types.EmptyResult, progress_callback=progress_callback)
        result, _ = await _received(send, note)
        return result

    async def _live(self, url: str, user_id: Secret) -> None:
        """Joins, and stays until it is over. Enters and leaves in one task, as the package demands."""
        note = Note()
        current_note.set(note)
        try:
            async with (
                Carrier(url, user_id) as http,
                streamable_http_client(url, http_client=http, max_sse_event_size=MAX_ANSWER_BYTES) as streams,
                ClientSession(
                    dispatcher=_RecordingDispatcher(*streams),
                    client_info=mcp_types.Implementation(name="reelbook", version=VERSION),
                ) as self._session,
            ):
                await self._agree(note)
                self.ready.set_result(None)
                await self._over.wait()
        except Exception as error:
            _refused(note, _first(error))
            if not note.began:  # a proxy or certificates that can't be used, for example
                note.failure = "unsent"
        finally:
            if not self.ready.done():
                self.ready.set_exception(ExchangeFailed(note))
                self.ready.exception()  # retrieved, even if nobody waits any more

    async def _agree(self, note: Note) -> None:
        """Negotiates the protocol's version: first by the newer generation's question, then by handshake."""
        try:
            await self._session.discover()
        except (MCPError, RuntimeError, ValidationError):
            if note.failure or note.status in (401, 403):
                raise
            await self._session.initialize()


async def _received(request: Awaitable[T], note: Note) -> tuple[Mapping[str, Any], T | None]:
    """The result as it came, and what the package makes of it, if anything. Raises ExchangeFailed.

    `note` records what happens to the requests that the package sends meanwhile.
    """
    token = current_note.set(note)
    value: T | None = None
    try:
        value = await request
    except ValidationError:
        pass
    except MCPError as error:
        _refused(note, error)
    finally:
        current_note.reset(token)
    if note.raw is None:
        raise ExchangeFailed(note)
    return note.raw, value


def _refused(note: Note, error: BaseException) -> None:
    """Notes the server's own error, or the package's words where none came."""
    status = note.status or 0
    if status < 400:  # above, these are the package's words for a status
        note.said = note.said or str(error) or type(error).__name__
    if not isinstance(error, MCPError):
        return
    # With a good status these mean a stream that ended, or an unreadable body.
    unread = 200 <= status < 300 and error.code == mcp_types.PARSE_ERROR
    if note.failure is None and (status == 202 or unread or error.code == mcp_types.CONNECTION_CLOSED):
        note.failure = "lost" if note.began else "unsent"


class _RecordingDispatcher(JSONRPCDispatcher):
    """Notes each result as it came: the package may reject something in it that it doesn't know."""

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: Any = None, **others: Any
    ) -> dict[str, Any]:
        raw = await super().send_raw_request(method, params, opts, **others)
        if (note := current_note.get()) is not None:
            note.raw = raw
        return raw


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


class Carrier(httpx2.AsyncClient):
    """Sends the package's requests: the user id to the server's own origin only, bounded, failures noted.

    A failed request is answered as that request alone: raised, it would end every other call too.
    """

    def __init__(self, url: str, user_id: Secret) -> None:
        super().__init__(
            timeout=None,  # the library would count time spent asleep
            # A connection kept alive may be closed at that very moment, and leave a paid call uncertain.
            limits=httpx2.Limits(max_keepalive_connections=0),
            trust_env=not settings.is_loopback(url),
        )
        self._origin = wire.origin(str(httpx2.URL(url)))  # its host as in a request, where it is encoded
        self._user_id = user_id

    async def send(self, request: httpx2.Request, *, stream: bool = False, **options: Any) -> httpx2.Response:
        if wire.origin(str(request.url)) == self._origin:
            request.headers["X-User-ID"] = self._user_id.reveal()
        else:
            request.headers.pop("X-User-ID", None)
        request.headers["Accept-Encoding"] = "identity"
        if request.method == "POST":
            if _expects_answer(request):
                return await self._ask(request, stream=stream, **options)
            return await self._tell(request, NOTIFY_SECONDS, stream=stream, **options)
        if request.method == "GET" and "last-event-id" not in request.headers:
            # The stream for what a server says unasked, which nobody here would hear.
            return httpx2.Response(405, request=request)
        if request.method == "DELETE":
            return await self._tell(request, LEAVE_SECONDS, stream=stream, **options)
        return await self._sent(request, stream=stream, **options)

    async def _ask(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        note = current_note.get() or Note()
        note.began, note.failure, note.session_gone, note.said = True, None, False, ""
        note.status = note.raw = None
        response: httpx2.Response | None = None
        try:
            response = await self._sent(request, **options)
            note.status = response.status_code
            kind = response.headers.get("content-type", "").lower()
            if response.status_code >= 400:
                body = await _body(response, MAX_REFUSAL_BYTES)
                note.said = _said(body)
                note.session_gone = "mcp-session-id" in request.headers and _is_gone(response, note.said)
                return _answer(response, body)
            if kind.startswith("application/json"):
                return _answer(response, await _body(response, MAX_ANSWER_BYTES))
            streamed = kind.startswith("text/event-stream")
            if response.is_success and response.status_code != 202 and not streamed:
                note.failure, note.said = "foreign", f"It is of the type {kind or 'unknown'}."
            return response
        except _NEVER_SENT as error:
            note.failure, note.said = "unsent", str(error)
        except Exception as error:  # an answer may hold an invalid address or text
            note.failure, note.said = "lost", str(error) or type(error).__name__
        if response is not None:
            await response.aclose()
        return httpx2.Response(502, request=request)

    async def _tell(self, request: httpx2.Request, seconds: float, **options: Any) -> httpx2.Response:
        """Sends a message that needs no answer. If that fails, the connection is kept."""
        with suppress(httpx2.HTTPError, httpx2.StreamError, TimeoutError):
            async with Deadline(seconds):
                response = await self._sent(request, **options)
                await response.aclose()
        return httpx2.Response(202, request=request)

    async def _sent(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Sends it. Only the connecting has a deadline here: the caller knows how long an answer may take."""
        connecting = Deadline(CONNECT_SECONDS)

        async def listen(event: str, info: Mapping[str, Any]) -> None:
            if event.endswith("send_request_headers.started"):
                connecting.renew(None)

        request.extensions["trace"] = listen
        try:
            async with connecting:
                return await super().send(request, **options)
        except TimeoutError:
            raise httpx2.ConnectTimeout("no connection in time", request=request) from None


def _expects_answer(request: httpx2.Request) -> bool:
    message = json.loads(request.content)
    return "id" in message and "method" in message


async def _body(response: httpx2.Response, limit: int) -> bytes:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > limit:
            if response.status_code >= 400:
                break
            raise httpx2.ReadError(f"It is larger than {limit // 1_000_000} MB and was not read.")
    await response.aclose()
    return bytes(body)


def _answer(response: httpx2.Response, body: bytes) -> httpx2.Response:
    headers = response.headers
    kept = {name: headers[name] for name in ("content-type", "mcp-session-id") if name in headers}
    return httpx2.Response(response.status_code, headers=kept, content=body, request=response.request)


def _said(body: bytes) -> str:
    try:
        return wire.words(json.loads(body))
    except (ValueError, RecursionError):
        text = body.decode(errors="replace")
        return "" if "<" in text else text


def _is_gone(response: httpx2.Response, said: str) -> bool:
    """Whether the server doesn't know the session any more, so that it did nothing."""
    return response.status_code == 404 or (response.status_code == 400 and bool(_NO_SESSION.search(said)))
