"""The one place that imports httpx: the key, the origin check, deadlines, and errors translated.

No object of httpx leaves this module, not even as the cause of an error: a request holds the key, and verbose
tracebacks, pickles and logs print what an error carries.
"""

from __future__ import annotations

import asyncio
import functools
import json
import math
import os
import ssl
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import httpx

from .. import errors, settings, wire
from ..deadlines import LOOK_SECONDS, Deadline
from ..secret import Secret
from .responses import Reply, summary

CONNECT_SECONDS = 10.0
READ_SECONDS = 30.0
MIN_BYTES_PER_SECOND = 1000  # a file that comes slower than this for READ_SECONDS is given up
MAX_BODY_BYTES = 8 << 20
BEGINNING_BYTES = 64 << 10  # kept of an answer that isn't whole
# Below the 5 s at which many servers close an idle connection, so that no request meets a closed one.
KEEP_ALIVE_SECONDS = 3.0

_NEVER_SENT = httpx.ConnectError | httpx.ConnectTimeout | httpx.UnsupportedProtocol | httpx.ProxyError


class Transport:
    """Carries requests to one service with one key, or none where it is empty. Belongs to one event loop."""

    def __init__(self, base_url: str, key: Secret) -> None:
        self.base_url = base_url
        self.key = key
        self._former: list[Secret] = []
        self._under_way: dict[asyncio.Future[None], Secret] = {}
        self._clients: dict[str, httpx.AsyncClient] = {}

    def use_key(self, key: Secret) -> None:
        """Uses `key` for every request that begins from now on; those under way keep the one before."""
        self._former.append(self.key)
        self.key = key

    async def former_keys_done(self) -> None:
        """Waits until no request is under way that carries another key than the current one."""
        while former := [done for done, key in self._under_way.items() if key != self.key]:
            await asyncio.wait(former)

    async def request(
        self,
        method: str,
        path: str,
        *,
        deadline_seconds: float,
        fresh: bool = False,
        on_sending: Callable[[], None] | None = None,
        headers: Mapping[str, str] | None = None,
        **content: Any,
    ) -> Reply:
        """Sends one request with the key and returns its reply, whatever its status.

        `content` is its body: `json`, `data`, `files`, `params`, as httpx calls them. `fresh` uses a new
        connection: one kept alive may be closed by the server at that very moment, and leave a paid request
        uncertain. `on_sending` is called when the connection is open, before the first byte is sent; a
        ReelbookError that it raises keeps the request back. Raises ConnectionFailed, and UnexpectedAnswer for
        a body that is far too long.
        """
        client = self._client("fresh" if fresh else "kept")
        # A paid answer is worth the whole of the call's time.
        answer_seconds = deadline_seconds if fresh else READ_SECONDS
        progress = _Progress(deadline_seconds, answer_seconds, sent=not fresh, on_sending=on_sending)
        with self._translated(progress), self._counted():
            request = client.build_request(
                method, self.base_url + path, headers=headers, extensions={"trace": progress}, **content
            )
            if fresh:
                assert isinstance(request.stream, httpx.AsyncByteStream)
                request.stream = _WatchedBody(request.stream, progress)
            async with progress.deadline:
                response = await _sent(client, request, progress)
                try:
                    return await self._reply(response, progress)
                finally:
                    await response.aclose()
        raise progress.failure

    @contextmanager
    def _counted(self) -> Iterator[None]:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._under_way[done] = self.key
        try:
            yield
        finally:
            del self._under_way[done]
            done.set_result(None)

    @asynccontextmanager
    async def fetch(
        self, url: str, *, headers: Mapping[str, str], with_key: bool
    ) -> AsyncIterator[tuple[Reply, AsyncIterator[bytes]]]:
        """Opens a file for reading: its reply without body, and its bytes as they come. Follows no redirects.

        With `with_key` the key is sent if `url` is on the service's own origin and nowhere else.
        """
        client = self._client("kept" if with_key else "files")
        progress = _Progress(math.inf, READ_SECONDS, sent=True)
        response: httpx.Response | None = None
        with self._translated(progress), self._counted():
            asking = {"accept-encoding": "identity", **headers}
            request = client.build_request("GET", url, headers=asking, extensions={"trace": progress})
            async with progress.deadline:
                response = await _sent(client, request, progress)
        if response is None:
            raise progress.failure
        try:
            yield self._reply_of(response), self._chunks(response, progress)
        finally:
            await response.aclose()

    @staticmethod
    def can_fetch(url: str) -> bool:
        """Whether `url` is a usable http or https address: a service may give any text as one."""
        try:
            parts, _ = urlsplit(url), httpx.URL(url).host
            return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except (ValueError, httpx.InvalidURL):
            return False

    def is_own(self, url: str) -> bool:
        """Whether `url`, which can be fetched, is on exactly the service's own origin."""
        return _origin(url) == _origin(self.base_url)

    async def aclose(self) -> None:
        clients, self._clients = self._clients, {}
        for client in clients.values():
            await client.aclose()

    async def _reply(self, response: httpx.Response, progress: _Progress) -> Reply:
        body = bytearray()

        def beginning() -> errors.Answer:
            return summary(self._reply_of(response, body[:BEGINNING_BYTES], cut=True))

        try:
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > MAX_BODY_BYTES:
                    raise errors.UnexpectedAnswer("The service's answer is far too long.", answer=beginning())
        except BaseException:  # also a cancellation: that is how a deadline begins
            progress.heard = beginning()
            raise
        return self._reply_of(response, body)

    def _reply_of(
        self, response: httpx.Response, body: bytes | bytearray = b"", *, cut: bool = False
    ) -> Reply:
        """The reply without the key: a service that echoes what it was sent must not get it into an error."""
        encoding = json.detect_encoding(body)
        # Broken UTF-8 is kept as it came; of other charsets, what can be read.
        broken = "surrogateescape" if encoding.startswith("utf-8") else "replace"
        text = self._masked(body.decode(encoding, broken), cut=cut)
        sent = [*response.headers.items(), *response.extensions.get("location", {}).items()]
        headers = {name.lower(): self._masked(value) for name, value in sent}
        return Reply(response.status_code, headers, text.encode("utf-8", "surrogateescape"))

    def _masked(self, text: str, *, cut: bool = False) -> str:
        for key in (self.key, *self._former):
            text = key.masked(text, cut=cut)
        return text

    async def _chunks(self, response: httpx.Response, progress: _Progress) -> AsyncIterator[bytes]:
        """Yields a file's chunks as they come. A trickle too slow ever to end counts as a lost answer."""
        chunks = response.aiter_raw()
        spent, got = 0.0, 0
        with self._translated(progress):
            while True:
                async with Deadline(READ_SECONDS) as waited:
                    chunk = await anext(chunks, None)
                if chunk is None:
                    return
                yield chunk
                spent, got = spent + waited.spent, got + len(chunk)
                if spent > READ_SECONDS:
                    if got < MIN_BYTES_PER_SECOND * spent:
                        raise errors.AnswerLost("The file came too slowly to ever end.")
                    spent, got = 0.0, 0
        raise progress.failure

    @contextmanager
    def _translated(self, progress: _Progress) -> Iterator[None]:
        """Catches what is raised around a request; the caller raises `progress.failure` after the block.

        Raised there, and not `from` its cause, the error keeps httpx's frames and requests out of the
        traceback. The cause may be another library's: an answer can hold an invalid address or header.
        """
        try:
            yield
        except errors.ReelbookError:
            raise
        except Exception as exc:
            progress.failure = progress.failed(exc, self._masked(_text(exc)))

    def _client(self, kind: str) -> httpx.AsyncClient:
        """The client for requests of this kind. Raises ServiceUnreachable where none can be made."""
        if kind in self._clients:
            return self._clients[kind]
        loopback = settings.is_loopback(self.base_url)
        try:
            client = self._clients[kind] = httpx.AsyncClient(
                auth=None if kind == "files" else self._with_key,
                headers={"connection": "close"} if kind == "fresh" else None,
                timeout=None,  # noqa: S113 - ours are Deadlines: httpx would count the time asleep
                limits=httpx.Limits(
                    max_keepalive_connections=0 if kind == "fresh" else 10,
                    keepalive_expiry=KEEP_ALIVE_SECONDS,
                ),
                verify=_no_trust()
                if self.base_url.startswith("http:") and kind != "files"
                else _trusted.get(wire.origin(self.base_url)) or _trust(),
                event_hooks={"response": [_hide_location]},
                # A proxy has no way to this machine, and would be shown the key.
                trust_env=not loopback,
            )
        except Exception as exc:
            raise errors.ServiceUnreachable(
                "This computer's proxy or certificates (HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE) can't be "
                f"used. Nothing was sent.{self._masked(_text(exc))}"
            ) from None
        return client

    def _with_key(self, request: httpx.Request) -> httpx.Request:
        """Adds the key to a request to the service's own origin, and to no other."""
        if self.key.reveal() and self.is_own(str(request.url)):
            request.headers["Authorization"] = f"Bearer {self.key.reveal()}"
        return request


async def _sent(client: httpx.AsyncClient, request: httpx.Request, progress: _Progress) -> httpx.Response:
    try:
        return await client.send(request, stream=True)
    finally:
        # httpcore forgets a connection whose request is cancelled before its first byte.
        if progress.connection is not None and not progress.began:
            await progress.connection.aclose()


class _Progress:
    """Follows a request by httpcore's trace events.

    `sent` is true once it may have arrived whole, and from the start where sending it twice does no harm.
    `deadline` bounds the connecting by CONNECT_SECONDS, the wait for an answer's head by `answer_seconds`,
    and the whole request by `seconds`. `heard` is what had arrived of an answer when the connection broke,
    `failure` the error to raise then.
    """

    failure: errors.ReelbookError

    def __init__(
        self,
        seconds: float,
        answer_seconds: float,
        *,
        sent: bool,
        on_sending: Callable[[], None] | None = None,
    ) -> None:
        self.began = False
        self.connection: Any = None  # httpcore's, if one was opened
        self.sent = sent
        self.heard: errors.Answer | None = None
        self._on_sending = on_sending
        self._seconds = seconds
        self._answer_seconds = answer_seconds
        self.deadline = Deadline(min(CONNECT_SECONDS, seconds))

    async def __call__(self, event: str, info: Mapping[str, Any]) -> None:
        if event.endswith("send_request_headers.started"):
            if getattr(info.get("request"), "method", None) == b"CONNECT":
                return  # asks a proxy for the way there: the request itself hasn't begun
            if self._on_sending is not None:
                self._on_sending()
            self.began = True
            self._allow(self._answer_seconds)
        elif self.began and event.endswith("receive_response_headers.complete"):
            self._allow(math.inf)
        elif event.endswith(("connect_tcp.complete", "start_tls.complete")):
            self.connection = info["return_value"]

    def _allow(self, seconds: float) -> None:
        # What begins to arrive as the time runs out still gets a moment to be read.
        self.deadline.renew(max(LOOK_SECONDS, min(seconds, self._seconds - self.deadline.spent)))

    def failed(self, exc: Exception, said: str) -> errors.ReelbookError:
        """What `exc` means for the request; `said` are its words, without the key."""
        if isinstance(exc, UnicodeEncodeError) and exc.encoding == "utf-8" and not self.began:
            half = "A text holds half a character, such as half an emoji, which no request can hold."
            return errors.InvalidInput(f"{half} Nothing was sent.")
        if isinstance(exc, _NEVER_SENT) or not self.began:
            return errors.ServiceUnreachable(f"The service can't be reached. Nothing was sent.{said}")
        if not self.sent:
            return errors.SendInterrupted(
                "The connection broke while the request was being sent, so the service can't have accepted "
                f"it. It may find the image too large.{said}"
            )
        lost = errors.AnswerLost(f"The connection broke before the answer was complete.{said}")
        if isinstance(exc, TimeoutError):
            lost = errors.DeadlineExceeded("No complete answer came before the call's deadline.")
        lost.answer = self.heard
        return lost


class _WatchedBody(httpx.AsyncByteStream):
    """A request's body. It counts as sent when its last part is handed over: that may arrive unheard."""

    def __init__(self, body: httpx.AsyncByteStream, progress: _Progress) -> None:
        self._body = body
        self._progress = progress

    async def __aiter__(self) -> AsyncIterator[bytes]:
        last = b""
        async for part in self._body:
            if last:
                yield last
            last = part
        self._progress.sent = True
        yield last

    async def aclose(self) -> None:
        await self._body.aclose()


def _origin(url: str) -> str:
    """The origin of an address with its host as in a request, where "bücher.example" is encoded."""
    with suppress(httpx.InvalidURL):
        url = str(httpx.URL(url))
    return wire.origin(url)


def _text(exc: BaseException) -> str:
    said = str(exc)
    if not isinstance(exc, httpx.HTTPError | httpx.StreamError):
        said = f"{type(exc).__name__}: {said}"
    return f" ({said})" if said else ""


async def _hide_location(response: httpx.Response) -> None:
    """Hides a redirect's target from httpx, which parses each, and raises for an invalid address."""
    if (location := response.headers.pop("location", None)) is not None:
        response.extensions["location"] = {"location": location}


_trusted: dict[str, ssl.SSLContext] = {}  # by the origin of the service


def trust(base_url: str, certificate: str | os.PathLike[str]) -> None:
    """Trusts the certificates in this file (PEM) for `base_url`, in this process.

    What the computer trusts it still trusts. Raises ConfigurationError for a file that has none.
    """
    file = "SSL_CERT_FILE"
    try:
        context = httpx.create_ssl_context()
        file = os.fspath(certificate)
        context.load_verify_locations(file)
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError; a path may hold a null byte
        why = getattr(error, "strerror", None) or error
        raise errors.ConfigurationError(
            f"{file} can't be read as a certificate ({why}). Nothing was sent."
        ) from None
    _trusted[wire.origin(base_url)] = context


_trust = functools.cache(httpx.create_ssl_context)


@functools.cache
def _no_trust() -> ssl.SSLContext:
    """For a plain-HTTP service: cheap to make, and trusts nobody, so anything else fails closed."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
