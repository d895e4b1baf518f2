"""What carries requests to a tool server: with the user id to its own origin only, bounded, failures noted.

The package that speaks the protocol hands its requests over to this. No object and no error of the HTTP
library reaches a person: a request holds the user id.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpx2

from .. import settings
from ..deadlines import Deadline
from ..secret import Secret
from .failures import MAX_ANSWER_BYTES, Note

CONNECT_SECONDS = 10.0
NOTIFY_SECONDS = 10.0
LEAVE_SECONDS = 1.0
MAX_REFUSAL_BYTES = 64 << 10

_NEVER_SENT = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.UnsupportedProtocol,
    httpx2.ProxyError,
)
# What servers say that answer 400 where the protocol wants 404.
_NO_SESSION = re.compile(
    r"\b(no|not|invalid|unknown|missing|expired)\b.{0,20}\bsession"
    r"|\bsession\b.{0,20}\b(not found|invalid|unknown|expired)",
    re.IGNORECASE,
)

current_note: ContextVar[Note | None] = ContextVar("reelbook_tool_note", default=None)


class _Unlogged(logging.Filter):
    """Keeps what the package would log about our requests to ourselves: an answer may quote the user id."""

    def filter(self, record: logging.LogRecord) -> bool:
        return current_note.get() is None


for _name in ("mcp.client.streamable_http", "mcp.shared.jsonrpc_dispatcher", "client"):
    logging.getLogger(_name).addFilter(_Unlogged())


@contextmanager
def noted(note: Note) -> Iterator[None]:
    token = current_note.set(note)
    try:
        yield
    finally:
        current_note.reset(token)


class Carrier(httpx2.AsyncClient):
    """Sends the package's requests: with the user id to the server's own origin, bounded, failures noted.

    A failure of one request is answered as one of it alone: raised, it would end every other call too.
    """

    def __init__(self, url: str, user_id: Secret) -> None:
        super().__init__(
            timeout=None,  # the library would count the time asleep
            # A connection kept alive may be closed in the very moment, and leave a paid call uncertain.
            limits=httpx2.Limits(max_keepalive_connections=0),
            trust_env=not settings.is_loopback(url),
        )
        self._origin = _origin(httpx2.URL(url))
        self._user_id = user_id

    async def send(self, request: httpx2.Request, *, stream: bool = False, **options: Any) -> httpx2.Response:
        if _origin(request.url) == self._origin:
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
        note.status = note.code = note.raw = None
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
            if (
                response.is_success
                and response.status_code != 202
                and not kind.startswith("text/event-stream")
            ):
                note.failure, note.said = "foreign", f"It is of the type {kind or 'unknown'}."
            elif isinstance(response.stream, httpx2.AsyncByteStream):
                response.stream = _Watched(response.stream, note)
            return response
        except _NEVER_SENT as error:
            note.failure, note.said = "unsent", str(error)
        except _TooLarge:
            note.failure = "too large"
        except Exception as error:  # not all is the library's own: an answer may hold no address, no text
            note.failure, note.said = "lost", str(error) or type(error).__name__
        if response is not None:
            await response.aclose()
        return httpx2.Response(502, request=request)

    async def _tell(self, request: httpx2.Request, seconds: float, **options: Any) -> httpx2.Response:
        """Sends what no answer is waited for; whether it arrives is not worth the connection."""
        try:
            async with Deadline(seconds):
                response = await self._sent(request, **options)
                await response.aclose()
        except (httpx2.HTTPError, httpx2.StreamError, TimeoutError):
            pass
        return httpx2.Response(202, request=request)

    async def _sent(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Sends it. Here the connecting alone has a deadline: how long an answer may take, who asks knows."""
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


class _TooLarge(httpx2.SSEError):
    """More bytes than any result may have. The package ends a stream at once that raises this."""


class _Watched(httpx2.AsyncByteStream):
    """A stream of events: bounded, and with its failure noted."""

    def __init__(self, stream: httpx2.AsyncByteStream, note: Note) -> None:
        self._stream = stream
        self._note = note
        self._bytes = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._stream:
                self._bytes += len(chunk)
                if self._bytes > MAX_ANSWER_BYTES:
                    self._note.failure = "too large"
                    raise _TooLarge("too large")
                yield chunk
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            if self._note.failure is None:
                self._note.failure, self._note.said = "lost", str(error)
            raise

    async def aclose(self) -> None:
        await self._stream.aclose()


def _expects_answer(request: httpx2.Request) -> bool:
    try:
        message = json.loads(request.content)
    except ValueError:
        return True
    return "id" in message and "method" in message


async def _body(response: httpx2.Response, limit: int) -> bytes:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > limit:
            if response.status_code >= 400:
                break
            raise _TooLarge("too large")
    await response.aclose()
    return bytes(body)


def _answer(response: httpx2.Response, body: bytes) -> httpx2.Response:
    kept = {
        name: value
        for name in ("content-type", "mcp-session-id")
        if (value := response.headers.get(name)) is not None
    }
    return httpx2.Response(response.status_code, headers=kept, content=body, request=response.request)


def _said(body: bytes) -> str:
    """A refusal's own words, where it has any."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        text = body.decode(errors="replace")
        return "" if "<" in text else text
    for name in ("error", "detail", "message", "error_description"):
        value = said.get(name) if isinstance(said, dict) else None
        if isinstance(value, dict):
            value = value.get("message")
        if isinstance(value, str) and value.strip():
            return value
    return ""


def _is_gone(response: httpx2.Response, said: str) -> bool:
    """Whether the server doesn't know the session any more, and so can't have done what was asked in it."""
    return response.status_code == 404 or (response.status_code == 400 and bool(_NO_SESSION.search(said)))


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port  # the library leaves a scheme's own port out
