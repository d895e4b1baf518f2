"""The table fault × endpoint: what the caller sees, what arrived, and how many jobs or keys exist.

Never two. Each fault really happens, at a sandbox in a thread; refused connections, names that don't resolve
and a failed TLS handshake are made here, since no server can make them. The client's clock jumps, so that its
waits are over at once.
"""

import asyncio
import contextlib
import socket
import sqlite3
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field, replace
from io import BytesIO
from typing import Any

import pytest
from PIL import Image
from support import jumping_time
from support.kept_clips import KeptClips

from reelbook import errors
from reelbook.client import AsyncClient, transport
from reelbook.media.images import PreparedImage
from reelbook.models import Completed
from reelbook.sandbox import server
from reelbook.sandbox.handle import Sandbox
from reelbook.sandbox.places import Places

# What never answers is waited for in real time: as long as a busy machine needs for the others.
SILENCE_SECONDS = 3.0
NEVER = 3600.0

GENERATE = ("text-to-video", "image-to-video")
ASKED = ("status", "balance", "usage", "list-keys", "revoke-key")
ENDPOINTS = (*GENERATE, "create-key", *ASKED, "download")

FINE = "an answer"


@dataclass(frozen=True)
class Cell:
    """What the caller sees (words joined by "|" are as good as each other), what arrived, what exists."""

    sees: str
    arrived: int
    exist: int = 0


@dataclass(frozen=True)
class Row:
    """One fault. `asked` are the requests that may be repeated freely: each GET, and the DELETE of a key."""

    says: str
    kind: str | None
    options: Mapping[str, Any] = field(default_factory=dict)
    generate: Cell = Cell("SubmissionUncertain", 1, 0)
    create_key: Cell = Cell("KeyUncertain", 1, 0)
    asked: Cell = Cell(FINE, 2)
    download: Cell = Cell(FINE, 2)
    endpoints: tuple[str, ...] = ENDPOINTS
    times: int = 1

    def expected(self, endpoint: str) -> Cell:
        if endpoint in GENERATE:
            return self.generate
        return {"create-key": self.create_key, "download": self.download}.get(endpoint, self.asked)


HANDLED: dict[str, Any] = {
    "generate": Cell("SubmissionUncertain", 1, 1),
    "create_key": Cell("KeyUncertain", 1, 1),
}
REPEATED: dict[str, Any] = {
    "generate": Cell(FINE, 2, 1),
    "create_key": Cell(FINE, 2, 1),
}
NEVER_SENT: dict[str, Any] = {
    "generate": Cell("ServiceUnreachable", 0),
    "create_key": Cell("ServiceUnreachable", 0),
    "asked": Cell("ServiceUnreachable", 0),
    "download": Cell("DownloadFailed", 0),
}
# A proxy's page is no clip either, and asking again would bring the same one.
PAGE: dict[str, Any] = {"asked": Cell("UnexpectedAnswer", 1), "download": Cell("NotAVideo", 1)}

ROWS = [
    Row("connection refused", None, **NEVER_SENT),
    Row("name doesn't resolve", None, **NEVER_SENT),
    Row("TLS handshake fails", None, **NEVER_SENT),
    Row(
        "reset before the request was read",
        "reset_before",
        {"read": False},
        # The system may have sent all of it already, or not; in neither case is it sent again.
        generate=Cell("SubmissionUncertain|SendInterrupted", 1, 0),
        create_key=Cell("KeyUncertain|SendInterrupted", 1, 0),
    ),
    Row("reset after the request was read", "reset_before"),
    Row("answer lost", "answer_lost", **HANDLED),
    Row("closed unhandled", "close"),
    Row("closed, handled", "close", {"handled": True}, **HANDLED),
    Row("short body", "short_body", **HANDLED),
    Row("garbage unhandled", "garbage", {"handled": False}),
    Row("garbage, handled", "garbage", **HANDLED),
    Row("stall unhandled", "stall", {"seconds": NEVER, "handled": False}),
    Row("stall, handled", "stall", {"seconds": NEVER}, **HANDLED),
    Row("drip", "drip", {"seconds": 0.2}, **HANDLED),
    Row("429 with headers", "429", **REPEATED),
    Row("429 without headers", "429", {"headers": False}, **REPEATED),
    Row("429 with Retry-After", "429", {"headers": False, "retry_after": 2}, **REPEATED),
    Row(
        "429 on and on",
        "429",
        {"headers": False, "retry_after": 1},
        times=99,
        generate=Cell("RateLimited", 4, 0),
        create_key=Cell("RateLimited", 4, 0),
        asked=Cell("RateLimited", 4),
        download=Cell("DownloadFailed", 5),
    ),
    Row("500 unhandled", "500"),
    Row("500, handled", "500", {"handled": True}, **HANDLED),
    Row("503 unhandled", "503"),
    Row("503, handled", "503", {"handled": True}, **HANDLED),
    Row(
        "500 on and on",
        "500",
        times=99,
        asked=Cell("ServerError", 4),
        download=Cell("DownloadFailed", 5),
    ),
    Row("HTML body unhandled", "html", **PAGE),
    Row("HTML body, handled", "html", {"handled": True}, **HANDLED, **PAGE),
    Row(
        "broken JSON",
        "broken_json",
        **HANDLED,
        asked=Cell("UnexpectedAnswer", 1),
        endpoints=ENDPOINTS[:-1],
    ),
    Row("broken gzip", "broken_gzip", **HANDLED, download=Cell("NotAVideo", 1)),
    Row("404 right after the submission", "not_found", asked=Cell("NotFound", 1), endpoints=("status",)),
    Row("unknown status", "unknown_status", asked=Cell(FINE, 1), endpoints=("status",)),
    Row("download drops 3 times", "drop_download", times=3, download=Cell(FINE, 4), endpoints=("download",)),
    # The last one: after it the link that the others use is gone.
    Row("link expired", "expired_link", download=Cell("LinkExpired", 1), endpoints=("download",)),
]


@dataclass(frozen=True)
class Ground:
    """Where the table is made: a sandbox, a finished job on it, a key to revoke, and an image to send."""

    sandbox: Sandbox
    request_id: str
    key_id: str
    image: PreparedImage
    video_url: str

    def arrived(self) -> Counter[str]:
        return Counter(self.sandbox.state()["requests"])

    def exist(self, endpoint: str, label: str) -> int:
        """How many jobs of this prompt, or keys of this name, the sandbox has."""
        sql = "SELECT count(*) FROM keys WHERE name = ?"
        if endpoint in GENERATE:
            sql = "SELECT count(*) FROM jobs WHERE json_extract(request, '$.prompt') = ?"
        with contextlib.closing(sqlite3.connect(Places(self.sandbox.home).database)) as db:
            return int(db.execute(sql, (label,)).fetchone()[0])


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    picture = BytesIO()
    Image.radial_gradient("L").convert("RGB").save(picture, "PNG")

    async def prepared(sandbox: Sandbox) -> Ground:
        async with AsyncClient(sandbox.api_key, sandbox.url) as client:
            accepted = await client.text_to_video("a fox", duration_seconds=1)
            done = await client.wait(accepted.request_id)
            key = await client.create_key("to be revoked")
        image = PreparedImage(picture.getvalue(), "PNG", 256, 256)
        return Ground(sandbox, accepted.request_id, key.key_id, image, str(done.video_url))

    home = tmp_path_factory.mktemp("faults")
    with server.in_thread(home, executor=KeptClips(), rate_limiting=False, balance_usd=100) as sandbox:
        yield jumping_time.run(prepared(sandbox))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.says)
def test_a_fault_never_makes_two(row: Row, ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    """What may have had an effect isn't sent again, all else is, and the caller is told which it was."""
    base_url, deadline_seconds = ground.sandbox.url, transport.READ_SECONDS
    if row.kind in ("stall", "drip"):
        deadline_seconds = SILENCE_SECONDS
        monkeypatch.setattr(transport, "READ_SECONDS", SILENCE_SECONDS)
    if row.kind is None:
        base_url = _unreachable(row.says, ground, monkeypatch)
    else:
        ground.sandbox.clear_faults()
        for endpoint in row.endpoints:
            ground.sandbox.fault(row.kind, endpoint=endpoint, times=row.times, **row.options)
    before = ground.arrived()
    seen = jumping_time.run(_all(row, ground, base_url, deadline_seconds))
    after = ground.arrived()
    for endpoint, sees in seen.items():
        expected = row.expected(endpoint)
        found = Cell(
            sees, after[endpoint] - before[endpoint], ground.exist(endpoint, f"{row.says} {endpoint}")
        )
        assert found in [replace(expected, sees=word) for word in expected.sees.split("|")], endpoint


def test_a_watch_outlives_its_faults(ground: Ground) -> None:
    """It goes on to the job's end through everything that a status can be answered with."""
    sandbox = ground.sandbox
    sandbox.clear_faults()
    kinds = ("not_found", "not_found", "unknown_status", "500", "html", "broken_json", "answer_lost")
    for kind in kinds:
        sandbox.fault(kind, endpoint="status")
    sandbox.fault("429", endpoint="status", headers=False)

    async def submitted() -> str:
        async with AsyncClient(sandbox.api_key, sandbox.url) as client:
            return (await client.text_to_video("watched through faults", duration_seconds=1)).request_id

    async def watched(request_id: str) -> Completed:
        async with AsyncClient(sandbox.api_key, sandbox.url) as client:
            return await client.wait(request_id)

    request_id = jumping_time.run(submitted())
    assert jumping_time.run(watched(request_id)).video_url is not None
    assert [fault["happened"] for fault in sandbox.faults()] == [1] * (len(kinds) + 1)
    assert ground.exist("text-to-video", "watched through faults") == 1


def _unreachable(says: str, ground: Ground, monkeypatch: pytest.MonkeyPatch) -> str:
    if says == "TLS handshake fails":
        return ground.sandbox.url.replace("http:", "https:")
    if says == "name doesn't resolve":
        known = socket.getaddrinfo

        def unknown(host: str | bytes | None, *args: Any, **kwargs: Any) -> Any:
            if host in ("service.invalid", b"service.invalid"):
                raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
            return known(host, *args, **kwargs)

        monkeypatch.setattr(socket, "getaddrinfo", unknown)
        return "https://service.invalid"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


async def _all(row: Row, ground: Ground, base_url: str, deadline_seconds: float) -> dict[str, str]:
    """What the callers of all the row's endpoints see, each with a client of its own, at the same time."""

    async def seen(endpoint: str) -> str:
        key = ground.sandbox.api_key
        async with AsyncClient(key, base_url, deadline_seconds=deadline_seconds) as client:
            try:
                await _call(client, endpoint, f"{row.says} {endpoint}", ground)
            except errors.ReelbookError as error:
                return type(error).__name__
        return FINE

    return dict(zip(row.endpoints, await asyncio.gather(*map(seen, row.endpoints)), strict=True))


def _call(client: AsyncClient, endpoint: str, label: str, ground: Ground) -> Coroutine[Any, Any, object]:
    url = ground.video_url.replace(ground.sandbox.url, client.base_url)
    calls: dict[str, Callable[[], Coroutine[Any, Any, object]]] = {
        "text-to-video": lambda: client.text_to_video(label, duration_seconds=1),
        "image-to-video": lambda: client.image_to_video(ground.image, label, duration_seconds=1),
        "create-key": lambda: client.create_key(label),
        "status": lambda: client.status(ground.request_id),
        "balance": client.balance,
        "usage": client.usage,
        "list-keys": client.list_keys,
        "revoke-key": lambda: client.revoke_key(ground.key_id),
        "download": lambda: client.download(url, ground.sandbox.home / f"{label}.mp4"),
    }
    return calls[endpoint]()
