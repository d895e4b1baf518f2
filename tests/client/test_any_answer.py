"""What isn't shown of the service: whatever it answers, a value or one of our own errors comes out."""

import asyncio
import json
import socket
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.raw_server import Exchange, raw_server

from reelbook import models, wire
from reelbook.client import AsyncClient, downloads, retries
from reelbook.client.responses import MOST_A_MINUTE, Reply, rate_headers, read
from reelbook.errors import (
    DownloadFailed,
    ReelbookError,
    ServiceError,
    SubmissionUncertain,
    UnexpectedAnswer,
)

ANSWERS = [
    each for each in vars(models).values() if isinstance(each, type) and issubclass(each, models._Answered)
]
READERS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    **{each.__name__: each.model_validate for each in ANSWERS},
    "status": partial(models.job_status, asked="r"),
    "revoked": partial(models.revoked, "k"),
}
ENDPOINTS = st.sampled_from(sorted(READERS))
FIELDS = sorted(
    {"message", "detail", "data", "result", "url"}.union(*(each.model_fields for each in ANSWERS))
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([10**400, -(10**400), 10**13, 0]),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(["pending", "COMPLETED", "error", "\ud83d", "5", "$1", "45%", "1732222222", "\x00", ""]),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=5), inner, max_size=8)
    ),
    max_leaves=25,
)
STATUSES = st.sampled_from([200, 200, 200, 201, 202, 204, 302, 400, 402, 404, 418, 429, 500, 599])


@settings(max_examples=300, deadline=None)
@given(
    endpoint=ENDPOINTS,
    status=STATUSES,
    body=VALUES.map(lambda value: json.dumps(value).encode())
    | st.binary(max_size=60)
    | st.text(max_size=40).map(str.encode),
)
@example(
    endpoint="status", status=200, body=b'{"request_id": "r", "status": "failed", "error": "cut \\ud83d"}'
)
@example(endpoint="Accepted", status=200, body=b'{"request_id": "\xed\xa0\xbd"}')
@example(endpoint="Accepted", status=400, body=b'{"detail": "cut \\ud83d"}')
@example(endpoint="Accepted", status=200, body=b"[" * 200_000)
@example(endpoint="Accepted", status=500, body=b"[" * 200_000)
def test_any_body_is_a_value_or_an_error_of_our_own(endpoint: str, status: int, body: bytes) -> None:
    """JSON, a proxy's page, another charset, half a character: what comes out can be written to a file."""
    try:
        value = read(Reply(status, {"content-type": "text/plain"}, body), READERS[endpoint], quote=True)
    except ServiceError as error:
        said = f"{error} {error.answer}"
    else:
        said = f"{value!r} {getattr(value, 'error', '')} {getattr(value, 'request_id', '')}"
    said.encode()


@settings(deadline=None)
@given(
    *[
        st.text(max_size=20)
        | st.integers().map(str)
        | st.floats().map(str)
        | st.sampled_from(["nan", "1e999", "10, 10", "9" * 5000, "Sun, 22 Nov 2026 02:00:00 GMT"])
        for _ in range(5)
    ]
)
def test_any_rate_headers_are_figures_or_absent(
    limit: str, remaining: str, reset: str, retry_after: str, date: str
) -> None:
    """What can't be read of a limit isn't believed, and a wait is never endless."""
    told = rate_headers(
        {
            wire.RATE_LIMIT.lower(): limit,
            wire.RATE_REMAINING.lower(): remaining,
            wire.RATE_RESET.lower(): reset,
            "retry-after": retry_after,
            "date": date,
        }
    )
    assert told.limit is None or 1 <= told.limit <= MOST_A_MINUTE
    assert told.remaining is None or told.remaining >= 0
    assert told.reset is None or 0 <= told.reset <= 2 * wire.RATE_WINDOW_SECONDS
    assert told.retry_after is None or 0 <= told.retry_after <= 3600


HOSTILE = [
    *("http:login", "about:blank", "http://xn--/", "http://xn--a-ecp.xn--/", "http://[bad", "http://h:port/"),
    *("http://h:99999/", "http://a..b/", f"http://{'a' * 70}/", "http://.", "//", "", "javascript:alert(1)"),
    *("http://h:-1/", "http://\u2488com/", "http://\ud83d/", "http://a\x7fb/", "http://%zz/", "data:,x", "?"),
    *("#", "http://" + "h" * 70_000, "http://user:word@/", "https:///x", "ws://h/", "http://\u0661.1.1.1/"),
    *("http://::/", "file:///etc/passwd", "ftp://host/clip.mp4", "clip.mp4", "http:///clip.mp4"),
    "http://h:0/",
]
ADDRESSES = st.sampled_from(HOSTILE) | st.text(max_size=20).map("http://{}".format) | st.text(max_size=20)


def redirecting(status: int, to: str) -> Callable[[Exchange], None]:
    """Points to `to`, whatever bytes that makes."""
    location = to.encode("utf-8", "surrogatepass").replace(b"\r", b"").replace(b"\n", b"")
    head = b"HTTP/1.1 %d X\r\nlocation: %s\r\ncontent-length: 0\r\n\r\n" % (status, location)
    return lambda exchange: exchange.send(head)


def use(url: str, call: Callable[[AsyncClient], Awaitable[object]]) -> None:
    """What `call` does with a client of that service."""

    async def used() -> None:
        async with AsyncClient("sk-planted-anywhere", url) as client:
            await call(client)

    asyncio.run(used())


@pytest.mark.parametrize("location", HOSTILE, ids=lambda each: ascii(each[:30]))
def test_a_redirect_to_anywhere_leaves_no_paid_request_without_a_verdict(
    location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What its status says of a submission holds, wherever it points: 302 may be one, 307 is none.

    For a question that costs nothing it is an error of our own, too.
    """
    monkeypatch.setattr(retries, "delay_seconds", lambda *_: 0.0)
    with raw_server(redirecting(302, location)) as service, pytest.raises(ReelbookError) as error:
        use(service.url, lambda client: client.status("r"))
    str(error.value).encode()
    for status, verdict in ((302, SubmissionUncertain), (307, UnexpectedAnswer)):
        if len(location) < 60_000:  # longer ones the HTTP library takes for no header at all
            with raw_server(redirecting(status, location)) as service, pytest.raises(verdict):
                use(service.url, lambda client: client.text_to_video("a fox"))


@settings(max_examples=60)
@given(link=ADDRESSES, redirected=st.booleans())
@example(link="http://xn--/", redirected=False)
@example(link="about:blank", redirected=True)
def test_a_clip_that_lies_anywhere_is_an_error_of_our_own(link: str, redirected: bool) -> None:
    """As the address that a status gives, and as what that leads to."""
    with (
        pytest.MonkeyPatch.context() as patched,
        raw_server(redirecting(302, link)) as service,
        tempfile.TemporaryDirectory() as folder,
    ):
        patched.setattr(downloads, "MAX_FRUITLESS", 1)
        patched.setattr(retries, "delay_seconds", lambda *_: 0.0)
        patched.setattr("socket.getaddrinfo", _nobody)
        url, path = f"{service.url}/clip.mp4" if redirected else link, Path(folder, "clip.mp4")
        with pytest.raises(DownloadFailed) as error:
            use(service.url, lambda client: client.download(url, path))
    str(error.value).encode()


_LOOKED_UP = socket.getaddrinfo


def _nobody(host: Any, *rest: Any, **others: Any) -> Any:
    """Knows this machine only, so that no test asks the network about a name."""
    if host in ("127.0.0.1", b"127.0.0.1"):
        return _LOOKED_UP(host, *rest, **others)
    raise socket.gaierror(socket.EAI_NONAME, "not known")
